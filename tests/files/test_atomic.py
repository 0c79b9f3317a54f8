"""The phases of a write, each against a plain picture of what the folder must look like after it."""

from __future__ import annotations

import os
import stat
import threading
import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redraft.errors import Busy, RedraftError, Refused, Stale
from redraft.files import syscalls
from redraft.files.atomic_write import AtomicWrite, new_token, write_file
from redraft.files.paths import parse_path
from redraft.files.root import Root
from redraft.files.swap_file import sweep
from redraft.history.journal import sync_folders

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NOTE = parse_path("note.md")
TEMP = ".redraft-tmp-t"


def without_renameat2(dir_fd: int, old: str, new: str, flags: int) -> None:
    raise syscalls.Unsupported


def without_lease(fd: int) -> bool:
    raise syscalls.Unsupported


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Root]:
    with Root.open(tmp_path) as opened:
        yield opened


@pytest.fixture(params=["exchange", "plain rename"])
def either_way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """With and without renameat2: the results must be the same."""
    if request.param == "plain rename":
        monkeypatch.setattr(syscalls, "renameat2", without_renameat2)
    return str(request.param)


def picture(folder: Path) -> dict[str, bytes]:
    """Every file beneath the folder and its content."""
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_a_replacement_phase_by_phase(root: Root, tmp_path: Path) -> None:
    (tmp_path / "note.md").write_bytes(b"old")
    with AtomicWrite(root, NOTE, "t") as put:
        put.prepare(b"new")
        assert picture(tmp_path) == {"note.md": b"old", TEMP: b"new"}
        put.exchange(b"old", b"new")
        assert picture(tmp_path) == {"note.md": b"new", TEMP: b"old"}
        assert put.peek() == b"old"
        put.sync()
        assert put.discard() is None
        assert picture(tmp_path) == {"note.md": b"new"}


def test_a_creation_phase_by_phase(root: Root, tmp_path: Path) -> None:
    with AtomicWrite(root, parse_path("a/b/note.md"), "t", create_folders=True) as put:
        assert put.made == ("a", "a/b")
        put.prepare(b"new")
        assert picture(tmp_path) == {f"a/b/{TEMP}": b"new"}
        put.place()
        assert picture(tmp_path) == {"a/b/note.md": b"new"}
        put.sync()
        assert put.discard() is None


def test_a_deletion_phase_by_phase(root: Root, tmp_path: Path, either_way: str) -> None:
    (tmp_path / "note.md").write_bytes(b"old")
    with AtomicWrite(root, NOTE, "t") as put:
        put.displace(b"old")
        assert picture(tmp_path) == {TEMP: b"old"}
        put.sync()
        assert put.discard() is None
        assert picture(tmp_path) == {}


@pytest.mark.covers("RD-files-atomic")
@pytest.mark.parametrize("change", [(b"old", b"new"), (None, b"new"), (b"old", None)])
def test_content_is_durable_before_it_has_the_name_and_the_name_before_success(
    root: Root, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: tuple[bytes | None, bytes | None]
) -> None:
    old, new = change
    if old is not None:
        (tmp_path / "note.md").write_bytes(old)
    steps: list[str] = []
    sync, rename = os.fsync, syscalls.renameat2

    def fsync(fd: int) -> None:
        steps.append("sync folder" if stat.S_ISDIR(os.fstat(fd).st_mode) else f"sync {os.fstat(fd).st_size} bytes")
        sync(fd)

    def renameat2(dir_fd: int, source: str, target: str, flags: int) -> None:
        steps.append("rename")
        rename(dir_fd, source, target, flags)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(syscalls, "renameat2", renameat2)
    with AtomicWrite(root, NOTE, "t") as put:
        _reach(put, "done", old, new)
        put.sync()
    assert steps == ([] if new is None else ["sync 3 bytes"]) + ["rename", "sync folder"]


