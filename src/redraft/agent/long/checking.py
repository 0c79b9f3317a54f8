"""Whether a changed document still agrees with itself: doubtful places are flagged for a person, never corrected.

What can be computed is computed over the whole text: leftovers of old names, names that now mean two, pronouns that do
not fit. Contradictions are looked for by a subagent, which sees the changed places of many chunks side by side; what it
does not quote from them does not count.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from redraft.agent.long.subagents import Question
from redraft.agent.long.tasks import CHECK
from redraft.formats.outline import outline
from redraft.tools.counting import name_pattern
from redraft.tools.long import Flag
from redraft.tools.renaming import MAX_FLAGS, flagged, leftovers, rename_flags

if TYPE_CHECKING:
    from collections.abc import Iterator

    from redraft.agent.long.transforming import Work
    from redraft.text.edits import Change

# A changed place is shown with so many characters around it, and so many together to one checker.
AROUND = 160
TOGETHER = 12_000


def check(work: Work, words: str, change: Change, new: str) -> list[Flag]:
    """The flags of a change, at most `MAX_FLAGS` of each kind of checking."""
    computed = [*_syntax(work, new), *_computed(work, new)]
    if len(work.chunks) < 2 or change.is_empty:
        return computed
    return [*computed, *_read(work, words, change, new)]


def _syntax(work: Work, new: str) -> list[Flag]:
    """A data file that could be read before and cannot be now."""
    if work.source.format not in ("json", "yaml"):
        return []
    before, after = (outline(text, work.source.format).error for text in (work.source.text, new))
    return [Flag("syntax", after.line, "", after.message)] if after is not None and before is None else []


def _computed(work: Work, new: str) -> list[Flag]:
    if work.rename is not None:
        return [*_other_forms(work, new), *rename_flags(work.source.text, new, work.rename)][:MAX_FLAGS]
    wanted = dict(work.plan.replacements)
    if work.wish.kind == "setting_change":
        wanted[str(work.wish.names["old_setting"])] = str(work.wish.names["new_setting"])
    return [flag for old, to in wanted.items() for flag in leftovers(new, old, to)][:MAX_FLAGS]


def _other_forms(work: Work, new: str) -> Iterator[Flag]:
    """What was renamed because the plan took it for a form of the name: it may be somebody else's."""
    for old, to in work.names.items():
        if work.rename is not None and old != work.rename.old and (found := re.search(name_pattern(to), new)):
            yield flagged("other_form", new, found.start(), f"“{old}” was taken for {work.rename.old}: now “{to}”.")


def _read(work: Work, words: str, change: Change, new: str) -> list[Flag]:
    passages = _passages(change, new)
    questions = (
        Question(
            "checker",
            f"{CHECK.instructions}\n\n{words}",
            CHECK.schema,
            passage="\n...\n".join(new[start:end] for start, end in places),
            known=work.plan.told(),
            room=work.room,
        )
        for places in passages
    )
    flags: list[Flag] = []
    for places, answer in zip(passages, work.crew.each(questions, len(passages)), strict=True):
        for issue in answer["issues"]:
            at = _found(issue["quote"], places, new)
            if at is not None and len(flags) < MAX_FLAGS:
                flags.append(flagged("contradiction", new, at, issue["problem"]))
    return flags


def _passages(change: Change, new: str) -> list[list[tuple[int, int]]]:
    """The changed places of the new text with what is around them, as offsets, so many to a checker."""
    packs: list[list[tuple[int, int]]] = [[]]
    size = 0
    for start, end in changed_places(change, len(new)):
        if size and size + end - start > TOGETHER:
            packs.append([])
            size = 0
        packs[-1].append((start, end))
        size += end - start
    return [pack for pack in packs if pack]


def changed_places(change: Change, length: int) -> list[tuple[int, int]]:
    """Where the new text differs, with what is around it, neighbours together; none is longer than a checker takes."""
    found: list[tuple[int, int]] = []
    growth = 0
    for edit in change.edits:
        start = edit.at + growth
        end = start + min(len(edit.new), TOGETHER // 2)
        growth += edit.growth
        start, end = max(0, start - AROUND), min(length, end + AROUND)
        if found and start <= found[-1][1] and end - found[-1][0] <= TOGETHER:
            start = found.pop()[0]
        found.append((start, end))
    return found


def _found(quote: str, places: list[tuple[int, int]], new: str) -> int | None:
    if not quote.strip():
        return None
    return next((at for start, end in places if (at := new.find(quote, start, end)) >= 0), None)
