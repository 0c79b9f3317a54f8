"""The folder's index: whatever happened a moment ago, the answer is about the files as they are now."""

from __future__ import annotations

import mmap
import os
import sqlite3
import threading
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from redraft.errors import Refused
from redraft.files import file_image
from redraft.files.syscalls import Unsupported
from redraft.search import index_database as catalogue_module
from redraft.search.index import Hit, Index
from redraft.text.edits import Change, Edit
from redraft.workspace.folder import file_table
from tests.conftest import TORTURE
from tests.workspace.folder import AGENT, Folder, agent_writes, fresh_folder

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path


# Files are as old as their making when they are indexed here; a test never writes while it reads.
AT_ONCE = -1_000_000_000


@pytest.fixture
def index(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> Generator[Index]:
    """An index of two hundred and some files, none of which is too young to be indexed."""
    monkeypatch.setattr(file_image, "SETTLED_NS", AT_ONCE)
    for number in range(200):
        folder.put(f"d{number % 7}/note{number}.md", f"# Note {number}\n\nThe lantern of house {number}x.\n")
    folder.put("top.md", "first\nsecond lantern\nthird\n")
    with Index.open(folder.open()) as made:
        made.update()
        yield made


def paths(hits: list[Hit]) -> list[str]:
    return [hit.path for hit in hits]


def test_a_hit_says_where_it_is(index: Index):
    assert index.search("second", context=1) == [Hit("top.md", 1, 0, "second lantern", ("first",), ("third",))]


def test_hits_come_folder_by_folder_and_in_the_order_of_names(index: Index, folder: Folder):
    for path in ("b.md", "a/z.md", "a/b/c.md", "a b/x.md", "a.md"):
        folder.put(path, "ordered")
    assert paths(index.search("ordered")) == ["a.md", "b.md", "a/z.md", "a/b/c.md", "a b/x.md"]


def test_the_limit_takes_the_first_hits(index: Index):
    everything = index.search("lantern")
    assert len(everything) == 201
    assert index.search("lantern", limit=7) == everything[:7]


def test_a_glob_chooses_files(index: Index):
    assert {path.partition("/")[0] for path in paths(index.search("lantern", glob="d3/**"))} == {"d3"}


def test_a_change_from_outside_is_seen_at_once(index: Index, folder: Folder):
    folder.put("d0/note0.md", "a rowing boat")
    assert paths(index.search("rowing")) == ["d0/note0.md"]
    assert index.search("house 0x") == []


def test_a_change_that_keeps_size_and_time_is_seen(index: Index, folder: Folder):
    path = folder.path / "top.md"
    before = path.stat()
    folder.put("top.md", "FIRST\nsecond lantern\nthird\n")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert paths(index.search("FIRST")) == ["top.md"]


def test_a_file_or_a_folder_that_comes_goes_or_moves_is_seen(index: Index, folder: Folder):
    folder.put("new/deep/er.md", "a rowing boat")
    assert paths(index.search("rowing")) == ["new/deep/er.md"]
    (folder.path / "new").rename(folder.path / "old")
    assert paths(index.search("rowing")) == ["old/deep/er.md"]
    folder.put("old/deep/er.md", "a sailing boat")
    assert paths(index.search("sailing")) == ["old/deep/er.md"]
    (folder.path / "old/deep/er.md").unlink()
    assert index.search("boat") == []


def test_what_changed_while_nobody_looked_is_seen_by_the_next_one(folder: Folder, index: Index):
    index.close()
    folder.put("d1/note1.md", "a rowing boat")
    with Index.open(folder.open()) as again:
        assert paths(again.search("rowing")) == ["d1/note1.md"]
        assert again.waiting == 1


def test_without_the_kernels_notices_every_file_is_looked_at(
    index: Index, folder: Folder, monkeypatch: pytest.MonkeyPatch
):
    def none() -> None:
        raise Unsupported

    monkeypatch.setattr(file_table, "Inotify", none)
    with Index.open(folder.open()) as other:
        assert len(other.search("lantern")) == 201
        folder.put("top.md", "a rowing boat")
        folder.put("d9/other.md", "a rowing boat")
        assert paths(other.search("rowing")) == ["top.md", "d9/other.md"]


def test_many_changes_at_once_are_indexed_by_the_search_that_meets_them(index: Index, folder: Folder):
    for number in range(100):
        folder.put(f"more/{number}.md", f"rowing {number}")
    assert len(index.search("rowing")) == 100
    assert index.waiting == 0
    assert paths(index.search("rowing 77")) == ["more/77.md"]


def test_a_file_written_a_moment_ago_is_searched_but_not_yet_indexed(folder: Folder, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(file_image, "SETTLED_NS", 3_600_000_000_000)
    folder.put("a.md", "lantern")
    with Index.open(folder.open()) as index:
        index.update()
        assert index.waiting == 1
        assert paths(index.search("lantern")) == ["a.md"]


def test_progress_is_told_while_indexing(folder: Folder, index: Index):
    for number in range(450):
        folder.put(f"more/{number}.md", "rowing")
    told: list[tuple[int, int]] = []
    index.progress = lambda done, total: told.append((done, total))
    assert index.update() == 450
    assert told == [(200, 450), (400, 450), (450, 450)]


def test_an_index_kept_in_the_background_gets_done(folder: Folder, index: Index):
    for number in range(60):
        folder.put(f"more/{number}.md", "rowing")
    finished = threading.Event()
    index.progress = lambda done, total: finished.set() if done == total else None
    index.start()
    assert finished.wait(120)
    assert len(index.search("rowing")) == 60


def test_while_indexing_the_index_says_how_far_it_is(folder: Folder, index: Index):
    for number in range(450):
        folder.put(f"more/{number}.md", "rowing")
    assert index.indexing is None
    seen: list[tuple[int, int] | None] = []
    index.progress = lambda done, total: seen.append(index.indexing)
    index.update()
    assert seen == [(0, 450), (200, 450), (400, 450)]
    assert index.indexing is None


def test_answers_are_whole_while_the_index_is_being_made(folder: Folder, index: Index):
    for number in range(1000):
        folder.put(f"more/{number % 10}/{number}.md", "rowing")
    thread = threading.Thread(target=index.update)
    thread.start()
    found = {len(index.search("rowing")) for _ in range(5)}
    thread.join()
    assert found | {len(index.search("rowing"))} == {1000}


def test_what_changes_often_does_not_pile_up(folder: Folder, index: Index):
    for turn in range(20):
        for number in range(5):
            folder.put(f"d{number % 7}/note{number}.md", f"turn {turn}")
        index.update()
    assert len(index.database.extents()) < 15
    assert paths(index.search("turn 19")) == [f"d{number}/note{number}.md" for number in range(5)]
    assert len(index.search("lantern")) == 196


# Texts that are kept


def kept(index: Index) -> int:
    return len(index.database.texts([row.number for row in index.database.load()]))


def test_a_text_that_its_file_no_longer_proves_is_not_shown(index: Index, folder: Folder):
    """A write through a memory map is told to nobody, but the file has another time."""
    path = folder.path / "top.md"
    assert paths(index.search("second lantern")) == ["top.md"]
    with path.open("r+b") as file, mmap.mmap(file.fileno(), 0) as memory:
        memory[0:5] = b"FIRST"
    assert index.search("second", context=1)[0].before == ("FIRST",)


def test_a_text_that_is_not_shown_takes_no_place_of_one_that_is(index: Index, folder: Folder):
    path = folder.path / "d0/note0.md"
    assert paths(index.search("lantern", limit=2)) == ["top.md", "d0/note0.md"]
    with path.open("r+b") as file, mmap.mmap(file.fileno(), 0) as memory:
        memory[:] = bytes(memory).replace(b"lantern", b"LANTERN")
    assert paths(index.search("lantern", limit=2)) == ["top.md", "d0/note105.md"]


def test_a_text_whose_file_went_behind_a_link_is_not_shown(index: Index, folder: Folder, tmp_path: Path):
    assert index.search("house 7x")
    (folder.path / "d0").rename(tmp_path / "away")
    (folder.path / "d0").symlink_to(tmp_path / "away")
    assert index.search("house 7x") == []


def test_the_text_of_a_file_that_is_gone_is_not_kept(index: Index, folder: Folder):
    before = kept(index)
    assert before == 201
    (folder.path / "top.md").unlink()
    folder.put("d0/note0.md", "a rowing boat")
    index.update()
    assert kept(index) == 200
    database = folder.path.parent.joinpath(index.database.path)
    index.close()
    connection = sqlite3.connect(database)
    found = connection.execute("SELECT count(*) FROM texts WHERE instr(text, 'second lantern')").fetchone()
    connection.close()
    assert found == (0,)


def test_a_large_text_is_searched_but_no_copy_is_kept(index: Index, folder: Folder, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(catalogue_module, "LARGEST_TEXT", 100)
    folder.put("large.md", "rowing\n" * 100)
    index.update()
    assert index.waiting == 0
    assert kept(index) == 201
    assert len(index.search("rowing")) == 100


def test_on_a_disk_whose_stamps_prove_nothing_no_text_is_kept(folder: Folder, monkeypatch: pytest.MonkeyPatch):
    def unknown(device: int) -> str:
        return "nfs"

    monkeypatch.setattr(file_image, "SETTLED_NS", AT_ONCE)
    monkeypatch.setattr(file_image, "file_system", unknown)
    folder.put("top.md", "second lantern")
    with Index.open(folder.open()) as index:
        index.update()
        assert (index.waiting, kept(index)) == (0, 0)
        assert paths(index.search("lantern")) == ["top.md"]


def test_a_kept_text_that_was_altered_is_not_believed(index: Index):
    connection = sqlite3.connect(index.database.path)
    connection.execute("UPDATE texts SET text = CAST('second lie' AS BLOB)")
    connection.commit()
    connection.close()
    assert [hit.text for hit in index.search("second")] == ["second lantern"]


# What is not searched


@pytest.mark.covers("SB-rule-search-hidden", "ML-search-hidden")
def test_hidden_places_are_not_searched(index: Index, folder: Folder):
    for path in (".hidden.md", ".git/config", ".obsidian/note.md", "d1/.trash/x.md", ".redraft/x", "GIT~1/config"):
        folder.put(path, "rowing")
    assert index.search("rowing") == []


def test_of_a_secret_not_a_byte_is_found(index: Index, folder: Folder):
    key = "-----BEGIN OPENSSH PRIVATE KEY-----\nrowing\n-----END OPENSSH PRIVATE KEY-----\n"
    for path in ("prod.env", "id_rsa", "keys/server.pem", "credentials.json"):
        folder.put(path, "rowing")
    folder.put("innocent.txt", key)
    assert index.search("rowing") == []
    index.update()
    assert index.search("rowing") == []
    state = folder.path.parent / "state"
    assert [file for file in state.rglob("search.db*") if b"rowing" in file.read_bytes()] == []


def test_only_text_is_searched_and_nothing_through_a_link(index: Index, folder: Folder, tmp_path: Path):
    folder.put("binary.bin", b"rowing\0")
    folder.put("latin.txt", "rowing é".encode("latin-1"))
    (tmp_path / "outside.md").write_text("rowing", encoding="utf-8")
    (folder.path / "link.md").symlink_to(tmp_path / "outside.md")
    (folder.path / "folder-link").symlink_to(tmp_path)
    os.mkfifo(folder.path / "pipe.md")
    (folder.path / os.fsdecode(b"bad\xff.md")).write_bytes(b"rowing")
    assert index.search("rowing") == []
    index.update()
    assert index.search("rowing") == []


# Documents that are being worked on


def test_a_proposal_is_searched_as_it_would_read(folder: Folder, index: Index):
    workspace = folder.open()
    with Index.open(workspace) as other:
        agent_writes(workspace, {"top.md": "a rowing boat\n"})
        assert paths(other.search("rowing")) == ["top.md"]
        assert "top.md" not in paths(other.search("lantern"))
    assert paths(index.search("rowing")) == ["top.md"]


def test_a_document_that_is_to_be_created_deleted_or_moved_is_where_it_would_be(folder: Folder, index: Index):
    workspace = folder.open()
    with workspace.turn(AGENT, "Places", mode="propose") as turn:
        turn.create("new.md", "a rowing boat\n")
        turn.delete("d1/note1.md", turn.read("d1/note1.md").version)
        turn.move("top.md", "moved.md", turn.read("top.md").version)
    assert paths(index.search("rowing")) == ["new.md"]
    assert index.search("house 1x") == []
    assert paths(index.search("second")) == ["moved.md"]


def test_what_was_typed_and_not_saved_is_found(folder: Folder, index: Index):
    workspace = folder.open()
    workspace.type("top.md", Change((Edit(0, "", "rowing "),)))
    assert [(hit.path, hit.text) for hit in index.search("rowing")] == [("top.md", "rowing first")]


# Trouble


def damage(path: Path, how: str) -> None:
    size = path.stat().st_size
    if how == "gone":
        path.unlink()
    elif how == "cut":
        os.truncate(path, size // 2)
    elif how == "empty":
        os.truncate(path, 0)
    else:
        path.write_bytes(b"no database" * 1000 if how == "nonsense" else path.read_bytes()[:100] + bytes(size - 100))


@pytest.mark.parametrize("how", ["gone", "cut", "empty", "nonsense", "zeroed"])
def test_an_index_that_is_lost_or_damaged_is_made_again(folder: Folder, index: Index, how: str):
    path = index.database.path
    index.close()
    damage(folder.path.parent.joinpath(path), how)
    with Index.open(folder.open()) as again:
        assert len(again.search("lantern")) == 201
        again.update()
        assert again.waiting == 0
        assert paths(again.search("house 77x")) == ["d0/note77.md"]


@pytest.mark.parametrize("how", ["gone", "cut", "nonsense"])
def test_damage_under_a_running_index_changes_no_answer(folder: Folder, index: Index, how: str):
    damage(folder.path.parent.joinpath(index.database.path), how)
    for query in ("house 77x", "house 78x"):
        assert len(index.search(query)) == 1
    folder.put("a first one.md", "so that every text gets another number")
    index.update()
    assert paths(index.search("house 77x")) == ["d0/note77.md"]
    assert [hit.text for hit in index.search("second")] == ["second lantern"]


def test_a_database_that_another_process_holds_is_left_to_it(
    folder: Folder, index: Index, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(catalogue_module, "BUSY_SECONDS", 0.05)
    holder = sqlite3.connect(index.database.path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with Index.open(folder.open()) as other:
        assert len(other.search("lantern")) == 201
        other.update()
        assert paths(other.search("house 77x")) == ["d0/note77.md"]
    holder.execute("ROLLBACK")
    holder.close()
    assert len(index.database.load()) == 201


def test_two_indexes_of_one_folder_do_not_confuse_each_other(folder: Folder, index: Index):
    with Index.open(folder.open()) as other:
        assert len(other.search("lantern")) == 201
        for number in range(60):
            folder.put(f"d0/note{number}.md", f"rowing {number}")
        index.update()
        assert paths(other.search("rowing 33")) == ["d0/note33.md"]
        other.update()
        assert paths(index.search("rowing 34")) == ["d0/note34.md"]


@pytest.mark.parametrize("query", ["two\nlines", "a\rb", ""])
def test_a_query_that_no_line_can_hold_is_refused(index: Index, query: str):
    with pytest.raises(Refused):
        index.search(query)


NAMES = st.sampled_from(["a.md", "b.md", "d/a.md", "d/e/c.md"])
CONTENTS = st.sampled_from(["lantern\n", "Lantern and oar", "oar\r\nlantern\r\n", "", "prologue\n\noar"])
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("put"), NAMES, CONTENTS),
        st.tuples(st.just("drop"), NAMES, st.just("")),
        st.tuples(st.just("update"), NAMES, st.just("")),
        st.tuples(st.just("search"), NAMES, st.just("")),
    ),
    max_size=12,
)


def naive(folder: Folder, query: str) -> list[tuple[str, int]]:
    """Every line of every file that holds the query, found by reading them all."""
    found: list[tuple[str, int]] = []
    for path, data in folder.tree().items():
        found += [(path, number) for number, line in enumerate(data.decode().splitlines()) if query in line]
    return sorted(found)


@given(STEPS)
@settings(max_examples=40 * (25 if TORTURE else 1))
def test_whatever_happens_the_answer_is_that_of_reading_everything(steps: list[tuple[str, str, str]]):
    with fresh_folder() as folder, pytest.MonkeyPatch.context() as patch, Index.open(folder.open()) as index:
        patch.setattr(file_image, "SETTLED_NS", AT_ONCE)
        for kind, path, content in steps:
            if kind == "put":
                folder.put(path, content)
            elif kind == "drop":
                (folder.path / path).unlink(missing_ok=True)
            elif kind == "update":
                index.update()
            for query in ("oar", "lantern") if kind != "put" else ("oar",):
                assert sorted((hit.path, hit.line) for hit in index.search(query)) == naive(folder, query)
