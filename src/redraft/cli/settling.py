"""`redraft settle`: one hunk in which two wrote over the same words, decided for one of them or for both."""

from __future__ import annotations

from typing import TYPE_CHECKING

from redraft.cli.choosing import Wish, choose, sorted_out
from redraft.cli.command import Call, Command, add_paths
from redraft.cli.deciding import report
from redraft.errors import Refused

if TYPE_CHECKING:
    from argparse import ArgumentParser

    from redraft.review.review import ReviewHunk
    from redraft.workspace.decisions import Decided
    from redraft.workspace.workspace import Workspace

SIDES = ("mine", "theirs", "both")


def settle(call: Call) -> int:
    arguments = call.arguments
    side = next(side for side in SIDES if getattr(arguments, side))
    with call.workspace() as workspace:
        wish = Wish(tuple(arguments.names), tuple(arguments.path), turn=None, everything=False)
        if wish.is_empty:
            raise Refused("Nothing is named: give the HUNK, or the PATH of its document.")
        path, hunk = _meant(workspace, sorted_out(workspace, wish))
        report(call, _settled(workspace, path, hunk, side), "Settled")
    return 0


def _meant(workspace: Workspace, wish: Wish) -> tuple[str, ReviewHunk]:
    """The hunk that is named, or the only one of the document in which there is something to settle."""
    choice = choose(workspace, wish)
    if wish.hunks:
        named = [(path, name) for path, ids in choice.items() for name in ids or ()]
    else:
        named = [(path, name) for path in choice for name in _disputed(workspace, path)]
    if len(named) != 1:
        found = ", ".join(f"{name} in {path}" for path, name in named) or "none there"
        raise Refused(f"One hunk is settled at a time: name it. To be settled: {found}.")
    ((path, name),) = named
    return path, _hunk(workspace, path, name)


def _disputed(workspace: Workspace, path: str) -> list[str]:
    draft = workspace.draft(path)
    return [hunk.id for hunk in draft.review.hunks if hunk.conflict or hunk.author == "mixed"] if draft else []


def _hunk(workspace: Workspace, path: str, name: str) -> ReviewHunk:
    draft = workspace.draft(path)
    found = next((hunk for hunk in draft.review.hunks if hunk.id == name), None) if draft else None
    if found is None or not (found.conflict or found.author == "mixed"):
        raise Refused(f"In {name} of {path} nobody wrote over another's words: accept it or reject it.", hunk_id=name)
    return found


def _settled(workspace: Workspace, path: str, hunk: ReviewHunk, side: str) -> Decided:
    with_agent = hunk.author == "mixed"
    if side == "mine" and with_agent:
        return workspace.reject({path: [hunk.id]})  # so the history says that nothing of the agent's was taken
    if side == "theirs":
        return workspace.settle(path, hunk.id, hunk.proposed)
    # Where somebody outside wrote over the same words, working has both already.
    both = side == "both" and with_agent
    return workspace.settle(path, hunk.id, one_after_another(hunk.working, hunk.proposed) if both else hunk.working)


def one_after_another(first: str, second: str) -> str:
    """Two texts, the second on a line of its own, with a line break at the end where the first has one."""
    if not first or not second:
        return first + second
    ended = first.endswith(("\n", "\r"))
    joined = first + second if ended else f"{first}\n{second}"
    return joined if joined.endswith(("\n", "\r")) or not ended else joined + "\n"


def configure(parser: ArgumentParser) -> None:
    parser.add_argument(
        "names",
        metavar="HUNK/PATH",
        nargs="*",
        help="the hunk's id or enough of its beginning; or its document, if it is the only one to be settled there",
    )
    sides = parser.add_mutually_exclusive_group(required=True)
    sides.add_argument("--mine", action="store_true", help="keep your words and refuse the other's")
    sides.add_argument("--theirs", action="store_true", help="take the other's words instead of yours")
    sides.add_argument("--both", action="store_true", help="keep both, yours first")
    add_paths(parser, "the hunk of this document")


COMMANDS = {
    "settle": Command(
        "settle",
        "Settle a conflict: your words, the other's, or both",
        settle,
        configure,
        ("settle h_1a2b3c --mine", "settle h_1a2b3c --theirs", "settle chapter-1.md --both"),
        "Decide a hunk in which you and an agent, or somebody outside, wrote over the same words. With --theirs and\n"
        "--both the result is written; with --mine your words stay as they are. It can be undone.",
    )
}
