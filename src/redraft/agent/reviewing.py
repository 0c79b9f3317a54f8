"""The review of a job: its hunks as a bundle, and the person's decision about them.

The hunks are the workspace's own; nothing is kept here. A decision that comes too late, because a file is no longer the
one that was shown, is not carried out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from redraft.errors import Refused
from redraft.text.patch import format_patch
from redraft.workspace.document import content_hash
from redraft.workspace.draft import FILE_HUNK
from redraft.workspace.engine import PERSON

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from redraft.agent.jobs import Job
    from redraft.agent.memory import Memory
    from redraft.history.turns import Author
    from redraft.workspace.draft import Draft
    from redraft.workspace.workspace import Workspace


def left_to_decide(workspace: Workspace, turn: int) -> dict[str, Sequence[str]]:
    """What of a turn waits for a decision, by document."""
    return dict(workspace.hunks_of_turn(turn))


def bundle(workspace: Workspace, job: Job) -> dict[str, Any]:
    """The job's pending hunks in the plan's form. A decision about a document as a whole is a hunk too."""
    files: list[dict[str, Any]] = []
    left = {} if job.turn is None else left_to_decide(workspace, job.turn)
    for draft in workspace.drafts():
        if draft.key in left:
            shown = None if draft.saved is None else content_hash(draft.saved)
            hunks = [_hunk(draft, name, job) for name in left[draft.key]]
            files.append({"file_path": draft.key, "kind": draft.kind, "base_file_hash": shown, "hunks": hunks})
    return {"job_id": job.id, "files": files}


def _hunk(draft: Draft, name: str, job: Job) -> dict[str, Any]:
    review = draft.review
    edits = [edit["edit_id"] for edit in job.proposed_edits if edit["file_path"] == draft.key]
    if name == FILE_HUNK:
        before = None if draft.base_path is None else review.base
        after = None if draft.path is None else review.working
        patch = format_patch(draft.key, before, after, old_path=draft.base_path)
        return {"hunk_id": file_hunk_id(draft.key), "patch": patch, "accepted": None, "edit_ids": edits}
    hunk = next(each for each in review.hunks if each.id == name)
    touched = [
        edit["edit_id"]
        for edit in job.proposed_edits
        if edit["file_path"] == draft.key and "start_line" in edit and _meets(edit, hunk.line, hunk.base)
    ]
    before = review.base
    patch = format_patch(draft.key, before, before[: hunk.at] + hunk.working + before[hunk.at + len(hunk.base) :])
    return {
        "hunk_id": hunk.id,
        "patch": patch,
        "accepted": None,
        "edit_ids": touched or edits,
        "author": hunk.author,
        "conflict": hunk.conflict,
        "oversized_hunk": hunk.oversized,
    }


def _meets(edit: Mapping[str, Any], line: int, base: str) -> bool:
    """Whether an edit's lines touch those of a hunk."""
    end = line + max(base.count("\n"), 1)
    return edit["start_line"] - 1 <= end and line <= max(edit["end_line"], edit["start_line"] - 1)


def file_hunk_id(path: str) -> str:
    """The name of a decision about a whole document, which is told apart from that about another one."""
    return f"{FILE_HUNK}:{path}"


def apply(
    workspace: Workspace, job: Job, accepted: Iterable[str], memory: Memory | None = None, *, author: Author = PERSON
) -> dict[str, Any]:
    """Take the accepted hunks of a job and refuse its others; `conflict` where a file was changed since."""
    if job.turn is None:
        raise Refused("This job proposes nothing.", code="hunk_not_found", job_id=job.id)
    left = left_to_decide(workspace, job.turn)
    wanted = set(accepted)
    known = {_id(path, name) for path, names in left.items() for name in names}
    if unknown := sorted(wanted - known):
        raise Refused(f"No hunk {unknown[0][:100]} of this job waits.", code="hunk_not_found", hunk_id=unknown[0][:100])
    taken = {path: [name for name in names if _id(path, name) in wanted] for path, names in left.items()}
    refused = {path: [name for name in names if _id(path, name) not in wanted] for path, names in left.items()}
    if memory is not None:
        _learn(workspace, refused, memory)
    if any(taken.values()):
        hashes = {path: job.base_hashes[path] for path in taken if path in job.base_hashes}
        workspace.accept({path: names for path, names in taken.items() if names}, base_hash=hashes, author=author)
    if any(refused.values()):
        workspace.reject({path: names for path, names in refused.items() if names}, author=author)
    return {
        "status": "completed",
        "applied_files": [
            {"file_path": path, "applied_hunks": len(taken[path]), "rejected_hunks": len(refused[path])}
            for path in left
        ],
    }


def _id(path: str, name: str) -> str:
    return file_hunk_id(path) if name == FILE_HUNK else name


def _learn(workspace: Workspace, refused: Mapping[str, Sequence[str]], memory: Memory) -> None:
    for draft in workspace.drafts():
        for hunk in draft.review.hunks:
            if hunk.id in refused.get(draft.key, ()) and hunk.author == "agent":
                memory.rejected(draft.key, hunk.proposed, hunk.base)
