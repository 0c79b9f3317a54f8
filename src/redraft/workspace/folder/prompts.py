"""The prompt that an agent in the user's own terminal is working on. What is written to the folder meanwhile, by its
own tools or by commands that it runs, is that agent's turn, with what it was asked for as the title.

Redraft hears of a prompt through the agent's hooks (`redraft hooks install`). Before it, every document is remembered
as it is, so that everything the agent does to one is known with both sides. Documents that it creates are noticed at
the end. What is noticed at different times becomes several turns; undoing one of them undoes all.

A prompt whose end was never heard of, because the agent was interrupted or killed, ends when the next one begins, or
after some hours.
"""

from __future__ import annotations

import json
import secrets
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from redraft.files.paths import DocPath
from redraft.files.secret_detection import mask_credentials
from redraft.history.turns import agent_author

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from redraft.history.turns import Author, TurnRecord
    from redraft.workspace.documents import RememberedFiles
    from redraft.workspace.engine import Engine

# The notes in the history: the prompt under way, the files that were there and are no documents, and which prompt a
# turn belongs to.
KEY, OTHERS, MEMBER = "prompt", "files beside a prompt", "turn of a prompt "
LONGEST_SECONDS = 6 * 3600
MOST_TITLE = 200


@dataclass(frozen=True, slots=True)
class AgentPrompt:
    """A prompt under way."""

    id: str
    agent: str
    title: str
    began: float

    @property
    def author(self) -> Author:
        return agent_author(self.agent)


class AgentPrompts:
    """The prompt under way in one folder, if there is one, and which turns belong to which. `look_at` records what
    other programs did to documents."""

    def __init__(
        self,
        engine: Engine,
        files: RememberedFiles,
        look_at: Callable[[Iterable[DocPath], Collection[str] | None], list[str]],
    ) -> None:
        self._engine = engine
        self._files = files
        self._look_at = look_at

    @property
    def current(self) -> AgentPrompt | None:
        noted = self._get(KEY)
        found = None if noted is None else AgentPrompt(**json.loads(noted))
        if found is None or not 0 <= self._engine.clock() - found.began < LONGEST_SECONDS:
            return None
        return found

    def begin(self, agent: str, text: str) -> AgentPrompt:
        """An agent is about to work on a prompt: what was done before it is somebody else's."""
        self._finish(self.current)
        documents = self._files.documents_on_disk()
        with self._engine.journal.lock():
            self._look_at(documents, None)
        others = self._files.remember_all(documents)
        readable = text.encode("utf-8", "replace").decode()  # half a surrogate cannot be stored
        words = " ".join(mask_credentials(readable).split())
        title = words if len(words) <= MOST_TITLE else f"{words[: MOST_TITLE - 1]}…"
        prompt = AgentPrompt(secrets.token_hex(8), agent, title or f"A prompt of {agent}", self._engine.clock())
        self._put(KEY, json.dumps(asdict(prompt)))
        self._put(OTHERS, json.dumps(others))
        return prompt

    def end(self, agent: str) -> None:
        """The prompt under way is done, if it is this agent's: record what is left of its work."""
        prompt = self.current
        self._finish(prompt if prompt is not None and prompt.agent == agent else None)

    def look(self) -> None:
        """Record what was done for the prompt under way so far, what it created included: somebody undoes it before
        its end was heard of."""
        if self.current is not None:
            self._record()

    def _finish(self, prompt: AgentPrompt | None) -> None:
        if prompt is None:
            return
        self._record()
        with self._engine.database.transaction():
            self._engine.database.execute("DELETE FROM meta WHERE key = ?", (KEY,))

    def _record(self) -> None:
        present = self._files.documents_on_disk()
        new = self._files.remember_missing({*present}.difference(json.loads(self._get(OTHERS) or "[]")))
        known = map(DocPath, self._engine.seen.paths())
        with self._engine.journal.lock():
            self._look_at({*known, *present}, new)

    def add(self, prompt: AgentPrompt, turn: int) -> None:
        """This turn belongs to a prompt."""
        self._put(f"{MEMBER}{turn}", prompt.id)

    def join(self, turns: Iterable[int]) -> None:
        """These turns belong together, like those of a prompt: they took one back, or brought it back."""
        group = secrets.token_hex(8)
        for turn in turns:
            self._put(f"{MEMBER}{turn}", group)

    def is_part(self, prompt: AgentPrompt, turn: int) -> bool:
        return self._prompt_of(turn) == prompt.id

    def turns_with(self, turn: int) -> list[TurnRecord]:
        """The turns of the same prompt, in order; none for a turn that belongs to none."""
        prompt = self._prompt_of(turn)
        return [] if prompt is None else self._turns(prompt)

    def _prompt_of(self, turn: int) -> str | None:
        return self._get(f"{MEMBER}{turn}")

    def _turns(self, prompt: str) -> list[TurnRecord]:
        rows = self._engine.database.rows("SELECT key FROM meta WHERE key LIKE ? AND value = ?", (f"{MEMBER}%", prompt))
        return [self._engine.turns.get(number) for number in sorted(int(key[len(MEMBER) :]) for (key,) in rows)]

    def _get(self, key: str) -> str | None:
        row = self._engine.database.row("SELECT value FROM meta WHERE key = ?", (key,))
        return None if row is None else row[0]

    def _put(self, key: str, value: str) -> None:
        with self._engine.database.transaction():
            self._engine.database.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))
