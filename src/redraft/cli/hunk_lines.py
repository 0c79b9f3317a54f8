"""A change as lines to read: what goes, what comes, and on a terminal which words of them differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

from redraft.cli.screen import ADDED_WORD, DIM, GREEN, RED, REMOVED_WORD, Styled
from redraft.text.lines import newline_style, split_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from redraft.cli.screen import Screen
    from redraft.text.edits import Edit

CONTEXT_LINES = 2
# Far enough back to find two lines of context in any prose; a longer line is cut, and only from the context.
CONTEXT_REACH = 2000


def show_change(screen: Screen, whole: str, at: int, old: str, new: str) -> None:
    """`old`, which stands at `at` in the text `whole`, becomes `new`; with a little of what is around it. Where the
    two are equal (what is disputed may stand as it was), it is shown once."""
    ends = newline_style(old) != newline_style(new) and bool(old and new)
    for line in split_lines(whole[max(0, at - CONTEXT_REACH) : at])[-CONTEXT_LINES:]:
        screen.line("    ", Styled(line.rstrip("\r\n"), DIM))
    if old == new:
        show_text(screen, "=", new, "")
    else:
        removed, added = _by_words(old, new) if screen.colour else ([(old, False)], [(new, False)])
        _show_side(screen, "-", removed, (RED, REMOVED_WORD), ends=ends)
        _show_side(screen, "+", added, (GREEN, ADDED_WORD), ends=ends)
    if old and new and old[-1] in "\r\n" and new[-1] not in "\r\n":
        screen.line("    ", Styled("(no line break at the end any more)", DIM))
    until = at + len(old)
    for line in split_lines(whole[until : until + CONTEXT_REACH])[:CONTEXT_LINES]:
        screen.line("    ", Styled(line.rstrip("\r\n"), DIM))


def show_text(screen: Screen, sign: str, text: str, style: str) -> None:
    """A text with a sign before each line."""
    _show_side(screen, sign, [(text, False)], (style, style), ends=False)


def _by_words(old: str, new: str) -> tuple[list[tuple[str, bool]], list[tuple[str, bool]]]:
    """Both sides as stretches, each with whether it differs from the other side."""
    from redraft.text.words import word_edits

    if not old or not new:
        return [(old, False)], [(new, False)]
    edits = word_edits(old, new)
    return list(_stretches(old, ((edit, edit.old) for edit in edits))), list(
        _stretches(old, ((edit, edit.new) for edit in edits))
    )


def _stretches(old: str, edits: Iterable[tuple[Edit, str]]) -> Iterator[tuple[str, bool]]:
    at = 0
    for edit, text in edits:
        yield old[at : edit.at], False
        yield text, True
        at = edit.end
    yield old[at:], False


def _show_side(
    screen: Screen, sign: str, stretches: list[tuple[str, bool]], styles: tuple[str, str], *, ends: bool
) -> None:
    plain, marked = styles
    for line in _lines(stretches):
        parts = [Styled(text if ends else text.rstrip("\r\n"), marked if changed else plain) for text, changed in line]
        screen.line(Styled(f"  {sign} ", plain), *parts)


def _lines(stretches: Iterable[tuple[str, bool]]) -> Iterator[list[tuple[str, bool]]]:
    """The stretches, cut at line ends."""
    line: list[tuple[str, bool]] = []
    for text, changed in stretches:
        for piece in split_lines(text):
            line.append((piece, changed))
            if piece[-1] in "\r\n":
                yield line
                line = []
    if line:
        yield line
