"""Documents and drafts. A document is a text with a path, an encoding, a newline style, a format and a version; a draft
is a document with something pending or unsaved.

The version is a hash of the content, so a version token is valid exactly as long as the document has the content that
it was issued for. Touching a file does not invalidate it, restoring the content makes it valid again, and no version is
ever reused for other content.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from redraft.errors import RedraftError, Refused, Stale
from redraft.files.textfile import decode, encode, format_of
from redraft.review.operations import accept, accept_all, reject, reject_all, save, type_into, withdraw
from redraft.review.outside_change import apply_outside_change, without_file
from redraft.review.review import Review
from redraft.review.runs import USER
from redraft.text.diff.hunks import diff
from redraft.text.diff.word_diff import are_alike
from redraft.text.edits import Change
from redraft.text.lines import newline_style
from redraft.text.text import Text, check_unicode

if TYPE_CHECKING:
    from redraft.review.runs import Run
    from redraft.text.diff.hunks import Hunk


VERSION_DIGITS = 16
NEWLINE_SAMPLE = 65536


@dataclass(frozen=True, slots=True)
class Document:
    """An immutable value; reading it never touches the disk."""

    path: str
    text: Text
    bom: bool = False
    mode: int | None = None

    @property
    def version(self) -> str:
        return version_of(self.text, bom=self.bom)

    @property
    def format(self) -> str:
        return format_of(self.path)

    @property
    def file_type(self) -> str:
        """The name that tools give to the format: plain text is "txt"."""
        return "txt" if self.format == "text" else self.format

    @property
    def newline(self) -> str:
        return newline_style(self.text.slice(0, min(len(self.text), NEWLINE_SAMPLE)))

    def check_version(self, token: str) -> None:
        """Refuse a token that was issued for other content."""
        if token != self.version:
            raise Stale(
                f"{self.path} changed since it was read.",
                path=self.path,
                your_version=token,
                current_version=self.version,
            )


def check_text(*texts: str) -> None:
    """Refuse text that could be written but not read again: NUL, and half of a surrogate pair."""
    for text in texts:
        if "\0" in text:
            raise Refused("A text cannot contain the character NUL.", code="invalid_text", offset=text.index("\0"))
        check_unicode(text)


def version_of(text: Text, *, bom: bool = False) -> str:
    if not bom and text.slice(0, min(len(text), 1)) == "\ufeff":  # on disk the same bytes as a byte order mark
        text, bom = text.replace(0, 1, ""), True
    digest = text.digest
    if bom:
        digest = hashlib.sha256(b"bom" + digest).digest()
    return digest.hex()[:VERSION_DIGITS]


def content_hash(data: bytes) -> str:
    """The hash that agent-sidebar calls `base_file_hash` and `expected_hash`."""
    return "sha256:" + hashlib.sha256(data).hexdigest()


def exceeds(texts: list[Text], limit: int) -> bool:
    """Whether the texts are longer than this many bytes of UTF-8. They are encoded only if their length leaves it
    open."""
    length = sum(map(len, texts))
    if length > limit or length * 4 <= limit:
        return length > limit
    return sum(len(block.data) for text in texts for block in text.blocks) > limit


# A draft: a document that has a review or unsaved typing, together with what the disk held when we last looked.
#
# `path` is where the document stands in the working view (None: an agent proposes to delete it, and until that is
# decided the person goes on where it lies), `base_path` where it stands on disk (None: it is not there yet), `turn` the
# token of the turn that proposes to create, move or delete it. A draft is a value; `Documents` reads and keeps it.


FILE_HUNK = "file"
Kind = Literal["created", "deleted", "moved", "modified"]


@dataclass(frozen=True, slots=True)
class Draft:
    """A document with a review or unsaved typing. See the comment above."""

    path: str | None
    base_path: str | None
    review: Review
    saved: bytes | None
    bom: bool = False
    mode: int | None = None
    turn: str = ""

    @property
    def key(self) -> str:
        return self.path or self.base_path or ""

    @property
    def kind(self) -> Kind:
        if self.base_path is None:
            return "created"
        if self.path is None:
            return "deleted"
        return "modified" if self.path == self.base_path else "moved"

    @property
    def saved_text(self) -> str:
        """What the disk holds, which is always the review's saved text."""
        return self.review.saved

    @property
    def dirty(self) -> bool:
        """Whether saving would change the disk."""
        return self.key != "" and self.review.to_save != self.review.saved

    @property
    def unsaved(self) -> list[Hunk]:
        """What saving would change although no hunk shows it: typing that an agent proposes to delete again."""
        if self.kind not in ("modified", "deleted") or not self.dirty:
            return []
        shown: list[tuple[int, int]] = []
        at = 0
        for part in self.review.parts:
            end = at + len(part.own)
            if part.is_hunk and part.author in ("user", "mixed"):
                shown.append((at, end))
            at = end
        return [
            hunk
            for hunk in diff(self.saved_text, self.review.to_save)
            if not any(start <= hunk.new_at + len(hunk.new_text) and hunk.new_at <= end for start, end in shown)
        ]

    @property
    def changes(self) -> tuple[Run, ...]:
        """What waits to be saved or decided; the same wherever the file is."""
        return tuple(run for run in self.review.runs if not run.plain)

    @property
    def pending(self) -> bool:
        """Whether anything is left to decide: a hunk, or the file itself."""
        unsettled = any(part.unsettled for part in self.review.parts)
        return self.review.pending or unsettled or self.kind != "modified"

    @property
    def settled(self) -> bool:
        """Whether the disk has everything, so that the draft can be deleted."""
        return self.kind == "modified" and not any(part.is_hunk for part in self.review.parts) and not self.dirty

    def has_hunk_of(self, turn: str) -> bool:
        return turn in self.review.turns

    def encode_text(self, text: str) -> bytes:
        return encode(text, self.bom)

    def with_disk(self, data: bytes | None) -> Draft:
        """The draft after another program changed or removed the file."""
        if data == self.saved:
            return self
        if data is None:
            mine = self.review
            if self.path is None and mine.to_save != self.saved_text:
                # To be deleted, and gone: nothing is left to decide. But what was typed and not saved needs a place.
                review = without_file(mine)
                return replace(self, path=self.base_path, base_path=None, saved=None, review=review, turn="")
            return replace(self, base_path=None, saved=None, review=without_file(mine))
        found = decode(data)
        review = apply_outside_change(self.review, found.text)
        return replace(self, base_path=self.base_path or self.path, saved=data, bom=found.bom, review=review)

    def over_returned_file(self, data: bytes | None) -> Draft | None:
        """For a draft whose file was gone: the draft as the person's typing over the file that came back. None if that
        is another document."""
        if self.saved is not None or self.review.turns or data is None:
            return None
        try:
            found = decode(data)
        except RedraftError:
            return None
        own = self.review.working
        change = Change.between(found.text, own)
        untouched = len(found.text) - sum(len(edit.old) for edit in change.edits)
        if 2 * untouched < len(found.text) and not are_alike(found.text, own):
            return None
        review = type_into(Review.of(found.text), change)
        return replace(self, base_path=self.path, saved=data, bom=found.bom, review=review)

    def adds_conflict_to(self, before: Draft) -> bool:
        """Whether following the file brought the draft into a conflict that it did not have before. Then nobody could
        tell any more whose words are whose: what the turn inserted around them would count as the person's."""
        old, new = (sum(hunk.conflict for hunk in draft.review.hunks) for draft in (before, self))
        return new > old

    def file_hunk(self) -> dict[str, Any] | None:
        """The decision about the file itself, if there is one."""
        if self.kind == "modified":
            return None
        return {
            "hunk_id": FILE_HUNK,
            "kind": self.kind,
            "path": self.path,
            "base_path": self.base_path,
            "author": "agent" if self.kind != "created" or self.review.pending or not self.review.working else "user",
        }

    def hunk_ids(self, *, of_agents: bool = False) -> list[str]:
        """Everything that can be decided, the file itself first."""
        first = [FILE_HUNK] if self.kind != "modified" else []
        if self.kind == "created":
            return first
        wanted = ("agent", "mixed") if of_agents else ("agent", "mixed", "user", "none")
        return first + [hunk.id for hunk in self.review.hunks if hunk.author in wanted]

    def accept_hunks(self, ids: set[str], turn: str = "") -> Draft:
        """The draft after the person accepted these hunks. `file` stands for all of a created document; accepting a
        deletion removes the document."""
        rest = ids - {FILE_HUNK}
        if self.kind == "deleted" and FILE_HUNK in ids:
            return replace(self, base_path=None, turn="")
        if self.kind == "created":
            self.review.require_hunks(rest - {hunk.id for hunk in self.review.hunks})
            accept(self.review, [hunk.id for hunk in self.review.hunks if hunk.unsettled])  # refuses one that is open
            return replace(self, base_path=self.path, review=accept_all(self.review), turn="")
        review = accept(self.review, rest, turn) if rest else self.review
        if FILE_HUNK in ids:
            return replace(self, base_path=self.path, review=review, turn="")
        return replace(self, review=review)

    def reject_hunks(self, ids: set[str], turn: str = "") -> Draft:
        """The draft after the person rejected these hunks. In a created document that several turns wrote, only the
        words of the named turn are rejected."""
        rest = ids - {FILE_HUNK}
        if self.kind == "created" and turn and self.review.turns - {turn}:
            hunks = [hunk.id for hunk in self.review.hunks if turn in hunk.turns]
            return replace(self, review=reject(self.review, hunks, turn), turn="" if self.turn == turn else self.turn)
        if self.kind == "created":
            return replace(self, review=reject_all(self.review), turn="")
        review = reject(self.review, rest, turn) if rest else self.review
        if FILE_HUNK in ids:
            return replace(self, path=self.base_path, review=review, turn="")
        return replace(self, review=review)

    def withdraw_turn(self, turn: str) -> Draft | None:
        """The draft without anything that is pending from one turn: its words, and its proposal about the file itself.
        None if a later turn changed the same words."""
        review = withdraw(self.review, turn)
        if review is None:
            return None
        if self.turn != turn:
            return replace(self, review=review)
        return replace(self, path=self.path if self.kind == "created" else self.base_path, review=review, turn="")

    def save_typing(self) -> Draft:
        return replace(self, review=save(self.review))

    @property
    def to_disk(self) -> bytes | None:
        """The bytes of the review's saved text: what the disk has to hold after a decision."""
        return self.encode_text(self.review.saved) if self.key else None

    @property
    def worthless(self) -> bool:
        """Whether this is a created document that was rejected and in which nothing of the person's is left."""
        return self.base_path is None and not self.review.working and not self.review.pending


def is_another_document(before: Draft | None, after: Draft | None) -> bool:
    """Whether the draft that stands at a place after another program wrote there belongs to another document than the
    one before. What was typed tells: that program's writing takes none of it."""
    if any(draft is not None and draft.base_path is None for draft in (before, after)):
        return False  # without a file, all of it counts as typed
    old, new = ([] if draft is None else _typed_words(draft) for draft in (before, after))
    if before is not None and after is not None:
        shorter, longer = sorted((len(before.saved_text), len(after.saved_text)))
        if 2 * shorter < longer:  # half of a document: what was lost around the typing counts as typed as well
            return not {*old} <= {*new} and not {*new} <= {*old}
    return old != new


def _typed_words(draft: Draft) -> list[str]:
    return "".join(run.text for run in draft.review.runs if run.by == USER and not run.forgotten).split()
