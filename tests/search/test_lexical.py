"""Ranking by words: the laws of the score, and how well it finds answers in real stories."""

from __future__ import annotations

import gzip
import json
import math
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redraft.search.lexical import LENGTH_WEIGHT, SATURATION, Ranking, chunks, rank, stem, terms
from redraft.text.lines import split_lines

if TYPE_CHECKING:
    from pathlib import Path

PASSAGES = st.lists(st.text(alphabet="abcd ", max_size=20), min_size=1, max_size=6)


def naive_score(query: str, passage: str, passages: list[str]) -> float:
    """BM25 written down as in the books."""
    counts = Counter(terms(passage))
    mean = sum(len(list(terms(other))) for other in passages) / len(passages)
    score = 0.0
    for term in set(terms(query)):
        holding = sum(term in set(terms(other)) for other in passages)
        idf = math.log(1 + (len(passages) - holding + 0.5) / (holding + 0.5))
        share = len(list(terms(passage))) / mean if mean else 0.0
        norm = SATURATION * (1 - LENGTH_WEIGHT + LENGTH_WEIGHT * share)
        score += idf * counts[term] * (SATURATION + 1) / (counts[term] + norm)
    return score


@given(st.text(alphabet="abcd ", max_size=10), PASSAGES)
def test_the_score_is_bm25(query: str, passages: list[str]):
    expected = [naive_score(query, passage, passages) for passage in passages]
    assert rank(query, passages) == pytest.approx(expected)


@pytest.mark.parametrize(
    "family",
    [
        ("run", "runs", "running"),
        ("story", "stories"),
        ("box", "boxes"),
        ("hope", "hoped", "hoping"),
        ("quick", "quickly", "quickest"),
        ("walk", "walked", "walking", "walks", "walker"),
    ],
)
def test_relatives_have_one_stem(family: tuple[str, ...]):
    assert len(set(map(stem, family))) == 1


@pytest.mark.parametrize(("one", "other"), [("king", "kin"), ("bed", "b"), ("glass", "glas"), ("thing", "the")])
def test_short_words_keep_their_endings(one: str, other: str):
    assert stem(one) != stem(other)


@given(st.lists(st.sampled_from(["", "# Heading", "one two three", "word " * 30]), max_size=40))
def test_chunks_are_the_document_in_order_and_no_word_is_left_out(lines: list[str]):
    text = "\n".join(lines)
    parts = chunks(text, words=50)
    assert "".join(part.text for part in parts).split() == text.split()
    everything = split_lines(text)
    for part in parts:
        assert part.text == "".join(everything[part.start_line : part.end_line])
        assert 0 < len(part.text.split()) <= 50


def test_a_heading_begins_a_chunk():
    parts = chunks("Before.\n# One\nText.\n")
    assert [part.text for part in parts] == ["Before.\n", "# One\nText.\n"]


def load(material: Path) -> tuple[dict[str, list[dict[str, Any]]], list[dict[str, Any]]]:
    sections: dict[str, list[dict[str, Any]]] = defaultdict(list)
    questions: list[dict[str, Any]] = []
    with gzip.open(material / "ir-fairytaleqa" / "val.jsonl.gz", "rt", encoding="utf-8") as lines:
        for entry in map(json.loads, lines):
            if entry["t"] == "section":
                sections[entry["story"]].append(entry)
            else:
                questions.append(entry)
    return sections, questions


def test_nine_answers_of_ten_are_in_the_five_best_sections_of_their_story(material: Path):
    sections, questions = load(material)
    rankings = {story: Ranking([entry["text"] for entry in entries]) for story, entries in sections.items()}
    found = 0
    for question in questions:
        story = question["story"]
        scores = rankings[story].scores(question["text"])
        best = sorted(range(len(scores)), key=lambda at: -scores[at])[:5]
        found += any(sections[story][at]["section"] in question["sections"] for at in best)
    assert found / len(questions) >= 0.90
