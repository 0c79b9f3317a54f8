"""The comparison as a picture: a column for each model, its figures on top, a cell for each task below.

Plain SVG of our own: nothing to install, nothing to fetch when it is looked at, and the same bytes for the same
results. What is wrong with a failed task is the cell's tooltip.
"""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

from evals.measures import HEADS, mark, measure

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evals.measures import EvalMetrics
    from evals.task_runner import TaskResult

LEFT, COLUMN, ROW, BAR = 320, 190, 18, 160
TOP = 34
# Colours that are also told apart without red and green, and by their lightness.
COLOURS = {"solved": "#1b7f79", "failed": "#e08214", "skipped": "#dddddd"}
# What XML has no way to write, even escaped.
_UNWRITABLE = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
RATES = ("success", "accepted_hunks", "conflicts", "clarifications")


def render_svg(results: Sequence[TaskResult]) -> str:
    """The picture of a comparison."""
    models = measure(results)
    tasks = list(dict.fromkeys(each.task for each in results))
    figures = len(HEADS) - 1
    width = LEFT + COLUMN * len(models) + 20
    height = TOP + ROW * (figures + len(tasks) + 1) + 20
    size = f'width="{width}" height="{height}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="12">',
        f'<rect {size} fill="#ffffff"/>',
        *_figures(models),
        *_cells(results, tasks, [each.model for each in models], TOP + ROW * (figures + 1)),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _words(text: str) -> str:
    return escape(_UNWRITABLE.sub("\ufffd", text))


def _text(x: float, y: float, words: str, more: str = "") -> str:
    return f'<text x="{x:g}" y="{y:g}"{more}>{_words(words)}</text>'


def _figures(models: Sequence[EvalMetrics]) -> Iterator[str]:
    for at, head in enumerate(HEADS[1:]):
        yield _text(10, TOP + ROW * at + 13, head)
    for column, model in enumerate(models):
        x = LEFT + COLUMN * column
        yield _text(x, 20, model.model, ' font-weight="bold"')
        rates = dict(zip(HEADS[2:6], (getattr(model, name) for name in RATES), strict=True))
        for at, (head, cell) in enumerate(zip(HEADS[1:], model.cells[1:], strict=True)):
            y = TOP + ROW * at
            rate = rates.get(head)
            if rate is not None:
                yield f'<rect x="{x}" y="{y + 1}" width="{BAR}" height="{ROW - 3}" fill="#eeeeee"/>'
                yield f'<rect x="{x}" y="{y + 1}" width="{BAR * rate:g}" height="{ROW - 3}" fill="#9ecae1"/>'
            yield _text(x + 4, y + 13, cell)


def _cells(results: Sequence[TaskResult], tasks: Sequence[str], models: Sequence[str], top: int) -> Iterator[str]:
    for row, task in enumerate(tasks):
        yield _text(10, top + ROW * row + 13, task)
    for each in results:
        x, y = LEFT + COLUMN * models.index(each.model), top + ROW * tasks.index(each.task)
        why = "; ".join(each.faults) or each.skipped or f"{each.calls} calls, {each.seconds:.2f} s"
        said = _words(f"{each.task}, {each.model}: {mark(each)}. {why}")
        yield (
            f'<rect x="{x}" y="{y + 1}" width="{BAR}" height="{ROW - 3}" fill="{COLOURS[mark(each)]}">'
            f"<title>{said}</title></rect>"
        )
