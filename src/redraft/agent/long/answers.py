"""The answers of subagents, kept: each was paid for, and the same question need not be asked twice.

They lie in the agent's own database under a hash of the question, the model and the version of the prompts. What was
not used for a season goes, and the oldest go first where there are too many. Losing them costs money and nothing else.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from redraft.agent.database import AgentDatabase

DAY = 86_400.0
KEPT_DAYS = 90
KEPT_CHARACTERS = 64 * 1024 * 1024
TABLE = """CREATE TABLE IF NOT EXISTS subagent_answers (key TEXT PRIMARY KEY, value TEXT NOT NULL, used REAL NOT NULL)
    WITHOUT ROWID"""


class Answers:
    """Kept answers. May be used from several threads."""

    def __init__(self, database: AgentDatabase, clock: Callable[[], float]) -> None:
        self._db = database
        self._clock = clock
        database.execute(TABLE)
        self._collect()

    def get(self, key: str) -> Any | None:
        """The data of an answer, if it is kept."""
        row = self._db.row("SELECT value, used FROM subagent_answers WHERE key = ?", (key,))
        if row is None:
            return None
        if row[1] < self._clock() - DAY:  # a day is near enough, and spares a write for every reading
            with self._db.transaction(durable=False):
                self._db.execute("UPDATE subagent_answers SET used = ? WHERE key = ?", (self._clock(), key))
        return json.loads(row[0])

    def put(self, key: str, data: Any) -> None:
        with self._db.transaction():
            self._db.execute(
                "INSERT OR REPLACE INTO subagent_answers VALUES (?, ?, ?)", (key, json.dumps(data), self._clock())
            )

    def _collect(self) -> None:
        with self._db.transaction(durable=False):
            oldest = self._clock() - KEPT_DAYS * DAY
            self._db.execute("DELETE FROM subagent_answers WHERE used < ?", (oldest,))
            self._db.execute(
                "DELETE FROM subagent_answers WHERE key IN (SELECT key FROM (SELECT key, SUM(LENGTH(value)) OVER "
                "(ORDER BY used DESC, key) AS total FROM subagent_answers) WHERE total > ?)",
                (KEPT_CHARACTERS,),
            )
