"""What an intent is: the phrases that ask for it, examples to show, and the script that carries it out.

A script is a generator: it yields tool calls, gets what came of them, and returns what to say. It never keeps anything
between steps: a conversation is continued by running the script again over the results so far (see `provider`).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from redraft.agent.offline.grammar import parse_pattern

if TYPE_CHECKING:
    from datetime import date

    from redraft.agent.offline.grammar import Node

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ScriptCall:
    """A tool call that a script wants."""

    tool: str
    arguments: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ScriptOutcome:
    """What came of a call: its result, or the error in the one shape that every failure has."""

    ok: bool
    data: dict[str, Any]

    @property
    def code(self) -> str:
        return "" if self.ok else str(self.data.get("error", "failed"))

    @property
    def message(self) -> str:
        return "" if self.ok else str(self.data.get("message", "It failed."))

    def rows(self, name: str) -> list[dict[str, Any]]:
        """The entries of a list in the result; none where the call failed. Where the loop has shortened the list, its
        last entry only says so and is no row."""
        entries: list[Any] = self.data.get(name, []) if self.ok else []
        return [entry for entry in entries if isinstance(entry, dict)]

    @property
    def cut(self) -> bool:
        """Whether the loop had to shorten the result, so that its texts are not whole."""
        return "total_characters" in self.data


class ScriptEnd(Exception):
    """Ends a script with these words."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


Steps: TypeAlias = Generator[Sequence[ScriptCall], Sequence[ScriptOutcome], T]
Script: TypeAlias = Steps[str]


@dataclass(slots=True)
class ScriptContext:
    """What a script has in front of it: the day, the documents the person pinned, how many calls are left, how many of
    them may change something, and what it said last in this conversation.

    A step in which nothing is called is the answer, so the last step is never spent on calls. `notes` is what was found
    so far, for an answer where the script cannot go on."""

    today: date
    here: tuple[str, ...] = ()
    calls: int = 12
    steps: int = 10
    actions: int = 20
    earlier: str = ""
    notes: list[str] = field(default_factory=list[str])

    @property
    def left(self) -> int:
        return self.calls if self.steps > 1 else 0

    @property
    def acts(self) -> int:
        """How many changes can still be made in one step."""
        return min(self.left, self.actions)

    def spend(self, calls: int) -> None:
        self.calls -= calls
        self.steps -= 1


@dataclass(frozen=True, slots=True)
class SlotValues:
    """What the person's words gave: by name, and constants that the pattern adds."""

    values: dict[str, str]

    def __getitem__(self, name: str) -> str:
        return self.values.get(name, "")

    def number(self, name: str) -> int | None:
        return int(self.values[name]) if name in self.values else None


@dataclass(frozen=True, slots=True)
class RequestPattern:
    """A pattern and the constants that it stands for. It is read when it is first used, so that start-up is quick."""

    text: str
    constants: dict[str, str]

    @property
    def nodes(self) -> tuple[Node, ...]:
        return parse_pattern(self.text)


@dataclass(frozen=True, slots=True)
class Intent:
    """One thing that the assistant can do. `keywords` are words by which it is guessed where no pattern fits: only for
    what changes nothing."""

    name: str
    says: str
    examples: tuple[str, ...]
    patterns: tuple[RequestPattern, ...]
    script: Callable[[SlotValues, ScriptContext], Script]
    keywords: tuple[str, ...] = ()


def parse_patterns(text: str) -> tuple[RequestPattern, ...]:
    """Patterns, one a line; what follows `=>` are constants, as in `=> act=check`."""
    found: list[RequestPattern] = []
    for line in text.splitlines():
        pattern, _, constants = line.partition(" => ")
        if pattern.strip():
            pairs = (pair.partition("=") for pair in constants.split())
            found.append(RequestPattern(pattern.strip(), {name: value for name, _, value in pairs}))
    return tuple(found)


def call(tool: str, /, **arguments: Any) -> ScriptCall:
    """A call; what is None is left out."""
    return ScriptCall(tool, {name: value for name, value in arguments.items() if value is not None})


def quote_query(text: str) -> str:
    """The query that finds just these words, as they stand."""
    return '"' + text.replace('"', " ") + '"'


def pluralize(count: int, thing: str) -> str:
    """A number with its noun."""
    return f"{count} {thing}{'' if count == 1 else 's'}"


def perform(wanted: ScriptCall) -> Steps[ScriptOutcome]:
    """Make one call, and give what came of it."""
    [outcome] = yield (wanted,)
    return outcome
