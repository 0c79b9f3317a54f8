"""One task, run by one model through the real agent: a folder and a state of its own, a person who is played, figures.

Nothing of a run stays, and nothing of one reaches another. The clock that the engine sees only counts, so that what a
model is told is the same in every run and a recorded trace can be played again; time is measured beside it.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import queue
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from evals.outcome import EvalOutcome, find_faults
from evals.simulated_user import SimulatedUser
from redraft.agent.agent import Agent
from redraft.agent.store.agent_store import AgentStore
from redraft.agent.store.jobs import BUSY, Status
from redraft.config import AgentLimits, Settings
from redraft.errors import RedraftError
from redraft.tools.registry import load_registry
from redraft.workspace.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from evals.tasks import Moment, Task
    from redraft.agent.run.job_runner import ProviderFactory
    from redraft.agent.store.events import JobEvent
    from redraft.agent.store.jobs import Job

BEGINNING = 1_767_225_600.0  # the first second of 2026
# Beyond the limit of the job itself, which ends it first.
GRACE_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class TaskResult:
    """What one model made of one task. `price_usd` is None where a step's price is not known."""

    task: str
    model: str
    faults: tuple[str, ...] = ()
    skipped: str = ""
    hunks: int = 0
    accepted: int = 0
    conflicts: int = 0
    calls: int = 0
    steps: int = 0
    seconds: float = 0.0
    tokens: int = 0
    price_usd: Decimal | None = None
    questions: int = 0
    answer: str = ""

    @property
    def passed(self) -> bool:
        return not self.faults and not self.skipped

    def as_dict(self) -> dict[str, Any]:
        shape = {name: getattr(self, name) for name in self.__slots__}
        price = None if self.price_usd is None else str(self.price_usd)
        return {**shape, "faults": list(self.faults), "price_usd": price, "passed": self.passed}


def run_task(task: Task, providers: ProviderFactory, *, name: str, profile: str = "default") -> TaskResult:
    """Run a task with the model that `providers` gives; `name` is what the result calls it."""
    with tempfile.TemporaryDirectory(prefix="redraft-eval-") as place:
        folder = os.path.join(place, "folder")
        _write_files(folder, task.files)
        settings = Settings(mode=task.mode, agent=replace(AgentLimits(), **task.limits))
        clock = _counting_clock()
        with (
            Workspace.open(
                folder, state_home=os.path.join(place, "state"), settings=settings, clock=clock
            ) as workspace,
            AgentStore(workspace.state, clock) as store,
        ):
            agent = Agent(workspace, store, load_registry(), providers, ceiling=task.mode)
            try:
                return _TaskRun(task, agent, name).result(profile)
            finally:
                agent.close()


def _write_files(folder: str, files: Mapping[str, bytes]) -> None:
    os.makedirs(folder)
    for path, data in files.items():
        target = os.path.join(folder, path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "wb") as file:
            file.write(data)


def _counting_clock() -> Callable[[], float]:
    ticks = itertools.count()
    return lambda: BEGINNING + next(ticks) / 1000


@dataclass(frozen=True, slots=True)
class _ReviewResult:
    """What the person thought of the last run."""

    job: Job
    faults: tuple[str, ...]
    hunks: int = 0
    accepted: int = 0


