"""What the models cost: tokens and money of every step, kept even after the job is deleted.

Money is a decimal, never a float. A step with an unknown price counts its tokens and is counted as unpriced.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Callable

    from redraft.agent.store.database import AgentDatabase
    from redraft.providers.contract import ProviderStepResult

By = Literal["day", "model", "document"]


@dataclass(frozen=True, slots=True)
class UsageTotal:
    """What was spent under one name."""

    name: str
    steps: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    price_usd: Decimal = Decimal(0)
    unpriced: int = 0

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    def as_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "steps": self.steps,
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "cached_tokens": self.cached_tokens,
            "price_usd": str(self.price_usd),
            "unpriced_steps": self.unpriced,
        }

    def add_step(self, row: tuple[Any, ...]) -> UsageTotal:
        """The total plus one more step: its input, output and cached tokens, and its price."""
        read, written, cached, price = row
        return UsageTotal(
            self.name,
            self.steps + 1,
            self.input_tokens + read,
            self.output_tokens + written,
            self.cached_tokens + cached,
            self.price_usd + Decimal(price or 0),
            self.unpriced + (price is None),
        )


class UsageLog:
    """The table of usage."""

    def __init__(self, database: AgentDatabase, clock: Callable[[], float]) -> None:
        self._db = database
        self._clock = clock

    def add(self, job_id: str, document: str, result: ProviderStepResult) -> None:
        usage = result.usage
        price = None if result.price_usd is None else str(result.price_usd)
        self._db.execute(
            "INSERT INTO usage (at, job, provider, model, document, input, output, cached, price)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                self._clock(),
                job_id,
                result.provider,
                result.model,
                document,
                usage.input_tokens,
                usage.output_tokens,
                usage.cached_tokens,
                price,
            ),
        )

    def of_job(self, job_id: str) -> UsageTotal:
        rows = self._db.rows("SELECT input, output, cached, price FROM usage WHERE job = ?", (job_id,))
        spent = UsageTotal(job_id)
        for row in rows:
            spent = spent.add_step(row)
        return spent

    def by(self, what: By, *, since: float = 0.0) -> list[UsageTotal]:
        """What was spent by day (newest first), by model or by document (most expensive first)."""
        rows = self._db.rows(
            "SELECT at, provider, model, document, input, output, cached, price FROM usage WHERE at >= ? ORDER BY seq",
            (since,),
        )
        found: dict[str, UsageTotal] = {}
        for at, provider, model, document, *numbers in rows:
            named = {"day": _day(at), "model": f"{provider}:{model}", "document": document or "(none)"}[what]
            found[named] = found.get(named, UsageTotal(named)).add_step(tuple(numbers))
        if what == "day":
            return sorted(found.values(), key=lambda spent: spent.name, reverse=True)
        return sorted(found.values(), key=lambda spent: (-spent.price_usd, -spent.tokens, spent.name))

    def price_of_a_token(self, provider: str, model: str) -> Decimal | None:
        """The average price of a token of this model so far; None if no step of it had a price."""
        rows = self._db.rows(
            "SELECT input + output, price FROM usage WHERE provider = ? AND model = ? AND price IS NOT NULL",
            (provider, model),
        )
        tokens = sum(row[0] for row in rows)
        return sum((Decimal(row[1]) for row in rows), Decimal(0)) / tokens if tokens else None


def _day(at: float) -> str:
    return f"{datetime.fromtimestamp(at, UTC).astimezone():%Y-%m-%d}"
