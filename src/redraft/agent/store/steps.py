"""What a job has done so far, recorded one step at a time, so that a job that was stopped goes on where it was.

Four kinds of steps: `model` (what a model answered: paid for, so never asked again), `tool` (what a call gave, and
which documents it saw in which version), `answer` (what the person said to a question) and `note` (what the agent was
told of the person's own changes). A job is replayed by running it again: as long as there are recorded steps they are
taken instead of being made, in the same order; a step of another kind or about something else than was recorded means
that the program or the folder is no longer the same, and ends the job.
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
    """One recorded step. `key` says what it was about, `value` what came of it."""

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
        """Record a step: durably, but for a tool's, which can be made again for nothing. The same step twice is a bug
        of ours, and the database says so."""
        with self._db.transaction(durable=step.kind != "tool"):
            self._db.execute(
                "INSERT INTO steps VALUES (?, ?, ?, ?, ?)",
                (job_id, seq, step.kind, step.key, json.dumps(step.value)),
            )

    def forget(self, job_id: str) -> None:
        self._db.execute("DELETE FROM steps WHERE job = ?", (job_id,))


class JobSteps:
    """The steps of one job while it runs: first those that were recorded, then new ones."""

    def __init__(self, steps: StepLog, job_id: str) -> None:
        self._steps = steps
        self._job_id = job_id
        self._recorded = steps.of(job_id)
        self._at = 0

    @property
    def replaying(self) -> bool:
        """Whether the next step was made before."""
        return self._at < len(self._recorded)

    @property
    def position(self) -> int:
        return self._at

    def play(self, kind: Kind, key: str) -> RecordedStep | None:
        """The recorded step that stands here; None where the job has come to what is new."""
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
        """The recorded step that stands here, if it is this one: for steps that only some runs have."""
        if not self.replaying or (self._recorded[self._at].kind, self._recorded[self._at].key) != (kind, key):
            return None
        return self.play(kind, key)

    def record(self, kind: Kind, key: str, value: Any) -> None:
        """Add what was just done."""
        self._steps.add(self._job_id, self._at, RecordedStep(kind, key, value))
        self._at += 1


def key_of(value: Any) -> str:
    """A short name for a JSON value."""
    written = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(written.encode(errors="surrogatepass")).hexdigest()[:24]
