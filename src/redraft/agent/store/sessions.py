"""Sessions: a chat, the context that the person pinned to it, and the jobs that ran in it.

Context rows stay from one request to the next until the person removes them. The chat has the messages and one line
per tool call; the calls themselves, with their results, are in the job's recorded steps.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, cast

from redraft.agent.store.database import new_id
from redraft.agent.store.events import iso
from redraft.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from redraft.agent.store.database import AgentDatabase

MAX_ROWS = 100
MAX_ROW_CHARACTERS = 200_000
Role = Literal["user", "assistant", "tool", "note"]


@dataclass(frozen=True, slots=True)
class ContextRow:
    """A passage that the person wants the agent to see. Lines count from 1 and include both ends."""

    id: str
    kind: str = "selection"
    file_path: str = ""
    start_line: int | None = None
    end_line: int | None = None
    content: str = ""
    pinned: bool = True

    def as_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _ROW_KINDS}

    @classmethod
    def from_dict(cls, data: object) -> ContextRow:
        """A row as a client sends it; refused if a field has the wrong type."""
        if not isinstance(data, dict):
            raise Refused("A context row must be an object.", field="context_rows")
        given = dict(cast("dict[str, Any]", data))
        given.setdefault("id", new_id("ctx"))
        for name, value in given.items():
            kinds = _ROW_KINDS.get(name)
            if kinds is None or not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
                raise Refused(f"A context row has no field {name[:40]!a}.", field=f"context_rows.{name[:40]}")
        if len(given.get("content", "")) > MAX_ROW_CHARACTERS:
            raise Refused(f"A context row may have at most {MAX_ROW_CHARACTERS} characters.", code="too_large")
        return cls(**given)


_ROW_KINDS: dict[str, tuple[type, ...]] = {
    "id": (str,),
    "kind": (str,),
    "file_path": (str,),
    "start_line": (int, type(None)),
    "end_line": (int, type(None)),
    "content": (str,),
    "pinned": (bool,),
}


@dataclass(frozen=True, slots=True)
class ChatEntry:
    """A message, or a line about a tool call."""

    role: Role
    text: str
    at: float
    job_id: str | None = None
    data: dict[str, Any] = field(default_factory=dict[str, Any])

    def as_dict(self) -> dict[str, Any]:
        return {"role": self.role, "text": self.text, "ts": iso(self.at), "job_id": self.job_id, "data": self.data}


@dataclass(frozen=True, slots=True)
class Session:
    """A session. `pending_review` is the job whose changes await a decision, if there is one."""

    id: str
    created_at: float
    updated_at: float
    status: Literal["active", "archived"]
    title: str = ""
    chat: tuple[ChatEntry, ...] = ()
    context_rows: tuple[ContextRow, ...] = ()
    last_job_id: str | None = None
    pending_review: str | None = None
    user: str = ""

    def as_dict(self) -> dict[str, Any]:
        return {
            "session_id": self.id,
            "id": self.id,
            "created_at": iso(self.created_at),
            "updated_at": iso(self.updated_at),
            "status": self.status,
            "title": self.title,
            "chat": [entry.as_dict() for entry in self.chat],
            "context_rows": [row.as_dict() for row in self.context_rows],
            "last_job_id": self.last_job_id,
            "pending_review": self.pending_review,
        }


class Sessions:
    """The tables of sessions, chats and context rows."""

    def __init__(self, database: AgentDatabase, clock: Callable[[], float]) -> None:
        self._db = database
        self._clock = clock

    def create(self, title: str = "", user: str = "") -> Session:
        """Create a session. `user` is its owner, on a server with several users."""
        now = self._clock()
        name = new_id("sess")
        self._db.execute(
            "INSERT INTO sessions (id, created, updated, status, title, user) VALUES (?, ?, ?, 'active', ?, ?)",
            (name, now, now, title[:200], user),
        )
        return self.get(name)

    def get(self, session_id: str) -> Session:
        row = self._db.row(
            "SELECT id, created, updated, status, title, last_job, user FROM sessions WHERE id = ?", (session_id,)
        )
        if row is None:
            raise Refused(f"There is no session {session_id[:60]!a}.", code="not_found", session_id=session_id[:60])
        waiting = self._db.row(
            "SELECT id FROM jobs WHERE session = ? AND status = 'awaiting_review' ORDER BY created DESC", (session_id,)
        )
        return Session(
            id=row[0],
            created_at=row[1],
            updated_at=row[2],
            status=row[3],
            title=row[4],
            chat=tuple(self._chat(session_id)),
            context_rows=tuple(self.rows(session_id)),
            last_job_id=row[5],
            user=row[6],
            pending_review=None if waiting is None else waiting[0],
        )

    def all(self) -> list[str]:
        """The ids, most recently used first."""
        return [row[0] for row in self._db.rows("SELECT id FROM sessions ORDER BY updated DESC, id")]

    def list_archive(self) -> dict[str, list[tuple[str, float]]]:
        """The archived sessions of each user, and when each was archived, newest first."""
        found: dict[str, list[tuple[str, float]]] = {}
        for name, user, since in self._db.rows(
            "SELECT id, user, updated FROM sessions WHERE status = 'archived' ORDER BY updated DESC, id"
        ):
            found.setdefault(user, []).append((name, since))
        return found

    def latest(self) -> Session | None:
        """The most recently used active session."""
        row = self._db.row("SELECT id FROM sessions WHERE status = 'active' ORDER BY updated DESC LIMIT 1")
        return None if row is None else self.get(row[0])

    def archive(self, session_id: str, *, archived: bool = True) -> Session:
        self.get(session_id)
        status = "archived" if archived else "active"
        self._db.execute(
            "UPDATE sessions SET status = ?, updated = ? WHERE id = ?", (status, self._clock(), session_id)
        )
        return self.get(session_id)

    def remove(self, session_id: str) -> None:
        """Delete a session with its chat and rows; the caller deletes its jobs."""
        with self._db.transaction(durable=False):
            self._db.execute("DELETE FROM chat WHERE session = ?", (session_id,))
            self._db.execute("DELETE FROM context_rows WHERE session = ?", (session_id,))
            self._db.execute("DELETE FROM sessions WHERE id = ?", (session_id,))

    # The chat

    def say(self, session_id: str, role: Role, text: str, job_id: str | None = None, **data: Any) -> None:
        now = self._clock()
        text = text.encode(errors="replace").decode()  # a model may write half of a surrogate pair
        with self._db.transaction(durable=False):
            self._db.execute(
                "INSERT INTO chat (session, at, role, text, job, data) VALUES (?, ?, ?, ?, ?, ?)",
                (session_id, now, role, text, job_id, json.dumps(data)),
            )
            self._db.execute("UPDATE sessions SET updated = ? WHERE id = ?", (now, session_id))

    def retract(self, job_id: str, role: Role) -> None:
        """Remove what a job said that is now run again from its start."""
        self._db.execute("DELETE FROM chat WHERE job = ? AND role = ?", (job_id, role))

    def _chat(self, session_id: str) -> Iterable[ChatEntry]:
        rows = self._db.rows("SELECT role, text, at, job, data FROM chat WHERE session = ? ORDER BY seq", (session_id,))
        return (ChatEntry(role, text, at, job, json.loads(data)) for role, text, at, job, data in rows)

    def set_last_job(self, session_id: str, job_id: str) -> None:
        self._db.execute(
            "UPDATE sessions SET last_job = ?, updated = ? WHERE id = ?", (job_id, self._clock(), session_id)
        )

    # Context rows

    def rows(self, session_id: str) -> list[ContextRow]:
        found = self._db.rows("SELECT data FROM context_rows WHERE session = ? ORDER BY position", (session_id,))
        return [ContextRow.from_dict(json.loads(row[0])) for row in found]

    def pin(self, session_id: str, row: ContextRow) -> None:
        """Add a row at the end, or replace the one with the same id in place."""
        rows = self.rows(session_id)
        at = next((index for index, each in enumerate(rows) if each.id == row.id), len(rows))
        self._set_rows(session_id, [*rows[:at], row, *rows[at + 1 :]])

    def unpin(self, session_id: str, row_id: str) -> None:
        rows = self.rows(session_id)
        rest = [row for row in rows if row.id != row_id]
        if len(rest) == len(rows):
            raise Refused(f"There is no context row {row_id[:60]!a}.", code="not_found", row_id=row_id[:60])
        self._set_rows(session_id, rest)

    def reorder(self, session_id: str, order: Sequence[str]) -> None:
        """Put the rows into this order, which must name each of them once."""
        rows: Mapping[str, ContextRow] = {row.id: row for row in self.rows(session_id)}
        if sorted(order) != sorted(rows):
            raise Refused("The order must name every context row once.", field="order")
        self._set_rows(session_id, [rows[name] for name in order])

    def _set_rows(self, session_id: str, rows: Sequence[ContextRow]) -> None:
        if len(rows) > MAX_ROWS:
            raise Refused(f"A session may have at most {MAX_ROWS} context rows.", code="limit_exceeded", limit=MAX_ROWS)
        with self._db.transaction():
            self._db.execute("DELETE FROM context_rows WHERE session = ?", (session_id,))
            for position, row in enumerate(rows):
                self._db.execute(
                    "INSERT INTO context_rows VALUES (?, ?, ?, ?)",
                    (session_id, position, row.id, json.dumps(row.as_dict())),
                )
