"""What is suggested in one new text can be decided suggestion by suggestion; what depends on each other, only whole."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from redraft.review.operations import accept, apply_agent_turn, reject
from redraft.review.review import Review

if TYPE_CHECKING:
    from collections.abc import Iterator

# No word occurs twice, so that nothing but a move makes one of them stand twice. Some begin or end alike.
VOCABULARY = """
    sailor solution satchel lantern ladder letter house harbour habit river rain road 5.00 1.2.3 2024-01-05
    sees saves seeks lifts likes leaves hides holds has rows raises reads costs counts cuts a of in to
    slowly safely soon lightly loudly late here highly happily rarely rightly readily today twice thus
"""
REPLACEMENTS = """
    zebu 7.50 wombat 3.1.4 quokka yak-like okapi gnu_id xerus narwhal vicuna 2025-11-30 jerboa ibex ocelot
"""


def spell(words: list[str]) -> str:
    return " ".join(words) + "."


@st.composite
def sentence_lists(draw: st.DrawFn) -> list[list[str]]:
    words = draw(st.permutations(VOCABULARY.split()))
    return [[f"Case{index}", *words[8 * index : 8 * index + 8]] for index in range(draw(st.integers(3, 5)))]


def decide(old: str, new: str) -> Iterator[str]:
    """Every text that deciding the hunks of a rewriting can lead to."""
    review = apply_agent_turn(Review.of(old), old, new, "turn")
    ids = [hunk.id for hunk in review.hunks]
    assert len(ids) < 10
    for verdicts in itertools.product((False, True), repeat=len(ids)):
        chosen = [name for name, verdict in zip(ids, verdicts, strict=True) if verdict]
        yield reject(accept(review, chosen), set(ids) - set(chosen)).working


def combine(pieces: list[str | tuple[str, str]]) -> set[str]:
    """Every text that deciding the suggestions can lead to."""
    sides = [(piece,) if isinstance(piece, str) else piece for piece in pieces]
    return {"".join(each) for each in itertools.product(*sides)}


@given(sentence_lists(), st.lists(st.tuples(st.integers(0, 2), st.sampled_from([1, 3, 5, 7])), max_size=6, unique=True))
def test_suggestions_with_a_word_between_them_are_decided_one_by_one(
    sentences: list[list[str]], places: list[tuple[int, int]]
) -> None:
    fresh = iter(REPLACEMENTS.split())
    pieces: list[str | tuple[str, str]] = []
    for index, words in enumerate(sentences):
        for place, word in enumerate(words):
            pieces.append((word, next(fresh)) if (index, place) in places else word)
            pieces.append(" " if place < len(words) - 1 else ". ")
    old, new = ("".join(piece if isinstance(piece, str) else piece[side] for piece in pieces) for side in (0, 1))
    assert set(decide(old, new)) == combine(pieces)


@given(sentence_lists(), st.integers(1, 5), st.integers(1, 2), st.integers(1, 3), st.booleans())
def test_a_word_or_two_that_move_within_a_sentence_never_stand_twice(
    sentences: list[list[str]], at: int, length: int, over: int, back: bool
) -> None:
    words = sentences[1]
    middle, end = at + length, min(at + length + over, len(words))
    moved = [*words[:at], *words[middle:end], *words[at:middle], *words[end:]]
    before, behind = sentences[0], sentences[2]
    old, new = [words, moved] if not back else [moved, words]
    texts = [" ".join(map(spell, (before, each, behind))) for each in (old, new)]
    assert set(decide(*texts)) == set(texts)
    # A word replaced in each of the other sentences is decided by itself.
    changed = [[*each[:3], name, *each[4:]] for each, name in ((before, "zebu"), (behind, "wombat"))]
    assert len(set(decide(texts[0], " ".join(map(spell, (changed[0], new, changed[1])))))) == 8


@given(sentence_lists(), st.integers(0, 1), st.integers(1, 2), st.sampled_from([" ", "\n", "\n- "]), st.booleans())
def test_sentences_and_lines_that_change_places_never_stand_twice(
    sentences: list[list[str]], first: int, distance: int, between: str, short: bool
) -> None:
    lines = [spell(words[:2] if short else words) for words in sentences]
    second = min(first + distance, len(lines) - 1)
    swapped = list(lines)
    swapped[first], swapped[second] = swapped[second], swapped[first]
    old, new = between.join(lines), between.join(swapped)
    for text in decide(old, new):
        assert Counter(re.findall(r"[\w.-]+", text)) == Counter(re.findall(r"[\w.-]+", old)), text
