"""What a job has done so far, recorded one step at a time, so that a stopped job can continue where it was.

Four kinds of steps: `model` (a model's answer: paid for, so never requested again), `tool` (a call's result, and the
versions of the documents it saw), `answer` (the person's answer to a question) and `note` (what the agent was told of
the person's own changes). A job is replayed by running it again: recorded steps are used, in the same order, instead
of being made. A step of another kind, or about something else than was recorded, means that the program or the folder
has changed, and ends the job.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from redraft.errors import Refused

if TYPE_CHECKING:
    from redraft.agent.store.database import AgentDatabase

Kind = Literal["model", "tool", "answer", "note"]


@dataclass(frozen=True, slots=True)
class RecordedStep:
    """One recorded step. `key` says what it was about, `value` is its result."""

    kind: Kind
    key: str
    value: Any


class StepLog:
    """The recorded steps of all jobs."""

    def __init__(self, database: AgentDatabase) -> None:
        self._db = database

    def of(self, job_id: str) -> list[RecordedStep]:
        rows = self._db.rows("SELECT kind, key, value FROM steps WHERE job = ? ORDER BY seq", (job_id,))
        return [RecordedStep(kind, key, json.loads(value)) for kind, key, value in rows]

    def add(self, job_id: str, seq: int, step: RecordedStep) -> None:
        """Record a step: durably, except for a tool's, which can be repeated for free. Recording the same step twice is
        a bug of ours, and the database raises."""
        with self._db.transaction(durable=step.kind != "tool"):
            self._db.execute(
                "INSERT INTO steps VALUES (?, ?, ?, ?, ?)",
                (job_id, seq, step.kind, step.key, json.dumps(step.value)),
            )

    def forget(self, job_id: str) -> None:
        self._db.execute("DELETE FROM steps WHERE job = ?", (job_id,))


class JobSteps:
    """The steps of one job while it runs: first the recorded ones, then new ones."""

    def __init__(self, steps: StepLog, job_id: str) -> None:
        self._steps = steps
        self._job_id = job_id
        self._recorded = steps.of(job_id)
        self._at = 0

    @property
    def replaying(self) -> bool:
        """Whether the next step is a recorded one."""
        return self._at < len(self._recorded)

    @property
    def position(self) -> int:
        return self._at

    def play(self, kind: Kind, key: str) -> RecordedStep | None:
        """The recorded step at this position; None once the job gets to new ones."""
        if not self.replaying:
            return None
        step = self._recorded[self._at]
        if (step.kind, step.key) != (kind, key):
            raise Refused(
                f"The job cannot continue: it was stopped at a different step ({step.kind}) than the next ({kind}).",
                code="conflict",
                step=self._at,
            )
        self._at += 1
        return step

    def take(self, kind: Kind, key: str) -> RecordedStep | None:
        """The recorded step at this position, if it is this one: for steps that only some runs have."""
        if not self.replaying or (self._recorded[self._at].kind, self._recorded[self._at].key) != (kind, key):
            return None
        return self.play(kind, key)

    def record(self, kind: Kind, key: str, value: Any) -> None:
        """Record what was just done."""
        self._steps.add(self._job_id, self._at, RecordedStep(kind, key, value))
        self._at += 1


def key_of(value: Any) -> str:
    """A short hash of a JSON value."""
    written = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(written.encode(errors="surrogatepass")).hexdigest()[:24]
