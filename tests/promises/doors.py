"""The doors that a user has: a served folder over HTTP, `redraft mcp` on its streams, and the `redraft` program.

The promises are tried through these alone. What must be there is kept by each test in a ledger of its own, in plain
text and bytes.
"""

from __future__ import annotations

import json
import os
import random
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from tests.conftest import TORTURE
from tests.server.serving import Server, begun, ended
from tests.speaking.forking import run_program
from tests.speaking.lines import PATIENCE, Lines, answer_of, environment

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Generator
    from pathlib import Path

Json = dict[str, Any]
SEED = int(os.environ.get("REDRAFT_SEED", "0"))  # where to begin, to repeat a failure or to try others
MINUTES = os.environ.get("REDRAFT_TORTURE_MINUTES")
ROUNDS = os.environ.get("REDRAFT_TORTURE_ROUNDS")


def rounds(few: int, many: int | None = None) -> Generator[int]:
    """The seeds to try: a few in `make test`; in `make torture` this many, or as many as an hour has time for."""
    minutes = MINUTES or (60 if many is None else None)
    end = None if minutes is None else time.monotonic() + 60 * float(minutes)
    wanted = (int(ROUNDS) if ROUNDS else many) if TORTURE else few
    number = SEED
    while (wanted is None or number < SEED + wanted) and not (TORTURE and end and time.monotonic() > end):
        yield number
        number += 1
        if TORTURE and (number - SEED) % 50 == 0:
            sys.stdout.write(f"{number - SEED} rounds so far, the next is seed {number}\n")
            sys.stdout.flush()
    sys.stdout.write(f"{number - SEED} rounds from seed {SEED}\n")  # shown by `pytest -s`


@dataclass(slots=True)
class Folder:
    """A served folder. The server can be killed and started again; the address then is another one."""

    path: Path
    server: Server

    @classmethod
    def serve(cls, place: Path, *, mode: str = "apply", settings: str = "", **variables: str) -> Folder:
        """Serve a new folder in which agents may work in this mode."""
        folder = place / "notes"
        folder.mkdir(parents=True, exist_ok=True)
        write_settings(place, f'mode = "{mode}"\n{settings}')
        return cls(folder, begun(folder, **variables))

    def put(self, name: str, content: bytes | str) -> Path:
        file = self.path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return file

    def bytes_of(self, name: str) -> bytes:
        return (self.path / name).read_bytes()

    def kill(self) -> None:
        process = self.server.process
        assert process is not None
        process.kill()
        process.communicate(timeout=PATIENCE)

    def stop(self) -> None:
        assert ended(self.server) == ""

    def start(self) -> None:
        self.server = begun(self.path)

    # What an agent does

    def tool(self, name: str, mode: str = "apply", /, **arguments: Any) -> tuple[bool, Json]:
        """Whether a call went well, and its answer."""
        query = {"mode": mode, "agree": "true"}
        answer = self.server.request("POST", f"/api/tools/{name}", arguments, query=query)
        assert answer.status < 500 or answer.status == 503, (name, arguments, answer.body)
        return answer.status == 200, answer.json

    def agent(self, name: str, *options: str) -> Lines:
        """A program that came in by `redraft mcp`; it agrees to whatever it is asked."""
        return start_agent(self.path, name, *options)

    # What the person does

    def tab(self, name: str) -> Json:
        return self.server.post("/api/tabs", {"path": name})

    def text(self, name: str) -> tuple[str, str]:
        """A document as a person sees it, unsaved typing and proposals included; and its version."""
        shown = self.server.get("/api/documents", path=name, limit=1_048_576)
        return shown["content"], shown["version"]

    def type(self, name: str, at: int, old: str, new: str, version: str) -> bool:
        """Type into a document; whether it was acknowledged."""
        edits = [{"at": at, "old": old, "new": new}]
        tab = self.tab(name)["tab_id"]
        answer = self.server.request("POST", f"/api/tabs/{tab}/type", {"version": version, "edits": edits})
        assert answer.status in (200, 409), answer.body
        return answer.status == 200

    def save(self, name: str) -> Json | None:
        """Save a document; the turn that it made."""
        return self.server.post(f"/api/tabs/{self.tab(name)['tab_id']}/save")["turn"]

    def hunks(self, name: str) -> list[Json]:
        """The agents' hunks that wait in a document, from its top to its end."""
        shown = self.server.get("/api/review", path=name)["documents"]
        return [hunk for draft in shown for hunk in draft["hunks"] if hunk["author"] != "user"]

    def decide(self, verdict: str, name: str, hunks: list[str] | None) -> tuple[bool, Json]:
        answer = self.server.request("POST", f"/api/review/{verdict}", {"hunks": {name: hunks}})
        assert answer.status < 500, answer.body
        return answer.status == 200, answer.json

    def undo(self, turn: int) -> tuple[bool, Json]:
        """Take a turn back; whether it was, and what was said."""
        answer = self.server.request("POST", "/api/turns/undo", {"turn": turn})
        assert answer.status < 500, answer.body
        return answer.status == 200 and answer.json["turn"] is not None, answer.json

    def turns(self, after: int = 0) -> list[Json]:
        """The history behind a turn, the newest first."""
        found: list[Json] = []
        before: Json = {}
        while True:
            page = self.server.get("/api/turns", limit=100, **before)
            found += [turn for turn in page["turns"] if turn["turn"] > after]
            if page["next_before"] is None or page["next_before"] <= after:
                return found
            before = {"before": page["next_before"]}


@contextmanager
def served(place: Path, *, mode: str = "apply", settings: str = "", **variables: str) -> Generator[Folder]:
    """A served folder, whose server must end content."""
    folder = Folder.serve(place, mode=mode, settings=settings, **variables)
    try:
        yield folder
    except BaseException:
        folder.kill()
        raise
    folder.stop()


def number_of(turn: Json | None) -> int | None:
    return None if turn is None else turn["turn"]


def write_settings(place: Path, text: str) -> None:
    file = place / "config" / "redraft" / "settings.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def start_agent(folder: Path, name: str, *options: str) -> Lines:
    client = Lines.to(folder, "--profile", "all", *options)
    client.answer = lambda _: {"action": "accept", "content": {"agree": True}}
    client.start(name, elicitation={})
    return client


def call(client: Lines, tool: str, /, **arguments: Any) -> tuple[bool, Json]:
    """Whether a call over MCP went well, and its answer."""
    result = client.call(tool, **arguments)
    return not result.get("isError", False), answer_of(result)


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    """The program, as somebody at a terminal runs it in the folder."""
    return run_program(
        [sys.executable, "-W", "error", "-m", "redraft", *arguments],
        cwd=folder,
        env=environment(folder),
        timeout=PATIENCE,
    )


def run_tool(folder: Path, name: str, arguments: Json) -> tuple[bool, Json]:
    """Whether a tool called from the command line went well, and its answer."""
    done = run(folder, "tool", name, "--json", json.dumps(arguments), "--mode", "apply", "--yes")
    return done.returncode == 0, json.loads(done.stdout)


def fingerprint(folder: Path) -> dict[str, str]:
    """The sha256 of every file, by its path; links are not followed."""
    found: dict[str, str] = {}
    for parent, _, names in os.walk(folder):
        for name in names:
            file = os.path.join(parent, name)
            if os.path.islink(file):
                found[file] = "-> " + os.readlink(file)
            else:
                with open(file, "rb") as stream:
                    found[file] = sha256(stream.read()).hexdigest()
    return found


def chance(test: str, seed: int) -> random.Random:
    """The random choices of one round, the same each time."""
    return random.Random(f"{test} {seed}")
