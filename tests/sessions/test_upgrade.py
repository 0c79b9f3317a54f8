"""`upgrade` against an index of the test's own: asks only when called, and installs what is newer."""

from __future__ import annotations

import http.server
import threading
import zipfile
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from redraft import __version__

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from tests.sessions.conftest import AgentDoc


def wheel(folder: Path, version: str) -> None:
    """A package of our name with nothing but a file that says its version."""
    folder.mkdir(parents=True, exist_ok=True)
    about = f"redraft-{version}.dist-info"
    with zipfile.ZipFile(folder / f"redraft-{version}-py3-none-any.whl", "w") as archive:
        archive.writestr("which.txt", version)
        archive.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: redraft\nVersion: {version}\n")
        archive.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{about}/RECORD", f"which.txt,,\n{about}/METADATA,,\n{about}/WHEEL,,\n{about}/RECORD,,\n")


@contextmanager
def index(agent_doc: AgentDoc, folder: Path) -> Generator[list[str]]:
    """The person's pip asks here; what it asked for."""
    asked: list[str] = []

    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments, directory=str(folder))

        def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
            asked.append(self.path)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name that it overrides
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        agent_doc.patching.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{server.server_port}/")
        agent_doc.patching.setenv("PIP_CONFIG_FILE", "/dev/null")
        agent_doc.patching.setenv("PIP_NO_CACHE_DIR", "1")
        for name in ("PIP_EXTRA_INDEX_URL", "HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY"):
            agent_doc.patching.delenv(name, raising=False)
        try:
            yield asked
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.slow
@pytest.mark.covers("AD-upgrade")
def test_a_newer_version_is_found_and_installed_and_only_when_asked_for(agent_doc: AgentDoc, tmp_path: Path):
    wheel(tmp_path / "index/redraft", "99.0")
    target = tmp_path / "target"
    agent_doc.patching.setenv("PIP_TARGET", str(target))  # not over the program that runs this test
    with index(agent_doc, tmp_path / "index") as asked:
        agent_doc.ok("init", "plan.md")
        agent_doc.ok("diff", "plan.md")
        assert asked == [], "nothing else asks"
        assert f"Upgraded from {__version__} to 99.0." in agent_doc.ok("upgrade")
        assert asked[0].startswith("/redraft")
    assert (target / "which.txt").read_text(encoding="utf-8") == "99.0"


@pytest.mark.slow
@pytest.mark.covers("AD-upgrade")
def test_where_nothing_is_newer_or_nobody_answers_nothing_is_installed(agent_doc: AgentDoc, tmp_path: Path):
    wheel(tmp_path / "index/redraft", "0.0.0.dev1")
    with index(agent_doc, tmp_path / "index"):
        assert "is the latest version" in agent_doc.ok("upgrade")
    agent_doc.patching.setenv("PIP_RETRIES", "0")
    done = agent_doc.run("upgrade")
    assert done.status != 0
    assert "pip failed" in done.err
