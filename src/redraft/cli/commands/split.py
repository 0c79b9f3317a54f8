"""`redraft split`: split a hunk that is too large to decide at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from redraft.cli.command import Command, Invocation, add_paths, positive_number
from redraft.cli.commands.accept import report_decision
from redraft.cli.hunk_selection import HunkSelection, select_hunks
from redraft.errors import Refused
from redraft.text.lines import split_lines

if TYPE_CHECKING:
    from argparse import ArgumentParser

    from redraft.review.review import ReviewHunk
    from redraft.workspace.workspace import Workspace


def split(call: Invocation) -> int:
    arguments = call.arguments
    with call.workspace() as workspace:
        path, hunk = _find_hunk(workspace, arguments.hunk, tuple(arguments.path))
        at = _offset_after_line(hunk.working, arguments.after, hunk.id)
        base_at = None if arguments.old_after is None else _offset_after_line(hunk.base, arguments.old_after, hunk.id)
        report_decision(call, workspace.split(path, hunk.id, at, base_at), "Split")
    return 0


def _find_hunk(workspace: Workspace, name: str, paths: tuple[str, ...]) -> tuple[str, ReviewHunk]:
    [(path, ids)] = select_hunks(workspace, HunkSelection((name,), paths, turn=None, everything=False)).items()
    draft = workspace.draft(path)
    for hunk in draft.review.hunks if draft else ():
        if hunk.id in (ids or ()):
            return path, hunk
    raise Refused(f"{path} can only be accepted or rejected as a whole.", path=path)


def _offset_after_line(text: str, line: int, name: str) -> int:
    """Where the line after this one begins."""
    lines = split_lines(text)
    if line > len(lines):
        raise Refused(f"That side of {name} has {len(lines)} lines.", hunk_id=name, line=line)
    return sum(len(each) for each in lines[:line])


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("hunk", metavar="HUNK", help="the hunk id or a unique prefix of it")
    parser.add_argument(
        "--after", metavar="N", type=positive_number, required=True, help="split after this many of its added lines"
    )
    parser.add_argument(
        "--old-after",
        metavar="N",
        type=positive_number,
        help="and after this many of its removed lines (default: the first half gets all of them)",
    )
    add_paths(parser, "the hunk of this document")


COMMANDS = {
    "split": Command(
        "split",
        "Split a hunk in two, to decide each part separately",
        split,
        configure,
        ("split h_1a2b3c --after 12", "split h_1a2b3c --after 12 --old-after 4"),
        "For a hunk that is too large to decide at once. No text changes, and it can be undone.",
    )
}
