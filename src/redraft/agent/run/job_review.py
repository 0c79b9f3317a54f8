"""The review of a job: its hunks as a bundle, and the person's decision about them.

The hunks are the workspace's own; nothing is stored here. A decision that comes too late, because a file has changed
since it was shown, is not carried out.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from redraft.agent.memory.notes import RejectedHunk
from redraft.errors import Refused
from redraft.history.turns import PERSON
from redraft.text.diff.hunk_limits import is_oversized
from redraft.text.edits import Edit
from redraft.text.patch.unified_diff import format_edits, format_patch
from redraft.workspace.document import FILE_HUNK, content_hash

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from redraft.agent.memory.notes import AgentMemory
    from redraft.agent.store.jobs import Job
    from redraft.history.turns import Author
    from redraft.workspace.document import Draft
    from redraft.workspace.workspace import Workspace

# The most characters that the patches of a bundle have together.
MAX_BUNDLE = 2_000_000


def pending_hunks(workspace: Workspace, turn: int) -> dict[str, Sequence[str]]:
    """The hunks of a turn that await a decision, by document."""
    return dict(workspace.hunks_of_turn(turn))


def pending_drafts(workspace: Workspace, job: Job) -> list[tuple[Draft, Sequence[str]]]:
    """The documents in which changes of a job are pending, and the names of its hunks there."""
    left = {} if job.turn is None else pending_hunks(workspace, job.turn)
    return [(draft, left[draft.key]) for draft in workspace.drafts() if draft.key in left]


def diff_bundle(job: Job, pending: Sequence[tuple[Draft, Sequence[str]]]) -> dict[str, Any]:
    """The job's pending hunks in the plan's form. A decision about a document as a whole is a hunk too. Every hunk is
    listed, since the person names those that they accept; beyond a limit, patches are truncated. This may take a while:
    call it without holding the guard."""
    files: list[dict[str, Any]] = []
    ids = {place: name for name, place in hunk_ids({draft.key: names for draft, names in pending}).items()}
    characters_left = MAX_BUNDLE
    for draft, names in pending:
        shown = None if draft.saved is None else content_hash(draft.saved)
        hunks: list[dict[str, Any]] = []
        for name, entry in _hunk_entries(draft, names, job).items():
            if len(entry["patch"]) > characters_left:
                entry.update(patch=entry["patch"][:characters_left], truncated=True)
            characters_left -= len(entry["patch"])
            hunks.append({"hunk_id": ids[draft.key, name], **entry})
        files.append({"file_path": draft.key, "kind": draft.kind, "base_file_hash": shown, "hunks": hunks})
    return {"job_id": job.id, "files": files}


def _hunk_entries(draft: Draft, names: Sequence[str], job: Job) -> dict[str, dict[str, Any]]:
    """What is shown of these hunks of a document, by name."""
    review = draft.review
    edits = [edit for edit in job.proposed_edits if edit["file_path"] == draft.key]
    every = [edit["edit_id"] for edit in edits]
    lines = EditedLines(edits)
    known = {hunk.id: hunk for hunk in review.hunks}
    # Of a secret, show only that something awaits a decision.
    found = {
        name: {"patch": _file_patch(draft, name), "accepted": None, "edit_ids": every} | _size(draft, name)
        for name in names
        if name not in known
    }
    wanted = [known[name] for name in names if name in known]
    patches = format_edits(draft.key, review.base, (Edit(hunk.at, hunk.base, hunk.working) for hunk in wanted))
    for hunk, patch in zip(wanted, patches, strict=True):
        found[hunk.id] = {
            "patch": patch.text,
            **({"truncated": True} if patch.shortened else {}),
            "accepted": None,
            "edit_ids": lines.ids_at(hunk.line, hunk.base) or every,
            "author": hunk.author,
            "conflict": hunk.conflict,
            "oversized_hunk": hunk.oversized,
        }
    return {name: found[name] for name in names}


def _file_patch(draft: Draft, name: str) -> str:
    """The patch of a decision about the document itself, or of a hunk whose words are not shown."""
    review = draft.review
    if name != FILE_HUNK:
        return format_patch(draft.key, "", review.working)
    before = None if draft.base_path is None else review.base
    after = None if draft.path is None else review.working
    return format_patch(draft.key, before, after, old_path=draft.base_path)


def _size(draft: Draft, name: str) -> dict[str, bool]:
    if name != FILE_HUNK:
        return {}
    whole = draft.base_path is None or draft.path is None
    return {"oversized_hunk": whole and is_oversized(draft.review.base, draft.review.working)}


class EditedLines:
    """The edits of a document by line, to look up which of them touch a hunk: there may be thousands of both."""

    def __init__(self, edits: Sequence[Mapping[str, Any]]) -> None:
        placed = [(edit["start_line"] - 1, number) for number, edit in enumerate(edits) if "start_line" in edit]
        self._edits = edits
        self._order = [number for _, number in sorted(placed)]
        self._starts = [edits[number]["start_line"] - 1 for number in self._order]
        self._ends = [max(edits[number]["end_line"], edits[number]["start_line"] - 1) for number in self._order]
        self._furthest = list(accumulate(self._ends, max))

    def ids_at(self, line: int, base: str) -> list[str]:
        """The edits that touch a hunk of this text starting on this line, in their own order."""
        first = bisect_left(self._furthest, line)
        stop = bisect_right(self._starts, line + max(base.count("\n"), 1))
        found = sorted(self._order[place] for place in range(first, stop) if self._ends[place] >= line)
        return [self._edits[number]["edit_id"] for number in found]


def hunk_ids(left: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, str]]:
    """The pending hunks and their documents, by an id that is unique in the job. Equal words give equal hunks: if
    several documents have the same one, as after a rename, the id includes the document's path."""
    often = Counter(name for names in left.values() for name in names)
    return {
        name if often[name] == 1 and name != FILE_HUNK else f"{name}:{path}": (path, name)
        for path, names in left.items()
        for name in names
    }


