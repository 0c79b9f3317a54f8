"""Changing a document: planned for the whole, made chunk by chunk, judged at the end. Gives edits and writes nothing.

A rename of the name itself is computed; subagents are asked for what only understanding can tell. Each sees one chunk,
the end of the one before it, and the plan, and answers with edits of its chunk. What comes of a chunk is compared with
what it was, word by word, so that only changed words become edits of the document.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from redraft.agent.long.analysis import BEFORE, line_of, place_of
from redraft.agent.long.checking import check
from redraft.agent.long.placing import change_of, faults_of_edits
from redraft.agent.long.planning import Doubt, Plan, described, planned
from redraft.agent.long.pronouns import only_gender
from redraft.agent.long.subagents import Question
from redraft.agent.long.tasks import CHANGE
from redraft.text.edits import Change, Edit
from redraft.text.words import word_edits
from redraft.tools.counting import name_pattern
from redraft.tools.renaming import MAX_FLAGS, flagged, is_form_of, rename_edits, rename_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from redraft.agent.long.chunking import Chunk
    from redraft.agent.long.crew import Asking
    from redraft.tools.long import Ask, Flag, Source, Wish
    from redraft.tools.renaming import Rename

MAX_QUESTIONS = 5
YES = frozenset({"y", "yes", "ja", "oui", "si", "ok", "true", "change it"})


@dataclass(slots=True)
class Work:
    """One transformation under way."""

    source: Source
    wish: Wish
    chunks: list[Chunk]
    crew: Asking
    room: int
    ask: Ask | None = None
    plan: Plan = field(default_factory=Plan)
    rename: Rename | None = None
    edits: list[Edit] = field(default_factory=list[Edit])
    doubts: list[Doubt] = field(default_factory=list[Doubt])
    refused: list[Doubt] = field(default_factory=list[Doubt])
    questions: int = 0

    @property
    def names(self) -> dict[str, str]:
        """What is replaced by computing: the person's name, and what the plan has for other forms of it. A plan is a
        model's word: whatever is no form of the name is not replaced throughout a document because of it."""
        if self.rename is None:
            return {}
        forms = self.plan.replacements.items()
        others = {old: new for old, new in forms if is_form_of(old, self.rename.old, self.source.text)}
        return {**others, self.rename.old: self.rename.new}


def transform(work: Work) -> tuple[tuple[Edit, ...], tuple[Flag, ...]]:
    """The edits of the whole document and the places to look at."""
    words = described(work.wish)
    if work.wish.kind == "character_rename":
        work.rename = rename_of(work.wish.names)
    concerned = _concerned(work)
    if len(work.chunks) > 1:
        work.plan, found = planned(work.source, words, concerned, work.crew, work.room)
        work.doubts += found
    _change_all(work, words, concerned)
    change = Change(tuple(work.edits))
    new = change.apply(work.source.text)
    flags = [*_doubtful(work, change, new), *check(work, words, change, new)]
    return change.edits, tuple(flags[: 2 * MAX_FLAGS])


def _concerned(work: Work) -> list[Chunk]:
    """The chunks that a subagent has to see: for a rename those with the name, and those right after one."""
    if work.rename is None:
        return work.chunks
    name = re.compile(f"{name_pattern(work.rename.old)}|{name_pattern(work.rename.old.upper())}")
    holds = [name.search(work.source.text, chunk.start, chunk.end) is not None for chunk in work.chunks]
    return [chunk for chunk in work.chunks if holds[chunk.index] or (chunk.index and holds[chunk.index - 1])]


def _change_all(work: Work, words: str, concerned: list[Chunk]) -> None:
    answers = work.crew.each(_questions(work, words, concerned), len(concerned))
    asked = {chunk.index for chunk in concerned}
    for chunk in work.chunks:
        passage = chunk.of(work.source.text)
        named = _named(work, passage)
        new = _answered(work, chunk, named, next(answers)) if chunk.index in asked else named
        work.edits += [edit.moved(chunk.start) for edit in word_edits(passage, new)]


def _named(work: Work, passage: str) -> str:
    return Change(rename_edits(passage, work.names)).apply(passage)


def _questions(work: Work, words: str, chunks: Iterable[Chunk]) -> Iterator[Question]:
    for chunk in chunks:
        before = work.source.text[max(0, chunk.start - BEFORE) : chunk.start]
        yield Question(
            "transformer",
            f"{CHANGE.instructions}\n\n{words}",
            CHANGE.schema,
            passage=_named(work, chunk.of(work.source.text)),
            known=work.plan.told(),
            before=_named(work, before),
            about=place_of(chunk, work.source.text),
            edits=True,
            room=work.room,
        )


def _answered(work: Work, chunk: Chunk, passage: str, answer: dict[str, Any]) -> str:
    """The passage with a subagent's edits, and with what the person agreed to."""
    edits: list[dict[str, Any]] = []
    for edit in answer["edits"]:
        if work.rename is None or only_gender(edit["old"], edit["new"]):
            edits.append(edit)
        else:
            work.refused.append(Doubt(chunk, edit["old"], "A rename would have changed more than names and pronouns."))
    for each in answer["doubts"]:
        if each["quote"].strip() and each["quote"] in passage and not _agreed(work, chunk, passage, each, edits):
            work.doubts.append(Doubt(chunk, each["quote"], each["why"], each["new"]))
    return change_of(passage, edits).apply(passage)


def _agreed(work: Work, chunk: Chunk, passage: str, doubt: dict[str, Any], edits: list[dict[str, Any]]) -> bool:
    """Whether the person, asked about a doubtful place, wants it changed; then it is among the edits."""
    edit = {"old": doubt["quote"], "new": doubt["new"]}
    if work.ask is None or not doubt["new"].strip() or work.questions >= MAX_QUESTIONS:
        return False
    if doubt["new"] == doubt["quote"] or faults_of_edits(passage, [*edits, edit]):
        return False
    work.questions += 1
    line = line_of(doubt["quote"], chunk, work.source.text)
    place = f" on line {line + 1}" if line is not None else f" in {place_of(chunk, work.source.text)}"
    answer = work.ask(f"“{doubt['quote']}”{place}: {doubt['why']} Change it to “{doubt['new']}”? (yes or no)")
    if answer is None or answer.strip().rstrip(".!").casefold() not in YES:
        return False
    edits.append(edit)
    return True


def _doubtful(work: Work, change: Change, new: str) -> Iterator[Flag]:
    """What subagents were in doubt about, where it stands in the new text."""
    for kind, doubts in (("ambiguous", work.doubts), ("refused", work.refused)):
        for doubt in doubts[:MAX_FLAGS]:
            start, end = change.map(doubt.chunk.start, after=False), change.map(doubt.chunk.end)
            at = new.find(doubt.quote, start, end)
            at = new.find(_named(work, doubt.quote), start, end) if at < 0 else at
            wanted = f" It might become “{doubt.new}”." if doubt.new else ""
            yield flagged(kind, new, max(at, start), f"{doubt.why}{wanted}")
