"""What the Agent Client Protocol costs: from a prompt to the first word of the answer, as an editor waits for it.

The peer is the same job in this process, from `Agent.start` to the first delta, which is the way of `redraft ask`. Both
have a scripted model that answers at once and a linked document of 100 KB in front; the editor is also asked for its
buffer. They are taken in turns.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, Any, Self

from benchmarks.measure import Note, percentile, shown
from benchmarks.of_agent import LINE, LINES
from redraft.agent.agent import Agent
from redraft.agent.store.agent_store import AgentStore
from redraft.config import AgentLimits, Settings
from redraft.providers.adapters.scripted import ScriptedProvider
from redraft.tools.registry import load_registry
from redraft.workspace.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from redraft.agent.store.events import JobEvent
    from redraft.providers.contract import Provider

OVER = 0.050
ROUNDS = 40
WARM_UP = 3
STEP = {"text": "The harbour is dark."}


def results(folder: Path) -> Iterator[Note]:
    text = "".join(LINE.format(number=number) + "\n" for number in range(LINES))
    times: dict[str, list[float]] = {"built-in": [], "acp": []}
    homes = [folder / name for name in times]
    for home in homes:
        (home / "notes").mkdir(parents=True)
        (home / "notes" / "long.md").write_text(text, encoding="utf-8")
    with BuiltIn(homes[0]) as built_in, Editor(homes[1], text) as editor:
        for number in range(-WARM_UP, ROUNDS):
            for name, ask in (("built-in", built_in.ask), ("acp", editor.ask)):
                seconds = ask()
                if number >= 0:
                    times[name].append(seconds)
    middle = {name: percentile(found, 0.5) for name, found in times.items()}
    late = {name: percentile(found, 0.95) for name, found in times.items()}
    more = middle["acp"] - middle["built-in"]
    mark = "ok  " if more <= OVER else "SLOW"
    for name, found in (("median", middle), ("95th percentile", late)):
        words = f"ACP: prompt to first word, {name}"
        yield Note(f"     {words:<48} {shown(found['acp']):>9}  the built-in way {shown(found['built-in']):>9}")
    yield Note(
        f"{mark} {'ACP: more than the built-in way':<48} {shown(more):>9}  (at most {shown(OVER)})", more <= OVER
    )


class BuiltIn:
    """The agent in this process, as `redraft ask` has it."""

    def __init__(self, home: Path) -> None:
        limits = AgentLimits(ask_above_tokens=10**9)
        settings = Settings(agent=limits)
        self._workspace = Workspace.open(home / "notes", state_home=str(home / "state"), settings=settings)
        self._store = AgentStore(self._workspace.state)
        self._agent = Agent(self._workspace, self._store, load_registry(), self)
        self._session = self._store.sessions.create().id

    def provider(self, name: str, trace: object, /) -> Provider:
        return ScriptedProvider([STEP])

    def ask(self) -> float:
        said = threading.Event()
        spoken: list[float] = []

        def hear(event: JobEvent) -> None:
            if event.type == "assistant.delta" and not said.is_set():
                spoken.append(time.perf_counter())
                said.set()

        end = self._store.events.subscribe(hear)
        rows = [{"kind": "file", "file_path": "long.md", "pinned": False}]
        start = time.perf_counter()
        job = self._agent.start(self._session, "Look at it", context_rows=rows, document="long.md")
        said.wait()
        end()
        self._agent.wait(job.id)
        return spoken[0] - start

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._agent.close()
        self._store.close()
        self._workspace.close()


class Editor:
    """The least editor: it asks, answers for its buffer, and reads until the first word."""

    def __init__(self, home: Path, text: str) -> None:
        (home / "config" / "redraft").mkdir(parents=True)
        script = home / "play.jsonl"
        script.write_text(json.dumps(STEP), encoding="utf-8")
        (home / "config" / "redraft" / "settings.toml").write_text(
            f'[models.play]\nkind = "scripted"\nfile = "{script}"\n[routing]\nagent_mode = "local"\n'
            "[agent]\nask_above_tokens = 1000000000\n",
            encoding="utf-8",
        )
        places = {"XDG_CONFIG_HOME": str(home / "config"), "XDG_STATE_HOME": str(home / "state")}
        self._text = text
        self._folder = home / "notes"
        self._program = subprocess.Popen(
            [sys.executable, "-m", "redraft", "acp"],
            cwd=home,
            env={**os.environ, **places},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=1 << 20,
        )
        self._number = 0
        able = {"fs": {"readTextFile": True, "writeTextFile": False}}
        self._wait_for(self._send("initialize", protocolVersion=1, clientCapabilities=able))
        new = self._wait_for(self._send("session/new", cwd=str(self._folder), mcpServers=[]))
        self._session = new["result"]["sessionId"]

    def ask(self) -> float:
        link = {"type": "resource_link", "name": "long.md", "uri": (self._folder / "long.md").as_uri()}
        blocks = [{"type": "text", "text": "Look at it: "}, link]
        start = time.perf_counter()
        number = self._send("session/prompt", sessionId=self._session, prompt=blocks)
        spoken = 0.0
        while True:
            message = self._receive()
            if not spoken and _is_word(message):
                spoken = time.perf_counter() - start
            if message.get("id") == number and "method" not in message:
                assert message["result"]["stopReason"] == "end_turn", message
                return spoken

    def _send(self, method: str, **parameters: Any) -> int:
        self._number += 1
        self._write({"jsonrpc": "2.0", "id": self._number, "method": method, "params": parameters})
        return self._number

    def _write(self, message: dict[str, Any]) -> None:
        assert self._program.stdin is not None
        self._program.stdin.write(json.dumps(message).encode() + b"\n")
        self._program.stdin.flush()

    def _receive(self) -> dict[str, Any]:
        """The next message; what the agent asks of the editor is answered."""
        assert self._program.stdout is not None
        message: dict[str, Any] = json.loads(self._program.stdout.readline())
        if message.get("method") == "fs/read_text_file":
            self._write({"jsonrpc": "2.0", "id": message["id"], "result": {"content": self._text}})
        return message

    def _wait_for(self, number: int) -> dict[str, Any]:
        while True:
            message = self._receive()
            if message.get("id") == number and "method" not in message:
                return message

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._program.stdin is not None
        assert self._program.stdout is not None
        self._program.stdin.close()
        self._program.wait()
        self._program.stdout.close()


def _is_word(message: dict[str, Any]) -> bool:
    update = message.get("params", {}).get("update", {})
    return message.get("method") == "session/update" and update.get("sessionUpdate") == "agent_message_chunk"
