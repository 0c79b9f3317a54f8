"""A folder held by a descriptor: what is read through it, and what is refused."""

from __future__ import annotations

import os
import socket
import stat
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redraft.errors import RedraftError
from redraft.files import file_image, syscalls
from redraft.files.paths import parse_path
from redraft.files.root import Root

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def without_openat2(dir_fd: int, path: str, flags: int) -> int:
    raise syscalls.Unsupported


@pytest.fixture(params=["openat2", "walk"])
def root(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Root]:
    """A root that resolves names in each of its two ways."""
    if request.param == "walk":
        monkeypatch.setattr(syscalls, "openat2_beneath", without_openat2)
    folder = tmp_path / "folder"
    folder.mkdir()
    with Root.open(folder) as opened:
        yield opened


@pytest.fixture
def folder(root: Root, tmp_path: Path) -> Path:
    return tmp_path / "folder"


def code_of(error: pytest.ExceptionInfo[RedraftError]) -> str:
    return error.value.code


@pytest.mark.parametrize("name", ["a.md", "x/y/z/a.md"])
def test_a_file_is_read_whole_with_mode_and_stamp(root: Root, folder: Path, name: str) -> None:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"hello")
    file.chmod(0o640)
    image = root.read(parse_path(name))
    found = file.stat()
    assert (image.data, image.mode) == (b"hello", 0o640)
    assert image.stamp == (found.st_dev, found.st_ino, 5, found.st_mtime_ns, found.st_ctime_ns)
    assert root.stamp(parse_path(name)) == image.stamp


@given(size=st.integers(0, 200_000))
def test_files_of_every_size_are_read_to_their_end(tmp_path_factory: pytest.TempPathFactory, size: int) -> None:
    folder = tmp_path_factory.getbasetemp() / "sizes"
    folder.mkdir(exist_ok=True)
    data = bytes(size)
    (folder / "f").write_bytes(data)
    with Root.open(folder) as root:
        assert root.read(parse_path("f")).data == data


@pytest.mark.parametrize("name", ["no.md", "no/such/file.md", "file.md/below"])
def test_what_is_missing_is_not_found(root: Root, folder: Path, name: str) -> None:
    (folder / "file.md").write_text("x", encoding="utf-8")
    with pytest.raises(RedraftError) as caught:
        root.read(parse_path(name))
    assert code_of(caught) == "not_found"
    assert root.stamp(parse_path(name)) is None
    assert not root.exists(parse_path(name))
    assert not root.is_folder(parse_path(name))


