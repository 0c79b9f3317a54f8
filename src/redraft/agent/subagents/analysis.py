"""Analyse a document: a subagent reads every chunk, their findings are merged, and whatever can be counted is counted.

A finding counts only if the passage supports it: a name has to occur in it, and so has a quotation, which also gives
its line. Names, mentions, first appearances and figures come from the text. Only summaries of several passages go back
to a model, a few at a time, until one is left.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

from redraft.agent.subagents.question import SubagentQuestion
from redraft.agent.subagents.task_prompts import ANALYSES, QUOTE, TOGETHER
from redraft.text.lines import count_breaks
from redraft.tools.long_documents.prose_stats import mentions_of, name_pattern, style_figures, word_set

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from redraft.agent.subagents.chunks import DocumentChunk
    from redraft.agent.subagents.pool import AnswerSource
    from redraft.tools.long_documents.worker import Source, Task

# The people that many subagents named, each in their own passage, merged into one list.
#
# Two entries are one person if they share a full name, or if one's name is the other's alias. A name that two different
# people could share proves nothing: it joins nobody, and is reported. Only names that occur in the passage they were
# found in count. Pure.


MAX_PEOPLE = 2000
# Generic words: an alias made of them does not tell people apart.
_NOT_NAMES = word_set("he she they it him her them his hers their i me we us you mr mrs ms miss sir")


@dataclass(frozen=True, slots=True)
class Character:
    """A person in the story."""

    name: str
    aliases: tuple[str, ...]
    role: str


class CharacterList:
    """The people, collected passage by passage."""

    def __init__(self) -> None:
        self._roles: dict[str, str] = {}
        self._seen: Counter[str] = Counter()
        self._aliases: defaultdict[str, set[str]] = defaultdict(set)

    def add(self, passage: str, found: Iterable[dict[str, Any]]) -> None:
        """Add a subagent's findings, as far as the passage contains them."""
        for entry in found:
            name = _verify_name(entry["name"], passage)
            if not name or (name not in self._seen and len(self._seen) >= MAX_PEOPLE):
                continue
            self._seen[name] += 1
            if len(entry["role"]) > len(self._roles.get(name, "")):
                self._roles[name] = entry["role"]
            aliases = (_verify_name(alias, passage) for alias in entry["aliases"])
            self._aliases[name].update(alias for alias in aliases if alias and alias != name)

    def list_shared_names(self) -> list[dict[str, Any]]:
        """The names that several people share."""
        return [{"name": name, "people": sorted(owners)} for name, owners in self._owners() if len(owners) > 1]

    def _owners(self) -> list[tuple[str, set[str]]]:
        """Every alias and its owners, by the names that are not an alias of somebody else."""
        owners: defaultdict[str, set[str]] = defaultdict(set)
        for name, aliases in self._aliases.items():
            for alias in aliases:
                owners[alias].add(name)
        # "John Smith alias John" and "John alias John Smith" say the same thing twice.
        for alias in list(owners):
            owners[alias] = {name for name in owners[alias] if not self._is_same(name, owners[alias] - {name})}
        return sorted(owners.items())

    def _is_same(self, name: str, others: set[str]) -> bool:
        """Whether a name is the short form of one of the others."""
        return any(name in self._aliases[other] and len(name) < len(other) for other in others)

    def characters(self) -> list[Character]:
        """The people, by the names under which they were found most often; a shared name joins nobody."""
        leads = {name: name for name in self._seen}
        for alias, owners in self._owners():
            if len(owners) == 1 and alias in leads:
                self._join(leads, alias, next(iter(owners)))
        shared = {entry["name"] for entry in self.list_shared_names()}
        groups: defaultdict[str, list[str]] = defaultdict(list)
        for name in leads:
            groups[_lead(leads, name)].append(name)
        return [self._character(names, shared) for names in groups.values()]

    def _join(self, leads: dict[str, str], one: str, other: str) -> None:
        first, second = _lead(leads, one), _lead(leads, other)
        if first != second:
            # The fuller name becomes the person's name.
            short, full = sorted((first, second), key=lambda name: (len(name), name))
            leads[short] = full

    def _character(self, names: list[str], shared: set[str]) -> Character:
        name = max(names, key=lambda each: (len(each), self._seen[each], each))
        others = {alias for each in names for alias in self._aliases[each]} | set(names)
        aliases = sorted(others - {name} - (shared - set(names)))
        return Character(name, tuple(aliases), max((self._roles.get(each, "") for each in names), key=len))


def _lead(leads: dict[str, str], name: str) -> str:
    while leads[name] != name:
        name = leads[name]
    return name


def _verify_name(name: str, passage: str) -> str:
    """The name, trimmed, if the passage contains it as whole words; else empty."""
    tidy = " ".join(name.split())
    if not tidy or tidy.casefold() in _NOT_NAMES or not re.search(name_pattern(tidy), passage):
        return ""
    return tidy


# How many summaries are merged at a time; at 120 words each they fill less than a chunk.
TOGETHER_COUNT = 12
# The most that a result lists; the rest is only counted.
MAX_LISTED = 500
BEFORE = 400


