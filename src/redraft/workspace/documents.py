"""Find a document: the working view of every path, from the disk and the drafts stored in the history.

A reader sees the draft's working text if there is a draft, else the file. A draft is compared with its file by content
each time it is read, and a change from outside is merged in before anybody sees or edits anything. The texts of
recently read files are cached, and read again unless their stamp proves that nothing changed. If a file differs from
what was known, `look` records the change as a turn of another program before anybody sees it (see `outside_changes`).
"""

from __future__ import annotations

import json
import logging
import time
from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from redraft.errors import Damaged, Forbidden, RedraftError, Refused
from redraft.files.file_image import proves_content
from redraft.files.paths import DocPath, is_internal, parse_path
from redraft.files.secret_detection import check_name_not_secret, is_secret_content, is_secret_name, secret_error
from redraft.files.textfile import decode
from redraft.files.tree import walk
from redraft.history.journal import Content
from redraft.history.reviews import ReviewImage
from redraft.review.operations import type_into, withdraw
from redraft.review.review import Review
from redraft.text.edits import Change, ChangeLog
from redraft.text.text import Text
from redraft.workspace.document import Document, Draft
from redraft.workspace.secret_gate import check_not_secret, is_secret_draft

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Sequence

    from redraft.files.file_image import FileImage, FileStamp, PlacedFile
    from redraft.files.root import Root
    from redraft.history.database import Store
    from redraft.history.reviews import LastSeenTable, Reviews
    from redraft.workspace.engine import Engine
    from redraft.workspace.folder.outside_changes import LookResult


KEPT_BYTES = 64 * 1024 * 1024
SETTLE_NS, LOOKS, LOOK_SECONDS = 50_000_000, 20, 0.005


@dataclass(frozen=True, slots=True)
class DiskFile:
    """A text file as it is on disk."""

    data: bytes
    text: Text
    bom: bool
    mode: int
    stamp: FileStamp | None = None
    proven: bool = False  # an equal stamp means equal content, not only most likely

    def as_content(self) -> Content:
        return Content(self.data, self.text, self.bom)


