"""A step that is shown while it arrives: one task produces, the caller reads, and either may stop the other.

The producer stays in one task from its first byte to its last, because connections and time limits belong to the task
that opened them. Between the two is a short queue, so that a slow reader slows the producer down.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, cast

from redraft.providers.contract import StepDelta

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine

    from redraft.providers.contract import (
        CancelToken,
        Provider,
        ProviderStepResult,
        StepRequest,
        StreamingProvider,
        StreamItem,
    )

    Show = Callable[[StepDelta], Awaitable[None]]

_QUEUE = 64


async def stream_step(
    provider: Provider, request: StepRequest, cancel: CancelToken | None = None
) -> AsyncIterator[StreamItem]:
    """A step as it arrives, from any provider: one that cannot stream returns its text at once, and then its result."""
    if hasattr(provider, "stream_step"):
        async for item in cast("StreamingProvider", provider).stream_step(request, cancel=cancel):
            yield item
        return
    result = await provider.run_step(request, cancel=cancel)
    if result.text:
        yield StepDelta("text", result.text)
    yield result


async def pump(
    produce: Callable[[Show], Coroutine[Any, Any, ProviderStepResult]], cancel: CancelToken
) -> AsyncIterator[StreamItem]:
    """What `produce` shows, then its result; raises if it fails. Leaving the iteration early stops it."""
    queue: asyncio.Queue[StepDelta] = asyncio.Queue(_QUEUE)
    task = asyncio.ensure_future(cancel.run(produce(queue.put)))
    getting: asyncio.Future[StepDelta] | None = None
    try:
        while not (task.done() and queue.empty()):
            getting = asyncio.ensure_future(queue.get())
            await asyncio.wait([getting, task], return_when=asyncio.FIRST_COMPLETED)
            if getting.done():
                yield getting.result()
            else:
                await _cancel_task(getting)
        yield await task
    finally:
        await _cancel_task(task)
        if getting is not None:
            await _cancel_task(getting)


async def _cancel_task(task: asyncio.Future[Any]) -> None:
    if not task.done():
        task.cancel()
        await asyncio.wait([task])
