"""What the watch tells of real changes on disk, and whose they were."""

from __future__ import annotations

import os
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from redraft.files.paths import DocPath, parse_path
from redraft.files.root import Root
from redraft.files.watch import FileEvent, OwnWrites, watch
from redraft.files.writing import write_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

NOTE = parse_path("note.md")


class Watching:
    """A watch in its own thread, and what it has told so far."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.own = OwnWrites()
        self.bursts: list[set[FileEvent]] = []
        self.ready = threading.Event()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        for burst in watch(self.folder, stop=self._stop, own=self.own):
            self.bursts.append(burst)
            self.ready.set()

    @property
    def events(self) -> list[FileEvent]:
        return [event for burst in self.bursts for event in burst]

    def wait_for(self, condition: Callable[[list[FileEvent]], bool]) -> list[FileEvent]:
        """All events, as soon as they fulfil the condition; a marker file afterwards shows that no more are to come."""
        deadline = time.monotonic() + 10
        while not condition(self.events):
            assert time.monotonic() < deadline, f"only {self.events}"
            time.sleep(0.02)
        return self.events

    def all_of(self, act: Callable[[], object]) -> list[FileEvent]:
        """What the watch tells of `act`, up to a marker that is written after it."""
        before = len(self.events)
        act()
        time.sleep(0.45)  # more than a burst's length, so that the marker is another one
        marker = parse_path(f"marker-{before}")
        (self.folder / marker).write_text("x", encoding="utf-8")
        events = self.wait_for(lambda events: any(event.path == marker for event in events))
        return sorted(event for event in events[before:] if not event.path.startswith("marker"))

    def stop(self) -> None:
        self._stop.set()
        self._thread.join(10)
        assert not self._thread.is_alive()


@pytest.fixture
def watching(tmp_path: Path) -> Iterator[Watching]:
    (tmp_path / "note.md").write_bytes(b"old")
    (tmp_path / ".git").mkdir()
    watching = Watching(tmp_path)
    assert watching.ready.wait(10)
    yield watching
    watching.stop()


def test_the_first_burst_comes_at_once_and_is_empty(watching: Watching) -> None:
    assert watching.bursts == [set()]


@pytest.mark.covers("RD-files-watch")
@pytest.mark.slow
def test_an_atomic_replacement_of_ours_is_one_change_and_own(watching: Watching, tmp_path: Path) -> None:
    def save() -> None:
        with Root.open(tmp_path) as root, watching.own.writing(NOTE, b"new"):
            write_file(root, NOTE, b"new", expected=b"old")

    assert watching.all_of(save) == [FileEvent(NOTE, "changed", own=True)]


@pytest.mark.covers("RD-files-watch")
@pytest.mark.slow
def test_each_way_of_changing_a_file_is_told_once_and_as_somebody_elses(watching: Watching, tmp_path: Path) -> None:
    note = tmp_path / "note.md"

    def rename_over() -> None:
        (tmp_path / "other").write_bytes(b"renamed")
        (tmp_path / "other").rename(note)

    def told(kind: str, path: DocPath = NOTE) -> list[tuple[str, str, bool]]:
        return [(path, kind, False)]

    assert watching.all_of(lambda: note.write_bytes(b"in place")) == told("changed")
    assert watching.all_of(rename_over) == told("changed")
    assert watching.all_of(note.unlink) == told("deleted")
    assert watching.all_of(lambda: note.write_bytes(b"again")) == told("created")
    assert watching.all_of((tmp_path / "sub").mkdir) == []
    inner = parse_path("sub/é.md")
    assert watching.all_of(lambda: (tmp_path / inner).write_bytes(b"x")) == told("created", inner)


@pytest.mark.slow
def test_a_folder_that_is_moved_tells_of_the_files_in_it(watching: Watching, tmp_path: Path) -> None:
    def fill() -> None:
        (tmp_path / "a" / "b").mkdir(parents=True)
        for name in ("a/1.md", "a/b/2.md"):
            (tmp_path / name).write_bytes(b"x")

    def told(**events: str) -> list[tuple[str, str, bool]]:
        return sorted(
            (f"{folder}/{name}", kind, False) for folder, kind in events.items() for name in ("1.md", "b/2.md")
        )

    away = tmp_path.with_name(tmp_path.name + "-away")
    assert watching.all_of(fill) == told(a="created")
    assert watching.all_of(lambda: (tmp_path / "a").rename(tmp_path / "c")) == told(a="deleted", c="created")
    assert watching.all_of(lambda: (tmp_path / "c").rename(away)) == told(c="deleted")


@pytest.mark.slow
def test_an_outside_write_right_after_ours_is_not_taken_for_ours(watching: Watching, tmp_path: Path) -> None:
    def ours_then_theirs() -> None:
        with Root.open(tmp_path) as root, watching.own.writing(NOTE, b"ours"):
            write_file(root, NOTE, b"ours", expected=b"old")
        (tmp_path / "note.md").write_bytes(b"them")

    assert watching.all_of(ours_then_theirs)[-1] == FileEvent(NOTE, "changed", own=False)


@pytest.mark.slow
def test_somebody_bringing_back_what_we_wrote_before_is_not_us(watching: Watching, tmp_path: Path) -> None:
    watching.own.remember(NOTE, b"first")
    watching.own.remember(NOTE, b"second")
    events = watching.all_of(lambda: (tmp_path / "note.md").write_bytes(b"first"))
    assert events == [FileEvent(NOTE, "changed", own=False)]


@pytest.mark.slow
def test_our_deletion_is_own(watching: Watching, tmp_path: Path) -> None:
    def delete() -> None:
        with watching.own.writing(NOTE, None):
            (tmp_path / "note.md").unlink()

    assert watching.all_of(delete) == [FileEvent(NOTE, "deleted", own=True)]


@pytest.mark.slow
def test_a_burst_over_many_files_tells_each_and_no_internal_place(watching: Watching, tmp_path: Path) -> None:
    def burst() -> None:
        for number in range(200):
            (tmp_path / f"n{number}.md").write_bytes(b"1")
            (tmp_path / f"n{number}.md").write_bytes(b"2")
            (tmp_path / ".git" / f"object{number}").write_bytes(b"x")
            (tmp_path / f".redraft-tmp-{number}").write_bytes(b"x")
            os.unlink(tmp_path / f".redraft-tmp-{number}")

    events = watching.all_of(burst)
    assert {event.path for event in events} == {f"n{number}.md" for number in range(200)}


def test_own_writes_forget_what_failed_and_hold_what_is_under_way(tmp_path: Path) -> None:
    own = OwnWrites()
    (tmp_path / "note.md").write_bytes(b"old")
    with Root.open(tmp_path) as root:
        assert not own.is_own(root, NOTE)
        with suppress(OSError), own.writing(NOTE, b"old"):
            assert own.is_own(root, NOTE)
            raise OSError
        assert not own.is_own(root, NOTE)
        own.remember(NOTE, b"old")
        assert own.is_own(root, NOTE)
        with own.writing(NOTE, b"new"):
            assert own.is_own(root, NOTE)
            (tmp_path / "note.md").write_bytes(b"new")
            assert own.is_own(root, NOTE)
        (tmp_path / "note.md").write_bytes(b"old")
        assert not own.is_own(root, NOTE)


def test_own_writes_of_many_paths_take_bounded_room(tmp_path: Path) -> None:
    own = OwnWrites()
    for number in range(10_100):
        own.remember(parse_path(f"n{number}"), b"x")
    (tmp_path / "n0").write_bytes(b"x")
    (tmp_path / "n10099").write_bytes(b"x")
    with Root.open(tmp_path) as root:
        assert not own.is_own(root, parse_path("n0"))
        assert own.is_own(root, parse_path("n10099"))
