"""Ranking by words: the laws of the score, and how well it finds answers in real stories."""

from __future__ import annotations

import gzip
import json
import math
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redraft.search.passages.hybrid import LENGTH_WEIGHT, SATURATION, Bm25Index, rank
from redraft.search.stems import stem, terms

if TYPE_CHECKING:
    from pathlib import Path

PASSAGES = st.lists(st.text(alphabet="abcd ", max_size=20), min_size=1, max_size=6)


def naive_score(query: str, at: int, passages: list[str], carry: float = 0.0) -> float:
    """BM25 written down as in the books; what the passage before holds counts too, for a part."""

    def often(term: str, place: int) -> float:
        mean = sum(len(list(terms(other))) for other in passages) / len(passages)
        own = list(terms(passages[place]))
        share = len(own) / mean if mean else 0.0
        return own.count(term) / (1 - LENGTH_WEIGHT + LENGTH_WEIGHT * share)

    score = 0.0
    for term in set(terms(query)):
        holding = sum(term in set(terms(other)) for other in passages)
        idf = math.log(1 + (len(passages) - holding + 0.5) / (holding + 0.5))
        count = often(term, at) + (carry * often(term, at - 1) if at else 0.0)
        score += idf * count * (SATURATION + 1) / (count + SATURATION)
    return score


@given(st.text(alphabet="abcd ", max_size=10), PASSAGES)
def test_the_score_is_bm25(query: str, passages: list[str]):
    assert rank(query, passages) == pytest.approx([naive_score(query, at, passages) for at in range(len(passages))])


@given(st.text(alphabet="abcd ", max_size=10), PASSAGES, st.floats(0.1, 1.0))
def test_a_share_is_carried_over_from_the_passage_before(query: str, passages: list[str], carry: float):
    expected = [naive_score(query, at, passages, carry) for at in range(len(passages))]
    assert Bm25Index(passages, carry=carry).scores(query) == pytest.approx(expected)


def test_a_name_from_the_passage_before_tells_two_passages_apart():
    told = ["Alice came to the mill.", "She sang.", "Robert came to the inn.", "He sang."]
    scores = Bm25Index(told, carry=0.3).scores("Where did Robert sing?")
    assert scores[3] > scores[1] > 0


@pytest.mark.parametrize(
    "family",
    [
        ("run", "runs", "running"),
        ("story", "stories"),
        ("box", "boxes"),
        ("hope", "hoped", "hoping"),
        ("quick", "quickly", "quickest"),
        ("walk", "walked", "walking", "walks", "walker"),
        ("go", "went", "gone", "going"),
        ("wolf", "wolves"),
    ],
)
def test_relatives_have_one_stem(family: tuple[str, ...]):
    assert len(set(map(stem, family))) == 1


@pytest.mark.parametrize(("one", "other"), [("king", "kin"), ("bed", "b"), ("glass", "glas"), ("thing", "the")])
def test_short_words_keep_their_endings(one: str, other: str):
    assert stem(one) != stem(other)


def test_what_is_written_without_spaces_is_taken_in_pairs():
    assert rank("東京に行く", ["昨日東京に行きました。", "大阪は雨でした。"])[1] == 0
    assert rank("東京に行く", ["昨日東京に行きました。", "大阪は雨でした。"])[0] > 0


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
    rankings = {story: Bm25Index([entry["text"] for entry in entries]) for story, entries in sections.items()}
    found = 0
    for question in questions:
        story = question["story"]
        scores = rankings[story].scores(question["text"])
        best = sorted(range(len(scores)), key=lambda at: -scores[at])[:5]
        found += any(sections[story][at]["section"] in question["sections"] for at in best)
    assert found / len(questions) >= 0.90
