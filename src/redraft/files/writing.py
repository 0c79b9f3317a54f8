"""A file written whole, durably and by itself: where there is no journal to stand between the phases of `atomic`.

`write_file` writes into a folder that may be hostile; `write_private` a file of the person's own, outside of any.
"""

from __future__ import annotations

import os
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
                put.hold(expected)
                put.exchange(expected, data)
            put.sync()
        except BaseException:
            with suppress(RedraftError):
                put.retract(old=expected, new=data)
            root.remove_empty_folders(put.made)
            raise
        return put.discard()


def write_private(path: str, text: str, *, mode: int = 0o600) -> None:
    """Replace a file, by default one that only its owner can read, so that it is there whole or not at all."""
    new = f"{path}.{os.getpid()}.new"
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
    with open(os.open(new, flags, mode), "w", encoding="utf-8", newline="") as file:
        os.fchmod(file.fileno(), mode)  # whatever the umask
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(new, path)
