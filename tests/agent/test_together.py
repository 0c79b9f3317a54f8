"""The person works on while the agent does: typing, conflicts, repeated runs, and decisions about what a job made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from redraft.config import AgentLimits, Settings
from redraft.errors import Refused
from redraft.providers.contract import UserMessage
from tests.agent.desk import call, edit, says
from tests.workspace.folder import POEM, type_over, working

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.agent.desk import Desk
    from tests.workspace.folder import Folder

RENAME = says("", edit("poem.md", "Amber", "Agate"))


def at_step(here: Desk, number: int, act: Callable[[], object]) -> None:
    """Do something while the model thinks about its step."""

    def meanwhile(asked: int) -> None:
        if asked == number:
            act()

    here.model.before = meanwhile


def test_what_the_person_types_meanwhile_is_kept_and_the_turn_merged_over_it(desk: Callable[..., Desk]):
    here = desk(RENAME, says("Done."))
    at_step(here, 1, lambda: type_over(here.workspace, "poem.md", "Jetty stands", "Jetty sleeps"))
    job = here.ask()
    assert (job.status, job.conflicts) == ("awaiting_review", ())
    assert working(here.workspace, "poem.md") == POEM.replace("Amber", "Agate").replace("Jetty stands", "Jetty sleeps")


def inserted(line: int, content: str) -> dict[str, Any]:
    position = {"line_number": line}
    return call("edit_document", path="list.md", operation="insert", content=content, position=position)


def test_calls_that_name_no_version_are_about_what_the_model_had_read_when_it_made_them(desk: Callable[..., Desk]):
    here = desk(
        says("", call("read_document", path="list.md")),
        says("", inserted(1, "a"), inserted(3, "b"), inserted(5, "c")),
        says("", call("read_document", path="list.md")),
        says("", inserted(2, "A")),
        says("Done."),
    )
    here.folder.put("list.md", "one\n\ntwo\n\nthree\n")
    here.ask(tool_config={"profile": "all"})
    assert working(here.workspace, "list.md") == "a\nA\none\n\nb\ntwo\n\nc\nthree\n"


def test_a_line_number_without_a_version_is_refused_where_the_models_own_edits_leave_a_doubt(desk: Callable[..., Desk]):
    here = desk(
        says("", call("read_document", path="list.md")),
        says("", inserted(3, "b")),
        says("", inserted(1, "a")),
        says("", inserted(7, "d")),
        says("Done."),
    )
    here.folder.put("list.md", "one\n\ntwo\n\nthree\n\nfour\n")
    job = here.ask(tool_config={"profile": "all"})
    assert working(here.workspace, "list.md") == "a\none\n\nb\ntwo\n\nthree\n\nfour\n"
    assert here.event(job, "tool.call.completed")["ok"] is False


def test_an_edit_goes_past_what_the_person_typed_since_the_model_read(desk: Callable[..., Desk]):
    here = desk(
        says("", call("read_document", path="list.md")),
        says("", inserted(5, "c"), inserted(1, "a")),
        says("Done."),
    )
    here.folder.put("list.md", "one\n\ntwo\n\nthree\n")
    at_step(here, 1, lambda: type_over(here.workspace, "list.md", "one\n", "one\n1\n"))
    job = here.ask(tool_config={"profile": "all"})
    assert working(here.workspace, "list.md") == "one\n1\n\ntwo\n\nc\nthree\n"
    refused = here.event(job, "tool.call.completed")
    assert refused["ok"] is False, "what stands beside its place is another line by now"


def test_an_overlap_with_what_was_typed_is_a_conflict_in_the_review(desk: Callable[..., Desk]):
    here = desk(says("", edit("poem.md", "Amber stands", "Agate stands")), says("Done."))
    at_step(here, 1, lambda: type_over(here.workspace, "poem.md", "Amber stands", "Azure stands"))
    job = here.ask()
    assert (job.status, job.conflicts) == ("awaiting_review", ("poem.md",))
    assert here.event(job, "conflict.found") == {"paths": ["poem.md"]}
    assert "Azure" in working(here.workspace, "poem.md")


def test_the_agent_is_told_once_what_changed_since_it_read(desk: Callable[..., Desk]):
    here = desk(
        says("", call("read_document", path="poem.md")),
        says("", call("list_documents")),
        says("", call("list_documents")),
        says("Done."),
    )
    at_step(here, 1, lambda: type_over(here.workspace, "poem.md", "Jetty stands", "Jetty sleeps"))
    job = here.ask(tool_config={"profile": "all"})
    told = [
        [message.text for message in request.messages if isinstance(message, UserMessage) and "Jetty" in message.text]
        for request in here.model.requests
    ]
    assert [len(each) for each in told] == [0, 0, 1, 1]
    assert "Jetty sleeps" in told[-1][0]
    assert here.event(job, "documents.changed") == {"paths": ["poem.md"]}


def test_an_edit_by_line_numbers_that_are_no_longer_true_is_refused(desk: Callable[..., Desk]):
    by_line: dict[str, Any] = {"file_path": "poem.md", "operation": "replace", "start_line": 1, "new_text": "Mine."}
    here = desk(
        says("", call("read_file", file_path="poem.md")), says("", call("propose_edits", edits=[by_line])), says("No.")
    )
    at_step(here, 1, lambda: type_over(here.workspace, "poem.md", "Amber stands", "New line.\nAmber stands"))
    job = here.ask(tool_config={"profile": "all"})
    assert (job.status, job.turn) == ("completed", None)
    assert "New line." in working(here.workspace, "poem.md")


@pytest.mark.covers("SB-dec-conflict-rerun", "SB-conflict-backend", "SB-safe-rerun")
def test_a_decision_about_a_file_that_changed_is_not_carried_out_and_the_job_runs_again(
    desk: Callable[..., Desk], folder: Folder
):
    here = desk(RENAME, says("Done."))
    job = here.ask("Rename Amber")
    hunks = [hunk["hunk_id"] for hunk in here.agent.job(job.id)["diff_bundle"]["files"][0]["hunks"]]
    folder.put("poem.md", POEM.replace("Jetty", "Jewel"))
    answer = here.agent.apply(job.id, hunks)
    assert (answer["status"], answer["error"]["error"]) == ("conflict", "conflict")
    assert folder.text("poem.md") == POEM.replace("Jetty", "Jewel")
    old = here.store.jobs.get(job.id)
    assert (old.status, (old.error or {})["rerun_required"]) == ("failed", True)
    again = here.agent.wait(answer["rerun_job_id"])
    assert (again.status, again.rerun_of, again.instruction) == ("awaiting_review", job.id, "Rename Amber")
    assert here.event(job, "rerun.started") == {"job_id": again.id}
    assert working(here.workspace, "poem.md") == POEM.replace("Jetty", "Jewel").replace("Amber", "Agate")


def test_in_apply_mode_what_another_program_wrote_elsewhere_stays_and_the_edit_lands(
    desk: Callable[..., Desk], folder: Folder
):
    here = desk(RENAME, says("Done."), settings=Settings(mode="apply"))
    changed = POEM.replace("Jetty", "Jewel") + "By somebody\n"
    at_step(here, 1, lambda: folder.put("poem.md", changed))
    assert (here.ask().status, folder.text("poem.md")) == ("completed", changed.replace("Amber", "Agate"))


def test_in_apply_mode_a_file_that_changed_on_disk_is_not_written_over_but_tried_again(
    desk: Callable[..., Desk], folder: Folder
):
    here = desk(RENAME, says("Done."), settings=Settings(mode="apply"))
    changed = POEM.replace("Amber", "Dark Amber")
    at_step(here, 1, lambda: folder.put("poem.md", changed))
    job = here.ask()
    assert (job.status, (job.error or {})["error"]) == ("failed", "conflict")
    again = here.agent.wait(here.event(job, "rerun.started")["job_id"])
    assert (again.status, folder.text("poem.md")) == ("completed", changed.replace("Amber", "Agate"))


def test_a_job_is_repeated_so_often_and_no_more(desk: Callable[..., Desk], folder: Folder):
    here = desk(RENAME, says("Done."), settings=Settings(mode="apply", agent=AgentLimits(reruns=2)))
    count = iter(range(100))
    at_step(here, 1, lambda: folder.put("poem.md", POEM.replace("Amber", f"Amber {next(count)}")))
    here.ask()
    here.when(here.store.jobs.recent(1)[0], lambda: sum(job.ended for job in here.store.jobs.recent(9)) == 3)
    assert [job.status for job in here.store.jobs.of_session(here.session)] == ["failed"] * 3
    assert "Agate" not in folder.text("poem.md")


@pytest.mark.covers("SB-event-review-updated", "ML-adv-memory-corrections")
def test_accepted_hunks_are_written_and_the_others_refused(desk: Callable[..., Desk], folder: Folder):
    here = desk(says("", edit("poem.md", "Amber", "Agate"), edit("poem.md", "Jetty", "Jewel")), says("Done."))
    job = here.ask()
    hunks = here.agent.job(job.id)["diff_bundle"]["files"][0]["hunks"]
    answer = here.agent.apply(job.id, [hunks[0]["hunk_id"]])
    assert answer == {
        "status": "completed",
        "applied_files": [{"file_path": "poem.md", "applied_hunks": 1, "rejected_hunks": 1}],
    }
    assert folder.text("poem.md") == POEM.replace("Amber", "Agate")
    assert here.store.jobs.get(job.id).status == "completed"
    assert "review.updated" in here.types(job)
    [note] = here.agent.environment.memory("").notes("corrections")
    assert "Jewel" in note


def test_a_hunk_that_is_not_the_jobs_is_refused(desk: Callable[..., Desk]):
    here = desk(RENAME, says("Done."))
    job = here.ask()
    with pytest.raises(Refused) as caught:
        here.agent.apply(job.id, ["h_nowhere"])
    assert caught.value.code == "hunk_not_found"
    assert here.store.jobs.get(job.id).status == "awaiting_review"


def test_a_review_that_is_decided_elsewhere_completes_the_job(desk: Callable[..., Desk], folder: Folder):
    here = desk(RENAME, says("Done."))
    job = here.ask()
    folder.open().accept({"poem.md": None})
    assert here.store.jobs.get(job.id).status == "awaiting_review"
    assert here.agent.job(job.id)["status"] == "completed"


def test_a_rollback_is_told_among_the_events_of_the_job(desk: Callable[..., Desk]):
    here = desk(RENAME, says("Done."), settings=Settings(mode="apply"))
    job = here.ask()
    here.workspace.rollback(job.turn or 0, "hard_all")
    types = here.types(job)
    assert types[-2:] == ["checkpoint.rollback.started", "checkpoint.rollback.completed"]
