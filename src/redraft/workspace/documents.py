"""Finding a document: the working view of every path, from the disk and the drafts kept in the history.

What a reader sees is the draft's working text where there is a draft, else the file. A draft is compared with its file
every time it is read, by content: a change from outside is merged in before anybody sees or edits anything. Texts of
files read lately are kept, and read again unless their stamp proves that they hold what they held.
"""

from __future__ import annotations

import json
import time
from collections import OrderedDict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from redraft.errors import Damaged, Forbidden, RedraftError, Refused
from redraft.files.paths import DocPath, is_internal, parse_path
from redraft.files.secrets import is_secret_content, is_secret_name, mask
from redraft.files.textfile import decode
from redraft.files.trusting import proves_content
from redraft.history.journal import Content
from redraft.history.reviews import Image
from redraft.review.acts import type_into
from redraft.review.review import Review
from redraft.text.edits import Change
from redraft.text.text import Text
from redraft.workspace.document import Document
from redraft.workspace.draft import Draft

if TYPE_CHECKING:
    from redraft.files.images import FileImage, Stamp, Standing
    from redraft.files.root import Root
    from redraft.history.reviews import Reviews
    from redraft.history.store import Store

KEPT_BYTES = 64 * 1024 * 1024
SECRET_HEAD = 4096
SETTLE_NS, LOOKS, LOOK_SECONDS = 50_000_000, 20, 0.005


@dataclass(frozen=True, slots=True)
class OnDisk:
    """A text file as it is."""

    data: bytes
    text: Text
    bom: bool
    mode: int
    stamp: Stamp | None = None
    proven: bool = False  # an equal stamp means equal content, not only most likely

    def as_content(self) -> Content:
        return Content(self.data, self.text, self.bom)


