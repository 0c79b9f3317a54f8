"""Sending a request again, when that can help.

Only failures whose kind says so are repeated (a limit, an overload, a time-out, a broken connection), never a refused
key or a refused request. The wait doubles with each attempt, with a random part so that sixteen subagents do not knock
in step; a time that the provider names is kept to, and where it is longer than anybody would wait, the failure is
raised at once with that time in it.
"""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from redraft.providers.failures import ProviderError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often and how long. Times are seconds; `attempts` counts the first one."""

    attempts: int = 4
    first_wait: float = 1.0
    longest_wait: float = 30.0
    longest_named_wait: float = 60.0

    def wait(self, attempt: int, failure: ProviderError, chance: float) -> float | None:
        """How long to wait after `attempt` (from 1) failed; None where the failure is final. `chance` is in [0, 1)."""
        if attempt >= self.attempts or not failure.may_retry:
            return None
        if failure.retry_after is not None:
            return None if failure.retry_after > self.longest_named_wait else max(0.0, failure.retry_after)
        # The exponent is bounded, because a float overflows long before a patient person gives up.
        ceiling = min(self.longest_wait, self.first_wait * 2.0 ** min(attempt - 1, 30))
        return ceiling * (0.5 + chance / 2)


async def with_retries(
    attempt: Callable[[int], Awaitable[T]],
    policy: RetryPolicy,
    *,
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    chance: Callable[[], float] = random.random,
) -> T:
    """What `attempt` gives (it is told which attempt it is), repeated as the policy says."""
    number = 1
    while True:
        try:
            return await attempt(number)
        except ProviderError as failure:
            failure.attempts = number
            wait = policy.wait(number, failure, chance())
            if wait is None:
                raise
        await sleep(wait)
        number += 1
