"""The figures, the tables and the picture of a comparison."""

from __future__ import annotations

from decimal import Decimal
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.measures import matrix, measure, percentile, summary
from evals.plot import render_svg
from evals.task_runner import TaskResult

SVG = "{http://www.w3.org/2000/svg}"


def result(task: str, model: str = "m", **more: Any) -> TaskResult:
    return TaskResult(task, model, **more)


RESULTS = [
    result("a", hunks=3, accepted=3, calls=2, seconds=1.0, price_usd=Decimal("0.10"), tokens=5),
    result("b", hunks=1, accepted=0, calls=9, seconds=3.0, price_usd=Decimal("0.30"), faults=("b.md differs",)),
    result("c", calls=4, seconds=2.0, price_usd=Decimal("0.20"), questions=2, conflicts=3, tokens=7),
    result("d", skipped="not here"),
]


@pytest.mark.covers(
    "SB-eval-success",
    "SB-eval-accepted",
    "SB-eval-conflicts",
    "SB-eval-calls",
    "SB-eval-latency",
    "SB-eval-cost",
    "SB-eval-clarifications",
)
def test_the_figures_of_a_model():
    [found] = measure(RESULTS)
    assert (found.tasks, found.solved, found.skipped, found.tokens) == (3, 2, 1, 12)
    assert found.success == pytest.approx(2 / 3)
    assert found.accepted_hunks == 3 / 4
    assert found.conflicts == found.clarifications == pytest.approx(1 / 3)
    assert found.calls == 3.0
    assert (found.p50, found.p95) == (2.0, 3.0)
    assert found.cost_usd == Decimal("0.2")


def test_a_figure_over_nothing_is_unknown():
    [found] = measure([result("a", skipped="not here")])
    values = (found.success, found.accepted_hunks, found.conflicts, found.calls, found.p50, found.p95, found.cost_usd)
    assert set(values) == {None}
    assert found.cells == ("m", "0/0", *["-"] * 8)


def test_a_cost_of_which_a_part_is_unknown_is_unknown():
    [found] = measure([*RESULTS, result("e", seconds=1.0)])
    assert (found.cost_usd, found.as_dict()["cost_usd"]) == (None, None)


@given(values=st.lists(st.floats(0, 1e6), min_size=1), percent=st.integers(1, 100))
def test_a_percentile_is_the_smallest_measured_value_that_enough_do_not_exceed(values: list[float], percent: int):
    enough = [value for value in values if sum(each <= value for each in values) * 100 >= percent * len(values)]
    assert percentile(sorted(values), percent) == min(enough)


def test_models_stand_side_by_side_in_the_order_in_which_they_took_part():
    results = [result("long-name", "z"), result("b", "z", faults=("x",)), result("b", "a", skipped="y")]
    assert matrix(results) == [
        "task            z        a",
        "long-name  solved",
        "b          failed  skipped",
    ]
    assert [line.split()[0] for line in summary(measure(results))] == ["model", "z", "a"]


def test_the_picture_has_a_cell_for_every_result_and_says_what_is_wrong():
    tree = ET.fromstring(render_svg(RESULTS))
    cells = [cell for cell in tree.iter(f"{SVG}rect") if cell.find(f"{SVG}title") is not None]
    titles = [str(cell.findtext(f"{SVG}title")) for cell in cells]
    assert len(cells) == len(RESULTS)
    assert len({cell.get("fill") for cell in cells}) == 3
    assert "b, m: failed. b.md differs" in titles
    assert "d, m: skipped. not here" in titles
    words = [text.text for text in tree.iter(f"{SVG}text")]
    assert {"2/3", "67%", "75%", "33%", "3.0", "2.00 s", "3.00 s", "$0.2000"} <= set(words)


def test_no_two_cells_of_the_picture_overlap_and_all_lie_within():
    results = [result(task, model) for model in "xyz" for task in "abcd"]
    tree = ET.fromstring(render_svg(results))
    cells = [cell for cell in tree.iter(f"{SVG}rect") if cell.find(f"{SVG}title") is not None]
    boxes = [tuple(float(cell.get(name, "")) for name in ("x", "y", "width", "height")) for cell in cells]
    width, height = float(tree.get("width", "")), float(tree.get("height", ""))
    assert all(x + w <= width and y + h <= height for x, y, w, h in boxes)
    for at, (x, y, w, h) in enumerate(boxes):
        assert all(x + w <= x2 or x2 + w2 <= x or y + h <= y2 or y2 + h2 <= y for x2, y2, w2, h2 in boxes[:at])


@given(name=st.text(alphabet=st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"])))
def test_any_name_can_be_drawn(name: str):
    tree = ET.fromstring(render_svg([result(name, name, faults=(name,))]))
    assert name in [text.text or "" for text in tree.iter(f"{SVG}text")]


def test_what_cannot_be_written_in_xml_is_shown_as_unknown():
    tree = ET.fromstring(render_svg([result("a", faults=("bad \x1b[2J \x00 \ufffe end",))]))
    assert [title.text for title in tree.iter(f"{SVG}title")] == ["a, m: failed. bad \ufffd[2J \ufffd \ufffd end"]