@given(old=st.none() | st.binary(max_size=50), new=st.binary(max_size=50), actual=st.none() | st.binary(max_size=50))
def test_a_file_is_written_exactly_when_it_is_what_was_expected(
    tmp_path_factory: pytest.TempPathFactory, old: bytes | None, new: bytes, actual: bytes | None
) -> None:
    folder = tmp_path_factory.mktemp("write")
    before = {} if actual is None else {"note.md": actual}
    for name, content in before.items():
        (folder / name).write_bytes(content)
    with Root.open(folder) as root:
        if old == actual:
            assert write_file(root, NOTE, new, expected=old) is None
            assert picture(folder) == {"note.md": new}
        else:
            with pytest.raises(Refused) as caught:
                write_file(root, NOTE, new, expected=old)
            assert caught.value.code == ("already_exists" if old is None else "version_mismatch")
            assert picture(folder) == before


@pytest.mark.parametrize("phase", ["nothing", "prepared", "half prepared", "done", "discarded"])
@pytest.mark.parametrize(
    "change", [(b"old", b"new"), (None, b"new"), (b"old", None), (b"", b"new"), (b"new, once", b"new")]
)
def test_retract_brings_back_the_old_state_from_any_phase(
    root: Root, tmp_path: Path, either_way: str, phase: str, change: tuple[bytes | None, bytes | None]
) -> None:
    old, new = change
    before: dict[str, bytes] = {} if old is None else {"note.md": old}
    for name, content in before.items():
        (tmp_path / name).write_bytes(content)
    with AtomicWrite(root, NOTE, "t") as put:
        _reach(put, phase, old, new)
    if phase == "half prepared" and new is not None:
        (tmp_path / TEMP).write_bytes(new[:2])
    with AtomicWrite(root, NOTE, "t") as after_a_crash:
        assert after_a_crash.retract(old=old, new=new)
    assert picture(tmp_path) == before


def _reach(put: AtomicWrite, phase: str, old: bytes | None, new: bytes | None) -> None:
    if phase == "nothing":
        return
    if new is not None:
        put.prepare(new)
    if phase in {"done", "discarded"}:
        _change(put, old, new)
    if phase == "discarded":
        put.discard()


def _change(put: AtomicWrite, old: bytes | None, new: bytes | None) -> None:
    if old is None:
        put.place()
    elif new is None:
        put.displace(old)
    else:
        put.exchange(old, new)


@pytest.mark.parametrize("change", [(b"old", b"new"), (None, b"new"), (b"old", None)])
@pytest.mark.parametrize("theirs", [b"somebody else's", b"", None])
def test_retract_never_overwrites_somebody_elses_content(
    root: Root, tmp_path: Path, either_way: str, change: tuple[bytes | None, bytes | None], theirs: bytes | None
) -> None:
    old, new = change
    if old is not None:
        (tmp_path / "note.md").write_bytes(old)
    with AtomicWrite(root, NOTE, "t") as put:
        _reach(put, "done", old, new)
        if theirs is None:
            (tmp_path / "note.md").unlink(missing_ok=True)
        else:
            (tmp_path / "note.md").write_bytes(theirs)
        restored = put.retract(old=old, new=new)
    # A deletion that was undone while nobody had done anything is the one case in which `None` is not theirs.
    expected = old if new is None and theirs is None else theirs
    assert picture(tmp_path) == ({} if expected is None else {"note.md": expected})
    assert restored == (expected == old)


@pytest.mark.parametrize("change", [(b"old", b"new"), (None, b"new"), (b"old", None)])
def test_a_refused_change_is_not_retracted_from_somebody_who_made_the_same(
    root: Root, tmp_path: Path, change: tuple[bytes | None, bytes | None]
) -> None:
    old, new = change
    if old is not None:
        (tmp_path / "note.md").write_bytes(old)
    with AtomicWrite(root, NOTE, "t") as put:
        _reach(put, "prepared", old, new)
        if new is None:
            (tmp_path / "note.md").unlink()
        else:
            (tmp_path / "note.md").write_bytes(new)
        with pytest.raises(Refused):
            _change(put, old, new)
        assert not put.retract(old=old, new=new)
    assert picture(tmp_path) == ({} if new is None else {"note.md": new})


def test_a_write_that_cannot_be_made_durable_is_taken_back(
    root: Root, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "note.md").write_bytes(b"old")
    real = os.fsync

    def fsync(fd: int) -> None:
        if stat.S_ISDIR(os.fstat(fd).st_mode):
            raise OSError(5, "no")
        real(fd)

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(RedraftError, match="Cannot write"):
        write_file(root, NOTE, b"new", expected=b"old")
    with pytest.raises(RedraftError, match="Cannot write"):
        write_file(root, parse_path("other.md"), b"new", expected=None)
    assert picture(tmp_path) == {"note.md": b"old"}


