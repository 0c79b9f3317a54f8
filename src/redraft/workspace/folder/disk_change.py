"""A change of a file that another program made, as a value: what was known, what was found, and where it went."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from redraft.errors import RedraftError
from redraft.files.textfile import decode
from redraft.text.diff.word_diff import are_alike

if TYPE_CHECKING:
    from redraft.files.file_image import FileImage
    from redraft.files.paths import DocPath
    from redraft.history.journal import Content
    from redraft.workspace.draft import Draft


@dataclass(frozen=True, slots=True)
class OutsideChange:
    """A file that holds something else than was known; a side is None where there was no file."""

    path: DocPath
    before: Content | None
    after: Content | None
    image: FileImage | None
    proven: bool
    stored: Draft | None = None
    came_from: DocPath | None = None
    went_to: DocPath | None = None
    left_as: Content | None = None  # what it says there

    @property
    def written(self) -> bool:
        """Whether the file itself differs, not only what its draft knows of it."""
        return (self.before and self.before.data) != (self.after and self.after.data)

    @property
    def data(self) -> bytes | None:
        return None if self.image is None else self.image.data

    @property
    def is_news(self) -> bool:
        return self.written or (self.stored is not None and self.stored.saved != self.data)

    @property
    def place(self) -> str:
        """Where the document stands in the working view."""
        return self.path if self.stored is None else self.stored.key

    @property
    def words(self) -> str:
        if self.came_from is not None:
            return f"moved {self.came_from} to {self.path}"
        if self.before is None:
            return f"created {self.path}"
        return f"deleted {self.path}" if self.after is None else f"changed {self.path}"


def is_successor(old: bytes, new: bytes) -> bool:
    """Whether a file with the number of another one is that file, changed. Else the other was deleted, and its number
    given to a new one."""
    try:
        return old == new or are_alike(decode(old).text, decode(new).text)
    except RedraftError:
        return False
