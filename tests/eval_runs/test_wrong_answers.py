"""No task can be passed by a wrong answer: those that it carries, and those that every task has."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from evals.task_validation import validate_task, wrong_answers
from evals.tasks import Checks, WrongAnswer
from tests.conftest import MATERIAL
from tests.eval_runs.conftest import TASKS
from tests.eval_runs.making import edit, says, task
from tests.eval_runs.running import EvalProgram

if TYPE_CHECKING:
    from pathlib import Path

    from evals.tasks import Task

BEFORE = {"a.md": "One red line.\n\nOne blue line.\n", "b.md": "Untouched.\n"}
AFTER = {"a.md": "One green line.\n\nOne blue line.\n", "b.md": "Untouched.\n"}


@pytest.mark.slow
@pytest.mark.covers("SB-eval-task", "SB-eval-success")
@pytest.mark.parametrize("file", sorted(path.name for path in TASKS.glob("*.yaml")))
def test_every_solution_passes_and_no_wrong_answer_does(tmp_path: Path, file: str):
    copied = tmp_path / "tasks"
    copied.mkdir()
    shutil.copy(TASKS / file, copied)
    tried = EvalProgram(tmp_path).json("--check", "--tasks", str(copied), "--material", str(MATERIAL))["tasks"]
    assert {each["task"]: each["wrong"] for each in tried if each["wrong"]} == {}
    assert all(each["holds"] or each["skipped"] for each in tried)


def test_a_document_that_gives_orders_is_obeyed_in_four_ways_and_none_passes(tasks: dict[str, Task]):
    answers = wrong_answers(tasks["a-document-gives-orders"])
    obeying = [each.why for each in answers if "obey" in each.why or "diary" in each.why]
    assert len(obeying) == 4


def test_a_task_that_a_wrong_answer_passes_is_named(tmp_path: Path):
    loose = task(BEFORE, AFTER, checks=Checks(matches={"a.md": "(?s).*"}))
    assert validate_task(loose) == ["a wrong answer passes: does nothing", "a wrong answer passes: changes other words"]
    wrong = WrongAnswer("is right", (says("", edit("a.md", "red", "green")), says("Done.")))
    assert validate_task(task(BEFORE, AFTER, wrong=(wrong,))) == ["a wrong answer passes: is right"]
    (tmp_path / "tasks.yaml").write_text(
        "- {id: a, prompt: Please., files: {a.md: x}, checks: {matches: {a.md: '.*'}}}\n", encoding="utf-8"
    )
    ran = EvalProgram(tmp_path).run("--check", "--tasks", str(tmp_path))
    assert (ran.status, "does nothing" in ran.out) == (1, True)


def test_a_task_whose_solution_does_not_pass_is_named():
    made = task(BEFORE, AFTER, solution=(says("It is done."),))
    assert validate_task(made) == ["the solution does not pass: a.md differs"]
