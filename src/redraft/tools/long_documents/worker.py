"""What the whole-document tools need from somebody with a model: a protocol, because the agent is above the tools.

The values that it passes, and the one protocol. A surface with a model puts its `DocumentWorker` into the context;
without one the tools do what can be computed and refuse the rest.
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

# Longer documents, in characters, are read in chunks by subagents; shorter ones whole.
DIRECT_CHARACTERS = 20_000


@dataclass(frozen=True, slots=True)
class Source:
    """The document to work on, as it was read. `format` is the outline's."""

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
    """The number of chunks, of answers requested from a model, and of cached answers."""

    chunks: int = 0
    asked: int = 0
    known: int = 0

    def as_dict(self) -> dict[str, int]:
        return {"chunks": self.chunks, "asked": self.asked, "known_already": self.known}


@dataclass(frozen=True, slots=True)
class Analysis:
    """The findings: a few sentences, and the details under the task's own names."""

    summary: str
    details: dict[str, Any]
    effort: WorkerUsage = field(default_factory=WorkerUsage)


@dataclass(frozen=True, slots=True)
class TransformationRequest:
    """A transformation as requested. `names` are those of the specification: `old_name`, `new_setting`..."""

    kind: Kind
    names: dict[str, Any] = field(default_factory=dict[str, Any])
    prompt: str = ""


@dataclass(frozen=True, slots=True)
class Flag:
    """A place that a person should check. `line` counts from 0, in the new text."""

    kind: str
    line: int
    quote: str
    problem: str

    def as_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "line": self.line, "quote": self.quote, "problem": self.problem}


@dataclass(frozen=True, slots=True)
class Transformation:
    """The edits that turn the old text into the new one, and what a person should check."""

    edits: tuple[Edit, ...]
    flags: tuple[Flag, ...]
    effort: WorkerUsage = field(default_factory=WorkerUsage)


class DocumentWorker(Protocol):
    """Somebody with a model. Both raise `subagent_failed` if any part of the work failed; nothing is half done."""

    def analyse(self, source: Source, task: Task, prompt: str, /) -> Analysis:
        """Analyse the document for the task."""
        ...

    def transform(self, source: Source, request: TransformationRequest, ask: Ask | None, /) -> Transformation:
        """Find the edits. `ask` puts a question about a doubtful place to the person."""
        ...
