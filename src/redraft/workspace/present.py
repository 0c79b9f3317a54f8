"""Which files the folder holds just now, and at which marks: looked at in full once, then kept by what is heard.

`refresh` is to be called before every answer that depends on it. Where the kernel's notices can be had it costs
microseconds; where they cannot, every file's mark is looked at (about 4 ms for each thousand files). Used by one thread
at a time.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from redraft.files.notices import Notices
from redraft.files.paths import join_path
from redraft.files.syscalls import Unsupported
from redraft.workspace.reading import folders, mark, may_be_listed

if TYPE_CHECKING:
    from redraft.workspace.engine import Engine
    from redraft.workspace.reading import Mark

# A write through a memory map tells nobody; it is seen within this time at the latest.
LOOK_AGAIN_SECONDS = 60.0


class Present:
    """The files by path, in the order of the listing as far as they were there at the last full look."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._notices: Notices | None = None
        self._looked = 0.0
        self.files: dict[str, Mark] = {}

    def refresh(self) -> set[str] | None:
        """Bring `files` up to date; the paths that changed, or None where all were looked at anew."""
        if self._notices is None or time.monotonic() - self._looked > LOOK_AGAIN_SECONDS:
            self._look()
            return None
        heard = self._notices.heard()
        if heard.lost:
            self._look()
            return None
        changed = {path for path in heard.paths if may_be_listed(path)}
        for path in changed:
            found = mark(self._engine, path)
            if found is None:
                self.files.pop(path, None)
            else:
                self.files[path] = found
        return changed

    def _look(self) -> None:
        self.close()
        self._looked = time.monotonic()
        try:
            self._notices = Notices()
            self.files = self._all(self._notices)
        except Unsupported:
            self.close()
            self.files = self._all(None)

    def _all(self, notices: Notices | None) -> dict[str, Mark]:
        return {
            join_path(folder.path, name): found
            for folder in folders(self._engine, notices)
            for name, found in zip(folder.names, folder.marks, strict=True)
        }

    def close(self) -> None:
        if self._notices is not None:
            self._notices.close()
            self._notices = None
