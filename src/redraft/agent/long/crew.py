"""Subagents at work: many questions, so many at a time, the answers in the order of the questions.

`each` takes its questions as they are needed and holds only those that are under way, so a document of a thousand
chunks needs no more memory than one of ten; and the answers of one round can be the questions of the next while that
goes on. An answer is kept as soon as it is there. The first question that fails ends all of it.

A `Crew` asks from this process: all wait in one thread. A `SharedCrew` asks through a database, and whoever works there
(`redraft worker`) shares the work; one that dies is stood in for.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections import deque
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Protocol, Self, cast

from redraft.agent.long.subagents import Question, answered
from redraft.providers.contract import ProviderStepResult

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Generator, Iterable, Iterator
    from concurrent.futures import Future
    from types import TracebackType

    from redraft.agent.driving import Providers
    from redraft.agent.durable import Durable
    from redraft.agent.long.answers import Answers
    from redraft.providers.choosing import Choice
    from redraft.providers.contract import Cancel, Provider

SUBAGENT = "subagent"
CONCURRENCY = 8
# How many questions of a shared round are looked up before the rest of them is put into the database.
ROUND = 256


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a round is: `done` of `total` answers are there, and so many subagents are at work."""

    role: str
    done: int
    total: int
    active: int

    def as_dict(self) -> dict[str, Any]:
        return {"role": self.role, "done": self.done, "total": self.total, "active_subagents": self.active}


@dataclass(frozen=True, slots=True)
class Means:
    """What every crew needs to know: who is asked, where answers are kept, and who wants to hear of it.

    `may_ask` is called before a question is asked, and raises where no more may be spent. `spent` hears of every step
    that was bought, in whatever thread, `told` of the beginning of a round and of every answer.
    """

    provider: Provider
    answers: Answers
    spent: Callable[[ProviderStepResult], None] = lambda _: None
    told: Callable[[Progress], None] = lambda _: None
    may_ask: Callable[[], None] = lambda: None
    cancel: Cancel | None = None

    def key(self, question: Question) -> str:
        return question.key(self.provider.provider_name, self.provider.model)


class Asking(Protocol):
    """Anybody who answers questions."""

    asked: int
    known: int

    def each(self, questions: Iterable[Question], total: int) -> Iterator[Any]:
        """The answers, in the order of the questions."""
        ...


class Crew:
    """Subagents of this process, on a loop of their own, so that any thread can wait for them."""

    def __init__(self, means: Means, concurrency: int = CONCURRENCY) -> None:
        self.asked = 0
        self.known = 0
        self._means = means
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
        asyncio.run_coroutine_threadsafe(_end_others(), self._loop).result()
        asyncio.run_coroutine_threadsafe(self._loop.shutdown_default_executor(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def each(self, questions: Iterable[Question], total: int) -> Iterator[Any]:
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
                    self._tell_begun(waiting[0][0], max(total, len(waiting)))
                role, first = waiting.popleft()
                answer = first.result()
                done += 1
                self._means.told(Progress(role, done, max(total, done), self._active))
                yield answer
        finally:
            for _, future in waiting:
                future.cancel()

    def _tell_begun(self, role: str, total: int) -> None:
        """Tell how many subagents are at work before any has answered; nobody is where all answers are known."""
        # Asked of the loop behind the questions: by then those that may begin have begun.
        active = asyncio.run_coroutine_threadsafe(self._at_work(), self._loop).result()
        if active:
            self._means.told(Progress(role, 0, total, active))

    async def _at_work(self) -> int:
        return self._active

    async def _answer(self, question: Question) -> Any:
        key = self._means.key(question)
        kept = self._means.answers.get(key)
        if kept is not None:
            self.known += 1
            return kept
        async with self._free:
            self._active += 1
            try:
                self._means.may_ask()
                self.asked += 1
                data = await answered(self._means.provider, question, self._means.spent, self._means.cancel)
                # Flushing to the disk takes its time, in which the others go on.
                await asyncio.to_thread(self._means.answers.put, key, data)
            finally:
                self._active -= 1
        return data


async def _end_others() -> None:
    """Stop what nobody waits for any more, and see it stopped."""
    others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


class SharedCrew:
    """Subagents of several processes. `run` names the work: what was recorded under that name is not done again."""

    def __init__(self, means: Means, durable: Durable, run: str, model: str = "") -> None:
        self.asked = 0
        self.known = 0
        self._means = means
        self._durable = durable
        self._run = run
        self._model = model

    def each(self, questions: Iterable[Question], total: int) -> Iterator[Any]:
        source = iter(questions)
        done = 0
        while batch := list(islice(source, ROUND)):
            kept = [self._means.answers.get(self._means.key(question)) for question in batch]
            unknown = [question for question, known in zip(batch, kept, strict=True) if known is None]
            if unknown and done == 0:
                begun = min(self._durable.concurrency, len(unknown))
                self._means.told(Progress(unknown[0].role, 0, max(total, len(batch)), begun))
            with contextlib.closing(self._asked(unknown)) as asked:
                for question, known in zip(batch, kept, strict=True):
                    answer = next(asked) if known is None else known
                    self.known += known is not None
                    done += 1
                    left = max(total, done) - done
                    active = min(self._durable.concurrency, left)
                    self._means.told(Progress(question.role, done, max(total, done), active))
                    yield answer

    def _items(self, questions: list[Question]) -> Iterator[dict[str, Any]]:
        for question in questions:
            self._means.may_ask()
            yield {"model": self._model, "question": question.as_dict()}

    def _asked(self, questions: list[Question]) -> Generator[Any]:
        results = self._durable.fan_out(self._run, SUBAGENT, self._items(questions), cancel=self._means.cancel)
        with contextlib.closing(cast("Generator[tuple[int, Any]]", results)):
            for question, (_, result) in zip(questions, results, strict=True):
                self.asked += 1
                self._means.answers.put(self._means.key(question), result["data"])
                for step in result["steps"]:
                    self._means.spent(ProviderStepResult.from_dict(step))
                yield result["data"]


def subagent(providers: Providers) -> Callable[[Any], Awaitable[Any]]:
    """The handler of a shared crew's items, for `Durable`: every worker has it under the name `SUBAGENT`."""
    made: dict[str, Provider] = {}

    async def handle(item: Any) -> dict[str, Any]:
        name = str(item["model"])
        if name not in made:
            made[name] = providers.provider(name, _untold)
        steps: list[dict[str, Any]] = []

        def spent(result: ProviderStepResult) -> None:
            steps.append({**result.as_dict(), "text": "", "data": None, "opaque": {}})

        data = await answered(made[name], Question.from_dict(item["question"]), spent)
        return {"data": data, "steps": steps}

    return handle


def _untold(choice: Choice) -> None:
    """Which model answered is in the result."""
