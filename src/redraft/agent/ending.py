"""How a job ends: its turn committed as the mode says, or discarded without a trace.

Committing is one act of the workspace, whole or not at all, and known by the job's token; so whoever finds a stopped
job can tell whether it was done. What a job that ran out of its budget has made waits for the person, whatever the
mode. A turn that no longer fits, because the documents were changed at the same place, is not written: the job fails
and is run again, so often and no more.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from redraft.agent.jobs import Status
from redraft.agent.reviewing import bundle, left_to_decide
from redraft.agent.summing import changes_of, proposed_edits
from redraft.errors import Busy, ConfirmationRequired, Refused, Stale
from redraft.workspace.document import content_hash
from redraft.workspace.modes import MODES

if TYPE_CHECKING:
    from redraft.agent.jobs import Job
    from redraft.agent.loop import Run, Said
    from redraft.agent.room import Room
    from redraft.history.turns import TurnRecord

# What makes a turn not fit any more; another run would read the documents as they are now.
BUSY_TRIES, BUSY_SECONDS = 5, 0.5
OVERTAKEN = ("version_mismatch", "conflict")


class Overtaken(Stale):
    """The documents were changed at the same place while the job ran."""

    default_code = "conflict"


async def conclude(run: Run, said: Said) -> Job:
    """Commit what a job has staged, and say what became of it."""
    turn = run.turn
    if said.spent and turn.writes_at_once:
        turn.mode = turn.mode.narrowed(MODES["propose"])
    changes = changes_of(turn)
    if not changes:
        turn.discard()
        return completed(run.room, run.job, said.text)
    at_once = turn.writes_at_once
    run.room.store.jobs.update(run.job.id, proposed_edits=tuple(proposed_edits(turn)), answer=said.text)
    run.tell("edits.proposed", files=len(changes), changes=changes[:50])
    if at_once:
        run.tell("apply.started", files=len(changes))
    record = await _committed(run)
    if record is None:
        return completed(run.room, run.job, said.text)
    return carried_out(run.room, run.job, record, said.text)


async def _committed(run: Run) -> TurnRecord | None:
    """The turn in the history; None where it changes nothing after all. The person is asked where they must be."""
    patience = BUSY_TRIES
    while True:
        run.cancel.check()
        try:
            with run.room.guard:
                outcome = run.turn.commit()
        except ConfirmationRequired as error:
            await run.agreeing.to_turn(error)
        except Busy:
            patience -= 1
            if not patience:
                raise
            await asyncio.sleep(BUSY_SECONDS)
        except Refused as error:
            if error.code not in OVERTAKEN:
                raise
            raise Overtaken(error.message, **error.details) from error
        else:
            run.room.store.jobs.update(run.job.id, conflicts=tuple(outcome.conflicts))
            return outcome.turn


def carried_out(room: Room, job: Job, record: TurnRecord, text: str) -> Job:
    """The job after its turn is in the history. Called again for a job that was stopped right after."""
    store = room.store
    with room.guard:
        left = left_to_decide(room.workspace, record.id)
        waiting = [draft for draft in room.workspace.drafts() if draft.key in left]
        hashes = {draft.key: content_hash(draft.saved or b"") for draft in waiting}
        clashes = [draft.key for draft in waiting if any(hunk.conflict for hunk in draft.review.hunks)]
    known = store.jobs.get(job.id)
    conflicts = tuple(dict.fromkeys([*known.conflicts, *clashes]))
    job = store.jobs.update(job.id, turn=record.id, base_hashes=hashes, conflicts=conflicts, answer=text)
    store.events.append(
        job.id,
        "checkpoint.created",
        checkpoint_id=record.id,
        session_id=job.session_id,
        job_id=job.id,
        affected_files=list(record.paths),
    )
    if conflicts:
        store.events.append(job.id, "conflict.found", paths=list(conflicts))
    with room.guard:
        made = bundle(room.workspace, job)
    hunks = sum(len(file["hunks"]) for file in made["files"])
    made_of = {"files": len(record.paths), "hunks": hunks}
    if left:
        _say(room, job, text)
        return store.move(job.id, Status.REVIEW, "diff.generated", made_of)
    store.events.append(job.id, "diff.generated", **made_of)
    store.events.append(job.id, "apply.completed", turn=record.id, files=list(record.paths))
    return completed(room, job, text)


def completed(room: Room, job: Job, text: str) -> Job:
    """The job is over, and well."""
    _say(room, job, text)
    return room.store.move(job.id, Status.COMPLETED, "job.completed", {"turn": job.turn}, answer=text)


def ended(room: Room, job: Job, status: Status, error: dict[str, Any], text: str) -> Job:
    """The job is over, and not well; nothing of it is on disk."""
    _say(room, job, text)
    event = "job.cancelled" if status is Status.CANCELLED else "job.failed"
    told = {"error": error["error"], "reason": error["message"]}
    return room.store.move(job.id, status, event, told, error=error, question=None, reply=None)


def _say(room: Room, job: Job, text: str) -> None:
    room.store.sessions.unsay(job.id, "assistant")
    room.store.sessions.say(job.session_id, "assistant", text, job.id)
