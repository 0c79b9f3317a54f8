"""What the tools for whole documents ask of whoever has a model: a seam, because the agent lies above the tools.

The values that cross it, and the one protocol. A surface that has a model puts its `DocumentWorker` into the context;
where none is there the tools do what can be computed and refuse the rest.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from redraft.text.edits import Edit

    Ask = Callable[[str], str | None]

Task = Literal["characters", "plot", "style", "summary", "custom"]
Kind = Literal["character_rename", "setting_change", "style_rewrite", "custom"]

# Above so many characters a document is read in chunks, by subagents; up to here in one piece.
DIRECT_CHARACTERS = 20_000


@dataclass(frozen=True, slots=True)
class Source:
    """The document that is worked on, as it was read. `format` is the outline's."""

    path: str
    text: str
    format: str = "unknown"

    @property
    def title(self) -> str:
        return self.path.rpartition("/")[2]

    @property
    def is_long(self) -> bool:
        return len(self.text) > DIRECT_CHARACTERS


@dataclass(frozen=True, slots=True)
class WorkerUsage:
    """What it took: how many chunks there were, how many answers were asked of a model, how many were known already."""

    chunks: int = 0
    asked: int = 0
    known: int = 0

    def as_dict(self) -> dict[str, int]:
        return {"chunks": self.chunks, "asked": self.asked, "known_already": self.known}


@dataclass(frozen=True, slots=True)
class Analysis:
    """What was found: a few sentences, and the details under the task's own names."""

    summary: str
    details: dict[str, Any]
    effort: WorkerUsage = field(default_factory=WorkerUsage)


@dataclass(frozen=True, slots=True)
class TransformationRequest:
    """A transformation as it was asked for. `names` are those of the specification: `old_name`, `new_setting`..."""

    kind: Kind
    names: dict[str, Any] = field(default_factory=dict[str, Any])
    prompt: str = ""


@dataclass(frozen=True, slots=True)
class Flag:
    """A place that a person should look at. `line` counts from 0, in the new text."""

    kind: str
    line: int
    quote: str
    problem: str

    def as_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "line": self.line, "quote": self.quote, "problem": self.problem}


@dataclass(frozen=True, slots=True)
class Transformation:
    """The edits that make the new text of the old one, and what a person should look at."""

    edits: tuple[Edit, ...]
    flags: tuple[Flag, ...]
    effort: WorkerUsage = field(default_factory=WorkerUsage)


class DocumentWorker(Protocol):
    """Somebody with a model. Both raise `subagent_failed` where any part of the work failed; nothing is half done."""

    def analyse(self, source: Source, task: Task, prompt: str, /) -> Analysis:
        """Find out what the task asks."""
        ...

    def transform(self, source: Source, wish: TransformationRequest, ask: Ask | None, /) -> Transformation:
        """Find the edits. `ask` puts a question about a doubtful place to the person."""
        ...
