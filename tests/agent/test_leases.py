"""`lock = true`: a job that has the documents to itself, by a lease that ends with it, whatever its end."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redraft.agent.store.leases import SENTENCE, Leases
from redraft.config import Settings, parse_settings
from redraft.errors import Refused
from tests.agent.desk import call, edit, says

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.agent.desk import Desk

LOCK = Settings(lock=True)
ASKS = says("", call("clarify_user", question="Terse?"))
RENAME = says("", edit("poem.md", "Amber", "Agate"))
HOLDER = """
import sys
from redraft.agent.store.leases import Leases
leases = Leases(sys.argv[1])
leases.begin("job")
print(flush=True)
input()
"""


@given(st.lists(st.tuples(st.integers(0, 2), st.booleans(), st.sampled_from("abc")), max_size=20))
def test_the_documents_are_held_for_as_long_as_any_job_in_any_process_holds_them(
    tmp_path_factory: pytest.TempPathFactory, acts: list[tuple[int, bool, str]]
):
    state = str(tmp_path_factory.mktemp("state"))
    processes = [Leases(state) for _ in range(3)]
    held: set[tuple[int, str]] = set()
    for process, begins, job in acts:
        if begins and (process, job) not in held:
            processes[process].begin(job)
            held.add((process, job))
        elif not begins:
            assert processes[process].end(job) is ((process, job) in held)
            held.discard((process, job))
        assert {each.held for each in processes} == {bool(held)}
    for process, job in held:
        processes[process].end(job)


@pytest.mark.covers("RD-decided-lock")
def test_a_lease_ends_with_its_process(tmp_path: Path):
    leases = Leases(str(tmp_path))
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        with pytest.raises(Refused, match=SENTENCE):
            leases.check()
        process.kill()
        process.wait()
        leases.check()


@pytest.mark.covers("RD-decided-lock", "TK-lock-released")
@pytest.mark.parametrize(
    ("steps", "status", "last"),
    [
        ((ASKS, RENAME, says("Done.")), "awaiting_review", "diff.generated"),
        ((ASKS, says("Done.")), "completed", "job.completed"),
        ((ASKS, says("", error="timeout")), "failed", "job.failed"),
    ],
    ids=["success", "nothing done", "error"],
)
def test_a_job_holds_the_documents_until_it_ends(
    desk: Callable[..., Desk], steps: tuple[dict[str, Any], ...], status: str, last: str
):
    here = desk(*steps, settings=LOCK)
    leases = here.store.leases
    assert not leases.held
    job = here.until(here.begin(), "waiting_for_user")
    assert (leases.held, here.agent.job(job.id)["locks"]) == (True, True)
    free: list[bool] = []
    here.store.events.subscribe(lambda event: free.append(not leases.held) if event.type == last else None)
    here.agent.answer(job.id, "q_1", "Terse")
    assert here.agent.wait(job.id).status == status
    types = here.types(job)
    assert types.index("documents.locked") < types.index("clarification.requested") < types.index("documents.released")
    assert (types.count("documents.locked"), types.count("documents.released")) == (1, 1)
    assert free == [True]  # whoever hears of the end can type


@pytest.mark.covers("TK-lock-cancel")
def test_cancelling_a_job_ends_its_lock(desk: Callable[..., Desk]):
    here = desk(ASKS, says("Done."), settings=LOCK)
    job = here.until(here.begin(), "waiting_for_user")
    here.agent.cancel(job.id)
    here.until(job, "cancelled")
    assert not here.store.leases.held


def test_a_job_that_is_resumed_holds_the_documents_again(desk: Callable[..., Desk]):
    here = desk(ASKS, says("Done."), settings=LOCK)
    job = here.until(here.begin(), "waiting_for_user")
    here.agent.close()
    assert not here.store.leases.held
    again = desk(ASKS, says("Done."))
    again.agent.resume()
    again.when(job, lambda: again.store.leases.held)
    again.agent.cancel(job.id)
    again.until(job, "cancelled")


def test_a_request_can_ask_for_the_lock_or_do_without_it(desk: Callable[..., Desk]):
    here = desk(says("Done."))
    assert "documents.locked" in here.types(here.ask(tool_config={"lock": True}))
    here.session = here.store.sessions.create().id
    with pytest.raises(Refused):
        here.ask(tool_config={"lock": "yes"})
    assert "documents.locked" not in here.types(here.ask())


def test_a_folder_can_ask_for_the_lock_and_not_forbid_it():
    plain, asks = Settings(), parse_settings({"lock": True}, "a file")
    assert [own.narrow(folder).lock for own in (plain, asks) for folder in (plain, asks)] == [False, True, True, True]
