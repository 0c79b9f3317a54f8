"""Who takes part: routes side by side, and golden traces that are recorded and played again."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from evals.contenders import compare, contender, record_traces, replay_traces, solutions
from evals.measures import matrix, measure
from evals.tasks import MissingTask
from redraft.agent.model_selection import Models
from redraft.config import ModelEntry, RoutingSettings
from redraft.errors import RedraftError
from redraft.providers.models import KeySources
from tests.eval_runs.making import edit, playing, says, task
from tests.providers.conftest import endpoint, model_calls
from tests.providers.wires import WIRES

if TYPE_CHECKING:
    from pathlib import Path

    from evals.task_runner import TaskResult
    from evals.tasks import Task
    from tests.providers.endpoint import Endpoint

__all__ = ["endpoint", "model_calls"]

BEFORE, AFTER = {"a.md": "One red line.\n"}, {"a.md": "One green line.\n"}
TASK = task(BEFORE, AFTER)


def timeless(result: TaskResult) -> TaskResult:
    return replace(result, seconds=0.0)


@pytest.mark.slow
@pytest.mark.covers("SB-eval-matrix", "SB-eval-cost")
def test_local_remote_and_hybrid_run_over_the_same_tasks_and_stand_side_by_side(endpoint: Endpoint, tmp_path: Path):
    wire = WIRES[0]
    change = ("edit_text", {"path": "a.md", "old_text": "red", "new_text": "green"})
    done = wire.streamed("Done.", [], False)
    # A step that the remote model takes over from the local one is not shown while it arrives.
    endpoint.answers = [wire.streamed("", [change], False), done, wire.whole("", [change], False), done]
    script = tmp_path / "local.jsonl"
    script.write_text('{"error": "unavailable", "message": "Out of memory."}\n', encoding="utf-8")
    models = Models(
        RoutingSettings(local="small", remote="large"),
        {
            "small": ModelEntry(kind="scripted", file=str(script)),
            "large": ModelEntry(kind=wire.kind, model=wire.model, base_url=endpoint.url, key_env="KEY"),
        },
        KeySources({"KEY": "of-nobody"}),
    )
    results = list(compare([TASK], [contender(name, models) for name in ("remote", "local", "hybrid_auto")]))
    assert matrix(results) == ["task     remote   local  hybrid_auto", "made-up  solved  failed       solved"]
    found = {each.model: each for each in measure(results)}
    assert found["remote"].cost_usd is not None
    assert found["remote"].cost_usd > 0
    assert len(endpoint.asked) == 4


def test_a_column_never_stands_for_another_model_than_it_says():
    for name in ("local", "remote", "hybrid_auto", "nobody"):
        with pytest.raises(RedraftError) as caught:
            contender(name, Models())
        assert caught.value.code == "model_unavailable", name


def test_a_task_that_is_missing_is_skipped_with_its_reason():
    [result] = compare([MissingTask("d00", "it is not here")], [solutions()])
    assert (result.task, result.skipped, result.passed) == ("d00", "it is not here", False)


@pytest.mark.slow
@pytest.mark.covers("SB-eval-golden")
@pytest.mark.parametrize("name", ["solutions", "offline"])
def test_a_trace_that_is_played_again_gives_the_same_result(tasks: dict[str, Task], tmp_path: Path, name: str):
    model = contender(name, Models())
    for chosen in ("which-of-two-to-dos", "rename-a-character", "lines-moved-after-they-were-read"):
        first = record_traces(model, str(tmp_path)).run(tasks[chosen])
        trace = tmp_path / name / f"{chosen}.jsonl"
        assert len(trace.read_text(encoding="utf-8").splitlines()) == first.steps
        again = replay_traces(playing(name=name), str(tmp_path)).run(tasks[chosen])
        assert timeless(again) == timeless(first)


@pytest.mark.slow
def test_a_trace_is_of_its_last_run_and_keeps_what_a_run_again_asked(tasks: dict[str, Task], tmp_path: Path):
    chosen = tasks["changed-on-disk-before-it-was-accepted"]
    model = record_traces(solutions(), str(tmp_path))
    first, second = model.run(chosen), model.run(chosen)
    trace = tmp_path / "solutions" / f"{chosen.id}.jsonl"
    assert len(trace.read_text(encoding="utf-8").splitlines()) == first.steps == second.steps == 6
    assert replay_traces(solutions(), str(tmp_path)).run(chosen).passed


def test_a_trace_is_played_for_the_very_request_alone(tmp_path: Path):
    model = playing(says("", edit("a.md", "red", "green")), says("Done."))
    assert record_traces(model, str(tmp_path)).run(TASK).passed
    other = replace(TASK, prompt="Something else.")
    [_, fault] = replay_traces(model, str(tmp_path)).run(other).faults
    assert "The trace holds no step for this request" in fault


def test_a_trace_that_is_not_there_fails_the_task_with_its_reason(tmp_path: Path):
    [_, fault] = replay_traces(playing(), str(tmp_path)).run(TASK).faults
    assert fault == "is failed (There is no trace of made-up by played.)"


def test_the_name_of_a_model_leads_nowhere_else_on_disk(tmp_path: Path):
    folder = tmp_path / "traces"
    assert record_traces(replace(solutions(), name="../../a:b/c"), str(folder)).run(TASK).passed
    [trace] = folder.rglob("*.jsonl")
    assert trace.relative_to(folder).parts == (".._.._a_b_c", "made-up.jsonl")
    assert json.loads(trace.read_text(encoding="utf-8").splitlines()[0])["result"]["provider"] == "scripted"
