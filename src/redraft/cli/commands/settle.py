"""`redraft settle`: resolve a conflict for one side or for both."""

from __future__ import annotations

from typing import TYPE_CHECKING

from redraft.cli.command import Command, Invocation, add_paths
from redraft.cli.commands.accept import report_decision
from redraft.cli.hunk_selection import HunkSelection, select_hunks, separate_paths
from redraft.errors import Refused

if TYPE_CHECKING:
    from argparse import ArgumentParser

    from redraft.review.review import ReviewHunk
    from redraft.workspace.turns.decisions import DecisionResult
    from redraft.workspace.workspace import Workspace

SIDES = ("mine", "theirs", "both")


def settle(call: Invocation) -> int:
    arguments = call.arguments
    side = next(side for side in SIDES if getattr(arguments, side))
    with call.workspace() as workspace:
        wish = HunkSelection(tuple(arguments.names), tuple(arguments.path), turn=None, everything=False)
        if wish.is_empty:
            raise Refused("Name the HUNK, or the PATH of its document.")
        path, hunk = _find_hunk(workspace, separate_paths(workspace, wish))
        report_decision(call, _settle(workspace, path, hunk, side), "Settled")
    return 0


def _find_hunk(workspace: Workspace, wish: HunkSelection) -> tuple[str, ReviewHunk]:
    """The hunk that is named, or the only one of the document in which there is something to settle."""
    choice = select_hunks(workspace, wish)
    if wish.hunks:
        named = [(path, name) for path, ids in choice.items() for name in ids or ()]
    else:
        named = [(path, name) for path in choice for name in _list_conflicting_ids(workspace, path)]
    if not named:
        raise Refused(f"There is no conflict to resolve in {', '.join(choice)}.")
    if len(named) != 1:
        found = ", ".join(f"{name} in {path}" for path, name in named)
        raise Refused(f"Resolve one conflict at a time: name its hunk. Conflicts: {found}.")
    ((path, name),) = named
    return path, _require_conflict(workspace, path, name)


def _list_conflicting_ids(workspace: Workspace, path: str) -> list[str]:
    draft = workspace.draft(path)
    return [hunk.id for hunk in draft.review.hunks if hunk.conflict or hunk.author == "mixed"] if draft else []


def _require_conflict(workspace: Workspace, path: str, name: str) -> ReviewHunk:
    draft = workspace.draft(path)
    found = next((hunk for hunk in draft.review.hunks if hunk.id == name), None) if draft else None
    if found is None or not (found.conflict or found.author == "mixed"):
        raise Refused(f"{name} in {path} is not in conflict: accept or reject it.", hunk_id=name)
    return found


def _settle(workspace: Workspace, path: str, hunk: ReviewHunk, side: str) -> DecisionResult:
    with_agent = hunk.author == "mixed"
    if side == "mine" and with_agent:
        return workspace.reject({path: [hunk.id]})  # so the history says that nothing of the agent's was taken
    if side == "theirs":
        return workspace.settle(path, hunk.id, hunk.proposed)
    # Where both only put something in, working has both already.
    if side != "both" or not hunk.unsettled or hunk.beside:
        return workspace.settle(path, hunk.id, hunk.working)
    text = str(workspace.read(path).text)
    end = hunk.working_at + len(hunk.working)
    whole = hunk.working_column == 0 and text[end : end + 1] in ("", "\r", "\n")
    return workspace.settle(path, hunk.id, join_texts(hunk.working, hunk.proposed, whole_lines=whole))


def join_texts(first: str, second: str, *, whole_lines: bool) -> str:
    """Two texts, the second on a line of its own, with a line break at the end where the first has one; words within a
    line stay in it."""
    if not first or not second:
        return first + second
    if not whole_lines and not set(first + second) & {"\n", "\r"}:
        return f"{first} {second}"
    ended = first.endswith(("\n", "\r"))
    joined = first + second if ended else f"{first}\n{second}"
    return joined if joined.endswith(("\n", "\r")) or not ended else joined + "\n"


def configure(parser: ArgumentParser) -> None:
    parser.add_argument(
        "names",
        metavar="HUNK/PATH",
        nargs="*",
        help="the hunk id or a unique prefix of it; or its document, if that has only one conflict",
    )
    sides = parser.add_mutually_exclusive_group(required=True)
    sides.add_argument("--mine", action="store_true", help="keep your words and reject theirs")
    sides.add_argument("--theirs", action="store_true", help="use their words instead of yours")
    sides.add_argument("--both", action="store_true", help="keep both, yours first")
    add_paths(parser, "the hunk of this document")


COMMANDS = {
    "settle": Command(
        "settle",
        "Resolve a conflict: keep your words, theirs, or both",
        settle,
        configure,
        ("settle h_1a2b3c --mine", "settle h_1a2b3c --theirs", "settle chapter-1.md --both"),
        "Resolve a hunk in which you and an agent or another program changed the same words. With --theirs and\n"
        "--both the result is written; with --mine your words stay as they are. It can be undone.",
    )
}