def apply(
    workspace: Workspace,
    job: Job,
    accepted: Iterable[str],
    memory: AgentMemory | None = None,
    *,
    author: Author = PERSON,
) -> dict[str, Any]:
    """Accept these hunks of a job and reject its others; raises `conflict` if a file has changed since."""
    if job.turn is None:
        raise Refused("This job proposes nothing.", code="hunk_not_found", job_id=job.id)
    left = pending_hunks(workspace, job.turn)
    chosen = _resolve_hunk_ids(left, accepted)
    taken = {path: [name for name in names if (path, name) in chosen] for path, names in left.items()}
    refused = {path: [name for name in names if (path, name) not in chosen] for path, names in left.items()}
    if memory is not None:
        note_rejections(workspace, refused, memory)
    if any(taken.values()):
        hashes = {path: job.base_hashes[path] for path in taken if path in job.base_hashes}
        accepting = {path: names for path, names in taken.items() if names}
        workspace.accept(accepting, base_hash=hashes, author=author, turn=job.turn)
    if any(refused.values()):
        workspace.reject({path: names for path, names in refused.items() if names}, author=author, turn=job.turn)
    return {
        "status": "completed",
        "applied_files": [
            {"file_path": path, "applied_hunks": len(taken[path]), "rejected_hunks": len(refused[path])}
            for path in left
        ],
    }


def _resolve_hunk_ids(left: Mapping[str, Sequence[str]], accepted: Iterable[str]) -> set[tuple[str, str]]:
    """The hunks that these ids name. An id with a path stays valid when the other documents are decided."""
    with_path = {f"{name}:{path}": (path, name) for path, names in left.items() for name in names}
    known = {**with_path, **hunk_ids(left)}
    wanted = set(accepted)
    if unknown := sorted(wanted - known.keys()):
        hunk = unknown[0][:100]
        several = [each for each, (_, name) in with_path.items() if name == unknown[0]]
        message = f"Several documents have a hunk {hunk}: name it as " + " or ".join(several) + "." if several else ""
        raise Refused(message or f"This job has no pending hunk {hunk}.", code="hunk_not_found", hunk_id=hunk)
    return {known[each] for each in wanted}


def note_rejections(workspace: Workspace, refused: Mapping[str, Sequence[str] | None], memory: AgentMemory) -> None:
    """Note what the person is about to reject; None means everything in the document."""
    found: list[RejectedHunk] = []
    for draft in workspace.drafts():
        ids = refused.get(draft.key, ())
        chosen = None if ids is None else set(ids)
        found += [
            RejectedHunk(draft.key, hunk.proposed, hunk.base)
            for hunk in draft.review.hunks
            if (chosen is None or hunk.id in chosen) and hunk.author == "agent"
        ]
    memory.note_rejected(found)
