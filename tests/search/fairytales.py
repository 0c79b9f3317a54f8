"""Stories with questions, and how often the section that answers is among the first five of its story."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

FIRST = 5


class Question(NamedTuple):
    """What is asked, and the sections of the story that hold the answer, counted from 0."""

    text: str
    answers: frozenset[int]


class Story(NamedTuple):
    """A story in sections, in order."""

    name: str
    sections: tuple[str, ...]
    questions: tuple[Question, ...]


def stories(material: Path) -> list[Story]:
    sections: defaultdict[str, dict[int, str]] = defaultdict(dict)
    asked: defaultdict[str, list[tuple[str, list[int]]]] = defaultdict(list)
    with gzip.open(material / "ir-fairytaleqa" / "val.jsonl.gz", "rt", encoding="utf-8") as lines:
        for entry in map(json.loads, lines):
            if entry["t"] == "section":
                sections[entry["story"]][entry["section"]] = entry["text"]
            else:
                asked[entry["story"]].append((entry["text"], entry["sections"]))
    return [_story(name, sections[name], asked[name]) for name in sections]


def _story(name: str, sections: Mapping[int, str], asked: Sequence[tuple[str, list[int]]]) -> Story:
    places = {number: at for at, number in enumerate(sections)}
    questions = tuple(Question(text, frozenset(places[number] for number in numbers)) for text, numbers in asked)
    return Story(name, tuple(sections.values()), questions)


def recall(chosen: Sequence[Story], searcher: Callable[[Story], Callable[[str], Sequence[int]]]) -> float:
    """The share of questions answered by one of the first five sections that `searcher(story)(question)` gives."""
    found = asked = 0
    for story in chosen:
        search = searcher(story)
        asked += len(story.questions)
        found += sum(not question.answers.isdisjoint(search(question.text)[:FIRST]) for question in story.questions)
    return found / asked
