"""The assistant in the real loop: jobs, reviews, questions and confirmations as any model has them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from redraft.agent.offline import OfflineProvider
from redraft.agent.store.jobs import Status
from redraft.config import Settings
from tests.agent.desk import Desk, Playing
from tests.agent.offline.conversing import TODAY

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from redraft.providers.contract import Provider
    from redraft.providers.router import ModelChoice
    from tests.workspace.folder import Folder


class Offline(Playing):
    """Gives every job the offline assistant."""

    def __init__(self) -> None:
        super().__init__(())

    def provider(self, name: str, trace: Callable[[ModelChoice], None], /) -> Provider:
        return OfflineProvider(clock=lambda: TODAY)


@pytest.fixture
def seated(folder: Folder) -> Generator[Callable[[str], Desk]]:
    made: list[Desk] = []

    def make(mode: str) -> Desk:
        desk = Desk.at(folder, Offline(), Settings(mode=mode))
        made.append(desk)
        return desk

    yield make
    for each in made:
        each.close()


def last_words(desk: Desk) -> str:
    return [entry.text for entry in desk.store.sessions.get(desk.session).chat if entry.role == "assistant"][-1]


@pytest.mark.covers("ML-open-offline")
def test_a_rename_waits_for_review_and_is_written_when_accepted(seated: Callable[[str], Desk], folder: Folder):
    desk = seated("propose")
    before = folder.tree()
    job = desk.ask("Rename Ines to Marta everywhere")
    assert job.status is Status.REVIEW
    assert folder.tree() == before
    shown = desk.agent.job(job.id)["diff_bundle"]
    hunks = [hunk["hunk_id"] for file in shown["files"] for hunk in file["hunks"]]
    desk.agent.apply(job.id, hunks)
    for path, data in before.items():
        assert folder.bytes(path) == data.replace(b"Ines", b"Marta")
    assert "6 places" in last_words(desk)


def test_a_question_about_documents_ends_without_a_review(seated: Callable[[str], Desk], folder: Folder):
    desk = seated("propose")
    before = folder.tree()
    job = desk.ask("How many words does chapter 1 have?")
    assert job.status is Status.COMPLETED
    assert folder.tree() == before
    assert "words in" in last_words(desk)


def test_a_deletion_waits_for_the_persons_consent(seated: Callable[[str], Desk], folder: Folder):
    desk = seated("apply")
    job = desk.until(desk.begin("delete todo.md"), Status.WAITING)
    assert job.question is not None
    assert job.question.paths == ("todo.md",)
    assert "todo.md" in folder.tree()
    desk.agent.confirm(job.id, job.question.id, allow=True)
    assert desk.agent.wait(job.id, 60).status is Status.COMPLETED
    assert "todo.md" not in folder.tree()


def test_a_question_is_put_to_the_person_and_their_answer_heard(seated: Callable[[str], Desk], folder: Folder):
    folder.put("old/meeting.md", "One.\n")
    desk = seated("apply")
    job = desk.until(desk.begin('append "Done." to the meeting notes'), Status.WAITING)
    assert job.question is not None
    assert "old/meeting.md" in job.question.text
    desk.agent.answer(job.id, job.question.id, "the one in old")
    desk.agent.wait(job.id, 60)
    assert folder.text("old/meeting.md") == "One.\n\nDone.\n"


def test_what_was_left_for_later_is_done_when_asked_again(seated: Callable[[str], Desk], folder: Folder):
    for number in range(8):
        folder.put(f"more/{number}.md", "The vessel sailed.\n\n    vessel\n")
    desk = seated("apply")
    desk.ask("rename vessel to craft everywhere")
    assert "Not done yet" in last_words(desk)
    desk.ask("rename vessel to craft everywhere")
    assert "Not done yet" not in last_words(desk)
    assert {folder.text(f"more/{number}.md").split("\n")[0] for number in range(8)} == {"The craft sailed."}


def test_undo_takes_back_the_last_job(seated: Callable[[str], Desk], folder: Folder):
    desk = seated("apply")
    before = folder.tree()
    desk.ask("rename Ines to Marta")
    assert folder.tree() != before
    job = desk.begin("undo")
    waiting = desk.until(job, Status.WAITING, Status.COMPLETED)
    if waiting.question is not None:
        desk.agent.confirm(job.id, waiting.question.id, allow=True)
    desk.agent.wait(job.id, 60)
    assert folder.tree() == before
