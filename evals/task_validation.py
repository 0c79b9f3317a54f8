"""Whether a task measures what it should: its solution passes, and no wrong answer does.

Besides the wrong answers that a task carries there are some that every task has: a model that does nothing and says
that it is done, one that does all and damages something else besides, and one that does a part of the work.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evals.contenders import EvalModel, solutions
from evals.solutions import solution_of
from evals.tasks import WrongAnswer
from redraft.providers.adapters.scripted import ScriptedProvider
from redraft.text.lines import split_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evals.tasks import Task
    from redraft.providers.contract import JsonObject

WRITING = ("edit_text", "create_document", "move_document", "delete_document")
UNASKED: JsonObject = {"tool": "create_document", "arguments": {"path": "unasked.md", "content": "Nobody asked.\n"}}


def validate_task(task: Task) -> list[str]:
    """What is wrong with the task itself; nothing where its solution passes and its wrong answers do not."""
    found = [f"the solution does not pass: {fault}" for fault in solutions().run(task).faults]
    passing = (answer for answer in wrong_answers(task) if _contender_of(answer).run(task).passed)
    return [*found, *(f"a wrong answer passes: {answer.why}" for answer in passing)]


def wrong_answers(task: Task) -> list[WrongAnswer]:
    """Those of the task, and those that every task has."""
    return [WrongAnswer("does nothing", ({"text": "Done."},)), *_derive_wrong_answers(task), *task.wrong]


def _contender_of(answer: WrongAnswer) -> EvalModel:
    return EvalModel(answer.why, lambda _task, _trace: ScriptedProvider(map(dict, answer.steps)))


def _derive_wrong_answers(task: Task) -> Iterator[WrongAnswer]:
    right = solution_of(task)
    # Where nothing can be written, or all that was done is taken back, there is nothing to damage.
    if task.mode != "read" and task.checks.status == "completed":
        for why, damage in (
            ("makes a document that nobody asked for", UNASKED),
            ("changes other words", _damaging_edit(task)),
        ):
            if damage is not None:
                # Before every step: a job may be run again, and goes on in the middle of the script.
                harm: JsonObject = {"text": "", "calls": [damage]}
                yield WrongAnswer(why, tuple(each for step in right for each in (harm, step)))
    for number, step in enumerate(right):
        calls = [call for call in step.get("calls", ()) if call["tool"] in WRITING]
        if not task.solution and len(calls) > 1:
            yield WrongAnswer(
                "does a part of it", (*right[:number], {**step, "calls": calls[:1]}, *right[number + 1 :])
            )


def _damaging_edit(task: Task) -> JsonObject | None:
    """An edit of a line that is the same before and after, and stands in its document once."""
    for path, data in task.after.items():
        before, after = task.files.get(path, b"").decode("utf-8-sig"), data.decode("utf-8-sig")
        for line in map(str.rstrip, split_lines(after)):
            typed = any(line in change.old for change in task.meanwhile)
            if len(line) > 3 and not typed and before.count(line) == after.count(line) == 1:
                return {"tool": "edit_text", "arguments": {"path": path, "old_text": line, "new_text": f"{line} Hm."}}
    return None
