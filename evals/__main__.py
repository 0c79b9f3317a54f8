"""`python -m evals`, run in the project's own folder: the same document tasks for every model, measured."""

from __future__ import annotations

import os
import sys
from argparse import RawDescriptionHelpFormatter
from typing import TYPE_CHECKING

from evals.contenders import EvalModel, compare, contender, record_traces, replay_traces
from evals.measures import mark, matrix, measure, summary
from evals.plot import render_svg
from evals.task_files import load_tasks
from evals.task_validation import validate_task
from evals.tasks import MissingTask, Task
from redraft.cli.command import Invocation, Parser, pluralize
from redraft.cli.program import report_failures
from redraft.cli.screen import DIM, GREEN, RED, Screen, StyledText
from redraft.errors import Refused
from redraft.runtime import models

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evals.task_runner import TaskResult

TASKS = os.path.join("evals", "tasks")
MATERIAL = os.path.join(os.pardir, "shared", "material")
# Neither needs a key nor costs anything; whoever wants another model names it.
FREE = ("solutions", "offline")
STOPPED = 130  # as a program ends that Ctrl+C stopped

ABOUT = """\
Run document tasks through the agent, each in a temporary folder of its own, and compare what came of it.
A model that is named is asked for real, and may cost money."""
EXAMPLES = (
    "",
    "--model anthropic --model offline --plot comparison.svg",
    "--model remote --model local --model hybrid_auto --json",
    "--model anthropic --record traces",
    "--check",
)


def evaluate(call: Invocation) -> int:
    tasks = _tasks(call)
    if call.arguments.check:
        return _check(call, tasks)
    contenders = _contenders(call)
    if call.arguments.plot:
        _write(call.arguments.plot, "")  # a comparison can be dear: better to fail before it than after
    results: list[TaskResult] = []
    for result in compare(tasks, contenders):
        results.append(result)
        if not call.screen.json:
            _print_result(call, result)
    if call.arguments.plot:
        _write(call.arguments.plot, render_svg(results))
    if call.screen.json:
        found = measure(results)
        call.emit({"models": [each.as_dict() for each in found], "results": [each.as_dict() for each in results]})
    else:
        _print_comparison(call, results)
    return 0


def _check(call: Invocation, tasks: Sequence[Task | MissingTask]) -> int:
    """Try the tasks themselves; 1 where one of them could be passed by a wrong answer, or not by its solution."""
    shapes: list[dict[str, object]] = []
    for task in tasks:
        wrong = validate_task(task) if isinstance(task, Task) else []
        skipped = "" if isinstance(task, Task) else task.why
        shapes.append({"task": task.id, "holds": not wrong and not skipped, "wrong": wrong, "skipped": skipped})
        if not call.screen.json:
            said, colour = ("skipped", DIM) if skipped else ("wrong", RED) if wrong else ("holds", GREEN)
            call.screen.line(
                StyledText(f"{said:<8}", colour), task.id, StyledText(f"  {skipped or '; '.join(wrong)}", DIM)
            )
    if call.screen.json:
        call.emit({"tasks": shapes})
    return 1 if any(shape["wrong"] for shape in shapes) else 0


def _tasks(call: Invocation) -> list[Task | MissingTask]:
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


def _contenders(call: Invocation) -> list[EvalModel]:
    asked = call.arguments
    if asked.record and asked.replay:
        raise Refused("A trace is recorded or played again, not both.", field="record")
    named = [contender(name, models()) for name in dict.fromkeys(asked.model or FREE)]
    if asked.record:
        return [record_traces(each, asked.record) for each in named]
    return [replay_traces(each, asked.replay) for each in named] if asked.replay else named


def _print_result(call: Invocation, result: TaskResult) -> None:
    said = mark(result)
    colour = {"solved": GREEN, "failed": RED, "skipped": DIM}[said]
    why = result.skipped or "; ".join(result.faults)
    call.screen.line(StyledText(f"{said:<8}", colour), f"{result.model:<14} {result.task}", StyledText(f"  {why}", DIM))


def _print_comparison(call: Invocation, results: Sequence[TaskResult]) -> None:
    found = measure(results)
    for block in (matrix(results), summary(found)) if len(found) > 1 else (summary(found),):
        call.screen.line()
        for line in block:
            call.screen.line(line)
    skipped = max(each.skipped for each in found)
    if skipped:
        call.screen.remark(f"{pluralize(skipped, 'task')} could not be run here: see above.")


def _write(path: str, picture: str) -> None:
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(picture)
    except OSError as error:
        raise Refused(f"{path} cannot be written: {error.strerror}.", path=path) from error


def make_parser() -> Parser:
    parser = Parser(
        prog="python -m evals",
        description=ABOUT,
        epilog="examples:\n" + "\n".join(f"  python -m evals {example}".rstrip() for example in EXAMPLES),
        formatter_class=RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
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
    parser.add_argument(
        "--check",
        action="store_true",
        help="try the tasks instead: their solutions must pass, and their wrong answers must not",
    )
    parser.add_argument("--record", metavar="DIR", help="keep a trace of every run in this folder")
    parser.add_argument("--replay", metavar="DIR", help="play the traces in this folder instead of asking the models")
    parser.add_argument("--plot", metavar="FILE", help="draw the comparison as an SVG picture")
    parser.add_argument("--folder", metavar="F", default=".", help="the folder to work in (default: the current one)")
    parser.add_argument("--json", action="store_true", help="print JSON, errors included")
    return parser


def _run(arguments: Sequence[str], screen: Screen) -> int:
    try:
        status = evaluate(Invocation(make_parser().parse_args(arguments), screen))
        screen.finish()
    except KeyboardInterrupt:
        screen.remark("Stopped.")
        return STOPPED
    return status


def main() -> int:
    arguments = sys.argv[1:]
    return report_failures(lambda screen: _run(arguments, screen), json="--json" in arguments)


if __name__ == "__main__":
    sys.exit(main())
