"""The protocol's own tools from npm as judges: the inspector's command line, and the conformance suite."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from redraft.tools.registry import load_registry
from tests.conftest import TORTURE
from tests.speaking.lines import environment, program
from tests.speaking.posts import serving

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

HOME = Path(os.environ.get("CLIENTS", Path.home() / ".cache" / "agent-clients"))
INSPECTOR = ("inspector", "@modelcontextprotocol/inspector@2.12.0", "mcp-inspector")
CONFORMANCE = ("conformance", "@modelcontextprotocol/conformance@0.2.0-alpha.12", "conformance")
PATIENCE = 120
REFUSED = 5  # the inspector's exit status for a call that was answered by an error
# Those that ask nothing of a server but what the protocol asks; the others want tools and documents made for them.
SCENARIOS = (
    "server-initialize",
    "server-session-lifecycle",
    "ping",
    "tools-list",
    "resources-list",
    "prompts-list",
    "server-sse-multiple-streams",
    "dns-rebinding-protection",
    "sep-2164-resource-not-found",
    "caching",
    "http-header-validation",
    "input-required-result-unsupported-methods",
)
# One tool of the suite's own is missing here: it would call on a model of the client's, which no tool of ours does.
STATELESS_FAILURES = {"sep-2575-server-rejects-undeclared-capability", "sep-2575-missing-capability-http-400"}


def installed(name: str, package: str, command: str) -> tuple[list[str], dict[str, str]]:
    """The command of an npm package, fetched once, and the environment in which it finds a new enough node."""
    if shutil.which("npm") is None:
        pytest.skip("there is no npm")
    node = _fetched("node", "node@22") / "node"
    tool = _fetched(name, package) / command
    if not tool.exists() or not node.exists():
        pytest.skip(f"{package} could not be installed: the npm registry is out of reach")
    return [str(tool)], {"PATH": f"{node.parent}{os.pathsep}{os.environ['PATH']}"}


def _fetched(name: str, package: str) -> Path:
    place = HOME / (f"{name}-{package.rpartition('@')[2]}" if name != "node" else name)
    binaries = place / "node_modules" / ".bin"
    if not binaries.exists():
        place.mkdir(parents=True, exist_ok=True)
        for arguments in (["init", "-y"], ["install", "--no-fund", "--no-audit", package]):
            subprocess.run(["npm", *arguments], cwd=place, capture_output=True, timeout=PATIENCE * 3, check=False)
    return binaries


class Inspector:
    """The inspector's command line, on one folder."""

    def __init__(self, target: Sequence[str], folder: Path) -> None:
        self._command, variables = installed(*INSPECTOR)
        self._environment = {**environment(folder), **variables}
        self._target = list(target)

    def ask(self, method: str, *options: str, status: int = 0) -> Any:
        done = subprocess.run(
            [*self._command, "--cli", *self._target, "--method", method, *options],
            capture_output=True,
            encoding="utf-8",
            env=self._environment,
            timeout=PATIENCE,
            check=False,
        )
        assert done.returncode == status, done.stdout + done.stderr
        return json.loads(done.stdout)


@pytest.mark.slow
def test_the_inspector_lists_every_tool_document_and_prompt(folder: Path) -> None:
    inspector = Inspector(program(folder, "--profile", "all"), folder)
    listed = inspector.ask("tools/list", "--strict")["tools"]  # which objects to schemas that clients cannot read
    assert [tool["name"] for tool in listed] == [tool.name for tool in load_registry().tools]
    assert [entry["name"] for entry in inspector.ask("resources/list")["resources"]] == ["story.md"]
    assert inspector.ask("prompts/list")["prompts"]


@pytest.mark.slow
def test_the_inspector_calls_tools_and_reads_their_answers(folder: Path) -> None:
    """Some tools (all of them in `make torture`) by a wrong call, refused in words; one of each risk by a right one."""
    with serving(folder, "--profile", "all") as server:
        shown = ["--transport", "http", "--header", f"Authorization: Bearer {server.token}"]
        inspector = Inspector([server.url, *shown], folder)

        def refuse(tool: str) -> bool:
            call = ("--tool-name", tool, "--tool-arg", "surprise=1")
            return inspector.ask("tools/call", *call, status=REFUSED)["isError"]

        with ThreadPoolExecutor(4) as pool:
            assert all(pool.map(refuse, [tool.name for tool in load_registry().tools[:: 1 if TORTURE else 6]]))
        for name, arguments in (
            ("read_document", ["path=story.md"]),
            ("create_document", ["title=new.md", "content=x"]),
            ("edit_text", ["path=story.md", "old_text=John", "new_text=James"]),
        ):
            options = [option for argument in arguments for option in ("--tool-arg", argument)]
            done = inspector.ask("tools/call", "--tool-name", name, *options)
            assert done["isError"] is False, done
    assert "James" in (folder / "story.md").read_text(encoding="utf-8")


def results(command: Sequence[str], variables: dict[str, str], url: str, scenario: str) -> str:
    done = subprocess.run(
        [*command, "server", "--url", url, "--scenario", scenario],
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, **variables},
        timeout=PATIENCE,
        check=False,
    )
    return re.sub(r"\x1b\[\d+m", "", done.stdout + done.stderr)


@contextmanager
def mounted(folder: Path) -> Generator[str]:
    """The address of the application without a token, which the suite cannot show."""
    script = Path(__file__).resolve().parents[1] / "speaking" / "mounted.py"
    process = subprocess.Popen(
        [sys.executable, script, folder], stdout=subprocess.PIPE, encoding="utf-8", env=environment(folder)
    )
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.wait(PATIENCE)
        process.stdout.close()


@pytest.mark.slow
def test_the_conformance_suite_finds_no_fault(folder: Path) -> None:
    command, variables = installed(*CONFORMANCE)
    with mounted(folder) as url:
        for scenario in SCENARIOS:
            told = results(command, variables, url, scenario)
            assert re.search(r"Passed: (\d+)/\1, 0 failed, 0 warnings", told), told
        told = results(command, variables, url, "server-stateless")
        assert set(re.findall(r"\[(\S+)\s*\] FAILURE", told)) == STATELESS_FAILURES, told
