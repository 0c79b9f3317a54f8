"""Promise 8: a tool gives the same answer over MCP, HTTP, the command line and in the agent's loop.

Equal folders get the same random calls, each folder through a door of its own. The answers must be equal, and so must
the folders. The agent's loop is asked by a model server of the test's own, which sees what a model would be told.
"""

from __future__ import annotations

import json
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

from tests.promises.doors import (
    Folder,
    Json,
    Lines,
    call,
    chance,
    rounds,
    run_tool,
    served,
    start_agent,
    write_settings,
)
from tests.providers.endpoint import Endpoint
from tests.providers.wires import WIRES
from tests.speaking.lines import PATIENCE

if TYPE_CHECKING:
    import random
    from collections.abc import Callable
    from pathlib import Path

    Door = Callable[[str, Json], Json]

pytestmark = pytest.mark.slow
CHAT = next(wire for wire in WIRES if wire.kind == "openai")
START = {
    "story.md": "# The Lamp\r\n\r\nA lamp was lit.\r\n\r\n## Oil \U0001f600\r\n\r\nThe oil ran out twice.\r\n",
    "list.txt": "one\ntwo\nthree\nfour\n",
    "data.json": '{"lamp": {"oil": 1}, "lit": true}\n',
    "sub/deep.md": "# Deep\n\nThe lamp again.",
}
# A job's changes are carried out at its end: until then they are staged, nothing is recorded, and no tab is open. The
# time of a turn is another each time.
APART = ("state", "turn", "tab_id", "created", "tabs", "active_tab_id")


def random_call(dice: random.Random, versions: dict[str, str], *, writes: bool) -> tuple[str, Json]:
    """A call of a tool, sometimes one that has to fail."""
    path = dice.choice([*versions, *versions, "none.md", "../out.md"])
    version = versions.get(path, "0" * 16) if dice.random() < 0.9 else "0" * 16
    line, more = dice.randint(0, 5), dice.randint(0, 2)
    at = {"path": path, "version": version}
    word = dice.choice(["lamp", "oil", "two", "The", "(", "zzz", "\U0001f600"])
    reads: list[tuple[str, Json]] = [
        ("read_document", {"path": path, "start_line": line, "end_line": line + more}),
        ("read_document", {"path": path, "check": True}),
        ("get_outline", {"path": path, "max_depth": dice.randint(1, 3)}),
        ("search_document", {"path": path, "query": word, "match_type": dice.choice(["exact", "regex"])}),
        ("list_documents", {"recursive": dice.random() < 0.5}),
        ("list_turns", {"limit": dice.randint(1, 4)}),
        ("get_changes_since", {**at}),
    ]
    edits: list[tuple[str, Json]] = [
        ("edit_text", {"path": path, "old_text": word, "new_text": f"{word} new"}),
        ("insert_lines", {**at, "after_line": line, "content": "put in\nhere"}),
        ("replace_lines", {**at, "start_line": line, "end_line": line + more, "content": "instead"}),
        ("delete_lines", {**at, "start_line": line, "end_line": line}),
        ("find_and_replace", {**at, "find": word, "replace": "X", "preview": dice.random() < 0.3}),
        ("create_document", {"path": f"new{dice.randint(0, 3)}.md", "content": "# New\n"}),
        ("move_document", {"from_path": path, "to_path": f"moved/{line}.md"}),
    ]
    return dice.choice(edits if writes else reads)


def comparable(answer: Json) -> Json:
    """An answer without what a door may tell differently."""

    def kept(pairs: list[tuple[str, Any]]) -> Json:
        return {name: value for name, value in pairs if name not in APART}

    return json.loads(json.dumps(answer), object_pairs_hook=kept)


