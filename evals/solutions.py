"""From the two folders of a task to the tool calls of a model that does it right.

The calls are those that a real model would make: it reads what it changes, edits by quoting, by lines or by a list of
edits, and says that it is done. They are derived, never written by hand, so a real commit becomes a script; whether
they do what they should is for the real loop and the real tools to show. Edits of a document go from its end to its
beginning, so that none moves the lines of another.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from redraft.errors import RedraftError
from redraft.text.diff.line_diff import diff_lines
from redraft.text.lines import split_lines
from redraft.text.text import Text
from redraft.workspace.document import content_hash, version_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from evals.tasks import Task
    from redraft.providers.contract import JsonObject
    from redraft.text.diff.line_diff import LineRegion

Way = Literal["edit_text", "replace_lines", "propose_edits"]
WAYS: tuple[Way, ...] = ("edit_text", "replace_lines", "propose_edits")
# `propose_edits` belongs to a specification's own set of tools and not to the default one.
PROFILES: dict[Way, str] = {"edit_text": "default", "replace_lines": "default", "propose_edits": "all"}


def solution_of(task: Task, way: Way = "edit_text") -> list[JsonObject]:
    """The steps of a script that solves the task: its own, or those that lead from one folder to the other."""
    if task.solution:
        return [dict(step) for step in task.solution]
    moved = _moves(task.files, task.after)
    taken = set(moved.values())
    edited = {path: data for path, data in task.after.items() if task.files.get(path, data) != data}
    gone = [path for path in task.files if path not in task.after and path not in taken]
    calls = [
        *_edits({path: (_text(task.files[path]), _text(data)) for path, data in edited.items()}, way),
        *(
            _call("create_document", path=path, content=data.decode())
            for path, data in task.after.items()
            if path not in task.files and path not in moved
        ),
        *(_call("move_document", from_path=old, to_path=new) for new, old in moved.items()),
        *(_call("delete_document", path=path) for path in gone),
    ]
    reads = [_call("read_document", path=path) for path in dict.fromkeys([*edited, *taken, *gone])]
    steps = [{"text": "I look at it first.", "calls": reads}, {"text": "", "calls": calls}]
    return [*(step for step in steps if step["calls"]), {"text": "It is done."}]


def _call(tool: str, /, **arguments: Any) -> JsonObject:
    return {"tool": tool, "arguments": arguments}


def _text(data: bytes) -> str:
    """What the tools show: without the mark at its beginning that a file may have."""
    return data.decode("utf-8-sig")


def _moves(files: Mapping[str, bytes], after: Mapping[str, bytes]) -> dict[str, str]:
    """Where a file that is gone has come up again with the same content: the new path and the old one."""
    left = {data: path for path, data in files.items() if path not in after}
    return {path: left.pop(data) for path, data in after.items() if path not in files and data in left}


def _edits(texts: Mapping[str, tuple[str, str]], way: Way) -> Iterator[JsonObject]:
    if way == "propose_edits":
        edits = [edit for path, (old, new) in texts.items() for edit in _propose_edits(path, old, new)]
        if edits:
            yield _call("propose_edits", edits=edits)
        return
    by_words = _edit_by_quote if way == "edit_text" else _edit_by_lines
    for path, (old, new) in texts.items():
        text = old
        for region in reversed(diff_lines(old, new)):
            added = new[region.new_at : region.new_until]
            yield by_words(path, text, region, added)
            text = text[: region.at] + added + text[region.until :]


def _edit_by_quote(path: str, text: str, region: LineRegion, added: str) -> JsonObject:
    """Quote the lines, and as many around them as it takes to be in the document once."""
    lines = split_lines(text)
    start, end = region.old_start, region.old_end
    while (quoted := "".join(lines[start:end])) == "" or _is_twice(text, quoted):
        if (start, end) == (0, len(lines)):
            raise RedraftError(f"{path} is empty: there is nothing to quote.", code="anchor_not_found", path=path)
        start, end = max(start - 1, 0), min(end + 1, len(lines))
    new = "".join(lines[start : region.old_start]) + added + "".join(lines[region.old_end : end])
    return _call("edit_text", path=path, old_text=quoted, new_text=new)


def _is_twice(text: str, quoted: str) -> bool:
    return text.find(quoted, text.find(quoted) + 1) >= 0


def _edit_by_lines(path: str, text: str, region: LineRegion, added: str) -> JsonObject:
    """Name the lines. A tool for lines always ends the last one, so what takes that end away is quoted instead."""
    if not _is_whole_lines(text, region, added):
        return _edit_by_quote(path, text, region, added)
    version = version_of(Text(text))
    if region.old_start == region.old_end:
        return _call("insert_lines", path=path, version=version, after_line=region.old_start - 1, content=added)
    lines = {"start_line": region.old_start, "end_line": region.old_end - 1}
    return _call("replace_lines", path=path, version=version, **lines, content=added)


def _is_whole_lines(text: str, region: LineRegion, added: str) -> bool:
    """Whether tools for lines can put this there: whole lines, after whole lines."""
    if added == "" or added.endswith("\n"):
        return region.old_start < region.old_end or region.until < len(text) or text.endswith("\n") or text == ""
    return region.until == len(text) and not text.endswith("\n") and region.old_start < region.old_end


def _propose_edits(path: str, old: str, new: str) -> Iterator[JsonObject]:
    for region in diff_lines(old, new):
        removed, added = old[region.at : region.until], new[region.new_at : region.new_until]
        if not _is_whole_lines(old, region, added):
            raise RedraftError(f"{path}: a list of edits cannot say this.", code="invalid_line_range", path=path)
        edit: JsonObject = {"file_path": path, "start_line": region.old_start + 1, "new_text": added}
        if removed:
            edit |= {"operation": "replace" if added else "delete", "end_line": region.old_end}
            edit["expected_hash"] = content_hash(removed.encode())
        else:
            edit |= {"operation": "insert", "expected_hash": content_hash(b"")}
        yield edit
