"""How the agents' work has gone: counted from jobs, events and turns that really were."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from redraft.agent.metrics import AgentMetrics, collect_metrics
from redraft.config import Settings
from tests.agent.desk import call, edit, says

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.agent.desk import Desk

AGATE = edit("poem.md", "Amber", "Agate")
MISSING = edit("poem.md", "no such passage", "")
APPLY = Settings(mode="apply")


def of(desk: Desk, since: float = 0.0) -> AgentMetrics:
    return collect_metrics(desk.store, desk.workspace, since=since)


def test_where_nothing_was_done_no_share_is_claimed(desk: Callable[..., Desk]):
    found = of(desk())
    assert (found.jobs, found.actions, found.tools) == (0, 0, ())
    assert found.succeeded is found.accepted is found.undone is found.p50_seconds is None


@pytest.mark.covers("TK-telemetry", "ML-metric-success", "ML-metric-actions", "ML-metric-time")
def test_calls_are_counted_by_tool_with_what_they_took(desk: Callable[..., Desk]):
    here = desk(says("", call("read_document", path="poem.md"), MISSING), says("", AGATE), says("Done."))

    def a_step_takes_two_seconds(_number: int) -> None:
        here.folder.clock.now += 2

    here.model.before = a_step_takes_two_seconds
    here.ask()
    found = of(here)
    assert (found.conversations, found.jobs, found.actions, found.actions_per_conversation) == (1, 1, 3, 3.0)
    assert found.succeeded == pytest.approx(2 / 3)
    edits, reads = found.tools
    assert (edits.tool, edits.calls, edits.failed) == ("edit_text", 2, 1)
    assert (reads.tool, reads.calls, reads.failed) == ("read_document", 1, 0)
    assert reads.tokens > edits.tokens / 2 > 0
    assert (found.p50_seconds, found.p95_seconds) == (6.0, 6.0)


@pytest.mark.covers("ML-metric-accept", "ML-metric-undo")
def test_what_became_of_the_turns_is_counted(desk: Callable[..., Desk]):
    here = desk(says("", AGATE), says("Done."), settings=APPLY)
    here.ask()
    assert (of(here).accepted, of(here).undone) == (1.0, 0.0)
    here.workspace.undo()
    assert (of(here).accepted, of(here).undone) == (0.0, 1.0)


@pytest.mark.covers("ML-metric-accept")
def test_a_proposal_counts_when_it_is_decided(desk: Callable[..., Desk]):
    here = desk(says("", AGATE), says("Done."))
    here.ask()
    assert of(here).accepted is None
    here.workspace.reject({"poem.md": None})
    assert (of(here).accepted, of(here).undone) == (0.0, 0.0)


def test_what_is_older_is_left_out(desk: Callable[..., Desk]):
    here = desk(says("", AGATE), says("Done."), settings=APPLY)
    here.ask()
    assert of(here, since=here.store.clock() + 1).jobs == 0
    assert of(here, since=here.store.clock() + 1).accepted is None
