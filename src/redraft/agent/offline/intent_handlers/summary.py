"""An extractive summary: the most informative sentences, quoted verbatim, in order, with their lines.

Nothing is rephrased. A sentence scores by the words that it shares with the rest of the text, plus a little for coming
early; it scores less if it repeats sentences that are already chosen.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from redraft.agent.offline.documents import (
    HeadingRange,
    describe_unread,
    find_document,
    headings_like,
    read_all,
    read_one,
    resolve_paths,
)
from redraft.agent.offline.intents import Intent, ScriptEnd, parse_patterns
from redraft.agent.offline.prose import all_sentences
from redraft.agent.offline.tokens import word_list
from redraft.formats.markdown_headings import headings
from redraft.search.stems import terms
from redraft.text.lines import split_lines

if TYPE_CHECKING:
    from redraft.agent.offline.documents import ReadLines
    from redraft.agent.offline.intents import Script, ScriptContext, SlotValues
    from redraft.agent.offline.prose import Sentence

USUAL, SHORTEST, OF_EACH = 5, 6, 2
MAX_DOCUMENTS = 10

_SUM = "(summarise|reduce|summarize|sum up|condense|recap|shorten|abridge|boil down|digest|outline points of)"
_NOUN = "(summary|synopsis|abstract|recap|digest|overview|gist|main points|key points|essence|tl;dr|tldr|short version)"
_LONG = (
    "[(in|to|into|with|using|as|at|by|of) [(about|around|roughly|at most|only|maximum)] <n> (sentence|line|"
    "point|bullet|bullets)]"
)
_SHARE = "(to|at|in|into|down to) [(about|around|roughly)] <n> [(%|percent|per cent)] [(of its length|of it|of text)]"

PATTERNS = parse_patterns(f"""
{_SUM} [(section|chapter heading|part)] <heading> section [(in|of|from) <doc>] {_LONG} => part=section
{_SUM} section <heading> [(in|of|from) <doc>] {_LONG} => part=section
{_SUM} [<doc>] {_LONG}
{_SUM} [<doc>] {_SHARE} => unit=percent
(give|write|make|show|create|get|tell|provide|produce|want|need) [<n>] [short] [brief] [quick] [sentence] {_NOUN} \
 [(of|for|about|from|on) <doc>] {_LONG}