class Documents:
    """Reads documents; stores nothing but its caches. Callers write drafts in transactions of their own."""

    def __init__(self, root: Root, store: Store, reviews: Reviews, seen: LastSeenTable) -> None:
        self._root = root
        self._store = store
        self._reviews = reviews
        self._seen = seen
        self.look: Callable[[DocPath], LookResult | None] = lambda _: None
        self.draft_before_run: Callable[[Draft, DocPath], Draft | None] = lambda draft, _: draft
        self._texts: OrderedDict[str, DiskFile] = OrderedDict()
        self._drafts: dict[str, tuple[str, int, Draft]] = {}
        self.unreadable: dict[str, str] = {}  # what to tell about reviews that are damaged
        self._working: dict[str, tuple[str, Text]] = {}
        self.changes = ChangeLog()

    def path(self, raw: str) -> DocPath:
        """The canonical path; refused if nobody may access it."""
        path = parse_path(raw)
        if is_internal(path):
            raise Forbidden(f"{path} belongs to version control or to Redraft itself.", path=path)
        return path

    def on_disk(self, path: DocPath, *, again: bool = False) -> DiskFile | None:
        """The file, or None; `unsupported_file_type` if it is not UTF-8 text. `again` means that the caller read it a
        moment ago and compares it once more before writing: then an unchanged stamp is enough even if it is no
        proof."""
        kept = self._texts.get(path)
        if kept is not None and (again or kept.proven) and kept.stamp and kept.stamp == self._root.stamp(path):
            return kept
        now = time.time_ns()
        image = self.read_file(path, None if kept is None else kept.data)
        first = Content.of(image.data) if kept is None and image is not None else None
        if self._is_news(path, kept, image, first):
            looked = self.look(path)
            if looked is None:  # to be recorded another time: until then it is not what is known
                return None if image is None else _as_text(path, image, kept, proven=False)
            if image != looked.image:
                image, first = looked.image, None
        if image is None:
            self._texts.pop(path, None)
            return None
        proven = proves_content(image.stamp, now)
        if first is not None and first.text is not None:
            found = DiskFile(image.data, first.text, first.bom, image.mode, image.stamp, proven)
        else:
            found = _as_text(path, image, kept, proven=proven)
        self._cache(path, found)
        return found

    def _is_news(self, path: DocPath, kept: DiskFile | None, image: FileImage | None, first: Content | None) -> bool:
        """Whether the file holds something that neither this process nor the history knows."""
        if kept is not None:
            return image is None or image.data != kept.data
        known = self._seen.find_known_content(path)
        return known is not None and known.snapshot != (None if first is None else first.snapshot)

    def find_cached_file(self, path: str) -> DiskFile | None:
        """The file as this process last knew it."""
        return self._texts.get(path)

    def list_cached_paths(self) -> set[DocPath]:
        return {DocPath(path) for path in self._texts}

    def cache_file(self, path: DocPath, image: FileImage | None, *, proven: bool) -> None:
        """Remember the file as it was found, if it is text."""
        kept = self._texts.pop(path, None)
        if image is not None:
            with suppress(RedraftError):
                self._cache(path, _as_text(path, image, kept, proven=proven))

    def read_file(self, path: DocPath, before: bytes | None) -> FileImage | None:
        """The file, if there is one, once nobody seems to be writing it. Many programs empty a file before they write
        it, so a reader that comes too early sees only the beginning of what it held `before`."""
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

    def is_occupied(self, path: DocPath) -> bool:
        """Whether anything is at this path on disk (a folder, a picture, a file that is to be moved away). A document
        whose deletion is pending does not count: a new one may be proposed in its place."""
        return self._root.exists(path) and self._reviews.working_path(path) != path

    def find_missing_folders(self, path: DocPath) -> list[DocPath]:
        """The folders that must be created before this one, outermost first; refused if a document is in the way."""
        missing: list[DocPath] = []
        names = path.split("/")
        for depth in range(1, len(names) + 1):
            folder = DocPath("/".join(names[:depth]))
            if not self._root.exists(folder):
                missing.append(folder)
            elif not self._root.is_folder(folder):
                raise Refused(f"{folder} is a document.", code="already_exists", path=folder)
        return missing

    def cache_content(self, path: DocPath, content: Content, standing: PlacedFile | None) -> None:
        """Remember what was just written, so that it need not be split into blocks again, nor read if it is still as
        written."""
        if content.text is None:
            return
        if standing is None:
            self._cache(path, DiskFile(content.data, content.text, content.bom, mode=0))
            return
        proven = proves_content(standing.stamp, 0, sole_writer=True)
        self._cache(path, DiskFile(content.data, content.text, content.bom, standing.mode, standing.stamp, proven))

    def _cache(self, path: str, text: DiskFile) -> None:
        self._texts.pop(path, None)
        self._texts[path] = text
        while len(self._texts) > 1 and sum(len(kept.data) for kept in self._texts.values()) > KEPT_BYTES:
            self._texts.popitem(last=False)

    def draft(self, path: str) -> Draft | None:
        """The draft at this path in the working view, brought up to date with typing and with the disk."""
        stored = self.load_stored_draft(path)
        if stored is None:
            return None
        where = DocPath(stored.base_path or stored.path or path)
        # An empty folder that another program put in its place hides no file.
        image = None if self._root.is_empty_folder(where) else self.read_file(where, stored.saved)
        data = None if image is None else image.data
        if data != stored.saved:
            looked = self.look(where)
            if looked is not None:
                data = None if looked.image is None else looked.image.data
            # It has followed by now, or follows when that is recorded: from the same draft, so that both read the same.
            stored = self.draft_before_run(stored, where) if looked is None else self.load_stored_draft(path)
            if stored is None:
                return None
        draft = stored.with_disk(data)
        return draft if draft.key else None  # to be deleted, and somebody else did it: nothing is left of it

    def load_stored_draft(self, path: str) -> Draft | None:
        """The draft as it was stored, not yet compared with the disk; None if the stored data is damaged."""
        try:
            return self._load_draft(path)
        except Damaged as error:
            if not error.details:
                raise  # the database itself could not be read
            self.unreadable[path] = f"The review of {path} can no longer be read: {error.message}"
            return None

    def _load_draft(self, path: str) -> Draft | None:
        row = self._reviews.get(path)
        if row is None:
            self._drafts.pop(path, None)
            return None
        kept = self._drafts.get(path)
        if kept is None or kept[0] != row or not self._reviews.has_typing(path, kept[1]):
            kept = (row, 0, self.from_image(row))
        _, last, draft = kept
        for seq, change in self._reviews.read_typing(path, last):
            draft = self._apply_typing(draft, Change.from_json(json.loads(change)))
            last = seq
        self._drafts[path] = (row, last, draft)
        return draft

    def _apply_typing(self, draft: Draft, change: Change) -> Draft:
        """The draft with the person's edit applied to the cached text, which avoids splitting it into blocks again."""
        kept = self._working.get(draft.key)
        after = replace(draft, review=type_into(draft.review, change))
        if kept is not None and kept[0] is draft.review.working:
            self._working = {draft.key: (after.review.working, change.apply_to(kept[1]))}
        return after

    def from_image(self, row: str) -> Draft:
        image = ReviewImage.from_json(row)
        saved = None if image.saved is None else self._store.get(bytes.fromhex(image.saved))
        review = self._review(image, saved)
        if image.path is None and image.turn in review.turns:
            # From before a proposed deletion left the words as they were: it is about the file alone.
            review = withdraw(review, image.turn) or review
        return Draft(
            image.path,
            image.base_path,
            review,
            saved,
            image.bom,
            image.mode,
            image.turn,
        )

    def _review(self, image: ReviewImage, saved: bytes | None) -> Review:
        if image.text is not None:
            return Review.from_cuts(self._text(image.text), image.cuts)
        # From before runs were kept: who wrote what has to be worked out from the three texts.
        proposed, working = (self._text(name) for name in (image.proposed or image.working, image.working))
        turns = [row[5] for row in image.cuts if row[5]]
        return Review.between(
            "" if saved is None else decode(saved).text, proposed, working, turns[-1] if turns else ""
        )

    def to_image(self, draft: Draft) -> str:
        """Store the draft's texts and return its image. Called inside a transaction."""
        review = draft.review
        working = self._store.put_text(Text(review.working)).hex()
        return ReviewImage(
            draft.path,
            draft.base_path,
            None if draft.saved is None else self._store_saved_text(draft),
            working,
            review.cuts(),
            draft.bom,
            draft.mode,
            draft.turn,
            working if review.text == review.working else self._store.put_text(Text(review.text)).hex(),
        ).to_json()

    def _store_saved_text(self, draft: Draft) -> str:
        data = draft.saved or b""
        found = decode(data)
        return self._store.put_text(Text(found.text), bom=found.bom).hex()

    def _text(self, snapshot: str) -> str:
        return self._store.get(bytes.fromhex(snapshot)).decode()

    def read(self, path: DocPath, *, confirmed: Container[str] = (), for_agent: bool = False) -> Document:
        """What a reader sees at this path; refused if there is nothing."""
        document = self.document(path, confirmed=confirmed, for_agent=for_agent)
        if document is None:
            raise Refused(f"There is no document {path}.", code="not_found", path=path)
        return document

    def document(self, path: DocPath, *, confirmed: Container[str] = (), for_agent: bool = False) -> Document | None:
        """What a reader sees at this path, or None. A secret is refused unless its owner confirmed it. A document whose
        deletion is pending is gone for an agent; the person keeps it until they decide."""
        if path in confirmed and not for_agent:
            return self.read_unmasked(path)
        check_name_not_secret(path)
        known = self._reviews.knows(path)
        draft = self.draft(path) if known else None
        if draft is not None and is_secret_draft(self._root, draft):
            raise secret_error(path)  # whatever was typed above the key since
        if draft is None and self._root.is_secret_link(path):
            raise secret_error(path)
        document = self._read_working_document(path, draft, known=known, for_agent=for_agent)
        if document is not None:
            check_not_secret(document)
        return document

    def read_unmasked(self, path: DocPath, *, for_agent: bool = False) -> Document | None:
        """The document at this path, even a secret: for internal use, never to show it."""
        known = self._reviews.knows(path)
        return self._read_working_document(path, self.draft(path) if known else None, known=known, for_agent=for_agent)

    def _read_working_document(
        self, path: DocPath, draft: Draft | None, *, known: bool, for_agent: bool
    ) -> Document | None:
        if known:
            if draft is not None and draft.key == path and not (for_agent and draft.kind == "deleted"):
                return Document(path, self.read_working_text(draft), draft.bom, draft.mode)
            if draft is not None or self._reviews.working_path(path) not in (None, path):
                return None  # an agent proposes to delete it, or to move it elsewhere
        disk = self.on_disk(path)
        if not known and self._reviews.knows(path):  # the draft of a document that another program moved here
            return self._read_working_document(path, self.draft(path), known=True, for_agent=for_agent)
        return None if disk is None else Document(path, disk.text, disk.bom, disk.mode)

    def read_working_text(self, draft: Draft) -> Text:
        """The draft's working text. The last one is cached, because it is asked for again and again during an edit."""
        working = draft.review.working
        kept = self._working.get(draft.key)
        if kept is None or kept[0] is not working:
            kept = (working, Text(working))
            self._working = {draft.key: kept}
        return kept[1]

    def drafts(self) -> list[Draft]:
        found = (self.draft_or_stored(path) for path in self._reviews.paths())
        return [draft for draft in found if draft is not None]

    def draft_or_stored(self, path: str) -> Draft | None:
        """The draft, or the stored one if the file cannot be read as text just now. Such a file must hide neither its
        own draft nor others."""
        try:
            return self.draft(path)
        except RedraftError:
            return self.load_stored_draft(path)


