"""What people write and what is understood: sixty ways to ask for each thing, and fifteen that were never tuned on."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redraft.agent.offline.grammar import parse_number, parse_pattern
from redraft.agent.offline.provider import INTENTS
from redraft.agent.offline.request_parser import is_greeting, nearest_examples, parse_request
from redraft.agent.offline.tokens import edit_distance, likeness, tokenize

if TYPE_CHECKING:
    from collections.abc import Iterator

# Slots in the person's own words; all others are constants of the patterns.
OWN_WORDS = {"query", "doc", "old", "new", "heading", "title", "text", "item", "folder", "template", "to", "n"}
# What slots hold that name no document in particular, or that a pattern adds.
UNSAID = ("it", "this", "here", "todo", "todo-list")
# Measured once, when the phrases had been written and before anything was changed because of them.
HELD_OUT_AT_LEAST = 0.75


class Phrase(NamedTuple):
    """Something a person may write, the intent and the slots that it means."""

    intent: str
    words: str
    slots: dict[str, str]


def phrases(name: str) -> Iterator[Phrase]:
    intent = ""
    for line in (Path(__file__).parent / name).read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            intent = line.strip("[]")
        elif line and not line.startswith("#"):
            words, _, slots = line.partition(" |")
            pairs = (pair.strip().partition("=") for pair in slots.split("; ") if pair.strip())
            yield Phrase(intent, words, {name: value for name, _, value in pairs})


TUNED = list(phrases("phrases.txt"))
HELD_OUT = list(phrases("held_out.txt"))


def read(words: str) -> tuple[str, dict[str, str]]:
    """The intent and the slots of a request; "this document" is the same as naming none."""
    found = parse_request(words, INTENTS)
    if found is None:
        return "", {}
    return found.intent.name, one_name({name: value for name, value in found.slots.values.items() if value})


def one_name(slots: dict[str, str]) -> dict[str, str]:
    """A document may be meant by a path or by words: two slots of the grammar, one thing."""
    return {("doc" if name == "file" else name): value for name, value in slots.items()}


def is_understood(phrase: Phrase) -> bool:
    intent, slots = read(phrase.words)
    own = {name for name in slots if name in OWN_WORDS and slots[name] not in UNSAID}
    wanted = one_name(phrase.slots)
    return intent == phrase.intent and own <= set(wanted) and wanted.items() <= slots.items()


@pytest.mark.slow
@pytest.mark.parametrize("intent", [intent.name for intent in INTENTS])
def test_every_phrase_of_an_intent_is_understood_with_its_slots(intent: str):
    missed = {each.words: read(each.words) for each in TUNED if each.intent == intent and not is_understood(each)}
    assert missed == {}


def test_there_are_sixty_phrasings_of_every_intent_and_fifteen_held_out():
    names = [intent.name for intent in INTENTS]
    assert Counter(phrase.intent for phrase in TUNED) == dict.fromkeys(names, 60)
    assert Counter(phrase.intent for phrase in HELD_OUT) == dict.fromkeys(names, 15)
    assert len({phrase.words.casefold() for phrase in TUNED + HELD_OUT}) == 75 * len(names)


@pytest.mark.slow
def test_most_phrases_that_were_never_tuned_on_are_understood():
    missed = [phrase.words for phrase in HELD_OUT if not is_understood(phrase)]
    assert 1 - len(missed) / len(HELD_OUT) >= HELD_OUT_AT_LEAST, missed


@pytest.mark.parametrize("intent", INTENTS, ids=lambda intent: intent.name)
def test_every_example_that_is_shown_is_understood(intent: object):
    found = next(each for each in INTENTS if each is intent)
    assert [read(example)[0] for example in found.examples] == [found.name] * len(found.examples)


@pytest.mark.parametrize(
    "words",
    [
        "Please rename Ines to Marta",
        "could you rename Ines to Marta?",
        "RENAME Ines TO Marta",
        "Hi, would you please rename Ines to Marta, thanks!",
        "rename “Ines” to “Marta”",
        "rename 'Ines' to `Marta`",
        "I'd like you to rename Ines to Marta",
        "renmae Ines to Marta please",
        "rename the name Ines to Marta .",
    ],
)
def test_politeness_quotes_capitals_and_slips_change_nothing(words: str):
    assert read(words) == ("rename", {"old": "Ines", "new": "Marta"})


@pytest.mark.parametrize(
    "words",
    [
        "paint me a horse",
        "what is the weather tomorrow",
        "asdf",
        "translate chapter 1 into French",
        "why?",
        "2 + 2",
        "…",
    ],
)
def test_what_was_not_meant_for_it_is_not_understood(words: str):
    assert read(words) == ("", {})


@pytest.mark.parametrize(
    "words",
    [
        "don't delete todo.md",
        "do not rename Ines to Marta",
        "should I delete todo.md?",
        "did you rename Ines to Marta?",
        "can I delete todo.md?",
        "please never delete the meeting notes",
        "how would I undo that?",
        "why did you move todo.md to story",
        "what if I rename Ines to Marta",
        "Ines should be braver",
        "oops",
        "that was a mistake",
        "rename todo list",
    ],
)
def test_a_question_about_an_act_or_a_no_to_it_is_no_order(words: str):
    assert read(words)[0] not in ("delete", "rename", "undo", "move")


def test_only_what_changes_nothing_is_guessed_from_keywords():
    harmless = {"search", "summary", "people", "style", "changes", "list", "help"}
    assert {intent.name for intent in INTENTS if intent.keywords} <= harmless


@pytest.mark.parametrize("words", ["hello", "Hi there!", "thanks", "ok", "Good morning", ""])
def test_a_greeting_asks_for_nothing(words: str):
    assert is_greeting(words)
    assert read(words)[0] == ""


def test_the_nearest_examples_are_of_three_intents():
    found = nearest_examples("I want a tabel of the contentss somehow", INTENTS)
    assert len(found) == 3
    assert "table of contents" in found[0]


@given(st.text(max_size=300))
def test_no_request_breaks_the_grammar(words: str):
    found = parse_request(words, INTENTS)
    slots: dict[str, str] = {} if found is None else found.slots.values
    for name, value in slots.items():
        assert name == "n" or name not in OWN_WORDS or value in words or value in ("todo", "this", "/", "todo-list")


@given(st.text(alphabet="ab 'x\"“”`.,", max_size=60))
def test_tokens_stand_where_they_say(words: str):
    at = 0
    for token in tokenize(words):
        assert at <= token.start < token.end <= len(words)
        assert token.text in words[token.start : token.end]
        at = token.end


def distance(one: str, other: str) -> int:
    """The naive twin of `slips`: every way to make one word of the other, over whole tables."""
    rows = [[i + j if not i * j else 0 for j in range(len(other) + 1)] for i in range(len(one) + 1)]
    for i in range(1, len(one) + 1):
        for j in range(1, len(other) + 1):
            ways = [rows[i - 1][j] + 1, rows[i][j - 1] + 1, rows[i - 1][j - 1] + (one[i - 1] != other[j - 1])]
            if i > 1 and j > 1 and one[i - 1] == other[j - 2] and one[i - 2] == other[j - 1]:
                ways.append(rows[i - 2][j - 2] + 1)
            rows[i][j] = min(ways)
    return rows[-1][-1]


@given(st.text(alphabet="abc", max_size=7), st.text(alphabet="abc", max_size=7), st.integers(0, 3))
def test_slips_are_counted_as_the_naive_twin_counts_them(one: str, other: str, most: int):
    found, true = edit_distance(one, other, most), distance(one, other)
    assert found == true if true <= most else found > most


def test_short_words_have_to_be_written_as_they_are():
    assert likeness("to", "in") == likeness("od", "do") == likeness("fro", "for") == 0


@pytest.mark.parametrize(
    ("words", "count"), [("12", 12), ("#4", 4), ("three", 3), ("30%", 30), ("2nd", 2), ("many", None)]
)
def test_numbers_are_read_in_digits_and_words(words: str, count: int | None):
    assert parse_number(words) == count


@pytest.mark.parametrize("pattern", ["(a", "a)", "[a|b", "(a]", "a | b"])
def test_a_pattern_that_is_none_is_refused(pattern: str):
    with pytest.raises(ValueError, match=r"no pattern|bracket"):
        parse_pattern(pattern)


def test_a_long_text_in_a_request_costs_no_more_than_a_short_one():
    words = "word " * 20_000
    assert read(f"append {words.strip()} to this document")[0] in ("add", "")
    assert read(f'Append "{words.strip()}" to meeting.md') == (
        "add",
        {"text": words.strip(), "doc": "meeting.md", "at": "end"},
    )