@pytest.mark.parametrize("theirs", [b"third", b"", b"o"])
def test_recovery_gives_back_what_a_crash_left_displaced_and_unread(root: Root, tmp_path: Path, theirs: bytes) -> None:
    # The crash came between the swap and the comparison: the only copy of their content is under our temporary name.
    (tmp_path / "note.md").write_bytes(b"new")
    (tmp_path / TEMP).write_bytes(theirs)
    with AtomicWrite(root, NOTE, "t") as put:
        put.retract(old=b"old", new=b"new")
    assert picture(tmp_path) == {"note.md": theirs}


@pytest.mark.parametrize("change", ["in place", "by rename", "with its time kept"])
def test_an_outside_change_makes_an_exchange_and_a_deletion_stale(
    root: Root, tmp_path: Path, either_way: str, change: str
) -> None:
    note = tmp_path / "note.md"
    for act in ("exchange", "displace"):
        note.write_bytes(b"old")
        was = note.stat()
        with AtomicWrite(root, NOTE, "t") as put:
            if act == "exchange":
                put.prepare(b"new")
            if change == "by rename":
                (tmp_path / "x").write_bytes(b"odd")
                (tmp_path / "x").rename(note)
            else:
                note.write_bytes(b"odd")
            if change == "with its time kept":
                os.utime(note, ns=(was.st_atime_ns, was.st_mtime_ns))
            with pytest.raises(Stale):
                put.exchange(b"old", b"new") if act == "exchange" else put.displace(b"old")
        assert picture(tmp_path) == {"note.md": b"odd"}


def test_a_file_deleted_meanwhile_is_stale_and_stays_deleted(root: Root, tmp_path: Path, either_way: str) -> None:
    (tmp_path / "note.md").write_bytes(b"old")
    with AtomicWrite(root, NOTE, "t") as put:
        put.prepare(b"new")
        (tmp_path / "note.md").unlink()
        with pytest.raises(Refused):
            put.exchange(b"old", b"new")
        with pytest.raises(Stale):
            put.displace(b"old")
    assert picture(tmp_path) == {}


def test_a_creation_never_replaces(root: Root, tmp_path: Path, either_way: str) -> None:
    with AtomicWrite(root, NOTE, "t") as put:
        put.prepare(b"new")
        (tmp_path / "note.md").write_bytes(b"theirs")
        with pytest.raises(Refused) as caught:
            put.place()
    assert caught.value.code == "already_exists"
    assert picture(tmp_path) == {"note.md": b"theirs"}


def test_a_writer_that_closes_in_time_is_waited_for_and_its_write_is_seen(root: Root, tmp_path: Path) -> None:
    (tmp_path / "note.md").write_bytes(b"old")
    writer = os.open(tmp_path / "note.md", os.O_WRONLY)

    def write_and_close() -> None:
        time.sleep(0.03)
        os.write(writer, b"typed meanwhile")
        os.close(writer)

    thread = threading.Thread(target=write_and_close)
    with AtomicWrite(root, NOTE, "t") as put:
        put.prepare(b"new")
        thread.start()
        with pytest.raises(Stale):
            put.exchange(b"old", b"new")
    thread.join()
    assert picture(tmp_path) == {"note.md": b"typed meanwhile"}


def test_a_writer_that_stays_makes_the_file_busy_and_keeps_its_file(root: Root, tmp_path: Path) -> None:
    (tmp_path / "note.md").write_bytes(b"old")
    writer = os.open(tmp_path / "note.md", os.O_WRONLY)
    try:
        for act in ("exchange", "displace"):
            with AtomicWrite(root, NOTE, "t") as put:
                if act == "exchange":
                    put.prepare(b"new")
                with pytest.raises(Busy):
                    put.exchange(b"old", b"new") if act == "exchange" else put.displace(b"old")
        os.write(writer, b"still mine")
    finally:
        os.close(writer)
    assert picture(tmp_path) == {"note.md": b"still mine"}


def test_a_reader_does_not_hold_up_a_write(root: Root, tmp_path: Path) -> None:
    (tmp_path / "note.md").write_bytes(b"old")
    with open(tmp_path / "note.md", "rb"):
        write_file(root, NOTE, b"new", expected=b"old")
    assert picture(tmp_path) == {"note.md": b"new"}


