"""Which files the folder has right now, with their marks: listed in full once, then kept up to date from notifications.

A process has one `FileTable` for a folder, with one kernel watch. Each user has its own `FileTableView`
(`Workspace.watch_files`), which says what changed since it was last asked. Call `refresh` before every answer that
depends on it. With kernel notifications that takes microseconds; without them, every file's mark is checked (about 4 ms
for each thousand files).
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from redraft.files.inotify import Inotify, InotifyChanges
from redraft.files.paths import join_path
from redraft.files.syscalls import Unsupported
from redraft.workspace.folder.scan import can_be_listed, file_mark, folders

if TYPE_CHECKING:
    from collections.abc import Mapping

    from redraft.files.inotify import RenamedPath
    from redraft.files.root import Root
    from redraft.workspace.folder.scan import FileMark

# A write through a memory map tells nobody; it is seen within this time at the latest.
LOOK_AGAIN_SECONDS = 60.0
# So many renames are kept until somebody asks what was renamed.
MOST_RENAMES = 10_000


class FileTable:
    """The files by path, in the order of the last full listing. Safe to use from several threads."""

    def __init__(self, root: Root) -> None:
        self._root = root
        self._guard = threading.Lock()
        self._hearing = threading.Lock()  # for the kernel's queue alone, and never held for long
        self._notices: Inotify | None = None
        self._heard = InotifyChanges.none()
        self._looked = 0.0
        self._views: list[FileTableView] = []
        self._files: dict[str, FileMark] = {}

    def view(self) -> FileTableView:
        with self._guard:
            made = FileTableView(self)
            self._views.append(made)
        return made

    def refresh(self, asking: FileTableView) -> set[str] | None:
        with self._guard:
            changed = self._update_files()
            for view in self._views:
                view.tell(changed)
            return asking.take(self._files)

    def hear_renames(self) -> list[RenamedPath]:
        """What was renamed since the last call. Fast, even while another thread walks the folder."""
        with self._hearing:
            self._hear()
            renames, self._heard = self._heard.renames, self._heard._replace(renames=[])
        return renames

    def _hear(self) -> None:
        if self._notices is not None:
            new, old = self._notices.read_changes(), self._heard
            self._heard = InotifyChanges(
                old.paths | new.paths, old.lost or new.lost, (old.renames + new.renames)[-MOST_RENAMES:]
            )

    def forget(self, view: FileTableView) -> None:
        """Close a view; the last one to close stops the watch."""
        with self._guard:
            self._views = [each for each in self._views if each is not view]
            if not self._views:
                self._stop()

    def close(self) -> None:
        with self._guard:
            self._stop()

    def _update_files(self) -> set[str] | None:
        """Bring the files up to date; returns the paths that changed, or None after a full listing."""
        if self._notices is None or time.monotonic() - self._looked > LOOK_AGAIN_SECONDS:
            self._look()
            return None
        with self._hearing:
            self._hear()
            heard, self._heard = self._heard, InotifyChanges(set(), False, self._heard.renames)
        if heard.lost:
            self._look()
            return None
        changed = {path for path in heard.paths if can_be_listed(path)}
        if changed:
            self._files = dict(self._files)  # views may be reading the old ones
        for path in changed:
            found = file_mark(self._root, path)
            if found is None:
                self._files.pop(path, None)
            else:
                self._files[path] = found
        return changed

    def _look(self) -> None:
        """List all files, and watch for changes from before the listing on. The old watch runs until the new one does,
        so that no rename is missed; if there are too few watches for both, it stops first."""
        self._looked = time.monotonic()
        notices = self._files_and_watch() if self._notices is not None else None
        if notices is None:
            self._stop()
            notices = self._files_and_watch()
        if notices is None:
            self._files = self._all(None)
        self._stop()
        with self._hearing:
            self._notices = notices

    def _files_and_watch(self) -> Inotify | None:
        notices: Inotify | None = None
        try:
            notices = Inotify()
            self._files = self._all(notices)
        except Unsupported:
            if notices is not None:
                notices.close()
            return None
        return notices

    def _all(self, notices: Inotify | None) -> dict[str, FileMark]:
        return {
            join_path(folder.path, name): found
            for folder in folders(self._root, notices)
            for name, found in zip(folder.names, folder.marks, strict=True)
        }

    def _stop(self) -> None:
        with self._hearing:
            self._hear()
            self._heard = InotifyChanges(set(), False, self._heard.renames)
            if self._notices is not None:
                self._notices.close()
                self._notices = None


class FileTableView:
    """One user's view: `files` as they were when it last asked, which never change while it uses them."""

    def __init__(self, present: FileTable) -> None:
        self._present = present
        self._changed: set[str] | None = None
        self.files: Mapping[str, FileMark] = {}

    def refresh(self) -> set[str] | None:
        """Bring `files` up to date; the paths that changed since the last time, or None where all may have."""
        return self._present.refresh(self)

    def close(self) -> None:
        self._present.forget(self)

    # For `FileTable` alone

    def tell(self, changed: set[str] | None) -> None:
        if changed is None:
            self._changed = None
        elif self._changed is not None:
            self._changed |= changed

    def take(self, files: Mapping[str, FileMark]) -> set[str] | None:
        changed, self._changed, self.files = self._changed, set(), files
        return changed
