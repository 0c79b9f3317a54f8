"""Operating system errors, translated into ours.

Every `OSError` of this package leaves it through `explain`, with the original as its cause: callers and surfaces only
ever see the codes of `errors`. Missing, misplaced and protected files have codes of their own; the rest is `io_error`
with a sentence.
"""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING

from redraft.errors import Forbidden, RedraftError, Refused

if TYPE_CHECKING:
    from types import TracebackType

_SENTENCES = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is exceeded",
    errno.EROFS: "the disk is read-only",
    errno.EIO: "the disk reports an error",
    errno.EMFILE: "this process has too many files open",
    errno.ENFILE: "the machine has too many files open",
    errno.EFBIG: "the file would be larger than allowed",
    errno.EBUSY: "it is in use by the system",
}
_DENIED = {errno.EACCES, errno.EPERM}


def explain(error: OSError, act: str, path: str) -> RedraftError:
    """What to raise for an `error` during the `act` ("read", "write", ...) on `path`; always raise it from `error`."""
    code = error.errno or 0
    if code in {errno.ELOOP, errno.EXDEV}:
        return through_link(path)
    if code == errno.ENOENT:
        return Refused(f"There is no {path or 'such folder'}.", code="not_found", path=path)
    if code == errno.ENOTDIR:
        return Refused(f"There is no {path}: a part of it is a file, not a folder.", code="not_found", path=path)
    if code == errno.ENXIO:
        return not_a_file(path, "a socket or a device")
    if code == errno.ENAMETOOLONG:
        return Refused(f"The file system does not allow a name as long as {path}.", code="invalid_path", path=path)
    name = errno.errorcode.get(code, str(code))
    if code in _DENIED:
        message = f"Cannot {act} {path}: permission denied."
        return RedraftError(message, code="permission_denied", path=path, errno=name)
    reason = _SENTENCES.get(code) or (error.strerror or "the system failed").lower()
    return RedraftError(f"Cannot {act} {path}: {reason}.", code="io_error", path=path, errno=name)


def through_link(path: str) -> Forbidden:
    return Forbidden(
        f"{path} is or passes through a symbolic link, which may lead outside the folder.",
        code="outside_folder",
        path=path,
    )


def not_a_file(path: str, kind: str) -> Refused:
    return Refused(f"{path} is {kind}, not a text file.", code="unsupported_file_type", path=path, kind=kind)


class explain_os_errors:  # noqa: N801 - it reads as a word of the with statement
    """Raise every OSError of the block as `explain` translates it.

    A class, because the generator of `contextmanager` costs four times as much, twenty times for every small write.
    """

    __slots__ = ("_act", "_path")

    def __init__(self, act: str, path: str) -> None:
        self._act = act
        self._path = path

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, OSError):
            raise explain(error, self._act, self._path) from error
