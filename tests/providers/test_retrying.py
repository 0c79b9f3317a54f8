"""What is sent again, how often, and how long the waits are."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redraft.providers.adapters.remote import RetryPolicy, with_retries
from redraft.providers.contract import KINDS, ProviderError

PATIENT = ("rate_limited", "overloaded", "timeout", "unreachable")
kinds = st.sampled_from(sorted(KINDS))


def failure(kind: str, retry_after: float | None = None) -> ProviderError:
    return ProviderError("It failed.", kind=kind, retry_after=retry_after)  # type: ignore[arg-type]


def run(failures: list[ProviderError], policy: RetryPolicy) -> tuple[int | ProviderError, list[float]]:
    """How it ends (the attempt that succeeded, or the failure), and the waits."""
    waits: list[float] = []

    async def attempt(number: int) -> int:
        if number <= len(failures):
            raise failures[number - 1]
        return number

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    async def main() -> int | ProviderError:
        try:
            return await with_retries(attempt, policy, sleep=sleep, chance=lambda: 0.5)
        except ProviderError as error:
            return error

    return asyncio.run(main()), waits


@pytest.mark.parametrize("kind", PATIENT)
def test_a_passing_failure_is_tried_again(kind: str):
    ended, waits = run([failure(kind), failure(kind)], RetryPolicy())
    assert ended == 3
    assert waits == [0.75, 1.5]


@pytest.mark.parametrize("kind", sorted(set(KINDS) - set(PATIENT)))
def test_a_refusal_is_final_at_once(kind: str):
    final = failure(kind)
    assert run([final], RetryPolicy()) == (final, [])
    assert final.attempts == 1


def test_the_time_that_the_provider_names_is_kept_to():
    assert run([failure("rate_limited", 7.0)], RetryPolicy()) == (2, [7.0])


def test_a_time_that_nobody_would_wait_is_told_instead():
    final = failure("rate_limited", 3600.0)
    assert run([final], RetryPolicy()) == (final, [])


def test_the_last_attempt_says_how_many_there_were():
    failures = [failure("timeout") for _ in range(9)]
    ended, waits = run(failures, RetryPolicy(attempts=4))
    assert ended is failures[3]
    assert failures[3].attempts == 4
    assert len(waits) == 3


def test_what_was_partly_shown_is_not_sent_again():
    final = failure("unreachable")
    final.final = True
    assert run([final], RetryPolicy()) == (final, [])


@given(
    st.integers(1, 1000),
    kinds,
    st.none() | st.floats(-5, 1e6),
    st.floats(0, 1, exclude_max=True),
)
def test_a_wait_is_never_negative_nor_longer_than_the_policy_allows(
    attempt: int, kind: str, retry_after: float | None, chance: float
):
    policy = RetryPolicy(attempts=1001)
    wait = policy.wait(attempt, failure(kind, retry_after), chance)
    assert wait is None or 0 <= wait <= max(policy.longest_wait, policy.longest_named_wait)
    assert (wait is None) == (kind not in PATIENT or (retry_after or 0) > policy.longest_named_wait)