def _as_text(path: str, image: FileImage, kept: DiskFile | None, *, proven: bool) -> DiskFile:
    """The file's text. `kept` is its earlier text, most of which probably stayed."""
    if kept is not None and kept.data == image.data:
        return DiskFile(kept.data, kept.text, kept.bom, image.mode, image.stamp, proven)
    found = decode(image.data, path)
    text = Text(found.text) if kept is None else replace_content(kept.text, found.text)
    return DiskFile(image.data, text, found.bom, image.mode, image.stamp, proven)


def replace_content(text: Text, new: str) -> Text:
    """The text with new content. If most of it stayed, only the rest is split into blocks again: for 10 MB that takes
    200 ms."""
    change = Change.between(str(text), new)
    return change.apply_to(text) if sum(len(edit.new) for edit in change.edits) * 2 < len(new) else Text(new)


# Remember in the history what each file contained, so that another program's change to it has a before and an after,
# even after a restart.


LOG = logging.getLogger(__name__)
# So many files are read and stored between two moments in which others can write to the history.
PORTION = 200


class RememberedFiles:
    """Remembers what files contained. Used by one thread at a time."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def last_stamp(self, path: DocPath) -> FileStamp | None:
        """The stamp that the file had when it was last seen."""
        engine = self._engine
        kept, known = engine.documents.find_cached_file(path), engine.seen.find_known_content(path)
        if kept is not None and kept.stamp is not None:
            return kept.stamp
        return None if known is None else engine.seen.stamp(path, known.snapshot)

    def remember_open(self, path: DocPath) -> None:
        """Remember what a document that is being opened contains. Called inside a transaction."""
        engine = self._engine
        kept = engine.documents.find_cached_file(path)
        if kept is not None and not is_secret_name(path) and engine.seen.find_known_content(path) is None:
            stamp = kept.stamp and _lasting_stamp(kept.stamp, proven=kept.proven)
            engine.seen.put(path, engine.journal.store_content(kept.as_content()), stamp)

    def remember_written(self, paths: Iterable[DocPath]) -> None:
        """Remember which files a turn has written or proposes to change, so that a file that another program renames
        unnoticed is recognised. Failing to remember must not make the turn fail."""
        engine = self._engine
        try:
            with engine.database.transaction(durable=False):
                for path in paths:
                    self.remember_open(path)
                    kept, known = engine.documents.find_cached_file(path), engine.seen.find_known_content(path)
                    if kept is None or kept.stamp is None or known is None or is_secret_name(path):
                        continue
                    if known.snapshot == kept.as_content().snapshot:
                        engine.seen.put(path, known.snapshot, _lasting_stamp(kept.stamp, proven=kept.proven))
        except RedraftError as error:
            LOG.warning("could not store which files a turn wrote: %s", error.message)

    def documents_on_disk(self) -> list[DocPath]:
        """All files of the folder that can be documents."""
        engine = self._engine
        limit = engine.settings.limits.document_bytes
        found = (entry for entry in walk(engine.root) if entry.kind == "file" and entry.size <= limit)
        return [entry.path for entry in found if not is_secret_name(entry.path)]

    def remember_all(self, paths: Sequence[DocPath]) -> list[DocPath]:
        """Remember the content of each of these files that is not known yet. Returns those that are not remembered,
        because they are not text or are secrets."""
        others: list[DocPath] = []
        unknown = self._unknown(paths)
        for start in range(0, len(unknown), PORTION):
            with self._engine.database.transaction(durable=False):
                others += [path for path in unknown[start : start + PORTION] if not self._remember(path)]
        return others

    def _unknown(self, paths: Iterable[DocPath]) -> list[DocPath]:
        return [path for path in paths if self._engine.seen.find_known_content(path) is None]

    def _remember(self, path: DocPath) -> bool:
        engine = self._engine
        now = time.time_ns()
        image = self._read_document(path)
        if image is not None:
            stamp = _lasting_stamp(image.stamp, proven=proves_content(image.stamp, now))
            engine.seen.put(path, engine.journal.store_content(Content.of(image.data)), stamp)
        return image is not None

    def _read_document(self, path: DocPath) -> FileImage | None:
        try:
            image = self._engine.root.read(path)
        except RedraftError:
            return None  # gone again, or a link by now
        return None if Content.of(image.data).text is None or is_secret_content(image.data) else image

    def remember_missing(self, paths: Iterable[DocPath]) -> list[DocPath]:
        """Remember that those of these documents whose content is not known did not exist before; returns them."""
        new = [path for path in self._unknown(paths) if self._read_document(path) is not None]
        with self._engine.database.transaction(durable=False):
            for path in new:
                self._engine.seen.put(path, None, None)
        return new


def _lasting_stamp(stamp: FileStamp, *, proven: bool) -> FileStamp:
    """The stamp to store. If it does not prove the content, store one that identifies the file and equals no other
    stamp."""
    return stamp if proven else stamp._replace(mtime_ns=-1)