class Loop:
    """The agent of a served folder, whose model makes one call and is told its answer."""

    def __init__(self, folder: Folder, endpoint: Endpoint) -> None:
        self.folder, self.endpoint = folder, endpoint
        self.session = folder.server.post("/api/agent/sessions")["session_id"]

    def __call__(self, tool: str, arguments: Json) -> Json:
        self.endpoint.answers = [CHAT.streamed("", [(tool, arguments)], False), CHAT.streamed("Done.", [], False)]
        self.endpoint.asked.clear()
        body = {"session_id": self.session, "instruction": "Please.", "model": "asked", "mode": "apply"}
        job = self.folder.server.post("/api/agent/run", body)["job_id"]
        end = time.monotonic() + PATIENCE
        while (found := self.folder.server.get(f"/api/agent/jobs/{job}"))["status"] not in ("completed", "failed"):
            assert time.monotonic() < end, found
            time.sleep(0.01)
        told = [m for asked in self.endpoint.asked for m in asked.body["messages"] if m["role"] == "tool"]
        assert told, (found, [asked.body for asked in self.endpoint.asked])
        answer: Json = json.loads(told[-1]["content"])
        # In this protocol a failure is a text under `error`, which holds the answer.
        return json.loads(answer["error"]) if answer.keys() == {"error"} else answer


def open_doors(place: Path, stack: ExitStack) -> tuple[Folder, dict[str, tuple[Path, Door]]]:
    """Equal folders, each behind a door of its own."""
    endpoint = stack.enter_context(Endpoint())
    model = f'[models.asked]\nkind = "compatible"\nmodel = "m"\nbase_url = "{endpoint.url}/v1"\n'
    plain = stack.enter_context(served(place / "http"))
    asked = stack.enter_context(served(place / "loop", settings=model, REDRAFT_MODEL_CALLS="loopback"))
    alone: dict[str, Path] = {}
    for door in ("mcp", "program"):
        alone[door] = place / door / "notes"
        alone[door].mkdir(parents=True)
        write_settings(place / door, 'mode = "apply"\n')
    folders = {"http": plain.path, "loop": asked.path, **alone}
    for folder in folders.values():
        for name, text in START.items():
            file = folder / name
            file.parent.mkdir(exist_ok=True)
            file.write_bytes(text.encode())
    agent: Lines = start_agent(alone["mcp"], "agent")
    stack.callback(agent.close)
    doors: dict[str, Door] = {
        "http": lambda tool, arguments: plain.tool(tool, **arguments)[1],
        "mcp": lambda tool, arguments: call(agent, tool, **arguments)[1],
        "program": lambda tool, arguments: run_tool(alone["program"], tool, arguments)[1],
        "loop": Loop(asked, endpoint),
    }
    return plain, {name: (folders[name], door) for name, door in doors.items()}


def contents(folder: Path) -> dict[str, bytes]:
    files = (file for file in folder.rglob("*") if file.is_file() and ".redraft" not in file.parts)
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in files}


@pytest.mark.covers("P8")
def test_random_calls_get_the_same_answer_and_leave_the_same_folder_through_every_door(tmp_path: Path):
    failed = 0
    with ExitStack() as stack:
        plain, doors = open_doors(tmp_path, stack)
        for seed in rounds(14, 2_000):
            dice = chance("doors", seed)
            versions = {name: plain.text(name)[1] for name in sorted(contents(plain.path))}
            tool, arguments = random_call(dice, versions, writes=seed % 2 == 1)
            answers = {name: comparable(door(tool, arguments)) for name, (_, door) in doors.items()}
            first = answers["http"]
            failed += "error" in first
            # A model is also told, beside the answer, that documents are data.
            answers["loop"] = {name: value for name, value in answers["loop"].items() if name in first}
            told = f"seed {seed}: {tool} {arguments}"
            for name, answer in answers.items():
                assert answer == first, f"{told}: {name} says {answer}, http says {first}"
            left = contents(plain.path)
            for name, (folder, _) in doors.items():
                assert contents(folder) == left, f"{told}: after {name}"
    assert failed > 0
