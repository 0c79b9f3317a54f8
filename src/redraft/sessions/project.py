"""Where a session document is: its project, and the project's `.agent-doc` folder.

`.agent-doc` may have come with the folder, so nothing in it is trusted: names are resolved inside the project without
following links, and every file is written atomically and durably. Documents are never written here, only by the
workspace.
"""

from __future__ import annotations

import contextlib
import os
import stat
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Self

from redraft.errors import Forbidden, Refused
from redraft.files.atomic_write import write_file
from redraft.files.paths import DocPath, parse_path
from redraft.files.root import Root, check_not_secret_link
from redraft.files.secret_detection import check_name_not_secret
from redraft.files.syscalls import explain_os_errors

if TYPE_CHECKING:
    from types import TracebackType

AGENT_DOC, WORKSPACE = ".agent-doc", ".redraft"
SNAPSHOTS, ANSWERS, PATCHES = "snapshots", "answers", "patches"


@dataclass(frozen=True, slots=True)
class Project:
    """A document (`file`, with links resolved), the folder with its `.agent-doc`, and the folder that is opened."""

    file: str
    root: str
    folder: str

    @property
    def path(self) -> str:
        """The document's path in the workspace."""
        return os.path.relpath(self.file, self.folder)

    @property
    def name(self) -> str:
        """The document's name in `.agent-doc`."""
        return sha256(os.fsencode(self.file)).hexdigest()

    def shown(self, name: str) -> str:
        """A path in the project's folder, from where the person stands."""
        return os.path.relpath(os.path.join(self.root, name))

    @staticmethod
    def of(file: str, here: str) -> Project:
        """The project of a file named relative to `here`: the nearest folder above it with an `.agent-doc`; else
        `here`, if the file is inside it; else the file's own folder. A workspace that contains it is used as it is.
        Refused for a link that leads out of the project in which it is named."""
        here = os.path.realpath(here)
        real = os.path.realpath(os.path.join(here, file))
        own = os.path.dirname(real)
        _check_link(file, os.path.dirname(os.path.normpath(os.path.join(here, file))), real, here)
        inside = _is_inside(own, here)
        root = _nearest(own, AGENT_DOC) or (here if inside else own)
        project = Project(real, root, _nearest(own, WORKSPACE) or root)
        check_name_not_secret(project.path)
        check_not_secret_link(project.file)
        return project


def _check_link(file: str, named_in: str, real: str, here: str) -> None:
    """Refuse a name whose links lead out of the project that has it: the file there may be anybody's."""
    root = (
        _nearest(named_in, AGENT_DOC) or _nearest(named_in, WORKSPACE) or (here if _is_inside(named_in, here) else "")
    )
    if root and not _is_inside(real, os.path.realpath(root)):
        raise Forbidden(
            f"{file} is a link that leads out of the project, to {real}. To work on that file, name it itself.",
            code="outside_folder",
            path=file,
        )


def _is_inside(path: str, folder: str) -> bool:
    return path == folder or path.startswith(os.path.join(folder, ""))


def _nearest(folder: str, name: str) -> str | None:
    """The nearest folder, from this one upwards, that contains such a folder owned by the person. One that somebody
    else has put above, in a shared folder or at the root of the disk, does not count."""
    while (above := os.path.dirname(folder)) != folder:
        with contextlib.suppress(OSError):
            found = os.lstat(os.path.join(folder, name))
            if stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid():
                return folder
        folder = above
    return None


class AgentDocFiles:
    """The files in a project's `.agent-doc`. Close it when done; used as a context manager it closes itself."""

    def __init__(self, root: Root) -> None:
        self._root = root

    @staticmethod
    def open(folder: str) -> AgentDocFiles:
        return AgentDocFiles(Root.open(folder))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._root.close()

    def shown(self, name: str) -> str:
        """A file's path from where the person stands."""
        return os.path.relpath(os.path.join(self._root.folder, AGENT_DOC, name))

    def read(self, name: str) -> bytes | None:
        """The content of a file; None if there is none."""
        try:
            return self._root.read(_path(name)).data
        except Refused as error:
            if error.code == "not_found":
                return None
            raise

    def write(self, name: str, data: bytes) -> None:
        """Write a file durably, replacing what is there. The caller has to serialise concurrent writes."""
        old = self.read(name)
        if old != data:
            write_file(self._root, _path(name), data, expected=old)

    def remove(self, name: str) -> bool:
        """Delete a file; False if there is none."""
        try:
            with self._root.open_parent(_path(name)) as parent, explain_os_errors("remove", name):
                os.unlink(parent.name, dir_fd=parent.fd)
        except Refused as error:
            if error.code == "not_found":
                return False
            raise
        return True

    def has_folder(self, name: str) -> bool:
        return self._root.is_folder(_path(name))

    # Snapshots: the document as the agent knows it

    def snapshot(self, project: Project) -> str | None:
        data = self.read(_snapshot(project))
        return None if data is None else data.decode("utf-8", "replace")

    def save_snapshot(self, project: Project, text: str) -> None:
        self.write(_snapshot(project), text.encode())

    def delete_snapshot(self, project: Project) -> bool:
        return self.remove(_snapshot(project))

    # Answers: stored until they are in their document

    def keep_answer(self, project: Project, stamp: str, token: str, answer: str) -> str:
        """Store an answer durably; returns its path from the project's folder."""
        name = f"{ANSWERS}/{os.path.basename(project.file)[:100]}-{stamp.replace(':', '')}-{token}.md"
        self.write(name, answer.encode("utf-8", "surrogatepass"))
        return f"{AGENT_DOC}/{name}"

    def drop_answer(self, path: str) -> None:
        """Delete an answer that is in its document, including copies that earlier attempts left."""
        name = path.removeprefix(f"{AGENT_DOC}/")
        data = self.read(name)
        same = path.rpartition("/")[2].rsplit("-", 4)[0]  # the part before the time and the token
        for other in self.names(ANSWERS):
            if other.startswith(f"{same}-") and self.read(f"{ANSWERS}/{other}") == data:
                self.remove(f"{ANSWERS}/{other}")

    def names(self, folder: str) -> list[str]:
        """The files in a folder; empty if it does not exist."""
        if not self.has_folder(folder):
            return []
        fd = self._root.open_folder(_path(folder))
        try:
            return sorted(os.listdir(fd))
        finally:
            os.close(fd)


def _path(name: str) -> DocPath:
    return parse_path(f"{AGENT_DOC}/{name}")


def _snapshot(project: Project) -> str:
    return f"{SNAPSHOTS}/{project.name}.md"
