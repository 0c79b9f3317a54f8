"""From a request to an intent and its slots, or to the answer that it was not understood.

Polite words at both ends are removed first, with patterns of the same grammar. Every pattern of every intent is tried;
the one that explains the request best wins, and among equals the intent that comes first in the table.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from redraft.agent.offline.grammar import SLOT_WORDS, GrammarMatch, best_fit, fits, is_file, parse_number, parse_pattern
from redraft.agent.offline.intents import SlotValues
from redraft.agent.offline.tokens import likeness, tokenize, word_list

if TYPE_CHECKING:
    from collections.abc import Sequence

    from redraft.agent.offline.grammar import Node
    from redraft.agent.offline.intents import Intent
    from redraft.agent.offline.tokens import Token

BEFORE = tuple(
    parse_pattern(pattern)
    for pattern in (
        "(nope|no) ,",
        "(please|pls|plz|kindly|just|now|also|then|so|ok|okay|well|right|quickly|hey|hi|hello|dear|redraft|assistant)",
        "(, | : | ! | -)",
        "(good morning|hi there|hey there|hello there|next up|one more thing|quick question|sorry)",
        "(can|could|would|will) (you|u) [(maybe|perhaps|possibly|please|quickly|kindly)]",
        "(can|could|shall) we [please]",
        "would you mind",
        "do me a favour and",
        "(would|is) it [be] possible to",
        "(i|we) [would] (want|need|wish|like|love) [you] [to]",
        "i am (trying to|looking to|about to)",
        "i am",
        "(let's|lets|let us)",
        "(go|try) (ahead and|to|and)",
        "(tell|show|give|get|find|make) me",
        "(let|let us|let's) have",
        "want to see",
        "(let me|i want to|i would like to) know",
        "do you know",
        "help me [to]",
        "it is time to",
    )
)
_AGAIN = (
    "(update|refresh|fix|check|tick|organise|organize|sort|tidy|delete|remove|undo|revert|do|change|rename|move|add)"
)
AFTER = tuple(
    parse_pattern(pattern)
    for pattern in (
        "(please|pls|plz|thanks|thx|cheers|ok|okay|now|asap)",
        "(, | ! | ? | .)",
        "(thank you|thanks a lot|many thanks|thank you very much|if you can|if you could|right away|right now)",
        "(for me|if possible|when you can|would you|could you|can you|will you)",
        f", [so] [please] {_AGAIN} (it|them|that) [(off|up|back|away)]",
    )
)
ARTICLES = ("the", "a", "an", "my", "our", "your")
PLACES = frozenset(("everywhere", "anywhere", "throughout", "here"))
# Words that ask for a change, or for something that the assistant cannot do; requests with them are never guessed.
ACTS = word_list(
    "delete remove rename replace move undo revert add insert append prepend create write make draw paint translate "
    "rewrite not never don't stop why should"
)
# At most this many polite words are removed one by one.
MAX_STAGES = 8
# Slots whose words are taken verbatim.
VERBATIM = frozenset(("text", "item", "to"))


@dataclass(frozen=True, slots=True)
class ParsedRequest:
    """An intent with its slots. `score` is how much of the request the pattern explains."""

    intent: Intent
    slots: SlotValues
    score: float


def parse_request(request: str, intents: Sequence[Intent]) -> ParsedRequest | None:
    """What the person wants; None if no pattern matches."""
    best: ParsedRequest | None = None
    for tokens, given, bonus in _variants(tokenize(request)):
        for intent in intents:
            for pattern in intent.patterns:
                fit = best_fit(pattern.nodes, tokens)
                if fit is not None and (best is None or fit.score + bonus > best.score):
                    values = {name: _value(request, tokens, name, a, b) for name, a, b in fit.slots}
                    best = ParsedRequest(
                        intent, SlotValues({**given, **values, **pattern.constants}), fit.score + bonus
                    )
    return best or _guess(request, intents)


def _guess(request: str, intents: Sequence[Intent]) -> ParsedRequest | None:
    """The probable intent if no pattern matches: by keywords, and only if it changes nothing and no word asks for a
    change."""
    tokens = tokenize(request)
    keys = {token.key for token in tokens if token.key}
    if any(likeness(key, act) for key in keys for act in ACTS):
        return None
    hits = {
        intent.name: sum(any(likeness(key, word) for key in keys) for word in intent.keywords) for intent in intents
    }
    best = [intent for intent in intents if hits[intent.name] and hits[intent.name] == max(hits.values())]
    if len(best) != 1:
        return None
    return ParsedRequest(best[0], SlotValues({"what": "both", **_document_in(request, tokens)}), 0.0)


def _document_in(request: str, tokens: list[Token]) -> dict[str, str]:
    """The document that a request names, found without a pattern: a file name, else a chapter number, else the words
    after the last "in"."""
    for at, token in enumerate(tokens):
        if is_file(token.text):
            return {"doc": token.text}
        if token.key in ("chapter", "part") and at + 1 < len(tokens) and parse_number(tokens[at + 1].text) is not None:
            return {"doc": request[token.start : tokens[at + 1].end]}
    where = next((at for at in range(len(tokens) - 1, -1, -1) if tokens[at].key in ("in", "of", "from")), -1)
    rest = [token for token in tokens[where + 1 :] if token.key not in ("?", "!", ",")] if where >= 0 else []
    return {"doc": _value(request, rest, "doc", 0, len(rest))} if 0 < len(rest) <= SLOT_WORDS["doc"] else {}


def is_greeting(request: str) -> bool:
    """Whether the request is only a greeting or thanks."""
    return not _strip_politeness(tokenize(request))


def _variants(tokens: list[Token]) -> list[tuple[list[Token], dict[str, str], float]]:
    """The ways to read the request: as it is; with more and more polite words removed ("help me" alone is a request);
    and without a final "everywhere", which says which documents are meant."""
    stages = [tokens]
    while len(stages) < MAX_STAGES and (end := _polite_start(stages[-1])) > 0:
        stages.append(stages[-1][end:])
    found: list[tuple[list[Token], dict[str, str], float]] = []
    for stage in stages[::-1]:
        bare = stage[: _polite_end(stage)]
        found += [(each, {}, 0.0) for each in (bare, stage) if each and (each is bare or bare != stage)]
        if len(bare) > 1 and bare[-1].key in PLACES:
            found.append((bare[:-1], {"doc": bare[-1].text}, 2.5))
    return found


def _strip_politeness(tokens: list[Token]) -> list[Token]:
    while (end := _polite_start(tokens)) > 0:
        tokens = tokens[end:]
    return tokens[: _polite_end(tokens)]


def _polite_start(tokens: list[Token]) -> int:
    return max(_prefix(pattern, tokens) for pattern in BEFORE)


def _polite_end(tokens: list[Token]) -> int:
    end = len(tokens)
    while (start := min(_suffix(pattern, tokens[:end]) for pattern in AFTER)) < end:
        end = start
    return end


def _prefix(nodes: tuple[Node, ...], tokens: Sequence[Token]) -> int:
    found = fits(nodes, tokens, GrammarMatch(0))
    return max((fit.end for fit in found), default=0)


def _suffix(nodes: tuple[Node, ...], tokens: Sequence[Token]) -> int:
    """Where the polite ending begins. Its words must match exactly, since a slot may end in them."""
    for start in range(max(0, len(tokens) - 7), len(tokens)):
        if any(fit.end == len(tokens) - start for fit in fits(nodes, tokens[start:], GrammarMatch(0))):
            return start
    return len(tokens)


def _value(request: str, tokens: Sequence[Token], name: str, start: int, end: int) -> str:
    """The value of a slot: the quoted text, if the slot is nothing but that, else the person's words."""
    taken = list(tokens[start:end])
    if name == "n":
        return str(parse_number(taken[0].text))
    articles = ARTICLES[:3] if name == "title" else ARTICLES
    while len(taken) > 1 and taken[0].key in articles and (name not in VERBATIM or taken[1].quoted):
        taken = taken[1:]
    if name == "doc" and len(taken) > 1 and taken[0].key in ("called", "named", "titled"):
        taken = taken[1:]
    if len(taken) == 1 and (taken[0].quoted or name != "text"):
        bare = name in ("doc", "old") and not taken[0].quoted
        return taken[0].text.removesuffix("'s").removesuffix("’s") if bare else taken[0].text
    end = len(request) if name == "text" and end == len(tokens) else taken[-1].end
    return request[taken[0].start : end].rstrip()


def nearest_examples(request: str, intents: Sequence[Intent], count: int = 3) -> list[str]:
    """The examples closest to a request, one per intent."""
    words = [token.key for token in tokenize(request) if len(token.key) > 2]
    best = [max((_closeness(words, example), example) for example in intent.examples) for intent in intents]
    scored = sorted(best, key=lambda pair: -pair[0])
    return [example for _, example in scored[:count]]


def _closeness(words: list[str], example: str) -> float:
    keys = [token.key for token in tokenize(example) if token.key]
    found = sum(max((likeness(word, key) for key in keys), default=0.0) for word in words)
    return found / (len(keys) + 3)
