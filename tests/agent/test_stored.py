"""Sessions, jobs and events as they are kept: the laws of the store."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor, wait
from subprocess import PIPE
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redraft.agent.store.agent_store import AgentStore
from redraft.agent.store.events import OWN, SPECIFIED
from redraft.agent.store.jobs import BUSY, ENDED, MOVES, JobQuestion, Status
from redraft.agent.store.sessions import ContextRow
from redraft.config import AgentLimits, Settings, parse_settings
from redraft.errors import Busy, Refused
from redraft.files.locks import folder_lock
from tests.conftest import TORTURE

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from redraft.agent.store.events import JobEvent
    from redraft.agent.store.jobs import Job


class Clock:
    """Goes on by a second at each look."""

    def __init__(self) -> None:
        self.now = 1_700_000_000.0

    def __call__(self) -> float:
        self.now += 1
        return self.now


@pytest.fixture
def store(tmp_path: Path) -> Generator[AgentStore]:
    with AgentStore(str(tmp_path), Clock()) as made:
        yield made


def job_in(store: AgentStore, session: str, *way: Status) -> Job:
    job = store.jobs.add(session, "Do it", "propose")
    for status in way:
        job = store.jobs.move(job.id, status)
    return job


WAYS: dict[Status, tuple[Status, ...]] = {
    Status.QUEUED: (),
    Status.RUNNING: (Status.RUNNING,),
    Status.WAITING: (Status.RUNNING, Status.WAITING),
    Status.REVIEW: (Status.RUNNING, Status.REVIEW),
    Status.COMPLETED: (Status.RUNNING, Status.COMPLETED),
    Status.FAILED: (Status.FAILED,),
    Status.CANCELLED: (Status.CANCELLED,),
}


@pytest.mark.covers("SB-job-status", "SB-job-fields")
@pytest.mark.parametrize("start", Status)
@pytest.mark.parametrize("to", Status)
def test_a_job_goes_the_ways_that_are_drawn_and_no_other(store: AgentStore, start: Status, to: Status):
    job = job_in(store, store.sessions.create().id, *WAYS[start])
    if to in MOVES[start]:
        moved = store.jobs.move(job.id, to)
        assert moved.status is to
        assert (moved.finished_at is not None) is (to in ENDED)
        assert store.jobs.get(job.id) == moved
    else:
        with pytest.raises(Refused):
            store.jobs.move(job.id, to)
        assert store.jobs.get(job.id).status is start


def test_whatever_is_tried_an_ended_job_stays_as_it_is(store: AgentStore):
    session = store.sessions.create().id

    @given(st.lists(st.sampled_from(list(Status)), max_size=12))
    def law(tries: list[Status]) -> None:
        job = store.jobs.add(session, "Do it", "propose")
        for status in tries:
            before = store.jobs.get(job.id)
            try:
                store.jobs.move(job.id, status)
            except Refused:
                assert store.jobs.get(job.id) == before
            else:
                assert not before.ended

    law()


def test_what_a_job_knows_survives_the_store(tmp_path: Path):
    question = JobQuestion("q_1", "confirmation", "Really?", "destroy", "delete_document", ("a.md", "b.md"))
    with AgentStore(str(tmp_path)) as store:
        session = store.sessions.create("Notes").id
        job = store.jobs.add(session, "Löschen \ud800?", "apply", context_rows=({"id": "c"},), token="t")
        job = store.jobs.update(job.id, question=question, base_hashes={"a": "sha256:0"}, error={"error": "conflict"})
        store.sessions.pin(session, ContextRow("ctx_1", file_path="a.md", start_line=3, end_line=4))
        store.sessions.say(session, "user", "Hello \ud800", job.id)
        store.events.append(job.id, "job.queued", mode="apply")
        kept = store.sessions.get(session), store.jobs.get(job.id), store.events.after(job.id)
    with AgentStore(str(tmp_path)) as store:
        assert (store.sessions.get(session), store.jobs.get(job.id), store.events.after(job.id)) == kept
        assert kept[1].question == question


def test_an_id_or_a_title_that_is_no_text_is_refused(store: AgentStore):
    for act in (store.sessions.create, store.sessions.get, store.jobs.get):
        with pytest.raises(Refused) as caught:
            act("half a \ud800 pair")
        assert caught.value.code == "invalid_text"


def test_a_file_that_cannot_be_read_is_set_aside_and_said(tmp_path: Path):
    (tmp_path / "agent.db").write_bytes(b"no database at all" * 1000)
    with AgentStore(str(tmp_path)) as store:
        store.sessions.create()
        assert len(store.database.losses) == 1
    [aside] = tmp_path.glob("agent.db.damaged*")
    assert aside.read_bytes().startswith(b"no database")


def test_who_finds_it_broken_waits_for_whoever_is_setting_it_aside(tmp_path: Path):
    broken = tmp_path / "agent.db"
    broken.write_bytes(b"no database at all" * 1000)
    with ThreadPoolExecutor(1) as other:
        with folder_lock(tmp_path, "agent.lock"):
            opened = other.submit(AgentStore, str(tmp_path))
            assert wait([opened], timeout=0.2).not_done
            broken.rename(tmp_path / "set-aside-by-us")
        with opened.result() as store:
            assert store.database.losses == []
    assert list(tmp_path.glob("agent.db.damaged*")) == []


# For each folder and instant that it is told: opens the store just then, makes a session, and waits for the next.
OPENER = """
import sys, time
from redraft.agent.store.agent_store import AgentStore
for line in sys.stdin:
    folder, _, when = line.rpartition(" ")
    while time.monotonic() < float(when):
        pass
    with AgentStore(folder) as store:
        print(store.sessions.create().id, len(store.database.losses), flush=True)
        sys.stdin.readline()
