"""What a job begins with: the person's request, what was said before, what they pinned, what they want kept in mind."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from redraft.agent.prompts import opening
from redraft.agent.sessions import ContextRow
from redraft.errors import RedraftError

if TYPE_CHECKING:
    from redraft.agent.jobs import Job
    from redraft.agent.room import Room
    from redraft.providers.contract import Message
    from redraft.workspace.modes import Mode

MAX_ROW = 40_000


def opening_of(room: Room, job: Job, mode: Mode) -> list[Message]:
    """The first messages of a job."""
    session = room.store.sessions.get(job.session_id)
    attempts = _attempts(room, job)
    rows = [*session.context_rows, *(ContextRow.from_dict(row) for row in job.context_rows)]
    return opening(
        job.instruction,
        mode=mode,
        rows=[_filled(room, row) for row in rows],
        chat=[entry for entry in session.chat if entry.job_id not in attempts],
        memory=room.memory.told("preferences", "workspace"),
        corrections=room.memory.told("corrections"),
    )


def _attempts(room: Room, job: Job) -> set[str]:
    """The job and those that it repeats: what they said is no conversation, but this one's beginning."""
    found = {job.id}
    earlier = job.rerun_of
    while earlier is not None and earlier not in found:
        found.add(earlier)
        try:
            earlier = room.store.jobs.get(earlier).rerun_of
        except RedraftError:
            break  # forgotten by now
    return found


def _filled(room: Room, row: ContextRow) -> ContextRow:
    """A row with its text; one that names only a place is read as the agent reads, so secrets stay where they are."""
    if row.content or not row.file_path:
        return replace(row, content=row.content[:MAX_ROW])
    try:
        with room.guard:
            text = room.workspace.read(row.file_path, author=room.author).text
    except RedraftError as error:
        return replace(row, content=f"({error.message})")
    first = max((row.start_line or 1) - 1, 0)
    last = min(row.end_line or text.line_count, text.line_count)
    return replace(row, content="".join(text.lines(min(first, last), last))[:MAX_ROW])
