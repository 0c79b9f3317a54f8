"""The figures of a comparison, model by model, and as a table.

A task that could not be run counts nowhere. A rate over nothing is unknown, not zero, and so is a cost of which a part
is not known.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evals.task_runner import TaskResult

UNKNOWN = "-"
HEADS: tuple[str, ...] = (
    "model",
    "solved",
    "success",
    "hunks accepted",
    "conflicts",
    "asks",
    "calls",
    "p50",
    "p95",
    "cost",
)


@dataclass(frozen=True, slots=True)
class EvalMetrics:
    """What one model did. Rates are from 0 to 1; `calls` are those of a task that was solved, `cost_usd` of any task,
    both on average; `p50` and `p95` are seconds from the request to the end or the proposal."""

    model: str
    tasks: int
    solved: int
    skipped: int
    success: float | None
    accepted_hunks: float | None
    conflicts: float | None
    clarifications: float | None
    calls: float | None
    p50: float | None
    p95: float | None
    cost_usd: Decimal | None
    tokens: int

    def as_dict(self) -> dict[str, Any]:
        shape = {name: getattr(self, name) for name in self.__slots__}
        return {**shape, "cost_usd": None if self.cost_usd is None else str(self.cost_usd)}

    @property
    def cells(self) -> tuple[str, ...]:
        """A row of the table, under `HEADS`."""
        rates = (self.success, self.accepted_hunks, self.conflicts, self.clarifications)
        times = (UNKNOWN if value is None else f"{value:.2f} s" for value in (self.p50, self.p95))
        return (
            self.model,
            f"{self.solved}/{self.tasks}",
            *(UNKNOWN if rate is None else f"{rate:.0%}" for rate in rates),
            UNKNOWN if self.calls is None else f"{self.calls:.1f}",
            *times,
            UNKNOWN if self.cost_usd is None else f"${self.cost_usd:.4f}",
        )


def measure(results: Iterable[TaskResult]) -> list[EvalMetrics]:
    """The figures of each model, in the order in which they took part."""
    by_model: dict[str, list[TaskResult]] = {}
    for result in results:
        by_model.setdefault(result.model, []).append(result)
    return [_measure_model(model, found) for model, found in by_model.items()]


def _measure_model(model: str, results: Sequence[TaskResult]) -> EvalMetrics:
    run = [each for each in results if not each.skipped]
    solved = [each for each in run if each.passed]
    seconds = sorted(each.seconds for each in run)
    prices = [each.price_usd for each in run if each.price_usd is not None]
    whole = bool(run) and len(prices) == len(run)
    return EvalMetrics(
        model=model,
        tasks=len(run),
        solved=len(solved),
        skipped=len(results) - len(run),
        success=_share(len(solved), len(run)),
        accepted_hunks=_share(sum(each.accepted for each in run), sum(each.hunks for each in run)),
        conflicts=_share(sum(each.conflicts > 0 for each in run), len(run)),
        clarifications=_share(sum(each.questions > 0 for each in run), len(run)),
        calls=_share(sum(each.calls for each in solved), len(solved)),
        p50=percentile(seconds, 50),
        p95=percentile(seconds, 95),
        cost_usd=sum(prices, Decimal(0)) / len(run) if whole else None,
        tokens=sum(each.tokens for each in run),
    )


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def percentile(ordered: Sequence[float], percent: int) -> float | None:
    """The smallest value that at least so many percent do not exceed: always one that was measured."""
    if not ordered:
        return None
    rank = -(-len(ordered) * percent // 100)
    return ordered[max(rank, 1) - 1]


def table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows as lines, the columns aligned: the first to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if number == 0 else cell.rjust(width)
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def summary(measures: Sequence[EvalMetrics]) -> list[str]:
    """A line for each model."""
    return table([HEADS, *(each.cells for each in measures)])


def matrix(results: Sequence[TaskResult]) -> list[str]:
    """A line for each task, a column for each model."""
    models = list(dict.fromkeys(each.model for each in results))
    by_task: dict[str, dict[str, str]] = {}
    for each in results:
        by_task.setdefault(each.task, {})[each.model] = mark(each)
    rows = [[task, *(found.get(model, "") for model in models)] for task, found in by_task.items()]
    return table([["task", *models], *rows])


def mark(result: TaskResult) -> str:
    return "skipped" if result.skipped else "solved" if result.passed else "failed"
