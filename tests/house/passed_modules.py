"""Which modules one act passes through: `python tests/house/passed_modules.py ACT`, for the package on the path.

Runs the real program in this process, with a profile of every call of a function, and prints how many modules and calls
the act took. `edit_text` is the second of two calls over MCP, so that what the first loads and opens does not count;
`accept` and `ask` are whole commands, from the command line to the exit status.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import threading
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

OPTIMIZED = 0x1  # the flag of a function's code; bodies of modules and classes, which run while loading, have none
WORDS = "The heron waits by the bank.\n\nIt moves slowly.\n"
CHANGE = "-The heron waits by the bank.\n+The heron stands by the bank.\n"


class Profile:
    """The calls of functions of the package, by module, while `active`."""

    def __init__(self) -> None:
        self.active = False
        self.calls: Counter[str] = Counter()

    def start(self) -> None:
        threading.setprofile(self._see)
        sys.setprofile(self._see)

    def _see(self, frame: FrameType, event: str, _argument: object) -> None:
        code = frame.f_code
        if self.active and event == "call" and code.co_flags & OPTIMIZED:
            name = str(frame.f_globals.get("__name__", ""))
            if name.partition(".")[0] == "redraft":
                self.calls[name] += 1


def run(*words: str) -> None:
    from redraft.cli import main

    if status := main(list(words)):
        raise SystemExit(f"redraft {' '.join(words)}: exit status {status}")


def edit_at_once(folder: Path, profile: Profile) -> None:
    edit_over_mcp(folder, profile, "apply")


def propose_edit(folder: Path, profile: Profile) -> None:
    edit_over_mcp(folder, profile, "propose")


def edit_over_mcp(folder: Path, profile: Profile, mode: str) -> None:
    requests, source = os.pipe()
    answers, sink = os.pipe()
    sys.stdin = os.fdopen(requests, encoding="utf-8")
    sys.stdout = os.fdopen(sink, "w", encoding="utf-8")
    client = threading.Thread(target=call_twice, args=(source, answers, profile))
    client.start()
    run("mcp", str(folder), "--mode", mode)
    client.join()


def call_twice(source: int, answers: int, profile: Profile) -> None:
    sys.setprofile(None)
    with os.fdopen(source, "wb") as requests, os.fdopen(answers, "rb") as lines:

        def send(message: dict[str, Any]) -> None:
            requests.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
            requests.flush()

        def ask(number: int, method: str, parameters: dict[str, Any]) -> dict[str, Any]:
            send({"id": number, "method": method, "params": parameters})
            return json.loads(lines.readline())

        def call(number: int, name: str, arguments: dict[str, Any]) -> None:
            answer = ask(number, "tools/call", {"name": name, "arguments": arguments})
            if "error" in answer or answer["result"].get("isError"):
                raise SystemExit(f"{name}: {answer}")

        client = {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "figures", "version": "1"},
        }
        ask(1, "initialize", client)
        send({"method": "notifications/initialized"})
        call(2, "read_document", {"path": "notes.md"})
        call(3, "edit_text", {"path": "notes.md", "old_text": "waits", "new_text": "stands"})
        profile.active = True
        call(4, "edit_text", {"path": "notes.md", "old_text": "slowly", "new_text": "quickly"})
        profile.active = False


def accept(folder: Path, profile: Profile) -> None:
    patch = folder.parent / "stand.patch"
    patch.write_text("--- a/notes.md\n+++ b/notes.md\n@@ -1 +1 @@\n" + CHANGE, encoding="utf-8")
    run("propose", str(patch), "--folder", str(folder))
    profile.active = True
    run("accept", "--all", "--folder", str(folder))
    profile.active = False


def ask(folder: Path, profile: Profile) -> None:
    profile.active = True
    run("ask", 'Replace "waits" with "stands" in notes.md', "--folder", str(folder))
    profile.active = False


ACTS: dict[str, Callable[[Path, Profile], None]] = {
    "edit_text": edit_at_once,
    "edit_text, proposed": propose_edit,
    "accept": accept,
    "ask": ask,
}


def measure(act: str) -> dict[str, int]:
    """How often the act calls functions of each module that it passes through."""
    profile = Profile()
    with tempfile.TemporaryDirectory() as place:
        os.environ["XDG_STATE_HOME"] = os.path.join(place, "state")
        os.environ["REDRAFT_MODEL_CALLS"] = "refuse"
        folder = Path(place, "notes")
        folder.mkdir()
        (folder / "notes.md").write_text(WORDS, encoding="utf-8")
        profile.start()
        ACTS[act](folder, profile)
        sys.setprofile(None)
    return dict(profile.calls.most_common())


if __name__ == "__main__":
    answer = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    json.dump(measure(sys.argv[1]), answer)
    answer.close()