"""


@pytest.mark.slow
def test_of_two_processes_that_find_it_broken_one_sets_it_aside_and_neither_loses_a_word(tmp_path: Path):
    rounds = 200 if TORTURE else 20
    command = [sys.executable, "-c", OPENER]
    with (
        subprocess.Popen(command, stdin=PIPE, stdout=PIPE, encoding="utf-8") as one,
        subprocess.Popen(command, stdin=PIPE, stdout=PIPE, encoding="utf-8") as two,
    ):
        for number in range(rounds):
            state = tmp_path / str(number)
            state.mkdir()
            (state / "agent.db").write_bytes(b"no database at all" * 1000)
            (state / "agent.db-wal").write_bytes(b"nor a log" * 1000)
            told = [said.split() for said in both(one, two, f"{state} {time.monotonic() + 0.02}\n")]
            with AgentStore(str(state)) as store:
                assert {store.sessions.get(session).id for session, _ in told} == {session for session, _ in told}
            assert sorted(losses for _, losses in told) == ["0", "1"]
            assert [path.name for path in state.glob("agent.db.damaged-?")] == ["agent.db.damaged-1"]
            for program in (one, two):
                print(file=program.stdin, flush=True)


def both(one: subprocess.Popen[str], two: subprocess.Popen[str], line: str) -> list[str]:
    """What both answer to a line that they get at the same time."""
    for program in (one, two):
        assert program.stdin is not None
        program.stdin.write(line)
        program.stdin.flush()
    return [program.stdout.readline() for program in (one, two) if program.stdout is not None]


@pytest.mark.covers("SB-job-cursor", "SB-job-events")
def test_the_cursor_of_a_job_only_grows_and_events_are_read_behind_it(store: AgentStore):
    session = store.sessions.create().id
    jobs = [store.jobs.add(session, "Do it", "propose") for _ in range(2)]
    kinds = [*SPECIFIED, *OWN]
    for kind in kinds:
        for job in jobs:
            event = store.events.append(job.id, kind, n=1)
            assert event.cursor == store.jobs.get(job.id).cursor
    for job in jobs:
        events = store.events.after(job.id)
        assert [event.cursor for event in events] == list(range(1, len(kinds) + 1))
        assert [event.type for event in store.events.after(job.id, 5)] == kinds[5:]
    page = store.events.page(jobs[0].id, len(kinds) - 1)
    assert (page["next_cursor"], page["status"], len(page["events"])) == (len(kinds), "queued", 1)
    assert page["events"][0].keys() == {"cursor", "type", "ts", "data"}
    assert store.events.page(jobs[0].id, len(kinds))["next_cursor"] == len(kinds)


def test_only_events_that_are_named_can_be_told(store: AgentStore):
    job = store.jobs.add(store.sessions.create().id, "Do it", "propose")
    assert len(SPECIFIED) == 15
    with pytest.raises(ValueError, match="no such event"):
        store.events.append(job.id, "job.startled")
    assert store.events.after(job.id) == []


def test_listeners_are_told_and_one_that_fails_stops_nobody(store: AgentStore, caplog: pytest.LogCaptureFixture):
    job = store.jobs.add(store.sessions.create().id, "Do it", "propose")
    told: list[JobEvent] = []

    def fails(_event: JobEvent) -> None:
        raise RuntimeError("a listener's own mistake")

    store.events.subscribe(fails)
    end = store.events.subscribe(told.append)
    first = store.events.append(job.id, "job.queued")
    end()
    store.events.append(job.id, "job.started")
    assert told == [first]
    assert "a listener failed" in caplog.text


def test_a_stream_has_what_was_and_what_comes_without_a_gap(store: AgentStore):
    job = store.jobs.add(store.sessions.create().id, "Do it", "propose")
    for _ in range(3):
        store.events.append(job.id, "step.started")

    async def read() -> list[int]:
        found: list[int] = []
        stream = store.events.stream(job.id, 1)
        async for event in stream:
            found.append(event.cursor)
            if len(found) == 1:
                await asyncio.to_thread(store.events.append, job.id, "step.completed")
                store.events.send_delta(job.id, 4, "words")
            if len(found) == 4:
                break
        await stream.aclose()  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
        return found

    assert asyncio.run(read()) == [2, 3, 4, 4]


def test_a_job_is_run_by_one_at_a_time(store: AgentStore, tmp_path: Path):
    job = store.jobs.add(store.sessions.create().id, "Do it", "propose")
    with AgentStore(str(tmp_path)) as other, store.lock_job(job.id):
        assert other.is_running(job.id)
        with pytest.raises(Busy), other.lock_job(job.id):
            pass
    assert not store.is_running(job.id)


# Sessions


@pytest.mark.covers("SB-session-status")
def test_a_session_is_active_until_it_is_archived(store: AgentStore):
    session = store.sessions.create()
    assert session.id.startswith("sess_")
    assert (session.status, store.sessions.archive(session.id).status) == ("active", "archived")
    assert store.sessions.latest() is None


def test_rows_are_pinned_replaced_removed_and_reordered(store: AgentStore):
    name = store.sessions.create().id
    for letter in "abc":
        store.sessions.pin(name, ContextRow(letter, content=letter))
    store.sessions.pin(name, ContextRow("b", content="B"))
    store.sessions.reorder(name, ["c", "b", "a"])
    store.sessions.unpin(name, "c")
    assert [(row.id, row.content) for row in store.sessions.rows(name)] == [("b", "B"), ("a", "a")]
    for wrong in (["b"], ["b", "a", "a"], ["b", "x"]):
        with pytest.raises(Refused):
            store.sessions.reorder(name, wrong)
    with pytest.raises(Refused):
        store.sessions.unpin(name, "c")


@pytest.mark.parametrize(
    "row", [3, {"id": 3}, {"start_line": "1"}, {"start_line": True}, {"nonsense": 1}, {"content": "x" * 200_001}]
)
def test_a_row_that_is_none_is_refused(row: object):
    with pytest.raises(Refused):
        ContextRow.from_dict(row)


# What is kept and what goes


LIMITS = AgentLimits()


@pytest.mark.covers("SB-life-sessions", "SB-life-jobs", "SB-life-events", "SB-life-ttl")
def test_the_limits_of_the_plan_are_the_defaults_and_can_be_set():
    assert (LIMITS.max_sessions, LIMITS.max_jobs_per_session, LIMITS.max_events_per_job) == (25, 40, 3000)
    assert LIMITS.completed_ttl_hours == 72
    chosen = parse_settings({"agent": {"max_sessions": 3, "tool_calls": 5}}, "settings.toml")
    assert (chosen.agent.max_sessions, chosen.agent.tool_calls) == (3, 5)
    folder = Settings(agent=AgentLimits(max_sessions=1, tool_calls=2, iterations=99))
    narrowed = chosen.narrow(folder).agent
    assert (narrowed.max_sessions, narrowed.tool_calls, narrowed.iterations) == (3, 2, 50)


@pytest.mark.covers("SB-life-keep", "SB-life-purge")
@pytest.mark.parametrize("status", Status)
def test_only_what_is_over_is_purged(store: AgentStore, status: Status):
    session = store.sessions.create().id
    job = job_in(store, session, *WAYS[status])
    assert isinstance(store.clock, Clock)
    store.clock.now += 73 * 3600
    gone = store.collect(LIMITS)
    assert (job.id in gone) is (status in ENDED)
    assert (status in BUSY or status is Status.REVIEW) is bool(store.jobs.of_session(session))


def test_the_oldest_finished_jobs_of_a_full_session_go_first(store: AgentStore):
    session = store.sessions.create().id
    waiting = job_in(store, session, *WAYS[Status.WAITING])
    done = [job_in(store, session, *WAYS[Status.COMPLETED]) for _ in range(5)]
    store.collect(AgentLimits(max_jobs_per_session=3))
    assert [job.id for job in store.jobs.of_session(session)] == [waiting.id, done[-2].id, done[-1].id]


@pytest.mark.covers("RD-chat-kept")
def test_archived_sessions_go_by_age_and_by_number_of_each_user_and_no_others(store: AgentStore):
    assert isinstance(store.clock, Clock)
    active = [store.sessions.create().id for _ in range(40)]
    used = store.sessions.create().id
    job_in(store, used, *WAYS[Status.REVIEW])
    mine = [store.sessions.create().id for _ in range(4)]
    hers = [store.sessions.create(user="anna").id for _ in range(2)]
    for name in (used, *mine, *hers):
        store.clock.now += 1
        store.sessions.archive(name)
    store.collect(AgentLimits(max_sessions=2))
    assert set(store.sessions.all()) == {*active, used, *mine[-2:], *hers}
    store.clock.now += 91 * 86_400
    store.collect(AgentLimits())
    assert set(store.sessions.all()) == {*active, used}


def test_a_job_keeps_its_newest_events_and_its_cursor(store: AgentStore):
    job = store.jobs.add(store.sessions.create().id, "Do it", "propose")
    for _ in range(10):
        store.events.append(job.id, "step.started")
    store.collect(AgentLimits(max_events_per_job=4))
    assert [event.cursor for event in store.events.after(job.id)] == [7, 8, 9, 10]
    assert store.events.append(job.id, "step.started").cursor == 11
