"""Random and hostile arguments for every tool: failures are typed, and leave every byte of the folder as it was."""

from __future__ import annotations

import contextlib
import json
import os
import re
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from redraft.errors import RedraftError
from redraft.tools.context import ToolContext
from redraft.tools.registry import load_registry
from redraft.workspace.document import content_hash
from tests.conftest import TORTURE
from tests.tools.calling import Caller
from tests.tools.hostile import HASH, LAST, NOW, SECRET, arguments_for, everything, prepare, resolved, restore
from tests.workspace.folder import AGENT, Folder

if TYPE_CHECKING:
    from collections.abc import Generator

TOOLS = [entry.name for entry in load_registry().tools]
EACH = 5000 if TORTURE else 12
MODES = ("apply", "apply", "propose", "merge", "read")
# What a call of a tool that writes may have changed on disk only in these modes.
WRITING = ("apply", "merge")
SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]
ABOUT_TURNS = ("show_turn", "undo_turn", "list_turns")
PATH = "<the path>"


def marks(arguments: dict[str, Any], agent: Caller) -> dict[str, Any]:
    """What the marks in the arguments stand for at this moment."""
    named = re.search(r'"(?:path|file_path|from_path)": "([^"]*)"', json.dumps(arguments, ensure_ascii=False))
    turns = agent.workspace.turns(limit=1)
    known: dict[str, Any] = {NOW: "0" * 16, HASH: content_hash(b""), LAST: turns[0].id if turns else 1}
    try:
        document = agent.workspace.read(named[1] if named else "")
    except RedraftError:
        return known
    line = document.text.line(0) if document.text.line_count else ""
    return {**known, PATH: document.path, NOW: document.version, HASH: content_hash(line.encode())}


class Bench:
    """A folder that calls are tried in, one after the other, each on the same documents."""

    def __init__(self, folder: Folder, tool: str) -> None:
        prepare(folder)
        self.folder = folder
        self.tool = load_registry().get(tool)
        self.agent = Caller.at(folder)
        self.agent.workspace.open_tab("story.md")
        self.start = everything(folder)
        self.answer_schema: Any = Draft202012Validator(self.tool.output_schema)
        self.seen = Counter[str]()

    def attempt(self, arguments: dict[str, Any], mode: str, *, agrees: bool, has_read: bool) -> None:
        context = ToolContext(self.agent.workspace, AGENT, confirm=lambda _what, _paths: agrees, ask=self.agent.answer)
        if self.tool.name in ABOUT_TURNS:
            load_registry().call("edit_text", {"path": "story.md", "old_text": "eleven", "new_text": "twelve"}, context)
        context.mode = mode
        known = marks(arguments, self.agent)
        if has_read and known.get(PATH):
            with contextlib.suppress(RedraftError):
                context.read(known[PATH])
        before = everything(self.folder)
        told = self._told(resolved(arguments, known), context)
        wire = json.dumps(told, ensure_ascii=False).encode()
        assert SECRET.encode() not in wire
        assert b"outside of the folder" not in wire
        failed_or_dry = "suggestion" in told or told.get("state") == "dry_run"
        if failed_or_dry or mode not in WRITING or self.tool.risk == "read":
            assert everything(self.folder) == before
        self._decide()
        restore(self.folder, self.start)

    def _told(self, arguments: dict[str, Any], context: ToolContext) -> dict[str, Any]:
        """What a surface would tell. Any exception but our own ends the test, and so does a turn left by a failure."""
        note(f"{self.tool.name} {arguments!a}")
        turns = self._turns()
        try:
            answer = load_registry().call(self.tool.name, arguments, context)
        except RedraftError as error:
            self.seen[error.code] += 1
            assert self._turns() == turns
            return error.as_dict()
        self.seen["success"] += 1
        assert self.answer_schema.is_valid(answer)
        return answer

    def _turns(self) -> list[int]:
        """The newest turn, but for those of `outside`: what `restore` wrote is noticed at any time."""
        return [turn.id for turn in self.agent.workspace.turns(limit=50) if turn.author.kind != "outside"][:1]

    def _decide(self) -> None:
        """The person refuses whatever was proposed and closes what was opened."""
        workspace = self.agent.workspace
        if workspace.drafts():
            workspace.reject(dict.fromkeys(draft.path or draft.base_path or "" for draft in workspace.drafts()))
        for tab in workspace.tabs():
            if tab.path != "story.md":
                workspace.close_tab(tab.tab_id, discard=True)


@contextlib.contextmanager
def in_memory() -> Generator[Folder]:
    """A folder for thousands of calls; where there is a file system in memory it is there, because on a disk all that
    takes time is the waiting for each turn to be durable."""
    memory = "/dev/shm" if TORTURE and os.path.isdir("/dev/shm") else None
    with tempfile.TemporaryDirectory(prefix="redraft-fuzz-", dir=memory) as place:
        folder = Folder(Path(place))
        try:
            yield folder
        finally:
            folder.close()


@pytest.mark.slow
@pytest.mark.parametrize("tool", TOOLS)
def test_whatever_is_asked_failures_are_typed_and_change_no_byte(tool: str):
    with in_memory() as folder:
        bench = Bench(folder, tool)

        @settings(max_examples=EACH, deadline=None, suppress_health_check=SLOW, database=None)
        @given(arguments_for(tool), st.sampled_from(MODES), st.booleans(), st.booleans())
        def attempt(arguments: dict[str, Any], mode: str, agrees: bool, has_read: bool) -> None:
            bench.attempt(arguments, mode, agrees=agrees, has_read=has_read)

        attempt()
        assert bench.agent.workspace.verify_audit().intact
        if TORTURE:
            assert bench.seen["success"] > EACH // 50, bench.seen  # else the generator never gets past the door


# To `list_turns` a path is only a name in the history.
@pytest.mark.parametrize("tool", [name for name in TOOLS if name != "list_turns"])
def test_no_tool_leads_out_of_the_folder(folder: Folder, tool: str):
    prepare(folder)
    agent = Caller.at(folder)
    schema = load_registry().get(tool).input_schema
    fields = [name for name in schema["properties"] if "path" in name or name in ("folder", "prefix", "name", "title")]
    samples: dict[str, Any] = {
        "version": "0" * 16, "content": "x", "operation": "append", "old_text": "out", "new_text": "in", "find": "o",
        "replace": "x", "query": "out", "heading": "x", "after_line": 0, "start_line": 0, "end_line": 0,
        "from_path": "story.md", "to_path": "moved.md",
    }  # fmt: skip
    before = everything(folder)
    for field in fields:
        for path in ("../out.md", "link.md", "linked/out.md", "loop/story.md", str(folder.path.parent / "out.md")):
            arguments = {name: samples[name] for name in schema.get("required", []) if name in samples}
            with pytest.raises(RedraftError) as caught:
                agent.call(tool, **{**arguments, field: path})
            assert "outside of" not in str(caught.value.as_dict())
            assert everything(folder) == before
