"""A job's tool calls as an editor shows them: a title, a kind, where it works, and what it changes as diffs."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from acp.helpers import start_tool_call, text_block, tool_content, tool_diff_content, update_tool_call
from acp.schema import ToolCallLocation

from redraft.history.audit import paths_in
from redraft.text.diff.line_diff import diff_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from acp.helpers import ToolCallContentVariant
    from acp.schema import ToolCallProgress, ToolCallStart, ToolCallStatus, ToolKind

    from redraft.files.paths import DocPath
    from redraft.workspace.turns.turn import StagedDocument

KINDS: dict[str, ToolKind] = {
    "delete_document": "delete",
    "destroy": "delete",
    "move_document": "move",
    "move": "move",
    "clarify_user": "other",
    "analyze_document": "think",
    "list_documents": "search",
    "list_files": "search",
    "list_tabs": "search",
    "list_turns": "search",
    "search_document": "search",
    "search_documents": "search",
    "search_project": "search",
    "get_changes_since": "read",
    "get_outline": "read",
    "getEditorText": "read",
    "read_document": "read",
    "read_file": "read",
    "show_turn": "read",
    "spend": "other",
}
VERBS = {"read": "Read", "edit": "Edit", "delete": "Delete", "search": "Look through", "think": "Analyze"}
FROM_ONE = ("read_file",)  # the tools whose lines count from 1
MAX_DIFFS = 20
# A longer text is shown from its first to its last change.
WHOLE_TEXT = 200_000
CONTEXT_LINES = 3


def kind_of(tool: str) -> ToolKind:
    """What a tool, or the action that the person is asked about, does in the protocol's words."""
    return KINDS.get(tool, "edit")


@dataclass(frozen=True, slots=True)
class TextChange:
    """What became of a document's text; None where there was or is no document."""

    path: str
    old: str | None
    new: str | None

    @property
    def line(self) -> int:
        """The first changed line, from 1."""
        regions = diff_lines(self.old or "", self.new or "")
        return regions[0].new_start + 1 if regions else 1

    def as_content(self, folder: str) -> ToolCallContentVariant:
        old, new = self.old, self.new or ""
        if old is not None and max(len(old), len(new)) > WHOLE_TEXT:
            old, new = _cut_changed_part(old, new)
        return tool_diff_content(os.path.join(folder, self.path), new, old)


def _cut_changed_part(old: str, new: str) -> tuple[str, str]:
    """Both texts from the first to the last line that differs, with a few lines around."""
    regions = diff_lines(old, new)
    if not regions:
        return "", ""
    ends = (old, regions[0].at, regions[-1].until), (new, regions[0].new_at, regions[-1].new_until)
    shown = [text[_back(text, start) : _on(text, end)] for text, start, end in ends]
    return shown[0], shown[1]


def _back(text: str, at: int) -> int:
    for _ in range(CONTEXT_LINES + 1):
        at = text.rfind("\n", 0, max(at - 1, 0)) + 1 if at else 0
    return at


def _on(text: str, at: int) -> int:
    for _ in range(CONTEXT_LINES):
        at = text.find("\n", at) + 1 or len(text)
    return at


def list_changed_texts(
    before: Mapping[DocPath, StagedDocument], after: Mapping[DocPath, StagedDocument]
) -> list[TextChange]:
    """What was staged between two moments of a turn, document by document."""
    found: list[TextChange] = []
    for path, staged in after.items():
        known = before.get(path)
        if known is staged:
            continue
        was = staged.seen if known is None else known.now
        old, new = (None if each is None else str(each.text) for each in (was, staged.now))
        if old != new:
            found.append(TextChange(str(path), old, new))
    return found


class ToolCallView:
    """One call, from its start to its end. `folder` is where its documents lie. A model names its calls within one job;
    the editor knows them by the job and that name, since a session has many jobs."""

    def __init__(self, folder: str, job_id: str, call_id: str, tool: str, arguments: object) -> None:
        self.id = f"{job_id}-{call_id}"
        self.tool = tool
        self._folder = folder
        self._arguments = arguments

    @property
    def paths(self) -> list[str]:
        return list(dict.fromkeys(paths_in(self._arguments)))

    def start(self) -> ToolCallStart:
        return start_tool_call(
            self.id,
            self.title,
            kind=kind_of(self.tool),
            status="in_progress",
            locations=[self._location(path, self._first_line) for path in self.paths[:MAX_DIFFS]],
            raw_input=self._arguments,
        )

    def end(self, status: ToolCallStatus, result: object, changes: Sequence[TextChange] = ()) -> ToolCallProgress:
        """What the call came to. A failed one says why."""
        content = [change.as_content(self._folder) for change in changes[:MAX_DIFFS]]
        if not content and status == "failed":
            content = [tool_content(text_block(error_text(result)))]
        locations = [self._location(change.path, change.line) for change in changes[:MAX_DIFFS]]
        return update_tool_call(
            self.id, status=status, content=content or None, locations=locations or None, raw_output=result
        )

    def _location(self, path: str, line: int | None) -> ToolCallLocation:
        return ToolCallLocation(path=os.path.join(self._folder, path), line=line)

    @property
    def title(self) -> str:
        table = _table(self._arguments)
        kind, paths = kind_of(self.tool), self.paths
        if kind == "move" and len(paths) > 1:
            return f"Move {paths[0]} to {paths[1]}"
        if isinstance(query := table.get("query"), str):
            return f"Search for {query!r}" + (f" in {paths[0]}" if paths else "")
        if isinstance(question := table.get("question"), str):
            return question
        verb = "Create" if self.tool.startswith("create_") else VERBS.get(kind, "")
        named = ", ".join(paths[:3]) + (f" and {len(paths) - 3} more" if len(paths) > 3 else "")
        return f"{verb} {named}" if verb and named else self.tool.replace("_", " ").capitalize()

    @property
    def _first_line(self) -> int | None:
        line = _table(self._arguments).get("start_line")
        return line + (self.tool not in FROM_ONE) if isinstance(line, int) else None


def _table(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def parse_preview(text: str) -> object:
    """Arguments or an answer as an event holds them: JSON in a text."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def error_text(result: object) -> str:
    table = _table(result)
    return str(table.get("message") or table.get("error") or "It failed.")


def locations_of(folder: str, paths: Iterable[str]) -> list[ToolCallLocation]:
    return [ToolCallLocation(path=os.path.join(folder, path)) for path in paths]
