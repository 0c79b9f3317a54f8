"""Hostile path lists and swapped links: whatever the name and whoever races, nothing outside the folder is reached.

The lists name real system files, so they are tried in a child process without privileges and, where root is at hand, in
a throwaway root.
"""

from __future__ import annotations

import json
import os
import threading
import time
import traceback
from contextlib import suppress
from typing import TYPE_CHECKING
from urllib.parse import unquote

import pytest

from redraft.errors import RedraftError
from redraft.files import syscalls
from redraft.files.atomic_write import write_file
from redraft.files.paths import agent_may_write, parse_path
from redraft.files.root import Root
from tests.conftest import TORTURE

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

# The child does its work and ends; it never meets the locks of threads that were not copied.
pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")

LISTS = ["directory_traversal.txt", "traversals-8-deep-exotic-encoding.txt", "jhaddix_lfi.txt", "blns.json"]
SECRET = b"this lies outside"


def names_of(file: Path) -> list[str]:
    """Every name of a list, as it stands and as a careless program might decode it."""
    if file.suffix == ".json":
        names: list[str] = json.loads(file.read_text(encoding="utf-8"))
    else:
        names = file.read_text(encoding="utf-8", errors="surrogateescape").split("\n")
    found: set[str] = set()
    for name in names:
        once = unquote(name, errors="surrogateescape")
        found |= {name, once, unquote(once, errors="surrogateescape"), once.replace("\\", "/"), "sub/" + once}
        found |= {name.replace("{FILE}", "outside.md"), once.replace("{FILE}", "outside.md"), once.lstrip("/")}
    return sorted(found)


def unprivileged(work: Callable[[], None], jail: Path) -> None:
    """Run `work` in a child that has given up root and can see nothing but `jail`; its failure is ours."""
    # What is imported on first use cannot be found in there.
    with Root.open(jail) as root:
        write_file(root, parse_path("warm/é"), b"", expected=None)
        agent_may_write("é")
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            if os.geteuid() == 0:
                os.chroot(jail)
                os.chdir("/")
                os.setgroups([])
                os.setgid(65534)
                os.setuid(65534)
            work()
            status = 0
        finally:
            if status:
                traceback.print_exc()
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def snapshot(folder: str) -> dict[str, bytes]:
    """Everything around the folder, byte by byte."""
    found: dict[str, bytes] = {}
    for here, _, files in os.walk(folder):
        for name in files:
            with open(os.path.join(here, name), "rb") as file:
                found[os.path.join(here, name)] = file.read()
    return found


@pytest.mark.covers("P7")
@pytest.mark.slow
@pytest.mark.parametrize("file", LISTS)
@pytest.mark.parametrize("way", ["openat2", "walk"])
def test_no_name_of_the_lists_leads_out_of_the_folder(
    material: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str, way: str
) -> None:
    if way == "walk":

        def openat2_beneath(dir_fd: int, path: str, flags: int) -> int:
            raise syscalls.Unsupported

        monkeypatch.setattr(syscalls, "openat2_beneath", openat2_beneath)
    names = names_of(material / "security" / file)
    jail = tmp_path / "jail"
    for place in ("etc", "around", "around/folder", "around/folder/sub", "var/log", "proc/self"):
        (jail / place).mkdir(parents=True, exist_ok=True)
    for outside in ("etc/passwd", "etc/shadow", "etc/group", "around/outside.md", "boot.ini", "proc/self/environ"):
        (jail / outside).write_bytes(SECRET)
    for place in (tmp_path, jail, jail / "around"):
        place.chmod(0o755)
    # Writable for everybody, so that only we, not the system, stand between a name and the outside.
    for place in (jail / "around" / "folder", jail / "around" / "folder" / "sub"):
        place.chmod(0o777)
    base = "" if os.geteuid() == 0 else str(jail)

    def attack() -> None:
        monkeypatch.setattr(os, "fsync", int)  # thousands of files, none of which has to last
        folder = f"{base}/around/folder"
        with Root.open(folder) as root:
            outside = {name: data for name, data in snapshot(base or "/").items() if not name.startswith(folder + "/")}
            used = sum(try_name(root, folder, name) for name in names)
            assert used > 0 or file.startswith(("directory", "traversals"))
            after = {name: data for name, data in snapshot(base or "/").items() if not name.startswith(folder + "/")}
            assert after == outside

    unprivileged(attack, jail)


def try_name(root: Root, folder: str, name: str) -> bool:
    """Read and write one name; True if it was taken for a path, which must then lie in the folder."""
    try:
        path = parse_path(name)
        with suppress(RedraftError):
            assert root.read(path).data != SECRET
        write_file(root, path, b"written", expected=None)
    except RedraftError:
        return False
    where = os.path.realpath(os.path.join(folder, path))
    assert where.startswith(folder + "/")
    return os.path.exists(where)


@pytest.mark.covers("RD-files-race")
@pytest.mark.slow
@pytest.mark.parametrize("way", ["openat2", "walk"])
def test_no_read_or_write_escapes_while_a_folder_is_swapped_for_a_link(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    if way == "walk":

        def openat2_beneath(dir_fd: int, path: str, flags: int) -> int:
            raise syscalls.Unsupported

        monkeypatch.setattr(syscalls, "openat2_beneath", openat2_beneath)
    folder, outside = tmp_path / "folder", tmp_path / "outside"
    (folder / "sub" / "deep").mkdir(parents=True)
    (outside / "deep").mkdir(parents=True)
    (outside / "deep" / "note.md").write_bytes(SECRET)
    (folder / "sub" / "deep" / "note.md").write_bytes(b"inside 0")
    (folder / "link").symlink_to(outside)
    stop = threading.Event()
    folder_fd = os.open(folder, os.O_RDONLY)

    def swap() -> None:
        while not stop.is_set():
            syscalls.renameat2(folder_fd, "link", "sub", syscalls.RENAME_EXCHANGE)

    attacker = threading.Thread(target=swap)
    attacker.start()
    path = parse_path("sub/deep/note.md")
    done = {"read": 0, "written": 0, "refused": 0}
    deadline = time.monotonic() + (300 if TORTURE else 1)
    try:
        with Root.open(folder) as root:
            number = 0
            while time.monotonic() < deadline:
                try:
                    data = root.read(path).data
                    assert data != SECRET
                    done["read"] += 1
                    number += 1
                    write_file(root, path, f"inside {number}".encode(), expected=data)
                    done["written"] += 1
                    write_file(root, parse_path(f"sub/new/{number}.md"), b"x", expected=None)
                except RedraftError:
                    done["refused"] += 1
    finally:
        stop.set()
        attacker.join()
        os.close(folder_fd)
    assert min(done.values()) > 0
    assert os.listdir(outside) == ["deep"]
    assert os.listdir(outside / "deep") == ["note.md"]
    assert (outside / "deep" / "note.md").read_bytes() == SECRET


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_a_file_marked_read_only_is_left_alone(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    note = tmp_path / "note.md"
    note.write_bytes(b"old")
    os.chown(note, 65534, 65534)
    note.chmod(0o444)

    def attempt() -> None:
        with Root.open("/") as root, pytest.raises(RedraftError, match="permission denied"):
            write_file(root, parse_path("note.md"), b"new", expected=b"old")

    unprivileged(attempt, tmp_path)
    assert note.read_bytes() == b"old"
