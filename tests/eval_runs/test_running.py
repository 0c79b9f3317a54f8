"""Tasks through the real loop: the right steps give the right bytes, and wrong ones are found out."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from evals.contenders import contender, solutions
from evals.tasks import Checks, ConcurrentEdit, Task
from redraft.agent.model_selection import Models
from tests.eval_runs.making import call, edit, playing, says, task

if TYPE_CHECKING:
    from pathlib import Path

    from evals.task_runner import TaskResult

BEFORE = {"a.md": "One red line.\n\nOne blue line.\n", "b.md": "Untouched.\n"}
AFTER = {"a.md": "One green line.\n\nOne blue line.\n", "b.md": "Untouched.\n"}
RIGHT = edit("a.md", "red", "green")
WRONG = edit("a.md", "blue", "yellow")


def exactly(wanted: Task) -> Task:
    """The task with the hash of every file among its checks."""
    return replace(wanted, checks=replace(wanted.checks, matches={}))


@pytest.mark.slow
@pytest.mark.covers("SB-eval-task", "SB-eval-success")
def test_the_right_steps_of_every_task_give_the_expected_hash(tasks: dict[str, Task]):
    results = [solutions().run(exactly(each)) for each in tasks.values()]
    assert {each.task: each.faults for each in results if not each.passed} == {}
    assert all(each.accepted == each.hunks for each in results)
    assert sum(each.hunks for each in results) >= len(tasks) / 2


@pytest.mark.slow
@pytest.mark.parametrize("way", ["replace_lines", "propose_edits"])
def test_real_commits_give_their_hash_by_lines_and_by_lists_of_edits_too(tasks: dict[str, Task], way: Any):
    real = [each for each in tasks.values() if "real" in each.kinds]
    if not real:
        pytest.skip("the real test material is not beside this checkout")
    results = [solutions(way).run(each) for each in real]
    assert {each.task: each.faults for each in results if not each.passed} == {}


@pytest.mark.slow
def test_the_assistant_without_a_model_solves_the_tasks_of_its_intents(
    tasks: dict[str, Task], capsys: pytest.CaptureFixture[str]
):
    mine = [each for each in tasks.values() if "offline" in each.kinds]
    offline = contender("offline", Models())
    results = {each.id: offline.run(each) for each in mine}
    solved = [name for name, result in results.items() if result.passed]
    written = {each.id for each in mine if "real" not in each.kinds}
    real = len(mine) - len(written)
    with capsys.disabled():
        kept = len(written.intersection(solved))
        sys.stdout.write(f"\noffline: {kept}/{len(written)} written tasks, {len(solved) - kept}/{real} real commits\n")
    assert {name: results[name].faults for name in written.difference(solved)} == {}


@pytest.mark.covers("SB-eval-accepted")
def test_of_a_wrong_proposal_the_person_takes_the_hunks_that_are_right():
    result = playing(says("", RIGHT, WRONG), says("Done.")).run(task(BEFORE, AFTER))
    assert result.faults == ("a.md differs",)
    assert (result.hunks, result.accepted) == (2, 1)


def test_of_created_moved_and_deleted_files_the_person_takes_those_that_are_right():
    after = {**AFTER, "new.md": "New.\n"}
    steps = says(
        "",
        RIGHT,
        call("create_document", path="new.md", content="New.\n"),
        call("create_document", path="other.md", content="Not wanted.\n"),
        call("delete_document", path="b.md"),
    )
    result = playing(says("", call("read_document", path="b.md")), steps, says("Done.")).run(task(BEFORE, after))
    assert result.faults == ("b.md is not there", "other.md should not be there")
    assert (result.hunks, result.accepted) == (4, 2)


@pytest.mark.covers("SB-eval-clarifications", "SB-eval-calls")
def test_questions_calls_and_steps_are_counted_and_answered_in_order():
    ask = call("clarify_user", question="Which?")
    made = task(BEFORE, AFTER, answers=("the red one",), checks=Checks(says=("the red one", "no_user_answer")))
    model = playing(says("", ask), says("", ask), says("", RIGHT), says("the red one; no_user_answer"))
    result = model.run(made)
    assert (result.faults, result.questions, result.calls, result.steps) == ((), 2, 3, 4)


def test_the_person_says_no_where_the_task_says_so():
    steps = (
        says("", call("read_document", path="b.md")),
        says("", call("delete_document", path="b.md")),
        says("Done."),
    )
    for allows, status in ((True, "completed"), (False, "cancelled")):
        after = {"a.md": BEFORE["a.md"]} if allows else BEFORE
        made = task(BEFORE, after, mode="apply", allows=allows, checks=Checks(status=status))
        assert playing(*steps).run(made).faults == ()


@pytest.mark.covers("SB-eval-conflicts")
@pytest.mark.parametrize(
    ("meanwhile", "after", "conflicts"),
    [
        (ConcurrentEdit("edited", "a.md", "blue", "black"), "One green line.\n\nOne black line.\n", 0),
        (ConcurrentEdit("edited", "a.md", "One red line", "Two pink lines"), "Two pink lines.\n\nOne blue line.\n", 1),
        (ConcurrentEdit("review", "a.md", "blue", "black", "program"), "One green line.\n\nOne black line.\n", 1),
    ],
)
def test_what_others_write_meanwhile_is_kept_and_conflicts_are_counted(
    meanwhile: ConcurrentEdit, after: str, conflicts: int
):
    made = task(BEFORE, {**BEFORE, "a.md": after}, meanwhile=(meanwhile,))
    again = [says("", edit("a.md", "One red line", "One green line")), says("Done.")]
    result = playing(*again, *again).run(made)
    assert (result.faults, result.conflicts) == ((), conflicts)


def test_what_a_task_has_others_do_and_cannot_be_done_is_a_fault():
    made = task(BEFORE, AFTER, meanwhile=(ConcurrentEdit("edited", "a.md", "not there", "x"),))
    result = playing(says("", RIGHT), says("Done.")).run(made)
    assert [fault.partition(":")[0] for fault in result.faults] == ["person could not change a.md"]


@pytest.mark.covers("SB-eval-cost")
def test_what_a_run_costs_is_known_only_where_every_step_has_a_price():
    priced = {"price_usd": "0.25", "usage": {"input_tokens": 90, "output_tokens": 10}}
    result = playing({**says("", RIGHT), **priced}, {**says("Done."), **priced}).run(task(BEFORE, AFTER))
    assert (str(result.price_usd), result.tokens) == ("0.50", 200)
    result = playing({**says("", RIGHT), **priced}, says("Done.")).run(task(BEFORE, AFTER))
    assert (result.price_usd, result.tokens) == (None, 100)


def test_a_model_that_fails_fails_the_task_with_its_reason():
    result = playing({"error": "auth", "message": "The key is wrong."}).run(task(BEFORE, AFTER))
    assert result.faults == ("a.md differs", "is failed (The key is wrong.)")


def test_the_limits_of_a_task_hold():
    made = task(BEFORE, AFTER, limits={"tool_calls": 1}, checks=Checks(says=("stopped",)))
    result = playing(says("", RIGHT, WRONG), says("That is all.")).run(made)
    assert (result.faults, result.calls) == ((), 1)


def test_two_runs_of_a_task_are_the_same_but_for_their_time(tasks: dict[str, Task]):
    def timeless(result: TaskResult) -> TaskResult:
        return replace(result, seconds=0.0)

    for name in ("which-of-two-to-dos", "changed-on-disk-before-it-was-accepted"):
        offline = contender("offline", Models())
        for each in (offline, solutions()):
            assert timeless(each.run(tasks[name])) == timeless(each.run(tasks[name]))


def test_nothing_of_a_run_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    places = {name: tmp_path / name for name in ("temporary", "state", "config")}
    for place in places.values():
        place.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(places["temporary"]))
    monkeypatch.setenv("XDG_STATE_HOME", str(places["state"]))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(places["config"]))
    assert playing(says("", RIGHT), says("Done.")).run(task(BEFORE, AFTER)).passed
    assert [os.listdir(place) for place in places.values()] == [[], [], []]
