"""A wish to stop is heeded at once, from any thread, and for good."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest

from redraft.providers.contract import CancelToken, ProviderError


async def forever() -> None:
    await asyncio.sleep(60)


def test_a_wish_from_another_thread_ends_the_wait_at_once():
    cancel = CancelToken()
    threading.Timer(0.05, cancel.set).start()
    started = time.monotonic()
    with pytest.raises(ProviderError) as caught:
        asyncio.run(cancel.run(forever()))
    assert caught.value.code == "cancelled"
    assert time.monotonic() - started < 30


def test_nothing_starts_after_the_wish():
    cancel = CancelToken()
    cancel.set()
    began: list[int] = []

    async def work() -> None:
        began.append(1)

    with pytest.raises(ProviderError):
        asyncio.run(cancel.run(work()))
    assert began == []


def test_work_that_ends_before_the_wish_keeps_its_result():
    cancel = CancelToken()

    async def work() -> int:
        return 42

    assert asyncio.run(cancel.run(work())) == 42
    cancel.set()
    with pytest.raises(ProviderError):
        cancel.check()


def test_an_ordinary_cancellation_stays_one():
    async def main() -> None:
        task = asyncio.ensure_future(CancelToken().run(forever()))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())


def test_one_wish_ends_sixteen_steps():
    async def main() -> list[BaseException | None]:
        cancel = CancelToken()
        tasks = [asyncio.ensure_future(cancel.run(forever())) for _ in range(16)]
        await asyncio.sleep(0.01)
        cancel.set()
        return await asyncio.gather(*tasks, return_exceptions=True)

    ended = asyncio.run(main())
    assert [type(error) for error in ended] == [ProviderError] * 16


def test_a_failure_of_the_work_is_its_own():
    async def work() -> None:
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        asyncio.run(CancelToken().run(work()))
