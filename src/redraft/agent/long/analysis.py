"""Analysing a document: every chunk by a subagent, their findings put together, whatever can be counted counted.

What an analyser says of a passage is kept only as far as the passage bears it out: a name has to stand in it, and so
has a quotation, from which its line follows. Names, mentions, first appearances and figures come from the text; only
summaries of several passages are made one by a model again, a few at a time, until one is left.
"""

from __future__ import annotations

from collections import Counter
from itertools import chain
from typing import TYPE_CHECKING, Any

from redraft.agent.long.cast import Cast
from redraft.agent.long.subagents import Question
from redraft.agent.long.tasks import ANALYSES, QUOTE, TOGETHER
from redraft.text.lines import count_breaks
from redraft.tools.counting import mentions_of, style_figures

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from redraft.agent.long.chunking import Chunk
    from redraft.agent.long.crew import Asking
    from redraft.tools.long import Source, Task

# So many summaries are made one at a time; with 120 words each they fill less than a chunk.
TOGETHER_COUNT = 12
# What a result may list; what is beyond is counted.
MAX_LISTED = 500
BEFORE = 400


def analyse(source: Source, task: Task, prompt: str, chunks: list[Chunk], crew: Asking, room: int) -> dict[str, Any]:
    """The details of the analysis, `summary` among them."""
    answers = crew.each(questions(source, task, prompt, chunks, room), len(chunks))
    found = zip(chunks, answers, strict=True)
    if task == "characters":
        return _characters(source, found)
    if task == "style":
        return _style(source, found)
    listed = Listed("findings" if task == "custom" else "events")
    summaries = _noting(source, found, listed)
    told = together(summaries, prompt if task == "custom" else "", crew, room)
    return {"summary": told} if task == "summary" else {"summary": told, **listed.as_dict()}


def questions(source: Source, task: Task, prompt: str, chunks: Iterable[Chunk], room: int) -> Iterator[Question]:
    """What each chunk's analyser is asked."""
    asked = ANALYSES[task]
    instructions = (
        f"{asked.instructions}\n\nThe person's question:\n{prompt}" if task == "custom" else asked.instructions
    )
    for chunk in chunks:
        yield Question(
            "analyser",
            instructions,
            asked.schema,
            passage=chunk.of(source.text),
            known=f"The passage stands under: {chunk.under}" if chunk.under else "",
            about=place_of(chunk, source.text),
            room=room,
        )


def place_of(chunk: Chunk, text: str) -> str:
    """A chunk as people are told of it, lines from 1."""
    last = chunk.line + count_breaks(chunk.of(text).rstrip())
    return f"lines {chunk.line + 1} to {last + 1}"


def line_of(quote: str, chunk: Chunk, text: str) -> int | None:
    """The line, from 0, on which a quotation begins; None where the chunk does not hold it."""
    at = text.find(quote, chunk.start, chunk.end) if quote.strip() else -1
    return None if at < 0 else chunk.line + count_breaks(text[chunk.start : at])


# The tasks


def _characters(source: Source, found: Iterable[tuple[Chunk, Any]]) -> dict[str, Any]:
    cast = Cast()
    for chunk, answer in found:
        cast.add(chunk.of(source.text), answer["characters"])
    people = cast.people()
    counted = mentions_of(source.text, [(person.name, *person.aliases) for person in people])
    listed: list[dict[str, Any]] = [
        {
            "name": person.name,
            "mentions": mentions.count,
            "first_appearance": mentions.first_line,
            "aliases": list(person.aliases),
            "role": person.role,
        }
        for person, mentions in zip(people, counted, strict=True)
        if mentions.count
    ]
    listed.sort(key=lambda each: (-each["mentions"], each["name"]))
    names = ", ".join(each["name"] for each in listed[:5])
    summary = f"Found {len(listed)} characters; most often mentioned: {names}." if listed else "Found no characters."
    return {"summary": summary, "characters": listed[:MAX_LISTED], "shared_names": cast.shared_names()}


def _style(source: Source, found: Iterable[tuple[Chunk, Any]]) -> dict[str, Any]:
    person, tense, tone = Counter[str](), Counter[str](), Counter[str]()
    listed = Listed("observations")
    for chunk, answer in found:
        size = chunk.end - chunk.start
        person[answer["person"]] += size
        tense[answer["tense"]] += size
        tone.update(word.casefold() for word in answer["tone"])
        for each in answer["observations"]:
            listed.add(source, chunk, each)
    figures = style_figures(source.text)
    told = (
        f"{figures['words']} words in {figures['sentences']} sentences, {figures['average_sentence_words']} words each"
    )
    narrated = f"told in the {_most(person)} person and {_most(tense)} tense" if person else "no prose"
    tones = [word for word, _ in tone.most_common(5)]
    return {
        "summary": f"{told}; {narrated}; tone: {', '.join(tones) or 'none'}.",
        "figures": figures,
        "person": _most(person),
        "tense": _most(tense),
        "tone": tones,
        **listed.as_dict(),
    }


def _most(counter: Counter[str]) -> str:
    return counter.most_common(1)[0][0] if counter else "none"


class Listed:
    """What analysers found and quoted, each with its line; what is not quoted from the passage is left out."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._entries: list[dict[str, Any]] = []
        self._more = 0
        self._unfounded = 0

    def add(self, source: Source, chunk: Chunk, entry: dict[str, Any]) -> None:
        line = line_of(entry["quote"], chunk, source.text)
        if line is None:
            self._unfounded += 1
        elif len(self._entries) < MAX_LISTED:
            self._entries.append({**entry, "quote": entry["quote"][:QUOTE], "line": line})
        else:
            self._more += 1

    def as_dict(self) -> dict[str, Any]:
        return {self._name: self._entries, "left_out": self._more, "not_in_the_text": self._unfounded}


def _noting(source: Source, found: Iterable[tuple[Chunk, Any]], listed: Listed) -> Iterator[str]:
    """The summaries, one by one; whatever else the answers hold is listed in passing."""
    for chunk, answer in found:
        for entry in answer.get("events", answer.get("findings", ())):
            listed.add(source, chunk, entry)
        if answer["summary"].strip():
            yield answer["summary"]


def together(summaries: Iterator[str], wish: str, crew: Asking, room: int) -> str:
    """One summary of many. Each round begins while the one before it still goes on, so none is ever held whole."""
    first = next(summaries, None)
    second = next(summaries, None)
    if first is None or second is None:
        return first or ""
    groups = _grouped(chain((first, second), summaries))
    instructions = (
        f"{TOGETHER.instructions}\n\nIt answers the person's question:\n{wish}" if wish else TOGETHER.instructions
    )
    asked = (
        Question("aggregator", instructions, TOGETHER.schema, known="\n\n".join(group), room=room) for group in groups
    )
    return together((answer["summary"] for answer in crew.each(asked, 0)), wish, crew, room)


def _grouped(summaries: Iterator[str]) -> Iterator[list[str]]:
    group: list[str] = []
    for summary in summaries:
        group.append(summary)
        if len(group) == TOGETHER_COUNT:
            yield group
            group = []
    if group:
        yield group
