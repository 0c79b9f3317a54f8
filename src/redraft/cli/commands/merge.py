"""`redraft merge`: three files into one, outside any workspace, as `git merge-file -p` and merge tools do it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from redraft.cli.command import CONFLICTS, Command, Invocation
from redraft.cli.screen import escape
from redraft.text.lines import adopt_newlines, newline_style

if TYPE_CHECKING:
    from argparse import ArgumentParser


def merge_files(call: Invocation) -> int:
    from redraft.runtime import read_input
    from redraft.text.merge.three_way import merge

    names: tuple[str, str, str] = (call.arguments.ours, call.arguments.base, call.arguments.theirs)
    ours, base, theirs = map(read_input, names)
    merged = merge(_match_newlines(ours.text, base.text), ours.text, _match_newlines(ours.text, theirs.text))
    marked = merged.text if merged.clean else merged.mark_conflicts(_labels(names))
    if call.screen.json:
        conflicts = [{"base": each.base, "ours": each.ours, "theirs": each.theirs} for each in merged.conflicts]
        call.emit({"clean": merged.clean, "text": marked, "conflicts": conflicts})
    else:
        call.screen.content(marked, bom=ours.bom)
    return 0 if merged.clean else CONFLICTS


def _match_newlines(ours: str, text: str) -> str:
    """Convert a text with uniform newlines to ours; otherwise every line would differ and every edit conflict."""
    uniform = ("lf", "crlf", "cr")
    return adopt_newlines(text, ours) if newline_style(ours) in uniform and newline_style(text) in uniform else text


def _labels(names: tuple[str, str, str]) -> tuple[str, str, str]:
    ours, base, theirs = map(escape, names)
    return ours, base, theirs


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("base", metavar="BASE", help="the common ancestor")
    parser.add_argument("ours", metavar="OURS", help="one side; its newlines and byte order mark are kept")
    parser.add_argument("theirs", metavar="THEIRS", help="the other side")


COMMANDS = {
    "merge": Command(
        "merge",
        "Merge three files by lines and words",
        merge_files,
        configure,
        ("merge base.md mine.md theirs.md > merged.md", "merge old.md <(git show HEAD:notes.md) notes.md --json"),
        "Print the merged text. Exit status 0: clean; 1: conflicts, marked in git's diff3\n"
        "style; 2: a file is not readable UTF-8 text, and nothing is printed. Needs no folder.",
    )
}
