"""A job whose program is stopped: it goes on where it was, or ends as what it is; nothing is half on disk, and no step
is bought twice."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from redraft.config import Settings
from tests.agent.desk import Desk, Playing, call, edit, says
from tests.agent.stopped import STEPS, WORDS
from tests.conftest import TORTURE
from tests.workspace.folder import POEM, type_over, working

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.workspace.folder import Folder

ASKS = says("", call("clarify_user", question="Terse?"))
RENAME = says("", edit("poem.md", "Amber", "Agate"))
PROGRAM = Path(__file__).parent / "stopped.py"


def stopped(desk: Callable[..., Desk], *steps: dict[str, Any], settings: Settings | None = None) -> tuple[Desk, Any]:
    """A desk whose program ended while a job waited for an answer."""
    here = desk(*steps, settings=settings)
    job = here.until(here.begin(), "waiting_for_user")
    here.agent.close()
    assert here.store.jobs.get(job.id).status == "waiting_for_user"
    return here, job


@pytest.mark.covers("RD-decided-durable")
def test_a_job_that_waited_goes_on_when_it_is_answered_after_a_restart(desk: Callable[..., Desk], folder: Folder):
    steps = (RENAME, ASKS, says("", edit("poem.md", "Birch", "Beech")), says("Done."))
    first, job = stopped(desk, *steps)
    second = desk(*steps)
    second.agent.answer(job.id, "q_1", "Terse")
    job = second.agent.wait(job.id)
    assert (job.status, job.answer) == ("awaiting_review", "Done.")
    assert (first.model.asked, second.model.asked) == ([0, 1], [2, 3])
    assert working(second.workspace, "poem.md") == POEM.replace("Amber", "Agate").replace("Birch", "Beech")
    assert folder.text("poem.md") == POEM
    assert second.types(job).count("clarification.requested") == 1
    assert second.store.usage.of_job(job.id).steps == 4


def test_a_job_is_taken_up_by_resume_and_waits_again(desk: Callable[..., Desk]):
    _, job = stopped(desk, RENAME, ASKS, says("Done."))
    second = desk(RENAME, ASKS, says("Done."))
    assert [each.id for each in second.agent.resume()] == [job.id]
    job = second.until(job, "waiting_for_user")
    assert second.model.asked == []
    second.agent.answer(job.id, "q_1")
    assert second.agent.wait(job.id).status == "awaiting_review"


def test_a_job_that_another_process_runs_is_left_to_it(desk: Callable[..., Desk]):
    here = desk(ASKS, says("Done."))
    job = here.until(here.begin(), "waiting_for_user")
    there = desk(ASKS, says("Done."))
    assert there.agent.resume() == []
    assert here.store.jobs.get(job.id).status == "waiting_for_user"


def test_a_job_whose_documents_changed_meanwhile_fails_with_that_reason(desk: Callable[..., Desk], folder: Folder):
    _, job = stopped(desk, RENAME, ASKS, says("Done."), settings=Settings(mode="apply"))
    changed = POEM.replace("Jetty", "Jewel")
    folder.put("poem.md", changed)
    second = desk(RENAME, ASKS, says("Done."), settings=Settings(mode="apply"))
    second.agent.answer(job.id, "q_1")
    job = second.agent.wait(job.id)
    assert (job.status, (job.error or {})["error"]) == ("failed", "conflict")
    assert "documents were changed" in (job.error or {})["message"]
    assert (folder.text("poem.md"), second.model.asked) == (changed, [])


def test_a_change_in_a_document_that_the_job_never_saw_does_not_matter(desk: Callable[..., Desk]):
    _, job = stopped(desk, RENAME, ASKS, says("Done."))
    second = desk(RENAME, ASKS, says("Done."))
    type_over(second.workspace, "other.md", "One line", "My line")
    second.agent.answer(job.id, "q_1")
    assert second.agent.wait(job.id).status == "awaiting_review"


def test_a_job_that_was_stopped_after_its_turn_was_committed_is_found_done(desk: Callable[..., Desk], folder: Folder):
    here = desk(RENAME, says("Done."), settings=Settings(mode="apply"))
    job = here.ask()
    here.store.database.execute("UPDATE jobs SET status = 'running' WHERE id = ?", (job.id,))
    second = desk(settings=Settings(mode="apply"))
    second.agent.resume()
    job = second.agent.wait(job.id)
    assert (job.status, job.answer, second.model.asked) == ("completed", "Done.", [])
    assert len(second.workspace.turns()) == 1


def test_a_job_whose_program_is_gone_is_told_as_interrupted(desk: Callable[..., Desk]):
    here = desk(says("Never.", delay_ms=60_000))
    job = here.begin()
    here.when(job, lambda: bool(here.model.asked))
    assert here.agent.job(job.id)["interrupted"] is False
    here.agent.close()
    second = desk(says("Done."))
    told = second.agent.job(job.id)
    assert (told["status"], told["interrupted"]) == ("running", True)
    second.agent.resume()
    assert second.agent.wait(job.id).status == "completed"


def test_a_stopped_job_can_be_cancelled(desk: Callable[..., Desk]):
    _, job = stopped(desk, RENAME, ASKS, says("Done."))
    second = desk()
    assert second.agent.cancel(job.id).status == "cancelled"
    assert second.workspace.drafts() == []


def test_an_act_outside_the_turn_is_not_done_twice(desk: Callable[..., Desk], folder: Folder):
    settings = Settings(mode="apply")
    here = desk(RENAME, says("Done."), settings=settings)
    here.ask()
    here.session = here.store.sessions.create().id
    undo = (says("", call("undo_turn")), ASKS, says("Done."))
    here.model.steps = list(undo)
    job = here.until(here.begin(), "waiting_for_user")
    here.agent.confirm(job.id, "q_1", allow=True)
    here.when(job, lambda: "clarification.requested" in here.types(job))
    here.agent.close()
    turns = len(here.workspace.turns())
    second = desk(*undo, settings=settings)
    second.agent.answer(job.id, "q_2")
    assert second.agent.wait(job.id).status == "completed"
    assert (len(second.workspace.turns()), folder.text("poem.md")) == (turns, POEM)


# Killed, in earnest


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["apply", "propose"])
def test_a_program_that_is_killed_leaves_nothing_half_done_and_its_job_goes_on(folder: Folder, mode: str):
    chance = random.Random(mode)
    whole = POEM
    for word in WORDS:
        whole = whole.replace(word, word.upper())
    for _ in range(100 if TORTURE else 5):
        folder.put("poem.md", POEM)
        log = folder.path.parent / "bought.jsonl"
        log.write_text("", encoding="utf-8")
        _kill(folder, mode, log, chance.uniform(0.0, 0.15))
        assert folder.text("poem.md") in (POEM, whole), "half of a turn is on disk"
        here = Desk.at(folder, Playing(STEPS, _bought(log)), Settings(mode=mode))
        try:
            assert not here.store.leases.held
            for job in here.agent.resume():
                here.agent.wait(job.id, 60)
            _check_ended(here, mode, whole)
            bought = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
            _check_bought_once(here, bought)
            _cleared(here)
        finally:
            here.leave()


def _kill(folder: Folder, mode: str, log: Path, after: float) -> None:
    """Run a job in a program of its own, and kill it so long after it began."""
    command = [sys.executable, str(PROGRAM), str(folder.path), folder.state_home, mode, str(log)]
    environment = {**os.environ, "PYTHONPATH": str(PROGRAM.parents[2])}
    with subprocess.Popen(command, stdout=subprocess.PIPE, encoding="utf-8", env=environment) as program:
        assert program.stdout is not None
        assert program.stdout.readline().startswith("job_")
        time.sleep(after)
        program.send_signal(signal.SIGKILL)


def _bought(log: Path) -> Callable[[int], None]:
    def note(number: int) -> None:
        with log.open("a", encoding="utf-8") as file:
            file.write(json.dumps(number) + "\n")

    return note


def _check_ended(here: Desk, mode: str, whole: str) -> None:
    [job] = here.store.jobs.recent(1)
    assert job.status in ("completed", "awaiting_review", "failed"), here.types(job)
    text = here.folder.text("poem.md")
    if job.status == "completed":
        assert (mode, text) == ("apply", whole)
    else:
        assert text == POEM
    if job.status == "awaiting_review":
        assert (mode, working(here.workspace, "poem.md")) == ("propose", whole)
    if job.status == "failed":
        assert job.error is not None
        assert job.error["message"]


def _check_bought_once(here: Desk, bought: list[int]) -> None:
    """A step that was recorded is never asked for again; only the one under way when the program died may be."""
    assert bought == sorted(bought)
    twice = {number for number in bought if bought.count(number) > 1}
    assert len(twice) <= 1
    [job] = here.store.jobs.recent(1)
    assert here.store.usage.of_job(job.id).steps == len(set(bought))


def _cleared(here: Desk) -> None:
    """Begin anew: nothing pending, and the history of the round before is no part of the next."""
    if here.workspace.drafts():
        here.workspace.reject({"poem.md": None})
    for job in here.store.jobs.recent(10):
        here.store.jobs.remove(job.id)
