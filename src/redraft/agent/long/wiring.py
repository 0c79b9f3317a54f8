"""Long documents as part of a job: what subagents spend counts as the job's, and what they do is among its events.

`for_job` makes what a job's context needs, `for_call` the same for a single call of a tool. With the rule-based
assistant there is no model to ask, so there is nothing to make: the tools then do what can be computed.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from redraft.agent.choosing import OFFLINE
from redraft.agent.long.answers import Answers
from redraft.agent.long.crew import Means
from redraft.agent.long.documents import LongDocuments
from redraft.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from redraft.agent.budget import Budget
    from redraft.agent.jobs import Job
    from redraft.agent.long.crew import Progress
    from redraft.agent.long.documents import Shared
    from redraft.agent.room import Room
    from redraft.agent.store import AgentStore
    from redraft.config import Limits
    from redraft.providers.contract import Cancel, Provider, ProviderStepResult

# A round of many chunks tells so often how far it is, so that it does not fill the job's log.
TELLINGS = 50


def for_job(
    room: Room,
    job: Job,
    provider: Provider,
    budget: Budget,
    cancel: Cancel,
    tell: Callable[..., None],
    shared: Shared | None = None,
) -> LongDocuments | None:
    """The `long` of a job's context. `tell` reports an event, as `Run.tell` does."""
    if provider.provider_name == OFFLINE:
        return None

    def spent(result: ProviderStepResult) -> None:
        room.store.usage.add(job.id, job.document, result)
        budget.used_tokens += result.usage.input_tokens + result.usage.output_tokens
        budget.used_usd += result.price_usd or Decimal(0)

    def told(progress: Progress) -> None:
        every = max(1, progress.total // TELLINGS)
        if progress.done % every == 0 or progress.done == progress.total:
            data: dict[str, Any] = progress.as_dict()
            tell("subagents.progress", **data)

    def may_ask() -> None:
        if room.store.jobs.get(job.id).cancel_wanted:  # by another process: the job's own watch waits for us
            cancel.set()
        cancel.check()
        if reached := _reached(budget):
            message = f"The budget of this job is spent ({reached}), and the document is as it was."
            raise Refused(message, code="limit_exceeded", budget=reached)

    answers = Answers(room.store.database, room.store.clock)
    means = Means(provider, answers, spent, told, may_ask, cancel)
    return _made(means, room.settings.limits, room.guard, shared)


def for_call(
    store: AgentStore,
    limits: Limits,
    provider: Provider,
    document: str = "",
    guard: AbstractContextManager[Any] | None = None,
    budget: Budget | None = None,
) -> LongDocuments | None:
    """The `long` of a context outside of any job; what it spends is still written down, and bounded by a `budget`."""
    if provider.provider_name == OFFLINE:
        return None
    return by_model(store, limits, provider, document, guard, budget)


def by_model(
    store: AgentStore,
    limits: Limits,
    provider: Provider,
    document: str,
    guard: AbstractContextManager[Any] | None,
    budget: Budget | None,
    *,
    told: Callable[[Progress], None] = lambda _: None,
    check: Callable[[], None] = lambda: None,
    cancel: Cancel | None = None,
) -> LongDocuments:
    """The same of a provider that is a model. `check` raises where whoever called does not want the answer any more,
    and `cancel` ends what is under way."""

    def spent(result: ProviderStepResult) -> None:
        store.usage.add("", document, result)
        if budget is not None:
            budget.step(result)

    def may_ask() -> None:
        check()
        if budget is not None and (reached := _reached(budget)):
            message = f"What one call may spend is spent ({reached}), and the document is as it was."
            raise Refused(message, code="limit_exceeded", budget=reached)

    means = Means(provider, Answers(store.database, store.clock), spent, told, may_ask, cancel)
    return _made(means, limits, guard, None)


def _made(
    means: Means, limits: Limits, guard: AbstractContextManager[Any] | None, shared: Shared | None
) -> LongDocuments:
    return LongDocuments(
        means,
        chunk_tokens=limits.chunk_tokens,
        response_tokens=limits.response_tokens,
        concurrency=limits.subagents,
        guard=guard,
        shared=shared,
    )


def _reached(budget: Budget) -> str:
    """Which limit is reached of those that subagents use up; the steps of the job's own conversation are not theirs."""
    reached = {
        "tokens": budget.used_tokens >= budget.tokens,
        "cents": budget.used_usd * 100 >= budget.cents,
        "seconds": budget.used_seconds >= budget.seconds,
    }
    return next((name for name, is_reached in reached.items() if is_reached), "")
