"""A whole folder, ranked: what is read, how much of it, that it keeps up, and whose each passage is."""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING

import numpy as np
import pytest

from redraft.search.index import Index
from redraft.search.passages import folder_passages
from redraft.search.passages.folder_passages import FolderPassages, FolderResults
from redraft.workspace.folder.scan import Drafts
from redraft.workspace.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence
    from pathlib import Path

    from redraft.providers.embeddings import Embedder, Vectors


class Counting:
    """An embedder that knows one word; each text takes it a while."""

    dimension = 2

    def __init__(self, name: str, seconds: float = 0.0) -> None:
        self.name, self.seconds = name, seconds

    def embed(self, texts: Sequence[str]) -> Vectors:
        time.sleep(self.seconds)
        return np.array([[1, 0] if "flood" in text else [0, 1] for text in texts], np.float32).reshape(-1, 2)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    found = tmp_path / "notes"
    found.mkdir()
    return found


@pytest.fixture
def workspace(folder: Path) -> Generator[Workspace]:
    with Workspace.open(str(folder), state_home=str(folder.parent / "state")) as opened:
        yield opened


def put(folder: Path, texts: dict[str, str]) -> None:
    for path, text in texts.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")


def search(
    workspace: Workspace, query: str, model: Embedder | None = None, *, limit: int = 100, seconds: float = 60.0
) -> FolderResults:
    drafts = workspace.working_drafts()
    return Index.of(workspace).rank(query, drafts, model, limit=limit, seconds=seconds, least=0.0)


def test_each_passage_is_told_with_its_own_document(folder: Path, workspace: Workspace):
    put(folder, {"a.md": "", "b.md": "", "z.md": ""})
    put(folder, {f"{at}.md": f"# Part {at}\n\nNothing.\n\n# Flood {at}\n\nThe flood number {at}.\n" for at in range(9)})
    found = search(workspace, "flood", Counting("one"), limit=9)
    assert sorted((path, passage.line) for path, passage in found.passages) == [(f"{at}.md", 4) for at in range(9)]
    assert all(path.removesuffix(".md") in passage.text for path, passage in found.passages)


def test_words_of_one_document_are_not_carried_into_the_next(folder: Path, workspace: Workspace):
    put(folder, {"a.md": "The heron.\n", "b.md": "Something else.\n"})
    assert [path for path, _ in search(workspace, "heron").passages] == ["a.md"]


def test_a_document_is_found_by_the_words_of_its_name(folder: Path, workspace: Workspace):
    put(folder, {"plans/harbour-dues.md": "What ships pay.\n", "other.md": "Nothing of the kind.\n"})
    assert [path for path, _ in search(workspace, "the dues of a harbour").passages] == ["plans/harbour-dues.md"]


def test_where_time_runs_out_the_next_search_goes_on(folder: Path, workspace: Workspace):
    put(folder, {f"{at}.md": f"# Part {at}\n\nNothing {at}.\n" for at in range(100)})
    passages = FolderPassages(workspace, Counting("slow", seconds=0.001))
    view = workspace.watch_files()
    view.refresh()
    told: list[str] = []
    while "ready" not in told:
        told.append(passages.search(view.files, Drafts({}, set()), "flood", limit=3, seconds=0).status)
    # Two portions of files and four of passages, some of them in one search.
    assert told == ["indexing"] * (len(told) - 1) + ["ready"]
    assert len(told) >= 4


def test_of_more_text_than_is_searched_the_rest_is_said(folder: Path, workspace: Workspace):
    put(folder, dict.fromkeys(("in/c.md", "b.txt", "a.md"), "0123456 89"))
    (folder / "picture.png").write_bytes(b"\x89PNG\0" + b"0123456 89" * 9)
    view = workspace.watch_files()
    view.refresh()
    for most, paths in ((30, ["a.md", "b.txt", "in/c.md"]), (20, ["a.md", "b.txt"]), (0, [])):
        passages = FolderPassages(workspace, None, most=most)
        found = passages.search(view.files, Drafts({}, set()), "0123456", limit=9, seconds=60)
        assert sorted(path for path, _ in found.passages) == paths
        assert found.truncated == (len(paths) < 3)


def test_whatever_happens_to_the_folder_a_search_sees_it_as_it_is_now(
    folder: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
):
    """Files come, change, move and go; a naive look into every file says what has to be found."""
    monkeypatch.setattr(folder_passages, "_MANY_GONE", 20)
    chance = random.Random(7)
    words = ["heron", "anchor", "lantern", "meadow"]
    for step in range(60):
        paths = sorted(path.name for path in folder.glob("*.md"))
        act = chance.choice(["write", "write", "write", "remove", "rename"])
        if act == "write" or not paths:
            body = " ".join(chance.choices([*words, "the", "sea"], k=chance.randint(0, 12)))
            put(folder, {f"{chance.randrange(8)}.md": body})
        elif act == "remove":
            (folder / chance.choice(paths)).unlink()
        else:
            (folder / chance.choice(paths)).rename(folder / f"{chance.randrange(8)}.md")
        for word in words:
            holding = {path.name for path in folder.glob("*.md") if word in path.read_text(encoding="utf-8").split()}
            found = search(workspace, word)
            assert {path for path, _ in found.passages} == holding, (step, act, word)


def test_a_text_that_is_being_worked_on_is_searched_instead_of_its_file(folder: Path, workspace: Workspace):
    put(folder, {"a.md": "The heron.\n"})
    found = Index.of(workspace).rank(
        "heron anchor", Drafts({"b.md": "An anchor.\n"}, {"a.md"}), None, limit=9, seconds=60, least=0.0
    )
    assert [path for path, _ in found.passages] == ["b.md"]
    assert [path for path, _ in search(workspace, "heron anchor").passages] == ["a.md"]
