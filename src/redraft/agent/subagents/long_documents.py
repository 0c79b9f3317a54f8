"""`LongDocuments`: does the work of the whole-document tools with a model.

One is created per job, or per call from elsewhere. It holds no lock while it waits for a model: the workspace's
`guard`, which the tool's caller holds, is released for that time and taken again. The result depends only on the text,
the task and the answers, so a job that is replayed after a crash finds its answers and gets the same result.
"""

from __future__ import annotations

import contextlib
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from redraft.agent.subagents.analysis import analyse
from redraft.agent.subagents.chunks import DocumentChunk, chunks_of
from redraft.agent.subagents.pool import CONCURRENCY, AnswerCache, PoolOptions, SubagentPool
from redraft.agent.subagents.transformation import TransformState, transform
from redraft.errors import Refused
from redraft.files.locks import release
from redraft.providers.models import OFFLINE
from redraft.tools.long_documents.worker import Analysis, Transformation, WorkerUsage
from redraft.tools.queries.read_document import count_tokens

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from redraft.agent.environment import AgentEnvironment
    from redraft.agent.run.budget import JobBudget
    from redraft.agent.store.agent_store import AgentStore
    from redraft.agent.store.jobs import Job
    from redraft.agent.subagents.pool import Progress
    from redraft.config import Limits
    from redraft.providers.contract import CancelToken, Provider, ProviderStepResult
    from redraft.tools.long_documents.worker import Ask, Source, Task, TransformationRequest

CHUNK_TOKENS = 4000
RESPONSE_TOKENS = 2000
LEAST_CHUNK = 256


class LongDocuments:
    """A `DocumentWorker`. One call at a time; the caller must hold `guard`, if there is one."""

    def __init__(
        self,
        options: PoolOptions,
        *,
        chunk_tokens: int = CHUNK_TOKENS,
        response_tokens: int = RESPONSE_TOKENS,
        concurrency: int = CONCURRENCY,
        guard: AbstractContextManager[Any] | None = None,
    ) -> None:
        self._setup = options
        self._chunk_tokens = chunk_tokens
        self._room = response_tokens
        self._concurrency = concurrency
        self._guard = guard or contextlib.nullcontext()

    def analyse(self, source: Source, task: Task, prompt: str, /) -> Analysis:
        """Read the whole document for the task."""
        chunks = self.chunks(source)
        with release(self._guard), self._make_pool() as pool:
            details = analyse(source, task, prompt, chunks, pool, self._room)
        return Analysis(details.pop("summary"), details, WorkerUsage(len(chunks), pool.asked, pool.known))

    def transform(self, source: Source, request: TransformationRequest, ask: Ask | None, /) -> Transformation:
        """Find the edits that change the whole document."""
        chunks = self.chunks(source)
        with release(self._guard), self._make_pool() as pool:
            edits, flags = transform(TransformState(source, request, chunks, pool, self._room, ask))
        return Transformation(edits, flags, WorkerUsage(len(chunks), pool.asked, pool.known))

    def chunks(self, source: Source) -> list[DocumentChunk]:
        """The document as the subagents see it: whole if it is short, else in chunks that fit the model."""
        holds = self._setup.provider.context_tokens
        most = None if holds is None else max(LEAST_CHUNK, (holds - self._room) // 2)
        if source.text and not source.is_long and (most is None or count_tokens(source.text) <= most):
            return [DocumentChunk(0, 0, len(source.text), 0)]
        return chunks_of(source.text, source.format, min(self._chunk_tokens, most or self._chunk_tokens))

    def _make_pool(self) -> SubagentPool:
        return SubagentPool(self._setup, self._concurrency)


# Long documents as part of a job: subagents' costs and events are the job's.
#
# `make_for_job` creates the worker for a job's context, `make_for_call` for a single tool call. The rule-based
# assistant has no model to ask, so there is no worker: the tools then do only what can be computed.


# How often a round of many chunks reports progress, so that it does not fill the job's log.
TELLINGS = 50


def make_for_job(
    environment: AgentEnvironment,
    job: Job,
    provider: Provider,
    budget: JobBudget,
    cancel: CancelToken,
    tell: Callable[..., None],
) -> LongDocuments | None:
    """The worker of a job's context. `tell` reports an event, like `JobRun.tell`."""
    if provider.provider_name == OFFLINE:
        return None

    def count_usage(result: ProviderStepResult) -> None:
        environment.store.usage.add(job.id, job.document, result)
        budget.used_tokens += result.usage.input_tokens + result.usage.output_tokens
        budget.used_usd += result.price_usd or Decimal(0)

    def report_progress(progress: Progress) -> None:
        every = max(1, progress.total // TELLINGS)
        if progress.done % every == 0 or progress.done == progress.total:
            data: dict[str, Any] = progress.as_dict()
            tell("subagents.progress", **data)

    def check_allowed() -> None:
        if environment.store.jobs.get(
            job.id
        ).cancel_wanted:  # by another process: the job's own watch is waiting for us
            cancel.set()
        cancel.check()
        if reached := _find_exhausted_limit(budget):
            message = f"This job's budget is used up ({reached}); the document was not changed."
            raise Refused(message, code="limit_exceeded", budget=reached)

    answers = AnswerCache(environment.store.database, environment.store.clock)
    options = PoolOptions(provider, answers, count_usage, report_progress, check_allowed, cancel)
    return _make(options, environment.settings.limits, environment.guard)


def make_for_call(
    store: AgentStore,
    limits: Limits,
    provider: Provider,
    document: str = "",
    guard: AbstractContextManager[Any] | None = None,
    budget: JobBudget | None = None,
) -> LongDocuments | None:
    """The worker of a context outside of any job; its usage is still recorded, and limited by a `budget`."""
    if provider.provider_name == OFFLINE:
        return None
    return make_for_model(store, limits, provider, document, guard, budget)


def make_for_model(
    store: AgentStore,
    limits: Limits,
    provider: Provider,
    document: str,
    guard: AbstractContextManager[Any] | None,
    budget: JobBudget | None,
    *,
    report: Callable[[Progress], None] = lambda _: None,
    check: Callable[[], None] = lambda: None,
    cancel: CancelToken | None = None,
) -> LongDocuments:
    """The same for a provider that is a model. `check` raises if the caller no longer wants the answer, and `cancel`
    ends running requests."""

    def count_usage(result: ProviderStepResult) -> None:
        store.usage.add("", document, result)
        if budget is not None:
            budget.count_step(result)

    def check_allowed() -> None:
        check()
        if budget is not None and (reached := _find_exhausted_limit(budget)):
            message = f"The budget of this call is used up ({reached}); the document was not changed."
            raise Refused(message, code="limit_exceeded", budget=reached)

    options = PoolOptions(
        provider, AnswerCache(store.database, store.clock), count_usage, report, check_allowed, cancel
    )
    return _make(options, limits, guard)


def _make(options: PoolOptions, limits: Limits, guard: AbstractContextManager[Any] | None) -> LongDocuments:
    return LongDocuments(
        options,
        chunk_tokens=limits.chunk_tokens,
        response_tokens=limits.response_tokens,
        concurrency=limits.subagents,
        guard=guard,
    )


def _find_exhausted_limit(budget: JobBudget) -> str:
    """Which of the limits that subagents use up is reached; the steps of the job's own conversation do not count
    here."""
    reached = {
        "tokens": budget.used_tokens >= budget.tokens,
        "cents": budget.used_usd * 100 >= budget.cents,
        "seconds": budget.used_seconds >= budget.seconds,
    }
    return next((name for name, is_reached in reached.items() if is_reached), "")
