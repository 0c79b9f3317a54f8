"""One document: its text in the server's room, and what one editor shows of it. No editor and no network here.

An editor changes its text only when it gets to it, and the person types on meanwhile. So there are two replicas:
`room`, which follows the server, and one that has exactly what the editor shows. What is typed goes into the second, at
the places that the person saw, and from there into the room. What came from the room is offered to the editor as edits
for the version that it has, and goes into the second only once the editor reports that text. So nothing typed is lost
or doubled, in whatever order typing, offers and reports cross.

Editors have one kind of line break. What one shows is compared with every break as "\\n"; the document keeps its own.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import Any

from pycrdt import Doc, Text

from redraft.text.diff.line_diff import diff_lines
from redraft.text.edits import Change, Edit
from redraft.text.lines import adopt_newlines

TEXT = "text"
_BREAK = re.compile(r"\r\n?")
_LONG_BREAK = re.compile(r"\r\n")


def to_plain(text: str) -> str:
    """A text with every line break one character long."""
    return _BREAK.sub("\n", text) if "\r" in text else text


def find_edits(old: str, new: str) -> list[Edit]:
    """The edits that turn one text into another: one in each changed group of lines."""
    found: list[Edit] = []
    for each in diff_lines(old, new):
        before, after = old[each.at : each.until], new[each.new_at : each.new_until]
        found += [Edit(each.at + edit.at, edit.old, edit.new) for edit in Change.between(before, after).edits]
    return found


@dataclass(slots=True)
class OfferedText:
    """What the editor was asked to show."""

    doc: Doc[Any]
    text: str


class EditorMirror:
    """See above. `room` is the replica that follows the server."""

    def __init__(self, room: Doc[Any]) -> None:
        self.room = room
        self._shown: Doc[Any] = Doc()
        self.text = ""  # what the editor shows, with the document's own line breaks
        self._offer: OfferedText | None = None
        self._astray: str | None = None  # what the editor shows instead, before it has shown the room's text

    @property
    def plain(self) -> str:
        return to_plain(self.text)

    @property
    def room_text(self) -> str:
        return str(self.room.get(TEXT, type=Text))

    def begin(self, now: str) -> None:
        """The editor opens the document with this text. Where that is not the room's, the room's is offered."""
        self._adopt(self._with_room())
        if to_plain(now) != self.plain:
            self._astray = to_plain(now)

    @property
    def is_current(self) -> bool:
        """Whether the editor shows everything that is in the room."""
        return self._astray is None and self.text == self.room_text

    def report(self, now: str) -> bool:
        """The editor's text is this now. Returns whether the person typed."""
        offer, self._offer = self._offer, None
        now = to_plain(now)
        if offer is not None:
            ours = to_plain(offer.text)
            # Some editors report an offer and what was typed after it in one; that is nearer to the offer then.
            if now == ours or _distance(ours, now) < _distance(self.seen, now):
                self._adopt(offer)
        if now == self.seen:
            return False
        if self._astray is not None:
            self._type(_carry(find_edits(self._astray, now), self._astray, self.plain))
            self._astray = now
        else:
            self._type(find_edits(self.plain, now))
        return True

    @property
    def seen(self) -> str:
        """The text that the editor reported last, every line break one character long."""
        return self.plain if self._astray is None else self._astray

    def make_offer(self) -> list[Edit] | None:
        """The edits of the editor's text that show what is in the room; None if there are none."""
        self._offer = None
        fresh = self._with_room()
        edits = find_edits(self.seen, to_plain(fresh.text))
        if not edits:
            self._adopt(fresh)
            return None
        self._offer = fresh
        return edits

    def withdraw_offer(self) -> None:
        """The editor has refused the offer."""
        self._offer = None

    @property
    def is_waiting(self) -> bool:
        """Whether an offer was taken and its text is still to be reported."""
        return self._offer is not None

    def _type(self, edits: list[Edit]) -> None:
        """Edits of the plain text, into both replicas."""
        breaks = [found.start() - number for number, found in enumerate(_LONG_BREAK.finditer(self.text))]
        text: Text = self._shown.get(TEXT, type=Text)
        before = self._shown.get_state()
        with self._shown.transaction():
            for edit in reversed(edits):
                # A place after a break of two characters is one further on for each of them.
                start, end = (place + bisect_right(breaks, place - 1) for place in (edit.at, edit.at + len(edit.old)))
                first, last = len(self.text[:start].encode()), len(self.text[:end].encode())
                if last > first:
                    del text[first:last]
                if edit.new:
                    text.insert(first, adopt_newlines(edit.new, self.text) if "\n" in edit.new else edit.new)
        self.text = str(text)
        self.room.apply_update(self._shown.get_update(before))

    def _with_room(self) -> OfferedText:
        doc: Doc[Any] = Doc()
        doc.get(TEXT, type=Text)
        doc.apply_update(self._shown.get_update())
        doc.apply_update(self.room.get_update(doc.get_state()))
        return OfferedText(doc, str(doc.get(TEXT, type=Text)))

    def _adopt(self, offer: OfferedText) -> None:
        self._shown, self.text, self._astray = offer.doc, offer.text, None


def _distance(one: str, other: str) -> int:
    """How much has to change to make one text of the other."""
    return sum(len(edit.old) + len(edit.new) for edit in find_edits(one, other))


def _carry(edits: list[Edit], base: str, text: str) -> list[Edit]:
    """Edits of `base` in a text that has gone on: those whose place is there unchanged are moved, and what was inserted
    elsewhere goes beside it."""
    moves = find_edits(base, text)
    carried: list[Edit] = []
    for edit in edits:
        shift = sum(len(move.new) - len(move.old) for move in moves if move.at + len(move.old) <= edit.at)
        at = edit.at + shift
        whole = text.startswith(edit.old, at)
        carried.append(Edit(min(at, len(text)), edit.old if whole else "", edit.new))
    return carried
