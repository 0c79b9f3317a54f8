"""CriticMarkup: suggested changes and comments written into a text.

    {++put in++}   {--taken out--}   {~~old~>new~~}   {==highlighted==}   {>>a comment<<}

`read_marks` finds the marks from left to right: what begins first counts, so a mark inside a mark is text, and so is a
mark inside code (fenced, or in backticks), where documents explain the syntax. A mark that is not closed is text.

`parse` resolves them: the text without the changes, the changes as edits of it, each with its author where one is
given, and the comments with the passage of the changed text that they are about. `write` is its inverse. What it wrote
is read again, and refused if that does not give the same: a text that has marks of its own cannot be told from them.

An author is given by a comment right behind a change, `{>>@anna<<}`, or by a footnote that the change ends with or is
followed by, `[^1]: @anna 2026-02-11 | ...`. The name at the start of a comment, `{>>@anna why?<<}`, is its author's.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, NamedTuple

from redraft.errors import Refused
from redraft.text.edits import Change, Edit, Span
from redraft.text.lines import count_breaks
from redraft.text.markdown_blocks import fences

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MarkKind = Literal["insertion", "deletion", "substitution", "highlight", "comment"]

CHANGES: frozenset[MarkKind] = frozenset(("insertion", "deletion", "substitution"))
_OPENERS: dict[str, tuple[MarkKind, str]] = {
    "{++": ("insertion", "++}"),
    "{--": ("deletion", "--}"),
    "{~~": ("substitution", "~~}"),
    "{==": ("highlight", "==}"),
    "{>>": ("comment", "<<}"),
}
_ARROW = "~>"
_START = re.compile(r"\\`|`+|\{(?:\+\+|--|~~|==|>>)")
_BLANK_LINE = re.compile(r"\n[ \t]*\r?\n")
_NAME = r"@(?P<name>[\w][\w.\-]*)"
_SIGNED = re.compile(rf"\s*{_NAME}(?:[ \t]*:)?(?:\s+(?P<says>.*))?", re.DOTALL)
_NOTE = re.compile(r"\[\^([^\]\s]+)\]")
_NOTE_AUTHOR = re.compile(rf"^\[\^(?P<note>[^\]\s]+)\]:[ \t]*{_NAME}", re.MULTILINE)
_WORD = re.compile(r"\w+")


class CriticMark(NamedTuple):
    """A mark from `start` to `end`: it stands for `old` without the suggested changes, and for `new` with them. A
    comment stands for nothing and has a `note`."""

    kind: MarkKind
    start: int
    end: int
    old: str = ""
    new: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class CriticEdit:
    """A suggested change of the text without the changes; `author` is empty where none is given."""

    edit: Edit
    author: str = ""


@dataclass(frozen=True, slots=True)
class CriticComment:
    """A comment on a passage of the text with all changes."""

    span: Span
    says: str
    author: str = ""


@dataclass(frozen=True, slots=True)
class CriticText:
    """A text with suggested changes and comments."""

    base: str
    edits: tuple[CriticEdit, ...] = ()
    comments: tuple[CriticComment, ...] = ()

    @property
    def change(self) -> Change:
        return Change(tuple(each.edit for each in self.edits))

    @property
    def accepted(self) -> str:
        """The text with all changes."""
        return self.change.apply(self.base)


def read_marks(text: str, *, markdown: bool = True) -> list[CriticMark]:
    """The marks of a text, in order. Only markdown has code, in which marks are text."""
    marks: list[CriticMark] = []
    code = iter(fences(text)) if markdown else iter(())
    block = next(code, None)
    missing: set[str] = set()
    place = 0
    while found := _START.search(text, place):
        while block is not None and block.start < place:  # a fence inside a mark belongs to the mark
            block = next(code, None)
        if block is not None and block.start <= found.start():
            place = max(block.end, found.start() + 1)
            continue
        opener = found.group()
        if opener not in _OPENERS:
            place = _code_end(text, found) if markdown else found.end()
        elif opener in missing or (mark := _read_mark(text, found.start(), opener)) is None:
            # One that finds no end has none for those behind it either, but for a substitution without its arrow.
            missing.update({opener} if text.find(_OPENERS[opener][1], found.end()) < 0 else ())
            place = found.start() + 1
        else:
            marks.append(mark)
            place = mark.end
    return marks


def _read_mark(text: str, start: int, opener: str) -> CriticMark | None:
    kind, closer = _OPENERS[opener]
    inner = start + len(opener)
    close = text.find(closer, inner)
    if close < 0:
        return None
    content, end = text[inner:close], close + len(closer)
    if kind == "insertion":
        return CriticMark(kind, start, end, new=content)
    if kind == "deletion":
        return CriticMark(kind, start, end, old=content)
    if kind == "highlight":
        return CriticMark(kind, start, end, content, content)
    if kind == "comment":
        return CriticMark(kind, start, end, note=content)
    old, arrow, new = content.partition(_ARROW)
    if arrow:
        return CriticMark(kind, start, end, old, new)
    return None


def _code_end(text: str, ticks: re.Match[str]) -> int:
    """Where the code ends that these backticks begin; right behind them where they begin none."""
    if ticks.group().startswith("\\"):
        return ticks.end()
    paragraph = _BLANK_LINE.search(text, ticks.end())
    end = len(text) if paragraph is None else paragraph.start()
    closing = re.compile(rf"(?<!`){ticks.group()}(?!`)").search(text, ticks.end(), end)
    return ticks.end() if closing is None else closing.end()


def parse(text: str, *, markdown: bool = True) -> CriticText:
    """The text without its marks, and what they say."""
    marks = read_marks(text, markdown=markdown)
    noted = {found["note"]: found["name"] for found in _NOTE_AUTHOR.finditer(text)}
    pieces: list[str] = []
    edits: list[CriticEdit] = []
    comments: list[CriticComment] = []
    place = at = new_at = 0
    subject: Span | None = None  # of a comment that follows at once
    for mark in marks:
        plain = text[place : mark.start]
        pieces.append(plain)
        at, new_at = at + len(plain), new_at + len(plain)
        if plain:
            subject = None
        if mark.kind == "comment":
            signed = _SIGNED.fullmatch(mark.note)
            if signed and not signed["says"] and edits and subject is not None and place == mark.start:
                edits = _sign_last(edits, signed["name"])
            else:
                comments.append(_comment(mark.note, signed, subject, new_at))
        else:
            if mark.kind in CHANGES and mark.old != mark.new:
                author = noted.get(_note_of(text, mark), "")
                edits.append(CriticEdit(Edit(at, mark.old, mark.new), author))
            pieces.append(mark.old)
            subject = Span(new_at, new_at + len(mark.new))
            at, new_at = at + len(mark.old), new_at + len(mark.new)
        place = mark.end
    pieces.append(text[place:])
    found = CriticText("".join(pieces), _join_meeting(edits), ())
    return replace(found, comments=tuple(_on_words(comments, found.accepted)))


def _sign_last(edits: list[CriticEdit], author: str) -> list[CriticEdit]:
    return [*edits[:-1], replace(edits[-1], author=author)]


def _comment(note: str, signed: re.Match[str] | None, subject: Span | None, at: int) -> CriticComment:
    span = Span(at, at) if subject is None else subject
    if signed and signed["says"]:
        return CriticComment(span, signed["says"].strip(), signed["name"])
    return CriticComment(span, note.strip())


def _note_of(text: str, mark: CriticMark) -> str:
    """The footnote that a change ends with, or that follows it."""
    content = mark.new or mark.old
    inside = content.rfind("[^")
    if inside >= 0 and (found := _NOTE.fullmatch(content, inside)):
        return found[1]
    behind = _NOTE.match(text, mark.end)
    return behind[1] if behind else ""


def _join_meeting(edits: Sequence[CriticEdit]) -> tuple[CriticEdit, ...]:
    """A deletion and an insertion of one author at one place are one replacement."""
    joined: list[CriticEdit] = []
    for each in edits:
        last = joined[-1] if joined else None
        if last is not None and last.edit.end == each.edit.at and last.author in (each.author, ""):
            edit = Edit(last.edit.at, last.edit.old + each.edit.old, last.edit.new + each.edit.new)
            joined[-1] = CriticEdit(edit, each.author)
        else:
            joined.append(each)
    return tuple(each for each in joined if each.edit.old != each.edit.new)


def _on_words(comments: Iterable[CriticComment], accepted: str) -> Iterable[CriticComment]:
    """A comment that stands by itself is about the word before it, else about the one behind it."""
    for comment in comments:
        at = comment.span.start
        if len(comment.span) or not accepted:
            yield comment
            continue
        line = max(accepted.rfind("\n", 0, at), accepted.rfind("\r", 0, at)) + 1
        words = list(_WORD.finditer(accepted, line, at)) or [_WORD.search(accepted, at)]
        word = words[-1]
        yield comment if word is None else replace(comment, span=Span(word.start(), word.end()))


# Writing


def write(critic: CriticText, *, markdown: bool = True) -> str:
    """The text with its changes and comments as marks; refused where they could not be read again."""
    edits = _around_code(critic, markdown=markdown)
    text = _write_marks(critic, edits)
    again = parse(text, markdown=markdown)
    if again.base != critic.base or again.accepted != critic.accepted:
        raise Refused(_unreadable(critic, markdown=markdown), code="conflict")
    return text


def _unreadable(critic: CriticText, *, markdown: bool) -> str:
    own = read_marks(critic.base, markdown=markdown) or read_marks(critic.accepted, markdown=markdown)
    where = f" (line {count_breaks(critic.base[: own[0].start]) + 1})" if own else ""
    return f"The text itself contains what CriticMarkup would take for a mark{where}, so its changes cannot be written."


def _around_code(critic: CriticText, *, markdown: bool) -> list[CriticEdit]:
    """The edits; what changes code takes all of that code with it, since marks inside code are text."""
    if not markdown:
        return list(critic.edits)
    spans = _code_spans(critic.base)
    wide: list[CriticEdit] = []
    for each in critic.edits:
        start, end = each.edit.at, each.edit.end
        for code in spans:
            if (code.start < end and start < code.end) or code.start < start == end < code.end:
                start, end = min(start, code.start), max(end, code.end)
        before, behind = critic.base[start : each.edit.at], critic.base[each.edit.end : end]
        grown = Edit(start, before + each.edit.old + behind, before + each.edit.new + behind)
        last = wide[-1] if wide else None
        if last is not None and last.edit.end > start:  # both change the same code
            rest = grown.old[last.edit.end - start :]
            kept = last.edit.new.removesuffix(critic.base[each.edit.at : last.edit.end])
            wide[-1] = CriticEdit(
                Edit(last.edit.at, last.edit.old + rest, kept + grown.new[each.edit.at - start :]), last.author
            )
        else:
            wide.append(replace(each, edit=grown))
    return wide


def _code_spans(text: str) -> list[Span]:
    spans = [Span(block.start, block.end) for block in fences(text)]
    place = 0
    blocks = iter(spans)
    block = next(blocks, None)
    inline: list[Span] = []
    while found := re.compile(r"\\`|`+").search(text, place):
        while block is not None and block.end <= found.start():
            block = next(blocks, None)
        if block is not None and block.start <= found.start():
            place = max(block.end, found.end())
            continue
        place = _code_end(text, found)
        if place > found.end():
            inline.append(Span(found.start(), place))
    return sorted([*spans, *inline])


def _write_marks(critic: CriticText, edits: Sequence[CriticEdit]) -> str:
    """Base with marks. Comments stand behind the passage that they are about, highlighted where no change stands."""
    change = Change(tuple(each.edit for each in edits))
    taken = [Span(change.map(each.edit.at, after=False), change.map(each.edit.end)) for each in edits]
    notes: dict[int, list[CriticComment]] = {}
    highlights: dict[int, Span] = {}
    for comment in critic.comments:
        meeting = [index for index, span in enumerate(taken) if span.touches(comment.span)]
        if meeting:
            notes.setdefault(-1 - meeting[-1], []).append(comment)
            continue
        back = change.invert()
        span = Span(back.map(comment.span.start), back.map(comment.span.end, after=False))
        clear = all(not span.touches(other) for other in highlights.values() if other != span)
        notes.setdefault(span.end, []).append(comment)
        if clear and len(span):
            highlights[span.start] = span
    return _splice(critic.base, edits, highlights.values(), notes)


def _splice(
    base: str, edits: Sequence[CriticEdit], highlights: Iterable[Span], notes: dict[int, list[CriticComment]]
) -> str:
    insertions: list[tuple[int, int, str]] = []  # at, order, what
    removed: list[Span] = []
    for index, each in enumerate(edits):
        mark = _mark_of(each.edit) + (f"{{>>@{each.author}<<}}" if each.author else "")
        insertions.append((each.edit.at, 1, mark + "".join(map(_note, notes.pop(-1 - index, [])))))
        removed.append(each.edit.span)
    for span in highlights:
        insertions += [(span.start, 2, "{=="), (span.end, 0, "==}" + "".join(map(_note, notes.pop(span.end, []))))]
    insertions += [(place, 1, "".join(map(_note, comments))) for place, comments in notes.items()]
    pieces: list[str] = []
    place = 0
    ends = {span.start: span.end for span in removed if len(span)}
    for at, _, what in sorted(insertions, key=lambda each: each[:2]):
        pieces += (base[place:at], what)
        place = max(place, at, ends.get(at, 0) if what.startswith(("{--", "{~~")) else 0)
    return "".join([*pieces, base[place:]])


def _note(comment: CriticComment) -> str:
    says = comment.says.replace("<<}", "<< }")
    return f"{{>>@{comment.author} {says}<<}}" if comment.author else f"{{>>{says}<<}}"


def _mark_of(edit: Edit) -> str:
    plain = _ARROW not in edit.old + edit.new and "~~}" not in f"{edit.old}{edit.new}~"
    if edit.old and edit.new and plain and not edit.old.endswith("~") and not edit.new.endswith("~"):
        return f"{{~~{edit.old}{_ARROW}{edit.new}~~}}"
    return _wrap("{--", edit.old, "--}") + _wrap("{++", edit.new, "++}")


def _wrap(opener: str, content: str, closer: str) -> str:
    """Marks around a content, cut wherever it has the closing sign itself."""
    cuts = [0]
    while (found := content.find(closer, cuts[-1])) >= 0:
        cuts.append(found + 1)
    cuts.append(len(content))
    return "".join(f"{opener}{content[start:end]}{closer}" for start, end in pairwise(cuts) if start < end)
