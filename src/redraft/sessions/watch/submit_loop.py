"""When a watched document is submitted, and when it is not: the loop of one document. Pure; the time is passed in.

The document's content decides, never how often it was touched. A change before the answer has arrived, or within the
debounce time after it, may be the agent's own: it counts as a cycle. Cycles are limited, and content that was just
submitted is not submitted again. A later change is a person's, and resets the count. A change beyond the limit stays
in the document, and is submitted with the person's next change.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

LoopVerdict = Literal["submit", "converged", "held"]
DEBOUNCE_MS = 500
MAX_CYCLES = 3
_ALWAYS, _NEVER = float("-inf"), float("inf")


@dataclass(frozen=True, slots=True)
class LoopLimits:
    """How long a change may settle, in seconds, and how many cycles may follow one another."""

    debounce: float = DEBOUNCE_MS / 1000
    max_cycles: int = MAX_CYCLES


@dataclass(frozen=True, slots=True)
class WatchedContent:
    """A document as it was found: its content's digest, whether it has something that no agent has seen, and whether it
    wants to be submitted at once."""

    digest: bytes
    news: bool
    reactive: bool = True


@dataclass(slots=True)
class SubmitLoop:
    """The state of one document."""

    limits: LoopLimits
    running: bool = False
    due: float | None = None
    cycles: int = 0
    _seen: bytes | None = field(default=None)
    _submitted: bytes | None = None
    _answered: float = _ALWAYS
    _echo: bool = False

    def observe(self, found: WatchedContent, now: float) -> None:
        """The document was read. The first time only records it: what was there before is not a change."""
        before, self._seen = self._seen, found.digest
        if before is None or before == found.digest:
            return
        later = now > self._answered + self.limits.debounce
        if not self.running:
            self._schedule(found, now, echo=not later)
        elif later and found.news:
            self._echo = False
        elif not found.news:
            self._answered = min(self._answered, now)  # the answer is there, although its program is still running

    def begin(self, found: WatchedContent, now: float) -> LoopVerdict | None:
        """A change has settled: what to do with the document as it is now; None if there is nothing new in it."""
        self.observe(found, now)
        self.due = None
        if not found.news:
            return None
        if not self._echo:
            self.cycles = 0
        elif found.digest == self._submitted:
            return "converged"
        elif self.cycles >= self.limits.max_cycles:
            return "held"
        else:
            self.cycles += 1
        self.running, self._submitted = True, found.digest
        self._answered, self._echo = _NEVER, True
        return "submit"

    def finish(self, found: WatchedContent, now: float) -> None:
        """The submit has ended, and left this content."""
        self.observe(found, now)
        self.running, self._answered = False, min(self._answered, now)
        self._schedule(found, now, echo=self._echo)

    def _schedule(self, found: WatchedContent, now: float, *, echo: bool) -> None:
        """Let a change settle. Several that settle together are an echo only if all of them are."""
        self._echo = echo and (self.due is None or self._echo)
        self.due = None if not found.news else now if found.reactive else now + self.limits.debounce
