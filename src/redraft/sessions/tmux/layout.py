"""Arrange panes as an editor shows their documents: `layout` joins them into one window, `sync` makes a grid of it.

Panes are moved and never closed: an unwanted one gets a window of its own. Several documents may share a pane; it is
then placed where the first of them belongs. A grid that is already right, in order and geometry, is left alone.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING

from redraft.errors import Refused
from redraft.sessions.tmux import panes

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from redraft.sessions.tmux.panes import Pane

Grid = tuple[tuple[str, ...], ...]


def grid_of(columns: Sequence[Sequence[str]]) -> Grid:
    """The columns with every pane only where it occurs first, and without columns that are then empty."""
    seen: set[str] = set()
    grid: list[tuple[str, ...]] = []
    for column in columns:
        new = tuple(dict.fromkeys(pane for pane in column if pane not in seen))
        seen.update(new)
        if new:
            grid.append(new)
    return tuple(grid)


def target_window(wanted: Collection[str], live: Mapping[str, Pane]) -> str:
    """The window with the most wanted panes; among those the one with the most panes."""
    holding = Counter(live[pane].window for pane in wanted)
    size = Counter(pane.window for pane in live.values())
    return max(holding, key=lambda window: (holding[window], size[window]))


def lay_out(wanted: Sequence[str], registered: Collection[str], *, stacked: bool, live: Mapping[str, Pane]) -> str:
    """Bring the wanted panes into one window, side by side or stacked in this order, and focus the first; returns the
    window. Panes that already stand so are left alone.

    Only panes of other documents are moved out: shells and tools stay.
    """
    wanted = list(dict.fromkeys(wanted))
    window = target_window(wanted, live)
    inside = [pane.id for pane in live.values() if pane.window == window]
    for pane in inside:
        if pane in registered and pane not in wanted:
            panes.leave_window(pane)
    if not _is_row([live[pane] for pane in wanted], stacked=stacked):
        _make_row(wanted, next(pane for pane in wanted if pane in inside), inside, stacked=stacked)
    panes.select(wanted[0])
    return window


def _is_row(found: Sequence[Pane], *, stacked: bool) -> bool:
    """Whether panes stand beside one another, or below, in this order, with nothing between them."""
    if len({pane.window for pane in found}) > 1:
        return False
    if stacked:
        return all(
            (upper.left, upper.width, upper.bottom + 1) == (lower.left, lower.width, lower.top)
            for upper, lower in pairwise(found)
        )
    return all(
        (left.top, left.height, left.right + 1) == (right.top, right.height, right.left)
        for left, right in pairwise(found)
    )


def _make_row(wanted: Sequence[str], anchor: str, inside: Collection[str], *, stacked: bool) -> None:
    """Place the panes in the anchor's stead, in their order and in equal shares."""
    first, *others = wanted
    if first != anchor:
        panes.join(first, anchor, below=stacked)
    for pane in others:
        if pane in inside:
            panes.leave_window(pane)
    for number, (before, pane) in enumerate(pairwise(wanted), 1):
        rest = len(wanted) - number
        panes.join(pane, before, below=stacked, percent=round(100 * rest / (rest + 1)))


def is_arranged(grid: Grid, window: str, live: Mapping[str, Pane]) -> bool:
    """Whether a window shows exactly this grid: its panes, in this order, each column from top to bottom and as wide as
    all of its panes."""
    inside = {pane.id for pane in live.values() if pane.window == window}
    if inside != {pane for column in grid for pane in column}:
        return False
    columns = [[live[pane] for pane in column] for column in grid]
    if any(left[0].right + 1 != right[0].left for left, right in pairwise(columns)) or columns[0][0].left != 0:
        return False
    return all(map(_is_column, columns))


def _is_column(column: Sequence[Pane]) -> bool:
    first, last = column[0], column[-1]
    return (
        all((pane.left, pane.width) == (first.left, first.width) for pane in column)
        and all(upper.bottom + 1 == lower.top for upper, lower in pairwise(column))
        # The window's own status line, above or below its panes, takes a line.
        and first.top <= 1
        and last.bottom >= last.window_height - 1
    )


def sync(grid: Grid, window: str | None, live: Mapping[str, Pane]) -> bool:
    """Make a window show this grid and nothing else; False if it already does."""
    wanted = [pane for column in grid for pane in column]
    target = window or target_window(wanted, live)
    if is_arranged(grid, target, live):
        return False
    inside = [pane.id for pane in live.values() if pane.window == target]
    anchor = wanted[0]
    if anchor not in inside:
        panes.join(anchor, inside[0])
    for pane in inside:
        if pane != anchor:
            panes.leave_window(pane)
    for left, right in pairwise(column[0] for column in grid):
        panes.join(right, left)
    if len(grid) > 1:
        panes.equalize_columns(anchor)
    for column in grid:
        for left, (upper, lower) in enumerate(pairwise(column), 1):
            rest = len(column) - left
            panes.join(lower, upper, below=True, percent=round(100 * rest / (rest + 1)))
    now = panes.list_panes()
    if anchor not in now or not is_arranged(grid, now[anchor].window, now):
        raise Refused("The panes could not be arranged: is the window large enough?", code="conflict")
    return True
