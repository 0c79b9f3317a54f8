"""Small file systems to be filled or cut off: memory of a given size, and images on a loop device."""

from __future__ import annotations

import shutil
import subprocess
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path


def run(*command: object) -> None:
    done = subprocess.run([str(word) for word in command], capture_output=True)
    assert done.returncode == 0, f"{command[0]}: {done.stderr.decode(errors='replace')}"


@contextmanager
def memory(where: Path, options: str) -> Generator[None]:
    """A tmpfs over a folder; options as in `size=1m,nr_inodes=64`."""
    run("mount", "-t", "tmpfs", "-o", options, "tmpfs", where)
    try:
        yield
    finally:
        run("umount", where)


class Cuttable:
    """An image with a file system, mounted; `cut` is what a power cut does to it."""

    def __init__(self, image: Path, where: Path, kind: str) -> None:
        self._image, self.where, self._kind = image, where, kind

    def make(self) -> None:
        with open(self._image, "wb") as file:
            file.truncate(400 << 20)
        self.where.mkdir()
        quiet = ["-q", "-F"] if self._kind == "ext4" else ["-q", "-f"]
        run(f"mkfs.{self._kind}", *quiet, self._image)
        self.mount()

    def mount(self) -> None:
        run("mount", "-o", "loop", self._image, self.where)

    def unmount(self) -> None:
        run("umount", self.where)

    def sync(self) -> None:
        """Everything so far is on the image, also what the test wrote without care."""
        run("sync", "-f", self.where)

    def cut(self) -> None:
        """From now on nothing reaches the image: not even the journal that the file system had in memory."""
        run("xfs_io", "-x", "-c", "shutdown", self.where)


@contextmanager
def cuttable(place: Path, kind: str) -> Generator[Cuttable]:
    for tool in ("xfs_io", f"mkfs.{kind}", "mount"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")
    disk = Cuttable(place / "disk.img", place / "disk", kind)
    try:
        disk.make()
    except AssertionError as error:
        pytest.skip(f"no loop-mounted {kind} here: {error}")
    try:
        yield disk
    finally:
        disk.unmount()
