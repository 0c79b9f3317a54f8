"""`LongDocuments`: what the tools for whole documents ask for, done with a model.

One is made for a job, or for a call from elsewhere. It holds no lock while a model is waited for: the `guard` of the
workspace, which the tool's caller holds, is let go for that time and taken again. What comes out depends on the text,
the task and the answers alone, so a job that is replayed after a crash finds its answers and makes the same of them.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from redraft.agent.long.analysis import analyse
from redraft.agent.long.chunking import Chunk, chunks_of
from redraft.agent.long.crew import CONCURRENCY, Crew, SharedCrew
from redraft.agent.long.transforming import Work, transform
from redraft.files.locks import released
from redraft.tools.long import Analysis, Effort, Transformation
from redraft.tools.reading import tokens_in

if TYPE_CHECKING:
    from collections.abc import Generator
    from contextlib import AbstractContextManager

    from redraft.agent.durable import Durable
    from redraft.agent.long.crew import Asking, Means
    from redraft.tools.long import Ask, Source, Task, Wish

CHUNK_TOKENS = 4000
RESPONSE_TOKENS = 2000
LEAST_CHUNK = 256


@dataclass(frozen=True, slots=True)
class Shared:
    """Other processes to share the work with: their database, the name of the work, and of the model to ask."""

    durable: Durable
    run: str
    model: str = ""


class LongDocuments:
    """A `LongWork`. One call at a time; `guard` must be held by whoever calls, where there is one."""

    def __init__(
        self,
        means: Means,
        *,
        chunk_tokens: int = CHUNK_TOKENS,
        response_tokens: int = RESPONSE_TOKENS,
        concurrency: int = CONCURRENCY,
        guard: AbstractContextManager[Any] | None = None,
        shared: Shared | None = None,
    ) -> None:
        self._means = means
        self._chunk_tokens = chunk_tokens
        self._room = response_tokens
        self._concurrency = concurrency
        self._guard = guard or contextlib.nullcontext()
        self._shared = shared
        self._calls = 0

    def analyse(self, source: Source, task: Task, prompt: str, /) -> Analysis:
        """Read the whole document for the task."""
        chunks = self.chunks(source)
        with released(self._guard), self._crew() as crew:
            details = analyse(source, task, prompt, chunks, crew, self._room)
        return Analysis(details.pop("summary"), details, Effort(len(chunks), crew.asked, crew.known))

    def transform(self, source: Source, wish: Wish, ask: Ask | None, /) -> Transformation:
        """Find the edits that change the whole document."""
        chunks = self.chunks(source)
        with released(self._guard), self._crew() as crew:
            edits, flags = transform(Work(source, wish, chunks, crew, self._room, ask))
        return Transformation(edits, flags, Effort(len(chunks), crew.asked, crew.known))

    def chunks(self, source: Source) -> list[Chunk]:
        """The document as the subagents see it: whole where it is short, else in chunks that the model can hold."""
        holds = self._means.provider.context_tokens
        most = None if holds is None else max(LEAST_CHUNK, (holds - self._room) // 2)
        if source.text and not source.is_long and (most is None or tokens_in(source.text) <= most):
            return [Chunk(0, 0, len(source.text), 0)]
        return chunks_of(source.text, source.format, min(self._chunk_tokens, most or self._chunk_tokens))

    @contextlib.contextmanager
    def _crew(self) -> Generator[Asking]:
        self._calls += 1
        if self._shared is not None:
            # Numbered, so that a second attempt at what failed is not taken for the first.
            run = f"{self._shared.run}.{self._calls}"
            yield SharedCrew(self._means, self._shared.durable, run, self._shared.model)
            return
        with Crew(self._means, self._concurrency) as crew:
            yield crew
