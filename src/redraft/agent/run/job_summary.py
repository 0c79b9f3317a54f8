"""A job in brief: one line per call, and a summary for when a budget runs out."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any, cast

from redraft.agent.run.budget import CHARACTERS_A_TOKEN
from redraft.agent.store.jobs import NO_ANSWER
from redraft.text.diff.line_diff import diff_lines
from redraft.text.text import Text
from redraft.workspace.document import content_hash

if TYPE_CHECKING:
    from collections.abc import Sequence

    from redraft.providers.contract import ToolCall, ToolResult
    from redraft.text.diff.line_diff import LineRegion
    from redraft.tools.context import Proposal
    from redraft.workspace.turns.turn import StagedDocument, Turn

COUNTED = ("results", "files", "documents", "matches", "edits", "turns", "hits")
# The argument that says most about a call: its document, else its query or question.
_ABOUT = ("path", "file_path", "tab_id", "query", "question", "prefix", "folder")
LIMITS = {
    "tool_calls": "its tool calls",
    "actions": "the actions of one turn",
    "iterations": "its steps",
    "tokens": "its tokens",
    "cents": "its money",
    "seconds": "its time",
}


def action_line(call: ToolCall, result: ToolResult) -> dict[str, Any]:
    """A call as an event and the chat show it."""
    about = next((call.arguments[name] for name in _ABOUT if name in call.arguments), "")
    summary = f"{call.name} {about}".strip()[:300]
    told_back = result.result if result.ok else result.error
    tokens = round((len(str(call.arguments)) + len(str(told_back))) / CHARACTERS_A_TOKEN)
    if not result.ok:
        error = result.error or {}
        words = f"{summary}: {error.get('message', 'failed')}"[:500]
        return {"ok": False, "error": error.get("error"), "summary": words, "tokens": tokens}
    answer = cast("dict[str, Any]", result.result)
    if answer.get("success") is False:  # the editor's tool reports failure inside its answer
        return {"ok": False, "summary": f"{summary}: {answer.get('error', 'failed')}"[:500], "tokens": tokens}
    counts = {f"{name[:-1]}_count": len(answer[name]) for name in COUNTED if isinstance(answer.get(name), list)}
    return {"ok": True, "summary": summary, "tokens": tokens, **counts}


def question_and_answer(call: ToolCall, result: ToolResult) -> dict[str, str]:
    """What a call asked the person and what they answered, for the chat to store; empty for any other call."""
    answer = cast("dict[str, Any]", result.result) if result.ok else {}
    if call.name != "clarify_user" or answer.get("answer") in (None, NO_ANSWER):
        return {}
    return {"question": str(answer["question"]), "answer": str(answer["answer"])}


def changes_of(turn: Turn) -> list[dict[str, str]]:
    """What a turn would do, document by document."""
    found: list[dict[str, str]] = []
    sources = set(turn.moved.values())
    for path, staged in turn.staged.items():
        if path in turn.moved:
            found.append({"path": str(path), "action": "moved", "moved_from": str(turn.moved[path])})
        elif staged.now is None:
            if path not in sources:
                found.append({"path": str(path), "action": "deleted"})
        elif staged.seen is None:
            found.append({"path": str(path), "action": "created"})
        elif staged.now != staged.seen:
            found.append({"path": str(path), "action": "modified"})
    return found


def list_proposed_edits(turn: Turn, proposals: Sequence[Proposal] = ()) -> list[dict[str, Any]]:
    """The edits of a turn in the plan's canonical form: lines from 1, inclusive, with their hash. An edit that the
    model proposed keeps its name and reason; changes made by other tools are listed beside it."""
    edits: list[dict[str, Any]] = []
    for change in changes_of(turn):
        staged = next(each for path, each in turn.staged.items() if path == change["path"])
        if change["action"] == "modified":
            edits += _line_edits(change["path"], staged, [each for each in proposals if each.path == change["path"]])
        else:
            edits.append({"file_path": change["path"], "operation": change["action"]})
    return _assign_ids(edits)


def _assign_ids(edits: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Every edit with a unique name."""
    names: set[str] = set()
    named: list[dict[str, Any]] = []
    numbers = count(1)
    for edit in edits:
        name = edit.get("edit_id", "")
        while not name or name in names:
            name = f"e_{next(numbers)}"
        names.add(name)
        named.append({**edit, "edit_id": name})
    return named


def _edit_of_proposal(path: str, old: str, proposal: Proposal) -> dict[str, Any]:
    """A proposal, in the lines of the text before the turn."""
    start, end = proposal.start, proposal.end
    since = diff_lines(old, str(proposal.text))
    lines = Text(old)
    first = min(_line_before(start, since, end=False), lines.line_count)
    last = max(first, min(_line_before(end, since, end=True), lines.line_count)) if end > start else first
    return {
        "edit_id": proposal.edit_id,
        "file_path": path,
        "operation": proposal.operation,
        "start_line": first + 1,
        "end_line": last,
        "new_text": proposal.new_text,
        "expected_hash": content_hash("".join(lines.lines(first, last)).encode()),
        **({"rationale": proposal.rationale} if proposal.rationale else {}),
    }


def _line_before(line: int, since: Sequence[LineRegion], *, end: bool) -> int:
    """Where a line was before these changes; a line that they added maps to where they begin or end."""
    moved = line
    for region in since:
        if region.new_end <= line:
            moved = line - region.new_end + region.old_end
        elif region.new_start < line or (region.new_start == line and not end):
            return region.old_end if end else region.old_start
    return moved


def _line_edits(path: str, staged: StagedDocument, proposals: Sequence[Proposal]) -> list[dict[str, Any]]:
    old = "" if staged.seen is None else str(staged.seen.text)
    new = "" if staged.now is None else str(staged.now.text)
    found = [_edit_of_proposal(path, old, each) for each in proposals]
    covered = [(edit["start_line"] - 1, edit["end_line"]) for edit in found]
    for region in diff_lines(old, new):
        if any(start <= region.old_end and region.old_start <= end for start, end in covered):
            continue
        removed, added = old[region.at : region.until], new[region.new_at : region.new_until]
        found.append(
            {
                "file_path": path,
                "operation": "insert" if not removed else "replace" if added else "delete",
                "start_line": region.old_start + 1,
                "end_line": region.old_end,
                "new_text": added,
                "expected_hash": content_hash(removed.encode()),
            }
        )
    return sorted(found, key=lambda edit: (edit["start_line"], edit["end_line"]))


def budget_summary(turn: Turn, spent: str) -> str:
    """Our own summary when a budget is spent: what was done, and that it is not everything."""
    lines = [f"I stopped here: this job has used up {LIMITS.get(spent, spent)}."]
    changes = changes_of(turn)
    lines += [f"- {change['action']} {change['path']}" for change in changes]
    lines.append("My changes wait for your decision." if changes else "Nothing was changed.")
    return "\n".join(lines)
