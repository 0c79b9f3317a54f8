"""Who takes part: the tasks' own solutions, models by their names and routes, and traces that are played again.

A contender gives every task a provider of its own, so that nothing that one task made a model remember reaches the
next one. Recording wraps whatever the contender is.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING

from evals.solutions import PROFILES, solution_of
from evals.task_runner import TaskResult, run_task
from evals.tasks import MissingTask
from evals.traces import RecordingProvider, ReplayProvider
from redraft.agent.offline import OfflineProvider
from redraft.errors import RedraftError, Refused
from redraft.providers.adapters.scripted import ScriptedProvider

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from evals.solutions import Way
    from evals.tasks import Task
    from redraft.agent.model_selection import Models
    from redraft.providers.contract import Provider
    from redraft.providers.router import ModelChoice

    Trace = Callable[[ModelChoice], None]

SOLUTIONS = "solutions"
# The day on which the assistant without a model writes its notes: the one on which the tasks' clock begins.
DAY = date(2026, 1, 1)
ROUTES = ("local", "remote", "hybrid_auto")


@dataclass(frozen=True, slots=True)
class EvalModel:
    """One column of the comparison. `make` gives the provider for a task; each choice of a route is told to it."""

    name: str
    make: Callable[[Task, Trace], Provider]
    profile: str = "default"

    def run(self, task: Task) -> TaskResult:
        return run_task(task, _TaskProvider(self, task), name=self.name, profile=self.profile)


class _TaskProvider:
    """The provider of one task, kept for every job of it: a script goes on where a job is run again."""

    def __init__(self, contender: EvalModel, task: Task) -> None:
        self._contender = contender
        self._task = task
        self._made: Provider | None = None

    def provider(self, name: str, trace: Trace, /) -> Provider:
        if self._made is None:
            self._made = self._contender.make(self._task, trace)
        return self._made


def solutions(way: Way = "edit_text") -> EvalModel:
    """The right steps of every task, played: what the best model could do."""
    return EvalModel(SOLUTIONS, lambda task, _trace: ScriptedProvider(solution_of(task, way)), PROFILES[way])


def contender(name: str, models: Models) -> EvalModel:
    """The contender of a name: `solutions`, `offline`, a route (`local`, `remote`, `hybrid_auto`), or a model.

    Refused at once where there is no such model: a column must never stand for another than it says.
    """
    if name == SOLUTIONS:
        return solutions()
    if name == OfflineProvider.provider_name:
        return EvalModel(name, lambda _task, _trace: OfflineProvider(clock=lambda: DAY))
    if name not in ROUTES or name in models.known:
        models.provider(name, _ignore_choice)
        return EvalModel(name, lambda _task, trace: models.provider(name, trace))
    routed = replace(models, routing=replace(models.routing, agent_mode=name))
    if routed.provider("", _ignore_choice).provider_name == OfflineProvider.provider_name:
        raise Refused(f"No model is set up for {name!r}.", code="model_unavailable", model=name)
    return EvalModel(name, lambda _task, trace: routed.provider("", trace))


def _ignore_choice(_choice: ModelChoice) -> None:
    return


def record_traces(inner: EvalModel, folder: str) -> EvalModel:
    """The same, with a trace of every task kept in a folder."""

    def make(task: Task, trace: Trace) -> Provider:
        path = _trace_path(folder, inner.name, task.id)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8"):
            pass  # a trace is of one run: what an earlier one left would be played too
        return RecordingProvider(inner.make(task, trace), _writer(path))

    return replace(inner, make=make)


def _writer(path: str) -> Callable[[str], object]:
    def write(line: str) -> None:
        with open(path, "a", encoding="utf-8") as file:
            file.write(line)

    return write


def replay_traces(inner: EvalModel, folder: str) -> EvalModel:
    """The traces of a contender, played instead of it."""

    def make(task: Task, trace: Trace) -> Provider:
        path = _trace_path(folder, inner.name, task.id)
        try:
            with open(path, encoding="utf-8") as file:
                return ReplayProvider(file)
        except FileNotFoundError as error:
            message = f"There is no trace of {task.id} by {inner.name}."
            raise RedraftError(message, code="not_found", path=path) from error

    return replace(inner, make=make)


def _trace_path(folder: str, name: str, task: str) -> str:
    # A model's name may hold a slash or a colon (`anthropic:claude-...`).
    plain = "".join(letter if letter.isalnum() or letter in "-_." else "_" for letter in name)
    return os.path.join(folder, plain, f"{task}.jsonl")


def compare(tasks: Iterable[Task | MissingTask], contenders: Iterable[EvalModel]) -> Iterator[TaskResult]:
    """Every task by every contender, one after the other, so that none takes another's time."""
    listed = list(tasks)
    for each in contenders:
        for task in listed:
            if isinstance(task, MissingTask):
                yield TaskResult(task.id, each.name, skipped=task.why)
            else:
                yield each.run(task)