(give|write|make|show|get) [<n>] (sentence|line|point|bullet) {_NOUN} [(of|for|about|from) <doc>]
(give|write|make|show) [short] [brief] {_NOUN} of section <heading> [(in|of|from) <doc>] {_LONG} => part=section
(give|write|make|show) [short] [brief] {_NOUN} of <heading> section [(in|of|from) <doc>] {_LONG} => part=section
[short] [brief] [quick] {_NOUN} [(of|for|about) <doc>] {_LONG} [please]
what (is|are) [(main|key)] {_NOUN} [(of|in|from) <doc>]
what is <doc> (about|saying)
what <doc> (is|says|was) about
{_SUM} [<doc>] down {_LONG}
(boil|cut|bring|break) <doc> down {_LONG}
{_NOUN} of section <heading> [(in|of|from) <doc>] {_LONG} => part=section
[<n>] (sentence|line|point) {_NOUN} [(of|for|about|from) <doc>]
what does <doc> say [in short] [in brief]
what happens in <doc>
<doc> in [(about|just|only)] <n> (sentences|lines|points)
{_SUM} <doc> [please] , <n> (sentences|lines|points)
what did (we|i|they) (discuss|talk about|decide|say) in <doc>
(sum|wrap|round) <doc> up {_LONG}
{_SUM} (part|section|chapter) <heading> (of|in|from) <doc> {_LONG} => part=section
(in short|in brief|in a nutshell|briefly) , what is <doc> about
(in short|in brief|briefly) [:] what (is|does|happens) [in] <doc> [(about|say)]
{_SUM} [<doc>] (briefly|shortly|for me|quickly)
tl;dr [(of|for)] [<doc>]
""")


def summarise(sentences: list[Sentence], count: int) -> list[Sentence]:
    """The most informative sentences, in the order of the text."""
    stems = [set(terms(each.text)) for each in sentences]
    weights = Counter(stem for each in stems for stem in each)
    chosen: list[int] = []
    covered: set[str] = set()
    while len(chosen) < min(count, len(sentences)):
        rest = (at for at in range(len(sentences)) if at not in chosen)
        best = max(rest, key=lambda at: (_worth(sentences[at], stems[at] - covered, weights, at), -at))
        chosen.append(best)
        covered |= stems[best]
    return [sentences[at] for at in sorted(chosen)]


def _worth(sentence: Sentence, new: set[str], weights: Counter[str], at: int) -> float:
    """What a sentence adds: the weight of its new words relative to its length; early sentences get a bonus."""
    length = len(sentence.words)
    if length < SHORTEST:
        return 0.0
    weight = sum(weights[stem] for stem in new if weights[stem] > 1) + 0.1 * len(new)
    return weight / (length + 8) ** 0.6 * (1.4 if at == 0 else 1.15 if at < 3 else 1.0)


def script(slots: SlotValues, context: ScriptContext) -> Script:
    if slots["part"] == "section":
        path = yield from find_document(slots["doc"], context)
        reading = yield from read_one(path, context)
        return _summarise_section(reading, slots)
    paths = yield from resolve_paths(slots["doc"], context)
    if len(paths) == 1:
        reading = yield from read_one(paths[0], context)
        return "\n".join(
            [*context.notes, _report(reading, _sentences(reading), slots, reading.path)]
        ) + describe_unread([reading])
    readings = yield from read_all(paths[:MAX_DOCUMENTS], context)
    lines: list[str] = []
    for reading in readings:
        best = summarise(_sentences(reading), slots.number("n") or OF_EACH)
        lines += [f"{reading.path}:", *_quote_lines(best)] if best else []
    more = f"\n\nThere are {len(paths) - MAX_DOCUMENTS} more documents." if len(paths) > MAX_DOCUMENTS else ""
    head = "The key sentences of each document, quoted:"
    return "\n".join([head, *lines]) + describe_unread(readings) + more


def _sentences(reading: ReadLines) -> list[Sentence]:
    return all_sentences(reading.text, reading.format, ("prose", "item"))


def _summarise_section(reading: ReadLines, slots: SlotValues) -> str:
    total = len(split_lines(reading.text))
    marks = headings(reading.text) if reading.format == "markdown" else []
    sections: list[HeadingRange] = []
    for at, mark in enumerate(marks):
        last = next((each.line for each in marks[at + 1 :] if each.level <= mark.level), total) - 1
        sections.append(HeadingRange(mark.title, mark.level, mark.line, last, last))
    found = headings_like(slots["heading"], sections)
    if len(found) != 1:
        titles = ", ".join(f"“{each.title}”" for each in (found or sections)[:8])
        raise ScriptEnd(
            f"In {reading.path} I cannot tell which section “{slots['heading']}” is. There: {titles or 'none'}."
        )
    part = [each for each in _sentences(reading) if found[0].line <= each.line <= found[0].last]
    return _report(reading, part, slots, f"“{found[0].title}” in {reading.path}") + describe_unread([reading])


def _report(reading: ReadLines, sentences: list[Sentence], slots: SlotValues, what: str) -> str:
    if not sentences:
        return f"{what} has no sentences to quote."
    wanted = slots.number("n") or min(USUAL, max(1, len(sentences) // 3))
    if slots["unit"] == "percent":
        wanted = max(1, round(len(sentences) * min(wanted, 100) / 100))
    best = summarise(sentences, wanted)
    head = f"{what}, {len(best)} of {len(sentences)} sentences, quoted:"
    return "\n".join([head, *_quote_lines(best)])


def _quote_lines(sentences: list[Sentence]) -> list[str]:
    return [f"> {each.text} (line {each.line + 1})" for each in sentences]


INTENT = Intent(
    "summary",
    "summarise a document or section by quoting its key sentences",
    (
        "Summarise chapter 1 in 3 sentences",
        "What is meeting.md about?",
        "Sum up the section What we said in meeting.md",
    ),
    PATTERNS,
    script,
    word_list("summary summarise gist nutshell synopsis recap discuss"),
)
