"""A whole folder by meaning: what is read, how much of it, and that passages are told with their own documents."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np
import pytest

from redraft.search.everywhere import Read, read_folder, search_everywhere
from redraft.search.hits import order
from redraft.search.vectors import VectorCache
from redraft.workspace.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from redraft.providers.embeddings import Vectors


class Counting:
    """An embedder that knows one word; each text takes it a while."""

    dimension = 2

    def __init__(self, name: str, seconds: float = 0.0) -> None:
        self.name, self.seconds = name, seconds

    def embed(self, texts: Sequence[str]) -> Vectors:
        time.sleep(self.seconds)
        return np.array([[1, 0] if "flood" in text else [0, 1] for text in texts], np.float32).reshape(-1, 2)


def test_each_passage_is_told_with_its_own_document(tmp_path: Path):
    empty = [("a.md", ""), ("b.md", ""), ("z.md", "")]
    texts = [(f"{at}.md", f"# Part {at}\n\nNothing.\n\n# Flood {at}\n\nThe flood number {at}.\n") for at in range(9)]
    read = Read(tuple(sorted([*empty, *texts])), truncated=False)
    with VectorCache(str(tmp_path), 0.0) as cache:
        found = search_everywhere(read, "flood", Counting("one"), cache, limit=9)
    assert sorted((path, passage.line) for path, passage in found.passages) == [(f"{at}.md", 4) for at in range(9)]
    assert all(path.removesuffix(".md") in passage.text for path, passage in found.passages)


def test_where_time_runs_out_the_next_search_goes_on(tmp_path: Path):
    read = Read(tuple((f"{at}.md", f"# Part {at}\n\nNothing {at}.\n") for at in range(100)), truncated=False)
    model = Counting("slow", seconds=0.001)
    with VectorCache(str(tmp_path), 0.0) as cache:
        told = [search_everywhere(read, "flood", model, cache, limit=3, seconds=0).status for _ in range(5)]
    assert told == ["indexing", "indexing", "indexing", "ready", "ready"]


@pytest.mark.parametrize(("most", "paths"), [(30, ["a.md", "b.txt", "in/c.md"]), (20, ["a.md", "b.txt"]), (0, [])])
def test_a_folder_is_read_in_order_up_to_so_much_text(tmp_path: Path, most: int, paths: list[str]):
    folder, state = tmp_path / "notes", tmp_path / "state"
    (folder / "in").mkdir(parents=True)
    for path in ("in/c.md", "b.txt", "a.md", "picture.png"):
        (folder / path).write_text("0123456789", encoding="utf-8")
    with Workspace.open(str(folder), state_home=str(state)) as workspace:
        read = read_folder(workspace.engine, most=most)
        assert [path for path, _ in read.documents] == paths
        assert read.truncated == (len(paths) < 3)
        assert [path for path, _ in read_folder(workspace.engine, "in/**").documents] == ["in/c.md"]


@pytest.mark.parametrize("most", [0, 7, 30, 60, 100, 1000])
def test_of_more_text_than_is_read_the_first_documents_stay(tmp_path: Path, most: int):
    folder = tmp_path / "notes"
    sizes = {f"{place}{number}.md": number * 7 % 23 for place in ("z/", "a/", "a/b/", "") for number in range(9)}
    for path, size in sizes.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text("x" * size, encoding="utf-8")
    with Workspace.open(str(folder), state_home=str(tmp_path / "state")) as workspace:
        read = read_folder(workspace.engine, most=most)
    paths = sorted(sizes, key=order)
    fits = [at for at in range(len(paths) + 1) if sum(sizes[path] for path in paths[:at]) <= most]
    assert [path for path, _ in read.documents] == paths[: fits[-1]]
    assert read.truncated == (fits[-1] < len(paths))
