"""Run subagents: many questions, a limited number at a time, with the answers in the order of the questions.

`answer_all` takes questions only as they are needed and holds only those in progress, so a document of a thousand
chunks needs no more memory than one of ten; and the answers of one round can be the questions of the next while it
still runs. An answer is cached as soon as it arrives. The first question that fails ends everything.

All of a `SubagentPool` runs in one thread.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections import deque
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Protocol, Self

from redraft.agent.subagents.question import ask_subagent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from concurrent.futures import Future
    from types import TracebackType

    from redraft.agent.store.database import AgentDatabase
    from redraft.agent.subagents.question import SubagentQuestion
    from redraft.providers.contract import CancelToken, Provider, ProviderStepResult

CONCURRENCY = 8


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a round: `done` of `total` answers have arrived, and how many subagents are at work."""

    role: str
    done: int
    total: int
    active: int

    def as_dict(self) -> dict[str, Any]:
        return {"role": self.role, "done": self.done, "total": self.total, "active_subagents": self.active}


@dataclass(frozen=True, slots=True)
class PoolOptions:
    """What every pool needs: whom to ask, where answers are cached, and whom to notify.

    `check_allowed` is called before a question is asked, and raises if no more may be spent. `on_step` is called for
    every step that was paid for, in any thread; `on_progress` at the start of a round and for every answer.
    """

    provider: Provider
    answers: AnswerCache
    on_step: Callable[[ProviderStepResult], None] = lambda _: None
    on_progress: Callable[[Progress], None] = lambda _: None
    check_allowed: Callable[[], None] = lambda: None
    cancel: CancelToken | None = None

    def key(self, question: SubagentQuestion) -> str:
        return question.key(self.provider.provider_name, self.provider.model)


class AnswerSource(Protocol):
    """Anything that answers questions."""

    asked: int
    known: int

    def answer_all(self, questions: Iterable[SubagentQuestion], total: int) -> Iterator[Any]:
        """The answers, in the order of the questions."""
        ...


class SubagentPool:
    """Subagents of this process, on an event loop of their own, so that any thread can wait for them."""

    def __init__(self, options: PoolOptions, concurrency: int = CONCURRENCY) -> None:
        self.asked = 0
        self.known = 0
        self._setup = options
        self._concurrency = concurrency
        self._active = 0
        self._free = asyncio.Semaphore(concurrency)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="redraft-subagents", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result()
        asyncio.run_coroutine_threadsafe(self._loop.shutdown_default_executor(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def answer_all(self, questions: Iterable[SubagentQuestion], total: int) -> Iterator[Any]:
        waiting: deque[tuple[str, Future[Any]]] = deque()
        source = iter(questions)
        done = 0
        try:
            while True:
                for question in islice(source, 2 * self._concurrency - len(waiting)):
                    future = asyncio.run_coroutine_threadsafe(self._answer(question), self._loop)
                    waiting.append((question.role, future))
                if not waiting:
                    return
                if done == 0:
                    self._tell_start(waiting[0][0], max(total, len(waiting)))
                role, first = waiting.popleft()
                answer = first.result()
                done += 1
                self._setup.on_progress(Progress(role, done, max(total, done), self._active))
                yield answer
        finally:
            for _, future in waiting:
                future.cancel()

    def _tell_start(self, role: str, total: int) -> None:
        """Report how many subagents are at work before any has answered; none are if all answers are cached."""
        # Scheduled on the loop after the questions: by then those that may start have started.
        active = asyncio.run_coroutine_threadsafe(self._active_count(), self._loop).result()
        if active:
            self._setup.on_progress(Progress(role, 0, total, active))

    async def _active_count(self) -> int:
        return self._active

    async def _end(self) -> None:
        await _end_others()
        close = getattr(self._setup.provider, "aclose", None)  # connections belong to this loop, which ends now
        if close is not None:
            await close()

    async def _answer(self, question: SubagentQuestion) -> Any:
        key = self._setup.key(question)
        cached = self._setup.answers.get(key)
        if cached is not None:
            self.known += 1
            return cached
        async with self._free:
            self._active += 1
            try:
                self._setup.check_allowed()
                self.asked += 1
                data = await ask_subagent(self._setup.provider, question, self._setup.on_step, self._setup.cancel)
                # Flushing to disk takes time, during which the others continue.
                await asyncio.to_thread(self._setup.answers.put, key, data)
            finally:
                self._active -= 1
        return data


async def _end_others() -> None:
    """Stop what nobody waits for any more, and wait until it has stopped."""
    others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


# The cache of subagents' answers: each was paid for, and the same question need not be asked twice.
#
# It is in the agent's own database, keyed by a hash of the question, the model and the version of the prompts. Answers
# that were not used for a season are deleted, and the oldest if there are too many. Losing them costs only money.


DAY = 86_400.0
KEPT_DAYS = 90
KEPT_CHARACTERS = 64 * 1024 * 1024
TABLE = """CREATE TABLE IF NOT EXISTS subagent_answers (key TEXT PRIMARY KEY, value TEXT NOT NULL, used REAL NOT NULL)
    WITHOUT ROWID"""


class AnswerCache:
    """Cached answers. May be used from several threads."""

    def __init__(self, database: AgentDatabase, clock: Callable[[], float]) -> None:
        self._db = database
        self._clock = clock
        database.execute(TABLE)
        self._collect()

    def get(self, key: str) -> Any | None:
        """The data of an answer, if it is cached."""
        row = self._db.row("SELECT value, used FROM subagent_answers WHERE key = ?", (key,))
        if row is None:
            return None
        if row[1] < self._clock() - DAY:  # precise to a day, which saves a write for every read
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