def test_where_leases_are_not_to_be_had_the_comparison_does(
    root: Root, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(syscalls, "take_read_lease", without_lease)
    (tmp_path / "note.md").write_bytes(b"old")
    write_file(root, NOTE, b"new", expected=b"old")
    with pytest.raises(Stale):
        write_file(root, NOTE, b"newer", expected=b"old")
    assert picture(tmp_path) == {"note.md": b"new"}


def test_a_write_that_reaches_the_displaced_file_too_late_is_kept_as_a_copy(root: Root, tmp_path: Path) -> None:
    (tmp_path / "note.md").write_bytes(b"old")
    with AtomicWrite(root, NOTE, "t") as put:
        put.prepare(b"new")
        put.exchange(b"old", b"new")
        (tmp_path / TEMP).write_bytes(b"too late")
        (tmp_path / "note.conflict-t.md").write_bytes(b"in the way")
        assert put.discard() == "note.conflict-t-2.md"
    copies = {"note.conflict-t.md": b"in the way", "note.conflict-t-2.md": b"too late"}
    assert picture(tmp_path) == {"note.md": b"new", **copies}


def test_two_outside_writes_around_a_stale_exchange_are_both_kept(
    root: Root, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # One is displaced by the swap; the other goes into our file while it has the name for a moment.
    (tmp_path / "note.md").write_bytes(b"old")
    real = syscalls.renameat2
    theirs = iter([b"first of theirs", b"second of theirs"])

    def renameat2(dir_fd: int, old: str, new: str, flags: int) -> None:
        for content in theirs:
            (tmp_path / "note.md").write_bytes(content)
            break
        real(dir_fd, old, new, flags)

    monkeypatch.setattr(syscalls, "renameat2", renameat2)
    with AtomicWrite(root, NOTE, "t") as put:
        put.prepare(b"new")
        with pytest.raises(Stale) as caught:
            put.exchange(b"old", b"new")
    assert caught.value.details["kept"] == "note.conflict-t.md"
    assert picture(tmp_path) == {"note.md": b"second of theirs", "note.conflict-t.md": b"first of theirs"}


@pytest.mark.parametrize("name", ["x" * 252 + ".md", "日" * 85, ".hidden", "a." + "y" * 253])
def test_a_conflict_copy_has_a_name_that_the_disk_takes(root: Root, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"old")
    with AtomicWrite(root, parse_path(name), "t") as put:
        put.prepare(b"new")
        put.exchange(b"old", b"new")
        (tmp_path / TEMP).write_bytes(b"too late")
        copy = put.discard()
    assert copy is not None
    assert parse_path(copy) == copy
    assert picture(tmp_path) == {name: b"new", copy: b"too late"}


@pytest.mark.covers("RD-files-atomic")
def test_the_mode_is_kept_given_or_left_to_the_umask(root: Root, tmp_path: Path) -> None:
    umask = os.umask(0o027)
    try:
        write_file(root, NOTE, b"1", expected=None)
        write_file(root, parse_path("given"), b"1", expected=None, mode=0o600)
    finally:
        os.umask(umask)
    assert (tmp_path / "note.md").stat().st_mode & 0o7777 == 0o640
    assert (tmp_path / "given").stat().st_mode & 0o7777 == 0o600
    (tmp_path / "note.md").chmod(0o664)
    write_file(root, NOTE, b"2", expected=b"1")
    assert (tmp_path / "note.md").stat().st_mode & 0o7777 == 0o664


def test_extended_attributes_are_kept(root: Root, tmp_path: Path) -> None:
    (tmp_path / "note.md").write_bytes(b"old")
    try:
        os.setxattr(tmp_path / "note.md", "user.origin", b"here")
    except OSError:
        pytest.skip("this file system has no extended attributes")
    write_file(root, NOTE, b"new", expected=b"old")
    assert os.getxattr(tmp_path / "note.md", "user.origin") == b"here"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_the_owner_is_kept(root: Root, tmp_path: Path) -> None:
    (tmp_path / "note.md").write_bytes(b"old")
    os.chown(tmp_path / "note.md", 12345, 12346)
    write_file(root, NOTE, b"new", expected=b"old")
    found = (tmp_path / "note.md").stat()
    assert (found.st_uid, found.st_gid) == (12345, 12346)


@pytest.mark.covers("RD-files-links")
def test_links_pipes_folders_and_hard_links_are_never_replaced(root: Root, tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(b"x")
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "dangling").symlink_to("nothing")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "sub").mkdir()
    (tmp_path / "one").write_bytes(b"x")
    (tmp_path / "two").hardlink_to(tmp_path / "one")
    names = {"link": "outside_folder", "dangling": "outside_folder", "pipe": "unsupported_file_type"}
    names |= {"sub": "unsupported_file_type", "one": "outside_folder", "two": "outside_folder"}
    before = sorted(os.listdir(tmp_path))
    for name, code in names.items():
        for expected in (b"x", None):
            with pytest.raises(Refused) as caught:
                write_file(root, parse_path(name), b"new", expected=expected)
            assert caught.value.code == code
        with AtomicWrite(root, parse_path(name), "t") as put, pytest.raises(Refused) as caught:
            put.displace(b"x")
        assert caught.value.code == code
    assert sorted(os.listdir(tmp_path)) == before
    assert (tmp_path / "one").read_bytes() == b"x"


@pytest.mark.parametrize("thing", ["link", "folder", "hard link", "pipe"])
def test_what_takes_the_targets_place_after_preparing_is_put_back(root: Root, tmp_path: Path, thing: str) -> None:
    note = tmp_path / "note.md"
    note.write_bytes(b"old")
    with AtomicWrite(root, NOTE, "t") as put:
        put.prepare(b"new")
        note.unlink()
        if thing == "link":
            note.symlink_to("elsewhere")
        elif thing == "folder":
            note.mkdir()
        elif thing == "pipe":
            os.mkfifo(note)
        else:
            (tmp_path / "other").write_bytes(b"old")
            note.hardlink_to(tmp_path / "other")
        inode = note.lstat().st_ino
        with pytest.raises(Refused):
            put.exchange(b"old", b"new")
    assert note.lstat().st_ino == inode
    assert not (tmp_path / TEMP).exists()


def test_a_failed_creation_takes_its_folders_back(root: Root, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(dir_fd: int, old: str, new: str, flags: int) -> None:
        raise OSError(5, "no")

    monkeypatch.setattr(syscalls, "renameat2", refuse)
    with pytest.raises(Exception, match="Cannot create"):
        write_file(root, parse_path("a/b/c"), b"x", expected=None)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("token", ["", "a/b", "..", "x" * 65, "ä", "a.b"])
def test_a_token_that_could_be_a_path_is_a_mistake(root: Root, token: str) -> None:
    with pytest.raises(ValueError, match="token"):
        AtomicWrite(root, NOTE, token)


def test_sync_folders_syncs_each_folder_once(root: Root, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sub").mkdir()
    puts = [AtomicWrite(root, parse_path(name), new_token()) for name in ("a", "b", "sub/a", "sub/b")]
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", synced.append)
    sync_folders(puts)
    assert len(synced) == 2
    for put in puts:
        put.close()


@pytest.mark.covers("RD-files-sweep")
def test_sweeping_removes_what_crashes_left_and_nothing_else(root: Root, tmp_path: Path) -> None:
    for name in ("", "a", "a/b", ".hidden", ".git"):
        (tmp_path / name).mkdir(exist_ok=True)
        for token in ("gone", "kept"):
            (tmp_path / name / f".redraft-tmp-{token}").write_bytes(b"x")
        (tmp_path / name / "note.md").write_bytes(b"x")
    assert sweep(root, folders=["a", "no/such"], older_than=3600) == []
    assert sweep(root, folders=["a"], keep=["kept"]) == ["a/.redraft-tmp-gone"]
    assert sorted(sweep(root, keep={"kept"})) == [
        ".hidden/.redraft-tmp-gone",
        ".redraft-tmp-gone",
        "a/b/.redraft-tmp-gone",
    ]
    # Version control's data is not ours to clean, and we never write there.
    assert sum(name.endswith("gone") for name in picture(tmp_path)) == 1
    assert sum(name.endswith("kept") for name in picture(tmp_path)) == 5
    assert sum(name.endswith("note.md") for name in picture(tmp_path)) == 5