class Documents:
    """Reads; keeps nothing of its own but caches. Drafts are written by the callers' transactions."""

    def __init__(self, root: Root, store: Store, reviews: Reviews) -> None:
        self._root = root
        self._store = store
        self._reviews = reviews
        self._texts: OrderedDict[str, OnDisk] = OrderedDict()
        self._drafts: dict[str, tuple[str, int, Draft]] = {}
        self.unreadable: dict[str, str] = {}  # what to tell about reviews that are damaged
        self._working: dict[str, tuple[str, Text]] = {}
        self._harmless: Text | None = None  # looked at last: an edit asks three times

    def path(self, raw: str) -> DocPath:
        """The canonical path, refused where nobody may go."""
        path = parse_path(raw)
        if is_internal(path):
            raise Forbidden(f"{path} belongs to version control or to Redraft itself.", path=path)
        return path

    def for_agent(self, path: DocPath) -> Document | None:
        """What an agent sees here. A file that holds keys, by its name or by how it begins, is refused."""
        check_name_not_secret(path)
        document = self.document(path, for_agent=True)
        if document is not None and document.text is not self._harmless:
            check_not_secret(document)
            self._harmless = document.text
        return document

    def on_disk(self, path: DocPath, *, again: bool = False) -> OnDisk | None:
        """The file, or None; `unsupported_file_type` where it is no UTF-8 text.

        `again` says that the caller read it a moment ago and compares it once more before writing: then an unchanged
        stamp is enough, even one that is no proof.
        """
        kept = self._texts.get(path)
        if kept is not None and (again or kept.proven) and kept.stamp and kept.stamp == self._root.stamp(path):
            return kept
        now = time.time_ns()
        image = self._read(path, None if kept is None else kept.data)
        if image is None:
            self._texts.pop(path, None)
            return None
        proven = proves_content(image.stamp, now)
        if kept is None or kept.data != image.data:
            found = decode(image.data)
            text = Text(found.text) if kept is None else changed_into(kept.text, found.text)
            kept = OnDisk(image.data, text, found.bom, image.mode, image.stamp, proven)
        else:
            kept = OnDisk(kept.data, kept.text, kept.bom, image.mode, image.stamp, proven)
        self._keep(path, kept)
        return kept

    def _read(self, path: DocPath, before: bytes | None) -> FileImage | None:
        """The file, if there is one, once nobody seems to be writing it: many programs empty a file before they write
        it, and who looks too soon sees how the content `before` began, and no more."""
        try:
            image = self._root.read(path)
            for _ in range(LOOKS):
                cut_off = before is not None and before != image.data and before.startswith(image.data)
                if not cut_off or not 0 <= time.time_ns() - image.stamp.mtime_ns < SETTLE_NS:
                    break
                time.sleep(LOOK_SECONDS)
                image = self._root.read(path)
            return image
        except Refused as error:
            if error.code == "not_found":
                return None
            raise

    def occupied(self, path: DocPath) -> bool:
        """Whether anything at all lies here on disk (a folder, a picture, what waits to be moved elsewhere).

        Not a document whose deletion is pending: a new one may be proposed in its place.
        """
        return self._root.exists(path) and self._reviews.standing_for(path) != path

    def keep_written(self, path: DocPath, content: Content, standing: Standing | None) -> None:
        """Remember what was just written, so that it need not be cut up again, nor even read if it stands as it was."""
        if content.text is None:
            return
        if standing is None:
            self._keep(path, OnDisk(content.data, content.text, content.bom, mode=0))
            return
        proven = proves_content(standing.stamp, 0, sole_writer=True)
        self._keep(path, OnDisk(content.data, content.text, content.bom, standing.mode, standing.stamp, proven))

    def _keep(self, path: str, text: OnDisk) -> None:
        self._texts.pop(path, None)
        self._texts[path] = text
        while len(self._texts) > 1 and sum(len(kept.data) for kept in self._texts.values()) > KEPT_BYTES:
            self._texts.popitem(last=False)

    def draft(self, path: str) -> Draft | None:
        """The draft that stands at this path in the working view, up to date with typing and the disk."""
        stored = self.stored(path)
        if stored is None:
            return None
        where = stored.base_path or stored.path or path
        image = self._read(DocPath(where), stored.saved)
        draft = stored.with_disk(None if image is None else image.data)
        return draft if draft.key else None  # to be deleted, and somebody else did it: nothing is left of it

    def stored(self, path: str) -> Draft | None:
        """The draft as it was kept, not yet compared with the disk; none where what was kept is damaged."""
        try:
            return self._stored(path)
        except Damaged as error:
            if not error.details:
                raise  # the database itself could not be read
            self.unreadable[path] = f"The review of {path} cannot be read any more: {error.message}"
            return None

    def _stored(self, path: str) -> Draft | None:
        row = self._reviews.get(path)
        if row is None:
            self._drafts.pop(path, None)
            return None
        kept = self._drafts.get(path)
        if kept is None or kept[0] != row or not self._reviews.has_typing(path, kept[1]):
            kept = (row, 0, self.from_image(row))
        _, last, draft = kept
        for seq, change in self._reviews.typing(path, last):
            draft = self._typed(draft, Change.from_json(json.loads(change)))
            last = seq
        self._drafts[path] = (row, last, draft)
        return draft

    def _typed(self, draft: Draft, change: Change) -> Draft:
        """The draft with the person's edit, the kept text brought along instead of being cut anew."""
        kept = self._working.get(draft.key)
        after = replace(draft, review=type_into(draft.review, change))
        if kept is not None and kept[0] is draft.review.working:
            self._working = {draft.key: (after.review.working, change.apply_to(kept[1]))}
        return after

    def from_image(self, row: str) -> Draft:
        image = Image.from_json(row)
        base, proposed, working = (self._text(name) for name in (image.base, image.proposed, image.working))
        return Draft(
            image.path,
            image.base_path,
            Review.from_cuts(base, proposed, working, image.cuts),
            None if image.saved is None else self._store.get(bytes.fromhex(image.saved)),
            image.bom,
            image.mode,
            image.turn,
        )

    def to_image(self, draft: Draft) -> str:
        """Store the draft's texts and give its image. Called inside a transaction."""
        review = draft.review
        known: dict[str, str] = {}
        for text in (review.base, review.proposed, review.working):
            if text not in known:
                known[text] = self._store.put_text(Text(text)).hex()
        saved = None if draft.saved is None else self._put_saved(draft)
        return Image(
            draft.path,
            draft.base_path,
            saved,
            known[review.base],
            known[review.proposed],
            known[review.working],
            review.cuts(),
            draft.bom,
            draft.mode,
            draft.turn,
        ).to_json()

    def _put_saved(self, draft: Draft) -> str:
        data = draft.saved or b""
        found = decode(data)
        return self._store.put_text(Text(found.text), bom=found.bom).hex()

    def _text(self, snapshot: str) -> str:
        return self._store.get(bytes.fromhex(snapshot)).decode()

    def document(self, path: DocPath, *, for_agent: bool = False) -> Document | None:
        """What a reader sees at this path, or None."""
        if self._reviews.knows(path):
            draft = self.draft(path)
            if for_agent and draft is not None and is_secret_content((draft.saved or b"")[:SECRET_HEAD]):
                raise Forbidden(mask(path), code="secret", path=path)  # whatever was typed above the key since
            if draft is not None and draft.path == path:
                return Document(path, self.working(draft), draft.bom, draft.mode)
            if draft is not None or self._reviews.standing_for(path) not in (None, path):
                return None  # an agent proposes to delete it, or to move it elsewhere
        disk = self.on_disk(path)
        return None if disk is None else Document(path, disk.text, disk.bom, disk.mode)

    def working(self, draft: Draft) -> Text:
        """The draft's working text. The last one is kept: it is asked for again and again while it is edited."""
        working = draft.review.working
        kept = self._working.get(draft.key)
        if kept is None or kept[0] is not working:
            kept = (working, Text(working))
            self._working = {draft.key: kept}
        return kept[1]

    def drafts(self) -> list[Draft]:
        found = (self.draft_or_kept(path) for path in self._reviews.paths())
        return [draft for draft in found if draft is not None]

    def draft_or_kept(self, path: str) -> Draft | None:
        """A file that cannot be read as text just now hides neither its own draft nor those of others."""
        try:
            return self.draft(path)
        except RedraftError:
            return self.stored(path)


def changed_into(text: Text, new: str) -> Text:
    """The text with other content. Where most of it stayed, only the rest is cut anew: 10 MB take 200 ms to cut."""
    change = Change.between(str(text), new)
    return change.apply_to(text) if sum(len(edit.new) for edit in change.edits) * 2 < len(new) else Text(new)


def check_name_not_secret(path: str) -> None:
    """Refuse a path whose name says that it holds keys or passwords."""
    if is_secret_name(path):
        raise Forbidden(mask(path), code="secret", path=path)


def check_not_secret(document: Document) -> None:
    """Refuse a document that begins as a private key does, whatever it is called."""
    head = document.text.slice(0, min(len(document.text), SECRET_HEAD))
    if is_secret_content(head.encode()):
        raise Forbidden(mask(document.path), code="secret", path=document.path)
