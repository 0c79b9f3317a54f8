"""Style figures: counted, never judged. Guesses (passive voice, adverbs) are labelled as guesses."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from redraft.agent.offline.documents import describe_unread, read_all, resolve_paths
from redraft.agent.offline.intents import Intent, parse_patterns, pluralize
from redraft.agent.offline.prose import all_sentences
from redraft.agent.offline.tokens import word_list
from redraft.search.stems import terms
from redraft.tools.long_documents.prose_stats import WORDS_A_MINUTE, word_set

if TYPE_CHECKING:
    from redraft.agent.offline.intents import Script, ScriptContext, SlotValues
    from redraft.agent.offline.prose import Sentence

LONGEST, REPEATED, SHORTEST_WORD = 3, 10, 4
QUOTE = 160
_ADVERB = re.compile(r"\w{3,}ly")
_NO_ADVERBS = word_set(
    "only early family reply apply supply fly july italy daily weekly monthly yearly friendly lovely lonely ugly "
    "holy rely jelly belly bully silly likely ally assembly anomaly butterfly elderly"
)
_PASSIVE = re.compile(
    r"\b(?:am|is|are|was|were|be|been|being)\s+(?:\w+ly\s+|not\s+|never\s+|already\s+)?"
    r"(?:\w{2,}(?:ed|wn|en)|made|said|told|found|built|held|kept|left|lost|paid|read|sent|set|shut|sold|put|cut|lit|wound)\b",
    re.IGNORECASE,
)

_FIGURES = (
    "(style figures|figures|statistics|stats|word count|style|metrics|numbers|readability|reading time|length|counts|"
    "sentence length|style check|style report|writing style|style statistics|text statistics|writing statistics)"
)
_IN = "[(of|in|for|on|about|from|across) <doc>]"
PATTERNS = parse_patterns(f"""
(show|give|tell|get|compute|calculate|report|print|check|analyse|analyze|run|measure|look at|review|do) [some] \
 [style] {_FIGURES} {_IN}
(check|analyse|analyze|measure|review|examine) <doc> (style|for style|stylistically|statistics)
[some] [style] {_FIGURES} {_IN}
what (is|are) {_FIGURES} {_IN}
what's {_FIGURES} {_IN}
how many (words|sentences|paragraphs|characters|adverbs|passives|words and sentences) \
 (does|do|are|is|has|have|did) [(there|in|i|we)] [in] [<doc>] [(have|has|contain|written|write|use)]
how many (words|sentences|paragraphs|adverbs) [(in|of) <doc>]
how long (is|are|does it take to read|will it take to read|to read|would it take to read) [<doc>] [to read]
how long (does|will|would) it take to read [<doc>]
how long are sentences {_IN}
count [every] (words|sentences|adverbs|words and sentences|paragraphs) {_IN}
(which|what) words (do i|are|did i|does it|do we) (repeat|use|repeated|overused|overuse|used) [too often|too \
 much|most often|most|often] {_IN}
(find|show|list|which are|what are) (repeated|overused|frequent|common|most frequent|most used) words {_IN}
(find|show|list|which are|what are) [(my|too|very|overly)] (longest|long) sentences {_IN}
(find|show|list|count|which are|what are) (adverbs|passive sentences|passive voice|passives|passive \
 constructions|uses of passive) {_IN}
(do|did) i (use|overuse|write) [too many] (adverbs|passive|passive voice|long sentences|passives) {_IN}
(check|scan|search|look at|go through) <doc> for (passive voice|passives|adverbs|long sentences|repeated \
 words|style|repetitions|wordiness)
