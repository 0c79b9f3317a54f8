"""How fast one caller may call: a bucket that fills at a steady rate, and empties by one with each request.

It is there for programs that have lost their way and for guessing at tokens, not to ration anybody: a person and their
agents together stay far below it. Only failures are counted against those who have shown no token, so that nobody can
be locked out by others.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

REMEMBERED = 1024


@dataclass(slots=True)
class Bucket:
    """What one caller has left."""

    left: float
    at: float


class Pace:
    """So many requests a second in the long run, and `burst` at once."""

    def __init__(self, rate: float, burst: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate = rate
        self._burst = burst
        self._clock = clock
        self._buckets: OrderedDict[str, Bucket] = OrderedDict()

    def allows(self, name: str) -> bool:
        """Count a request; whether it is within the pace."""
        now = self._clock()
        bucket = self._buckets.get(name)
        if bucket is None:
            bucket = self._buckets[name] = Bucket(self._burst, now)
            while len(self._buckets) > REMEMBERED:
                self._buckets.popitem(last=False)
        bucket.left = min(self._burst, bucket.left + (now - bucket.at) * self._rate)
        bucket.at = now
        if bucket.left < 1:
            return False
        bucket.left -= 1
        return True
