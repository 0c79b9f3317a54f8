"""`redraft eval`: the same document tasks for every model, measured."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from redraft.cli.command import Call, Command, counted
from redraft.cli.screen import DIM, GREEN, RED, Styled
from redraft.errors import Refused

if TYPE_CHECKING:
    from argparse import ArgumentParser
    from collections.abc import Sequence

    from redraft.evals.contenders import Contender
    from redraft.evals.running import Result
    from redraft.evals.tasks import Missing, Task

TASKS = os.path.join("evals", "tasks")
MATERIAL = os.path.join(os.pardir, "shared", "material")
# Neither needs a key nor costs anything; whoever wants another model names it.
FREE = ("solutions", "offline")


def evaluate(call: Call) -> int:
    from redraft.evals.contenders import compare
    from redraft.evals.measures import measured
    from redraft.evals.plot import svg

    tasks, contenders = _tasks(call), _contenders(call)
    if call.arguments.plot:
        _write(call.arguments.plot, "")  # a comparison can be dear: better to fail before it than after
    results: list[Result] = []
    for result in compare(tasks, contenders):
        results.append(result)
        if not call.screen.json:
            _tell(call, result)
    if call.arguments.plot:
        _write(call.arguments.plot, svg(results))
    if call.screen.json:
        found = measured(results)
        call.emit({"models": [each.as_dict() for each in found], "results": [each.as_dict() for each in results]})
    else:
        _compare(call, results)
    return 0


def _tasks(call: Call) -> list[Task | Missing]:
    from redraft.evals.loading import load_tasks

    asked = call.arguments
    folder = asked.tasks or os.path.join(call.folder, TASKS)
    material = asked.material or os.path.join(call.folder, MATERIAL)
    tasks = load_tasks(folder, material)
    kinds = set(asked.kind)
    chosen = [task for task in tasks if not kinds or kinds & {task.id, *task.kinds}]
    if not chosen:
        known = ", ".join(sorted({kind for task in tasks for kind in task.kinds}))
        raise Refused(f"There is no such task. The kinds are: {known}.", field="kind")
    return chosen


def _contenders(call: Call) -> list[Contender]:
    from redraft.evals.contenders import contender, recorded, replayed
    from redraft.runtime import models

    asked = call.arguments
    if asked.record and asked.replay:
        raise Refused("A trace is recorded or played again, not both.", field="record")
    named = [contender(name, models()) for name in dict.fromkeys(asked.model or FREE)]
    if asked.record:
        return [recorded(each, asked.record) for each in named]
    return [replayed(each, asked.replay) for each in named] if asked.replay else named


def _tell(call: Call, result: Result) -> None:
    from redraft.evals.measures import mark

    said = mark(result)
    colour = {"solved": GREEN, "failed": RED, "skipped": DIM}[said]
    why = result.skipped or "; ".join(result.faults)
    call.screen.line(Styled(f"{said:<8}", colour), f"{result.model:<14} {result.task}", Styled(f"  {why}", DIM))


def _compare(call: Call, results: Sequence[Result]) -> None:
    from redraft.evals.measures import matrix, measured, summary

    found = measured(results)
    for block in (matrix(results), summary(found)) if len(found) > 1 else (summary(found),):
        call.screen.line()
        for line in block:
            call.screen.line(line)
    skipped = max(each.skipped for each in found)
    if skipped:
        call.screen.remark(f"{counted(skipped, 'task')} could not be run here: see above.")


def _write(path: str, picture: str) -> None:
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(picture)
    except OSError as error:
        raise Refused(f"{path} cannot be written: {error.strerror}.", path=path) from error


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("--tasks", metavar="DIR", help="the folder with the tasks (default: evals/tasks)")
    parser.add_argument(
        "--material", metavar="DIR", help="where the real commits lie that tasks refer to (default: ../shared/material)"
    )
    parser.add_argument(
        "--model",
        metavar="M",
        action="append",
        default=[],
        help="who takes part, once for each: solutions, offline, local, remote, hybrid_auto or a model's name "
        "(default: solutions and offline)",
    )
    parser.add_argument(
        "--kind", metavar="K", action="append", default=[], help="only tasks of this kind, or of this name"
    )
    parser.add_argument("--record", metavar="DIR", help="keep a trace of every run in this folder")
    parser.add_argument("--replay", metavar="DIR", help="play the traces in this folder instead of asking the models")
    parser.add_argument("--plot", metavar="FILE", help="draw the comparison as an SVG picture")


COMMANDS = {
    "eval": Command(
        "eval",
        "Measure models by the same document tasks",
        evaluate,
        configure,
        (
            "eval",
            "eval --model anthropic --model offline --plot comparison.svg",
            "eval --model remote --model local --model hybrid_auto --json",
            "eval --model anthropic --record traces",
        ),
        "Run document tasks through the agent, each in a temporary folder of its own, and compare what came of it.\n"
        "A model that is named is asked for real, and may cost money.",
    )
}
