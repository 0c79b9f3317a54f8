"""What an intent is: the phrases that ask for it, examples to show, and the script that does it.

A script is a generator: it yields tool calls, receives their outcomes, and returns the answer. It keeps no state
between steps: a conversation continues by running the script again over the results so far (see `provider`).
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
    """A tool call that a script makes."""

    tool: str
    arguments: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ScriptOutcome:
    """The outcome of a call: its result, or the error in the one shape that all errors have."""

    ok: bool
    data: dict[str, Any]

    @property
    def code(self) -> str:
        return "" if self.ok else str(self.data.get("error", "failed"))

    @property
    def message(self) -> str:
        return "" if self.ok else str(self.data.get("message", "It failed."))

    def rows(self, name: str) -> list[dict[str, Any]]:
        """The entries of a list in the result; empty if the call failed. If the loop truncated the list, its last entry
        is only a note about that and is left out."""
        entries: list[Any] = self.data.get(name, []) if self.ok else []
        return [entry for entry in entries if isinstance(entry, dict)]

    @property
    def cut(self) -> bool:
        """Whether the loop truncated the result, so that its texts may be incomplete."""
        return "total_characters" in self.data


class ScriptEnd(Exception):
    """Ends a script with this answer."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


Steps: TypeAlias = Generator[Sequence[ScriptCall], Sequence[ScriptOutcome], T]
Script: TypeAlias = Steps[str]


@dataclass(slots=True)
class ScriptContext:
    """What a script knows: the date, the documents that the person pinned, how many calls are left, how many of them
    may change something, and its last answer in this conversation.

    A step without calls is the answer, so the last step is never spent on calls. `notes` are findings so far, for an
    answer if the script cannot continue."""

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
        """How many changes one step can still make."""
        return min(self.left, self.actions)

    def spend(self, calls: int) -> None:
        self.calls -= calls
        self.steps -= 1


@dataclass(frozen=True, slots=True)
class SlotValues:
    """The slots that the request filled, by name, and the constants that the pattern adds."""

    values: dict[str, str]

    def __getitem__(self, name: str) -> str:
        return self.values.get(name, "")

    def number(self, name: str) -> int | None:
        return int(self.values[name]) if name in self.values else None


@dataclass(frozen=True, slots=True)
class RequestPattern:
    """A pattern and its constants. It is parsed when first used, so that start-up is quick."""

    text: str
    constants: dict[str, str]

    @property
    def nodes(self) -> tuple[Node, ...]:
        return parse_pattern(self.text)


@dataclass(frozen=True, slots=True)
class Intent:
    """One thing that the assistant can do. `keywords` are used to guess the intent if no pattern matches, but only for
    intents that change nothing."""

    name: str
    says: str
    examples: tuple[str, ...]
    patterns: tuple[RequestPattern, ...]
    script: Callable[[SlotValues, ScriptContext], Script]
    keywords: tuple[str, ...] = ()


def parse_patterns(text: str) -> tuple[RequestPattern, ...]:
    """Patterns, one per line; constants follow `=>`, as in `=> act=check`."""
    found: list[RequestPattern] = []
    for line in text.splitlines():
        pattern, _, constants = line.partition(" => ")
        if pattern.strip():
            pairs = (pair.partition("=") for pair in constants.split())
            found.append(RequestPattern(pattern.strip(), {name: value for name, _, value in pairs}))
    return tuple(found)


def call(tool: str, /, **arguments: Any) -> ScriptCall:
    """A call, without the arguments that are None."""
    return ScriptCall(tool, {name: value for name, value in arguments.items() if value is not None})


def quote_query(text: str) -> str:
    """The query that finds exactly these words."""
    return '"' + text.replace('"', " ") + '"'


def pluralize(count: int, thing: str) -> str:
    """A number with its noun."""
    return f"{count} {thing}{'' if count == 1 else 's'}"


def perform(wanted: ScriptCall) -> Steps[ScriptOutcome]:
    """Make one call and return its outcome."""
    [outcome] = yield (wanted,)
    return outcome
