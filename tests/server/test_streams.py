"""Streams of events: nobody is told twice, too late or out of order, whoever wrote the event and whenever they came."""

from __future__ import annotations

import asyncio
import re
import tempfile
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from redraft.agent.store.agent_store import AgentStore
from redraft.agent.store.events import JobEvent
from redraft.server import event_streams
from redraft.server.event_streams import EventBatch, EventStreams, StreamListener
from tests.conftest import TORTURE
from tests.speaking.lines import PATIENCE

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    Story = Callable[[EventStreams, AgentStore, str], Awaitable[None]]


class Ear:
    """One client of a stream: what it was sent."""

    def __init__(self, served: EventStreams, job: str, cursor: int = 0) -> None:
        self.data = b""
        self.finished = False
        self._gone = asyncio.Event()
        self._heard = asyncio.Event()
        self.task = asyncio.create_task(self._listen(served, job, cursor))

    async def _listen(self, served: EventStreams, job: str, cursor: int) -> None:
        await served.serve(job, cursor, self._receive, self._send)
        self.finished = True

    async def _receive(self) -> Any:
        await self._gone.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Any) -> None:
        self.data += message.get("body", b"")
        self._heard.set()

    def hang_up(self) -> None:
        self._gone.set()

    @property
    def cursors(self) -> list[int]:
        return [int(number) for number in re.findall(rb"^id: (\d+)$", self.data, re.MULTILINE)]

    async def wait_for(self, so: Callable[[], bool]) -> None:
        async with asyncio.timeout(PATIENCE):
            while not so():
                self._heard.clear()
                await self._heard.wait()

    async def until(self, count: int) -> None:
        await self.wait_for(lambda: len(self.cursors) >= count)


def told(story: Story) -> None:
    """Play a story on a real log."""

    async def play(store: AgentStore) -> None:
        job = store.jobs.add(store.sessions.create().id, "Please.", "propose")
        served = EventStreams(store.events, asyncio.to_thread)
        try:
            await story(served, store, job.id)
        finally:
            served.end()
            served.close()
            await asyncio.sleep(0)

    with tempfile.TemporaryDirectory() as state, AgentStore(state) as store:
        asyncio.run(play(store))


@settings(max_examples=100 if TORTURE else 15, deadline=None)
@given(st.lists(st.sampled_from(["event", "elsewhere", "delta", "listener", "pause"]), max_size=25))
def test_every_listener_is_told_every_event_once_and_in_order(acts: list[str]):
    async def story(served: EventStreams, store: AgentStore, job: str) -> None:
        ears: list[Ear] = []
        with AgentStore(store.state) as other:  # another process, of whose events nobody here is told
            for act in [*acts, "listener", "event"]:
                if act == "listener":
                    ears.append(Ear(served, job))
                elif act == "pause":
                    await asyncio.sleep(0.02)
                elif act == "delta":
                    store.events.send_delta(job, store.jobs.get(job).cursor, "words")
                else:
                    (store if act == "event" else other).events.append(job, "step.started")
            count = store.jobs.get(job).cursor
            for ear in ears:
                await ear.until(count)
        assert [ear.cursors for ear in ears] == [list(range(1, count + 1))] * len(ears)
        for ear in ears:
            ear.hang_up()
        await asyncio.gather(*(ear.task for ear in ears))

    told(story)


@pytest.mark.slow
def test_a_stream_on_which_nothing_happens_stays_open(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(event_streams, "POLL_SECONDS", 0.02)
    monkeypatch.setattr(event_streams, "PING_SECONDS", 0.05)

    async def story(served: EventStreams, store: AgentStore, job: str) -> None:
        ear = Ear(served, job)
        await ear.wait_for(lambda: ear.data.count(event_streams.PING) >= 5)
        assert not ear.finished
        with AgentStore(store.state) as other:
            other.events.append(job, "job.started")
        await ear.until(1)
        store.events.append(job, "job.completed")
        await ear.until(2)
        store.events.append(job, "apply.completed")
        await ear.until(3)
        assert not ear.finished, "what becomes of a job's changes is told after it is over"
        ear.hang_up()
        async with asyncio.timeout(PATIENCE):
            await ear.task
        assert ear.cursors == [1, 2, 3]

    told(story)


def test_a_stream_ends_when_the_server_does_and_when_the_client_goes():
    async def story(served: EventStreams, store: AgentStore, job: str) -> None:
        store.events.append(job, "job.queued")
        stays, goes = Ear(served, job), Ear(served, job, cursor=1)
        await stays.until(1)
        goes.hang_up()
        async with asyncio.timeout(PATIENCE):
            await goes.task
        assert (stays.finished, goes.cursors) == (False, [])
        served.end()
        async with asyncio.timeout(PATIENCE):
            await stays.task

    told(story)


def test_who_does_not_read_is_let_go_and_can_come_back():
    async def story(_: EventStreams, store: AgentStore, job: str) -> None:
        listener = StreamListener(0)
        event = store.events.append(job, "job.queued", text="x" * 1_000_000)
        for number in range(1, 30):
            listener.put(EventBatch([JobEvent(job, number, "step.started", 0.0, event.data)]))
        assert listener.ended
        assert await listener.next() is None

    told(story)
