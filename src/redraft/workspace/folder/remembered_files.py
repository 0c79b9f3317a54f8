"""Which content each file is known to have had, kept in the history: what another program does to it is then known with
both sides, after a restart too."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

from redraft.errors import RedraftError
from redraft.files.secret_detection import is_secret_content, is_secret_name
from redraft.files.stat_cache import proves_content
from redraft.files.tree import walk
from redraft.history.journal import Content

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from redraft.files.file_image import FileImage, FileStamp
    from redraft.files.paths import DocPath
    from redraft.workspace.engine import Engine

LOG = logging.getLogger(__name__)
# So many files are read and stored between two moments in which others can write to the history.
PORTION = 200


class RememberedFiles:
    """Remembers files. Used by one thread at a time."""

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
        """Keep what a document holds that is open from now on. Called inside a transaction."""
        engine = self._engine
        kept = engine.documents.find_cached_file(path)
        if kept is not None and not is_secret_name(path) and engine.seen.find_known_content(path) is None:
            stamp = kept.stamp and _lasting_stamp(kept.stamp, proven=kept.proven)
            engine.seen.put(path, engine.journal.store_content(kept.as_content()), stamp)

    def remember_written(self, paths: Iterable[DocPath]) -> None:
        """Keep which files a turn has written or proposes to change: should another program rename one while nobody
        looks, it is known again. To lose that is no reason for the turn to fail."""
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
        """Keep what each of these files holds whose content is not known yet; gives those of which nothing is kept,
        since they are no texts, or secrets."""
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
        """Keep that those of these documents were not there before whose content is not known; gives them."""
        new = [path for path in self._unknown(paths) if self._read_document(path) is not None]
        with self._engine.database.transaction(durable=False):
            for path in new:
                self._engine.seen.put(path, None, None)
        return new


def _lasting_stamp(stamp: FileStamp, *, proven: bool) -> FileStamp:
    """The stamp to keep: where it is no proof of the content, one that tells which file it was and equals none."""
    return stamp if proven else stamp._replace(mtime_ns=-1, ctime_ns=-1)