(are|is) [my] (sentences|style|text|writing) [too] (long|wordy|short|readable|passive) [(in|of) <doc>]
[average] (sentence length|sentences|word count|number of words|words a sentence) [(in|of) <doc>]
how many (words|sentences|adverbs) (have|did) (i|we) (written|write|used|use) [(in|for) <doc>]
{_FIGURES} on my (style|writing) [(in|of) <doc>]
(give|show|get) [some] {_FIGURES} on [my] (style|writing) [(in|of) <doc>]
how is (style|writing|my writing|my style) {_IN}
how (readable|wordy|long winded) is <doc>
""")


@dataclass(frozen=True, slots=True)
class StyleFigures:
    """What can be counted in prose."""

    words: int
    sentences: int
    longest: tuple[Sentence, ...]
    repeated: tuple[tuple[str, int], ...]
    adverbs: Counter[str]
    passive: tuple[Sentence, ...]

    @property
    def average(self) -> float:
        return self.words / self.sentences if self.sentences else 0.0

    @property
    def minutes(self) -> float:
        return self.words / WORDS_A_MINUTE


def count_style(sentences: list[Sentence]) -> StyleFigures:
    """The figures of some sentences."""
    lengths = [(len(sentence.words), sentence) for sentence in sentences]
    counted = [(length, sentence) for length, sentence in lengths if length]
    longest = sorted(counted, key=lambda pair: -pair[0])[:LONGEST]
    surface = Counter(word.casefold() for sentence in sentences for word in sentence.words)
    frequent = Counter(
        {word: count for word, count in surface.items() if len(word) >= SHORTEST_WORD and any(terms(word))}
    )
    adverbs = Counter(
        word
        for word, count in surface.items()
        for _ in range(count)
        if _ADVERB.fullmatch(word) and word not in _NO_ADVERBS
    )
    return StyleFigures(
        sum(length for length, _ in counted),
        len(counted),
        tuple(sentence for _, sentence in longest),
        tuple((word, count) for word, count in frequent.most_common(REPEATED) if count > 1),
        adverbs,
        tuple(sentence for sentence in sentences if _PASSIVE.search(sentence.text)),
    )


def script(slots: SlotValues, context: ScriptContext) -> Script:
    paths = yield from resolve_paths(slots["doc"], context)
    readings = yield from read_all(paths, context)
    sentences = [each for reading in readings for each in all_sentences(reading.text, reading.format)]
    figures = count_style(sentences)
    what = paths[0] if len(paths) == 1 else f"{sum(bool(each.pieces) for each in readings)} documents"
    if not figures.sentences:
        return f"There is no prose in {what} to count." + describe_unread(readings)
    return "\n".join([*context.notes, *_report(figures, what, lines=len(paths) == 1)]) + describe_unread(readings)


def _report(figures: StyleFigures, what: str, *, lines: bool) -> list[str]:
    def quote(sentence: Sentence) -> str:
        short = sentence.text if len(sentence.text) <= QUOTE else f"{sentence.text[:QUOTE]}…"
        return f"  > {short}" + (f" (line {sentence.line + 1})" if lines else "")

    adverbs = ", ".join(f"{word} ({count})" for word, count in figures.adverbs.most_common(8))
    length = f"{pluralize(figures.words, 'word')} in {pluralize(figures.sentences, 'sentence')}"
    longest = ", ".join(str(len(each.words)) for each in figures.longest)
    report = [
        f"{what}, prose without headings, tables and code:",
        f"- {length}, {figures.average:.1f} words per sentence",
        f"- reading time: about {max(1, round(figures.minutes))} min at {WORDS_A_MINUTE} words per minute",
        f"- longest sentence{'s' if len(figures.longest) > 1 else ''} ({longest} words):",
        *map(quote, figures.longest),
        "- most used words: " + (", ".join(f"{word} ({count})" for word, count in figures.repeated) or "none repeated"),
        f"- adverbs in -ly: {figures.adverbs.total()}" + (f": {adverbs}" if adverbs else ""),
        f"- passive voice, as far as rules can tell: {pluralize(len(figures.passive), 'sentence')}",
    ]
    return [*report, *map(quote, figures.passive[:LONGEST])]


INTENT = Intent(
    "style",
    "count words, sentences, reading time, long sentences, repeated words, adverbs and likely passives",
    ("Show style figures for chapter 1", "How many words does the story have?", "Which words do I repeat?"),
    PATTERNS,
    script,
    word_list("passive adverbs statistics readability sentences repeat wordy"),
)