def analyse(
    source: Source, task: Task, prompt: str, chunks: list[DocumentChunk], pool: AnswerSource, max_tokens: int
) -> dict[str, Any]:
    """The details of the analysis, including its `summary`."""
    answers = pool.answer_all(questions(source, task, prompt, chunks, max_tokens), len(chunks))
    found = zip(chunks, answers, strict=True)
    if task == "characters":
        return _characters(source, found)
    if task == "style":
        return _style(source, found)
    listed = QuotedFindings("findings" if task == "custom" else "events")
    summaries = _summaries(source, found, listed)
    summary = merge_summaries(summaries, prompt if task == "custom" else "", pool, max_tokens)
    return {"summary": summary} if task == "summary" else {"summary": summary, **listed.as_dict()}


def questions(
    source: Source, task: Task, prompt: str, chunks: Iterable[DocumentChunk], max_tokens: int
) -> Iterator[SubagentQuestion]:
    """The question about each chunk."""
    asked = ANALYSES[task]
    instructions = (
        f"{asked.instructions}\n\nThe person's question:\n{prompt}" if task == "custom" else asked.instructions
    )
    for chunk in chunks:
        yield SubagentQuestion(
            "analyser",
            instructions,
            asked.schema,
            passage=chunk.of(source.text),
            known=f"The passage stands under: {chunk.under}" if chunk.under else "",
            about=place_of(chunk, source.text),
            room=max_tokens,
        )


def place_of(chunk: DocumentChunk, text: str) -> str:
    """A chunk's place as people read it, lines from 1."""
    last = chunk.line + count_breaks(chunk.of(text).rstrip())
    return f"lines {chunk.line + 1} to {last + 1}"


def line_of(quote: str, chunk: DocumentChunk, text: str) -> int | None:
    """The line, from 0, on which a quotation begins; None if the chunk does not contain it."""
    at = text.find(quote, chunk.start, chunk.end) if quote.strip() else -1
    return None if at < 0 else chunk.line + count_breaks(text[chunk.start : at])


# The tasks


def _characters(source: Source, found: Iterable[tuple[DocumentChunk, Any]]) -> dict[str, Any]:
    cast = CharacterList()
    for chunk, answer in found:
        cast.add(chunk.of(source.text), answer["characters"])
    people = cast.characters()
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
    return {"summary": summary, "characters": listed[:MAX_LISTED], "shared_names": cast.list_shared_names()}


def _style(source: Source, found: Iterable[tuple[DocumentChunk, Any]]) -> dict[str, Any]:
    person, tense, tone = Counter[str](), Counter[str](), Counter[str]()
    listed = QuotedFindings("observations")
    for chunk, answer in found:
        size = chunk.end - chunk.start
        person[answer["person"]] += size
        tense[answer["tense"]] += size
        tone.update(word.casefold() for word in answer["tone"])
        for each in answer["observations"]:
            listed.add(source, chunk, each)
    figures = style_figures(source.text)
    counts = (
        f"{figures['words']} words in {figures['sentences']} sentences, {figures['average_sentence_words']} words each"
    )
    narrated = f"told in the {_most_common(person)} person and {_most_common(tense)} tense" if person else "no prose"
    tones = [word for word, _ in tone.most_common(5)]
    return {
        "summary": f"{counts}; {narrated}; tone: {', '.join(tones) or 'none'}.",
        "figures": figures,
        "person": _most_common(person),
        "tense": _most_common(tense),
        "tone": tones,
        **listed.as_dict(),
    }


def _most_common(counter: Counter[str]) -> str:
    return counter.most_common(1)[0][0] if counter else "none"


class QuotedFindings:
    """Findings with a quotation, each with its line; those that do not quote the passage are dropped."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._entries: list[dict[str, Any]] = []
        self._more = 0
        self._unfounded = 0

    def add(self, source: Source, chunk: DocumentChunk, entry: dict[str, Any]) -> None:
        line = line_of(entry["quote"], chunk, source.text)
        if line is None:
            self._unfounded += 1
        elif len(self._entries) < MAX_LISTED:
            self._entries.append({**entry, "quote": entry["quote"][:QUOTE], "line": line})
        else:
            self._more += 1

    def as_dict(self) -> dict[str, Any]:
        return {self._name: self._entries, "left_out": self._more, "not_in_the_text": self._unfounded}


def _summaries(source: Source, found: Iterable[tuple[DocumentChunk, Any]], listed: QuotedFindings) -> Iterator[str]:
    """The summaries, one by one; other findings of the answers are added to `listed` on the way."""
    for chunk, answer in found:
        for entry in answer.get("events", answer.get("findings", ())):
            listed.add(source, chunk, entry)
        if answer["summary"].strip():
            yield answer["summary"]


def merge_summaries(summaries: Iterator[str], question: str, pool: AnswerSource, max_tokens: int) -> str:
    """Merge many summaries into one. Rounds overlap, so that no round is ever in memory as a whole."""
    first = next(summaries, None)
    second = next(summaries, None)
    if first is None or second is None:
        return first or ""
    groups = _group(chain((first, second), summaries))
    instructions = (
        f"{TOGETHER.instructions}\n\nIt answers the person's question:\n{question}"
        if question
        else TOGETHER.instructions
    )
    asked = (
        SubagentQuestion("aggregator", instructions, TOGETHER.schema, known="\n\n".join(group), room=max_tokens)
        for group in groups
    )
    return merge_summaries((answer["summary"] for answer in pool.answer_all(asked, 0)), question, pool, max_tokens)


def _group(summaries: Iterator[str]) -> Iterator[list[str]]:
    group: list[str] = []
    for summary in summaries:
        group.append(summary)
        if len(group) == TOGETHER_COUNT:
            yield group
            group = []
    if group:
        yield group