class _TaskRun:
    """A task while it runs."""

    def __init__(self, task: Task, agent: Agent, name: str) -> None:
        self._task = task
        self._agent = agent
        self._name = name
        self._user = SimulatedUser(task, agent)
        self._events: queue.SimpleQueue[JobEvent] = queue.SimpleQueue()
        self._counts: Counter[str] = Counter()
        self._conflicts: set[str] = set()
        self._called: set[str] = set()
        self._writing = {tool.name for tool in agent.environment.registry.tools if tool.risk != "read"}
        self._due: set[Moment] = set()
        agent.store.events.subscribe(self._on_event)

    def _on_event(self, event: JobEvent) -> None:
        """Told in the job's own thread, so that what happens before a step is done before the model is asked."""
        self._counts[event.type] += 1
        if event.type == "tool.call.completed" and event.data["ok"]:
            self._due.add("edited" if event.data["tool"] in self._writing else "read")
        elif event.type == "tool.call.requested":
            self._called.add(str(event.data["tool"]))
        elif event.type == "step.started":
            for moment in sorted(self._due):
                self._user.act(moment)
        elif event.type == "conflict.found":
            self._conflicts.update(event.data.get("paths") or [event.data.get("path", "")])
        self._events.put(event)

    def result(self, profile: str) -> TaskResult:
        agent = self._agent
        session = agent.store.sessions.create()
        begun = time.monotonic()
        started = agent.start(session.id, self._task.prompt, tool_config={"profile": profile})
        job = self._wait_for_last_run(started)
        seconds = time.monotonic() - begun
        verdict = self._decide(job)
        spent = agent.store.usage.by("day")
        unpriced = any(each.unpriced for each in spent)
        return TaskResult(
            self._task.id,
            self._name,
            faults=(*verdict.faults, *self._user.trouble),
            hunks=verdict.hunks,
            accepted=verdict.accepted,
            conflicts=len(self._conflicts),
            calls=self._counts["tool.call.requested"],
            steps=self._counts["step.completed"],
            seconds=seconds,
            tokens=sum(each.tokens for each in spent),
            price_usd=None if unpriced else sum((each.price_usd for each in spent), Decimal(0)),
            questions=self._counts["clarification.requested"],
            answer=verdict.job.answer,
        )

    # Until the job is over

    def _wait_for_last_run(self, job: Job) -> Job:
        """The job when it is over, or waits for review; where it was run again, the last of its runs."""
        while True:
            job = self._wait_for(job)
            runs = self._agent.store.jobs.of_session(job.session_id)
            again = next((each for each in runs if each.rerun_of == job.id), None)
            if again is None:
                return job
            job = again

    def _wait_for(self, job: Job) -> Job:
        agent = self._agent
        deadline = time.monotonic() + agent.environment.limits.seconds + GRACE_SECONDS
        while (job := agent.store.jobs.get(job.id)).status in BUSY:
            if time.monotonic() > deadline:
                agent.cancel(job.id)
            if job.status is Status.WAITING and job.reply is None:
                self._user.reply(job)
            with contextlib.suppress(queue.Empty):
                self._events.get(timeout=1.0)
        return agent.wait(job.id)

    # The review

    def _decide(self, job: Job) -> _ReviewResult:
        """Judge what is proposed, then decide as the person would; once more where a decision came too late."""
        while True:
            found = self._faults(job)
            if job.status is not Status.REVIEW:
                return _ReviewResult(job, (*found, *self._check_disk(found)))
            shown = _hunk_ids(self._agent.job(job.id))
            taken = shown if not found else self._user.correct_hunks(job)
            self._user.act("review")
            try:
                decided = self._agent.apply(job.id, taken)
            except RedraftError as error:
                return _ReviewResult(job, (*found, f"could not be accepted: {error.message}"), len(shown))
            if decided["status"] != "conflict":
                return _ReviewResult(job, (*found, *self._check_disk(found)), len(shown), len(taken))
            overtaken, job = job, self._wait_for_last_run(job)
            if job.id == overtaken.id:  # it is not run again
                return _ReviewResult(job, tuple(self._faults(job)))

    def _faults(self, job: Job) -> list[str]:
        return find_faults(self._task, self._outcome(job))

    def _outcome(self, job: Job) -> EvalOutcome:
        return EvalOutcome(
            folder=self._proposed_folder(),
            status=str(Status.COMPLETED if job.status is Status.REVIEW else job.status),
            answer=job.answer,
            questions=self._counts["clarification.requested"],
            calls=frozenset(self._called),
            conflicts=frozenset(self._conflicts),
            error=str((job.error or {}).get("message", "")),
        )

    def _proposed_folder(self) -> dict[str, bytes]:
        """The folder as the person sees it: the disk, with everything that waits for them."""
        workspace = self._agent.environment.workspace
        found = _read_tree(workspace.folder)
        with self._agent.environment.guard:
            drafts = workspace.drafts()
        for draft in drafts:
            found.pop(draft.base_path or "", None)
        for draft in drafts:
            if draft.path is not None:
                found[draft.path] = draft.encode_text(draft.review.working)
        return found

    def _check_disk(self, found: list[str]) -> list[str]:
        """What the disk says otherwise than the person was shown, once they saved; only asked of a task that was
        solved, since of another the person refused a part."""
        if found:
            return []
        shown = self._proposed_folder()
        workspace = self._agent.environment.workspace
        with self._agent.environment.guard:
            for draft in workspace.drafts():
                try:
                    workspace.save(draft.key)
                except RedraftError as error:
                    return [f"{draft.key} could not be saved: {error.message}"]
        disk = _read_tree(workspace.folder)
        return [
            f"{path} is not on disk as shown" for path in sorted({*shown, *disk}) if shown.get(path) != disk.get(path)
        ]


def _hunk_ids(shape: dict[str, Any]) -> list[str]:
    if shape["diff_bundle"] is None:
        return []
    hunks = [hunk for file in shape["diff_bundle"]["files"] for hunk in file["hunks"]]
    # In a conflict, the person keeps what they wrote.
    return [hunk["hunk_id"] for hunk in hunks if not hunk.get("conflict")]


def _read_tree(folder: str) -> dict[str, bytes]:
    """Every file of a folder but our own."""
    found: dict[str, bytes] = {}
    for place, folders, names in os.walk(folder):
        if place == folder:
            folders[:] = [name for name in folders if name != ".redraft"]
        for name in names:
            path = os.path.join(place, name)
            with open(path, "rb") as file:
                found[os.path.relpath(path, folder)] = file.read()
    return found
