"""A file written whole, durably and by itself: where there is no journal to stand between the phases of `atomic`."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from redraft.errors import RedraftError
from redraft.files.atomic import Put, new_token

if TYPE_CHECKING:
    from redraft.files.paths import DocPath
    from redraft.files.root import Root


def write_file(
    root: Root, path: DocPath, data: bytes, *, expected: bytes | None, mode: int | None = None
) -> DocPath | None:
    """Put `data` in the place of `expected`, None to create the file. Gives a conflict copy's path, if there is one."""
    with Put(root, path, new_token(), create_folders=expected is None) as put:
        try:
            put.prepare(data, mode=mode)
            if expected is None:
                put.place()
            else:
                put.exchange(expected, data)
            put.sync()
        except BaseException:
            with suppress(RedraftError):
                put.retract(old=expected, new=data)
            root.remove_empty_folders(put.made)
            raise
        return put.discard()
