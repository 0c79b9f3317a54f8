"""The grammar of requests: readable patterns, and the best match of a pattern against a request.

    (rename|replace|change) <old> (to|with|by) <new> [(in|inside) <doc>]

A word matches itself, its inflected forms and near misspellings; `(a|b)` is a choice, `[a]` is optional, `<name>` is a
slot that takes the person's own words. Articles and commas between words are skipped. A pattern matches the whole
request or not at all, so no part of a request is silently ignored. The match that explains most of the words wins.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, TypeAlias

from redraft.agent.offline.tokens import likeness, word_list

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from redraft.agent.offline.tokens import Token

# Skipped where the grammar expects another word.
FILLERS = frozenset(
    word_list(
        "the a an my our your all of any some please just also me us for , : ; ! ? ( ) - – — that those these this"
    )
)
# How many words a slot may take; a slot that is not listed takes any number.
SLOT_WORDS = {"n": 1, "file": 1, "doc": 8, "old": 8, "new": 8, "heading": 10, "title": 12, "folder": 6, "template": 5}
_NUMBERS = word_list("one two three four five six seven eight nine ten twelve fifteen twenty")
_COUNTS = dict(zip(_NUMBERS, [*range(1, 11), 12, 15, 20], strict=True)) | {"couple": 2, "few": 3, "dozen": 12}
_NUMBER = re.compile(r"#?(\d{1,9})(?:%|st|nd|rd|th)?")
_FILE = re.compile(r".*\.(?:md|markdown|txt|json|ya?ml)|(?=.)[^\s/]*/.*")
_STOPS = (",", ":", ";")
_PIECE = re.compile(r"<(\w+)>|([()\[\]|])|([-=]>|[^\s()\[\]|<>]+)")


@dataclass(frozen=True, slots=True)
class WordNode:
    """A literal word of the pattern."""

    key: str


@dataclass(frozen=True, slots=True)
class SlotNode:
    """A placeholder for the person's own words."""

    name: str


@dataclass(frozen=True, slots=True)
class ChoiceNode:
    """One of several sequences."""

    ways: tuple[tuple[Node, ...], ...]


Node: TypeAlias = WordNode | SlotNode | ChoiceNode


@dataclass(frozen=True, slots=True)
class GrammarMatch:
    """One way to match tokens: where it ends, what the slots took (first and last token), and its score."""

    end: int
    slots: tuple[tuple[str, int, int], ...] = ()
    score: float = 0.0


@cache
def parse_pattern(pattern: str) -> tuple[Node, ...]:
    """The pattern as nodes; raises `ValueError` if it is malformed."""
    pieces = list(_PIECE.finditer(pattern))
    ways, at = _ways(pieces, 0)
    if at != len(pieces) or len(ways) != 1:
        raise ValueError(f"no pattern: {pattern}")
    return ways[0]


def _ways(pieces: list[re.Match[str]], at: int) -> tuple[list[tuple[Node, ...]], int]:
    """The alternatives between bars, up to a closing bracket or the end."""
    ways: list[tuple[Node, ...]] = []
    nodes: list[Node] = []
    while at < len(pieces):
        slot, sign, word = pieces[at].groups()
        if sign in (")", "]"):
            break
        at += 1
        if slot:
            nodes.append(SlotNode(slot))
        elif word:
            nodes.append(WordNode(word))
        elif sign == "|":
            ways.append(tuple(nodes))
            nodes = []
        else:
            inner, at = _ways(pieces, at)
            if at == len(pieces) or pieces[at][2] != {"(": ")", "[": "]"}[sign]:
                raise ValueError("a bracket is not closed")
            nodes.append(ChoiceNode((*inner, ()) if sign == "[" else tuple(inner)))
            at += 1
    return [*ways, tuple(nodes)], at


def best_fit(nodes: tuple[Node, ...], tokens: Sequence[Token]) -> GrammarMatch | None:
    """The best match of the pattern against all of the tokens."""
    stop = len(tokens)
    while stop and tokens[stop - 1].key in ("?", "!", ",", ";"):
        stop -= 1
    whole = [fit for fit in fits(nodes, tokens[:stop], GrammarMatch(0)) if fit.end == stop]
    return max(whole, key=lambda fit: fit.score, default=None)


def fits(nodes: tuple[Node, ...], tokens: Sequence[Token], so_far: GrammarMatch) -> Iterator[GrammarMatch]:
    """Every way to match the nodes from where `so_far` ended."""
    if not nodes:
        yield so_far
        return
    node, rest = nodes[0], nodes[1:]
    if isinstance(node, WordNode):
        taken = _word(node, tokens, so_far)
        if taken is not None:
            yield from fits(rest, tokens, taken)
    elif isinstance(node, SlotNode):
        for taken in _slot(node, tokens, so_far):
            yield from fits(rest, tokens, taken)
    else:
        for way in node.ways:
            yield from fits(way + rest, tokens, so_far)


def _word(node: WordNode, tokens: Sequence[Token], so_far: GrammarMatch) -> GrammarMatch | None:
    at = so_far.end
    while at < len(tokens) and node.key != tokens[at].key and tokens[at].key in FILLERS:
        at += 1
    if at == len(tokens):
        return None
    like = likeness(tokens[at].key, node.key)
    if not like:
        return None
    return GrammarMatch(at + 1, so_far.slots, so_far.score + 3 * like)


def _slot(node: SlotNode, tokens: Sequence[Token], so_far: GrammarMatch) -> Iterator[GrammarMatch]:
    """Every length that the slot may have. Each word it takes costs a little, so that a pattern which explains a word
    beats one that swallows it; quoted words cost nothing."""
    start = so_far.end
    passed = FILLERS if node.name == "n" else _STOPS
    while start < len(tokens) and tokens[start].key in passed:
        start += 1
    cost = 0.0
    for end in range(start + 1, min(len(tokens), start + SLOT_WORDS.get(node.name, len(tokens))) + 1):
        token = tokens[end - 1]
        cost += 0.0 if token.quoted or token.key in FILLERS else 1.0
        if token.key in (*_STOPS, "?", "!") or not _can_fill(node.name, token):
            continue
        free = node.name in ("n", "file")
        yield GrammarMatch(end, (*so_far.slots, (node.name, start, end)), so_far.score - (0 if free else cost))


def _can_fill(name: str, token: Token) -> bool:
    if name == "n":
        return parse_number(token.text) is not None
    return name != "file" or is_file(token.text)


def is_file(text: str) -> bool:
    """Whether the words look like the name or path of a document."""
    return _FILE.fullmatch(text) is not None


def parse_number(text: str) -> int | None:
    """A count, in digits or as a word."""
    match = _NUMBER.fullmatch(text.casefold())
    return int(match[1]) if match else _COUNTS.get(text.casefold())