@pytest.mark.parametrize("name", ["link.md", "out/secret.md", "in/real.md", "loop", "deep/out/secret.md"])
def test_every_symbolic_link_is_refused_and_said_so(root: Root, folder: Path, tmp_path: Path, name: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("secret", encoding="utf-8")
    (folder / "real.md").write_text("x", encoding="utf-8")
    (folder / "deep").mkdir()
    for link, target in {
        "link.md": outside / "secret.md", "out": outside, "in": folder, "loop": folder / "loop", "deep/out": outside
    }.items():  # fmt: skip
        (folder / link).symlink_to(target)
    for look in (root.read, root.exists):
        with pytest.raises(RedraftError) as caught:
            look(parse_path(name))
        assert code_of(caught) == "outside_folder"
        assert "symbolic link" in caught.value.message


@pytest.mark.covers("RD-files-special")
def test_a_pipe_a_socket_a_device_and_a_folder_are_refused_without_blocking(root: Root, folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    (folder / "sub").mkdir()
    here = os.getcwd()
    with socket.socket(socket.AF_UNIX) as listener:
        os.chdir(folder)  # a socket's path may have no more than 108 bytes
        try:
            listener.bind("socket")
        finally:
            os.chdir(here)
        names = ["pipe", "sub", "socket"]
        if os.geteuid() == 0:
            os.mknod(folder / "null", stat.S_IFCHR | 0o666, os.makedev(1, 3))
            names.append("null")
        for name in names:
            with pytest.raises(RedraftError) as caught:
                root.read(parse_path(name))
            assert code_of(caught) == "unsupported_file_type"


def test_a_file_above_the_limit_is_refused(root: Root, folder: Path) -> None:
    (folder / "a").write_bytes(b"12345")
    assert root.read(parse_path("a"), limit=5).data == b"12345"
    with pytest.raises(RedraftError) as caught:
        root.read(parse_path("a"), limit=4)
    assert code_of(caught) == "too_large"


def test_a_file_that_grows_while_it_is_read_is_read_again(
    root: Root, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "a").write_bytes(b"one")
    real, grown = os.read, [False]

    def read(fd: int, size: int) -> bytes:
        data = real(fd, size)
        if not grown[0]:
            grown[0] = True
            with open(folder / "a", "ab") as file:
                file.write(b" two")
        return data

    monkeypatch.setattr(os, "read", read)
    image = root.read(parse_path("a"))
    assert image.data == b"one two"
    assert image.stamp.size == 7


def test_a_file_that_never_stops_changing_is_busy(root: Root, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "a").write_bytes(b"one")
    count = iter(range(10_000))

    def stamp_of(found: os.stat_result) -> int:
        return next(count)

    monkeypatch.setattr(file_image, "stamp_of", stamp_of)
    with pytest.raises(RedraftError) as caught:
        root.read(parse_path("a"))
    assert code_of(caught) == "busy"


def test_making_folders_tells_which_were_new_and_takes_them_back(root: Root, folder: Path) -> None:
    (folder / "a").mkdir()
    made = root.make_folder(parse_path("a/b/c"))
    assert made == ("a/b", "a/b/c")
    assert root.make_folder(parse_path("a/b/c")) == ()
    assert root.is_folder(parse_path("a/b/c"))
    root.remove_empty_folders(made)
    assert os.listdir(folder) == ["a"]
    assert os.listdir(folder / "a") == []


def test_a_folder_that_came_to_hold_something_is_not_taken_back(root: Root, folder: Path) -> None:
    made = root.make_folder(parse_path("a/b"))
    (folder / "a" / "note.md").write_text("mine", encoding="utf-8")
    root.remove_empty_folders(made)
    assert os.listdir(folder / "a") == ["note.md"]
    with pytest.raises(RedraftError) as caught:
        root.remove_folder(parse_path("a"))
    assert code_of(caught) == "conflict"


def test_no_folder_is_made_through_a_link_or_a_file(root: Root, folder: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (folder / "out").symlink_to(outside)
    (folder / "file").write_text("x", encoding="utf-8")
    for name, code in {"out/new": "outside_folder", "out": "outside_folder", "file/new": "already_exists"}.items():
        with pytest.raises(RedraftError) as caught:
            root.make_folder(parse_path(name))
        assert code_of(caught) == code
    assert os.listdir(outside) == []


def test_the_folder_follows_its_descriptor_when_it_is_moved(root: Root, folder: Path) -> None:
    (folder / "a").write_bytes(b"x")
    folder.rename(folder.with_name("elsewhere"))
    folder.mkdir()
    (folder / "a").write_bytes(b"another folder's")
    assert root.read(parse_path("a")).data == b"x"


def test_no_descriptor_is_left_open(root: Root, folder: Path) -> None:
    (folder / "x").mkdir()
    (folder / "x" / "a").write_bytes(b"x")
    (folder / "x" / "l").symlink_to("a")
    before = len(os.listdir("/proc/self/fd"))
    for name in ("x/a", "x/l", "x/no", "x", "no/no", "x/a/b"):
        for look in (root.read, root.exists, root.make_folder):
            try:
                look(parse_path(name))
            except RedraftError:
                continue
    assert len(os.listdir("/proc/self/fd")) == before
