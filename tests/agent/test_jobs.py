"""What a job does, from the request to the turn: the loop with a scripted model through the real engine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from redraft.config import AgentLimits, Settings
from redraft.errors import Refused
from redraft.providers.contract import SystemMessage, ToolResult, UserMessage
from tests.agent.desk import Playing, call, edit, says
from tests.workspace.folder import POEM

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.agent.desk import Desk
    from tests.workspace.folder import Folder

RENAME = edit("poem.md", "Amber", "Agate")
APPLY = Settings(mode="apply")


@pytest.mark.covers("SB-review-bundle", "SB-job-results", "SB-scope-multi-step", "ML-goal-manage")
def test_an_edit_waits_for_the_person_and_nothing_is_on_disk(desk: Callable[..., Desk], folder: Folder):
    here = desk(says("", RENAME), says("I renamed Amber."))
    job = here.ask("Rename Amber")
    assert (job.status, job.error, job.answer) == ("awaiting_review", None, "I renamed Amber.")
    assert folder.text("poem.md") == POEM
    assert "Agate" in str(here.workspace.read("poem.md").text)
    shape = here.agent.job(job.id)
    [file] = shape["diff_bundle"]["files"]
    [hunk] = file["hunks"]
    assert file["file_path"] == "poem.md"
    assert "+Agate stands" in hunk["patch"]
    assert hunk["edit_ids"] == [edit["edit_id"] for edit in shape["proposed_edits"]] == ["e_1"]


def test_in_apply_mode_it_is_written_at_the_end(desk: Callable[..., Desk], folder: Folder):
    here = desk(says("", RENAME), says("Done."), settings=APPLY)
    job = here.ask()
    assert job.status == "completed"
    assert folder.text("poem.md") == POEM.replace("Amber", "Agate")


@pytest.mark.covers("ML-goal-many", "TK-turn-begins", "ML-loop-record")
def test_all_calls_of_a_job_are_one_turn_and_see_one_another(desk: Callable[..., Desk]):
    here = desk(
        says("", RENAME, edit("other.md", "One line", "A line")),
        says("", call("read_document", path="poem.md")),
        says("", edit("poem.md", "Agate stands", "Agate stood")),
        says("", call("create_document", name="new.md", content="New.\n")),
        says("Done."),
    )
    job = here.ask()
    assert job.status == "awaiting_review"
    assert "Agate stood alone" in str(here.workspace.read("poem.md").text)
    [turn] = here.workspace.turns()
    assert (turn.id, set(turn.paths)) == (job.turn, {"poem.md", "other.md", "new.md"})


@pytest.mark.covers("ML-loop-done")
def test_an_answer_without_calls_ends_the_job(desk: Callable[..., Desk]):
    here = desk(says("There are two documents."))
    job = here.ask()
    assert (job.status, job.turn, job.answer) == ("completed", None, "There are two documents.")
    assert here.workspace.turns() == []


@pytest.mark.covers("ML-loop-results-back", "SB-scope-tools-for-context", "SB-tools-same-everywhere")
def test_results_and_errors_are_told_to_the_model(desk: Callable[..., Desk]):
    here = desk(
        says("", call("read_document", path="poem.md"), call("read_document", path="gone.md")),
        says("", call("search_documents", query="Cedar")),
        says("Done."),
    )
    here.ask()
    results = [message for message in here.model.requests[-1].messages if isinstance(message, ToolResult)]
    assert [result.ok for result in results] == [True, False, True]
    assert "Amber stands" in str(results[0].result)
    assert (results[1].error or {})["error"] == "not_found"
    assert "poem.md" in str(results[2].result)


@pytest.mark.covers("ML-loop-guidelines", "SB-hunk-focused", "ML-loop-request")
def test_the_model_is_told_to_look_first_and_to_make_small_edits(desk: Callable[..., Desk]):
    here = desk(says("Done."))
    here.ask()
    [request] = here.model.requests
    system = request.messages[0]
    assert isinstance(system, SystemMessage)
    assert all(words in system.text for words in ("Read before you change", "small, focused edits", "step by step"))
    assert {"read_document", "edit_text", "clarify_user"} <= {tool.name for tool in request.tools}


@pytest.mark.covers("ML-loop-context", "SB-scope-rows-kept")
def test_context_rows_go_to_the_model_as_data_and_stay_for_the_next_request(desk: Callable[..., Desk]):
    here = desk(says("One."))
    row = {"id": "ctx_1", "kind": "selection", "file_path": "poem.md", "start_line": 1, "end_line": 1}
    here.ask("First", context_rows=[row])
    here.ask("Second")
    first, second = (request.messages[-1] for request in here.model.requests)
    assert isinstance(first, UserMessage)
    assert isinstance(second, UserMessage)
    for message in (first, second):
        assert 'path="poem.md" lines="1-1"' in message.text
        assert "Amber stands alone" in message.text
        assert "Birch" not in message.text
    assert first.text.endswith("First")


def test_a_row_of_a_file_with_keys_brings_its_name_and_no_byte_of_it(desk: Callable[..., Desk], folder: Folder):
    folder.put(".env", "TOKEN=hunter2\n")
    here = desk(says("Done."))
    here.ask(context_rows=[{"file_path": ".env", "kind": "file"}])
    assert "hunter2" not in str(here.model.requests[0].messages)


def test_what_was_said_before_in_the_session_is_told_again(desk: Callable[..., Desk]):
    here = desk(says("Nice to meet you."), says("As I said."))
    here.ask("My name is Ada.")
    here.model.steps = [{}, says("Ada."), {}]
    here.ask("What is my name?")
    texts = [getattr(message, "text", "") for message in here.model.requests[-1].messages]
    assert texts[1:] == ["My name is Ada.", "Nice to meet you.", "What is my name?"]


@pytest.mark.covers("SB-session-chat", "SB-session-keeps", "SB-session-fields", "SB-session-pending-review")
def test_the_session_keeps_what_was_said_and_done(desk: Callable[..., Desk]):
    here = desk(says("I look.", RENAME), says("Done."))
    job = here.ask("Rename Amber")
    session = here.store.sessions.get(here.session)
    assert [entry.role for entry in session.chat] == ["user", "tool", "assistant"]
    assert session.chat[1].text == "edit_text poem.md"
    assert (session.last_job_id, session.pending_review) == (job.id, job.id)
    fields = {"id", "created_at", "updated_at", "status", "chat", "context_rows", "last_job_id", "pending_review"}
    assert fields <= session.as_dict().keys()


@pytest.mark.covers(
    "SB-event-job-started",
    "SB-event-tool-requested",
    "SB-event-tool-completed",
    "SB-event-edits-proposed",
    "SB-event-diff-generated",
    "SB-dec-stream-traced",
    "SB-event-traced",
)
def test_everything_that_happens_is_told_in_order(desk: Callable[..., Desk]):
    here = desk(says("", call("search_project", query="Cedar", glob="**/*")), says("", RENAME), says("Done."))
    job = here.ask(tool_config={"profile": "all"})
    types = here.types(job)
    wanted = ["job.queued", "job.started", "tool.call.requested", "tool.call.completed", "edits.proposed"]
    wanted += ["checkpoint.created", "diff.generated"]
    assert [types.index(each) for each in wanted] == sorted(types.index(each) for each in wanted)
    first = next(event for event in here.store.events.after(job.id) if event.type == "tool.call.completed")
    assert (first.data["tool"], first.data["result_count"]) == ("search_project", 1)
    assert here.event(job, "diff.generated")["hunks"] == 1


@pytest.mark.covers("SB-cp-origin")
def test_a_checkpoint_names_the_session_and_the_job(desk: Callable[..., Desk]):
    here = desk(says("", RENAME), says("Done."))
    job = here.ask()
    told = here.event(job, "checkpoint.created")
    assert (told["session_id"], told["job_id"], told["affected_files"]) == (here.session, job.id, ["poem.md"])
    assert told["checkpoint_id"] == job.turn
    assert here.store.jobs.by_turn(told["checkpoint_id"]) == here.store.jobs.get(job.id)


@pytest.mark.covers("SB-event-apply-started", "SB-event-apply-completed")
def test_a_turn_that_is_written_at_once_says_so(desk: Callable[..., Desk]):
    here = desk(says("", RENAME), says("Done."), settings=APPLY)
    job = here.ask()
    assert [each for each in here.types(job) if each.startswith("apply.")] == ["apply.started", "apply.completed"]


@pytest.mark.covers("TK-turn-stream-end")
def test_words_are_streamed_before_the_job_ends_and_calls_wait_for_the_whole_step(desk: Callable[..., Desk]):
    here = desk(says("I look at it now.", RENAME), says("Done."))
    told: list[str] = []
    here.store.events.subscribe(lambda event: told.append(event.type))
    here.ask()
    assert told.index("assistant.delta") < told.index("tool.call.requested")
    assert "assistant.delta" not in {event.type for event in here.store.events.after(here.store.jobs.recent(1)[0].id)}


def test_a_job_of_mode_read_is_offered_no_tool_that_writes(desk: Callable[..., Desk], folder: Folder):
    here = desk(says("", RENAME), says("I cannot."), settings=Settings(mode="read"))
    job = here.ask()
    assert job.status == "completed"
    assert "edit_text" not in {tool.name for tool in here.model.requests[0].tools}
    results = [message for message in here.model.requests[1].messages if isinstance(message, ToolResult)]
    assert (results[0].error or {})["error"] == "unknown_tool"
    assert folder.text("poem.md") == POEM


def test_a_request_cannot_have_a_wider_mode_than_the_folder_allows(desk: Callable[..., Desk], folder: Folder):
    here = desk(says("", RENAME), says("Done."), ceiling="propose")
    job = here.ask(mode="apply")
    assert (job.mode, job.status) == ("propose", "awaiting_review")
    assert folder.text("poem.md") == POEM


def test_a_call_that_fails_half_way_leaves_nothing_of_itself_in_the_turn(desk: Callable[..., Desk]):
    bad: dict[str, Any] = {"file_path": "other.md", "operation": "replace", "anchor": "not there", "new_text": "x"}
    good: dict[str, Any] = {"file_path": "poem.md", "operation": "replace", "start_line": 1, "new_text": "Changed."}
    here = desk(says("", call("propose_edits", edits=[good, bad])), says("Done."))
    job = here.ask(tool_config={"profile": "all"})
    assert (job.status, job.turn) == ("completed", None)
    assert str(here.workspace.read("poem.md").text) == POEM


@pytest.mark.parametrize(
    "wrong", [{"max_tool_calls": 0}, {"max_tool_calls": "12"}, {"max_iterations": True}, {"profile": "none"}]
)
def test_a_request_that_is_wrong_is_refused_before_a_job_is_made(desk: Callable[..., Desk], wrong: dict[str, Any]):
    here = desk(says("Done."))
    with pytest.raises(Refused):
        here.begin(tool_config=wrong)
    for words in ("   ", "half a \ud800 pair", "x" * 100_001):
        with pytest.raises(Refused):
            here.begin(words)
    with pytest.raises(Refused):
        here.begin(mode="wild")
    assert here.store.jobs.recent(9) == []


def test_one_job_at_a_time_in_a_session(desk: Callable[..., Desk]):
    here = desk(says("", call("clarify_user", question="Which?")), says("Done."))
    job = here.begin()
    here.until(job, "waiting_for_user")
    with pytest.raises(Refused) as caught:
        here.begin("Another")
    assert caught.value.code == "conflict"


@pytest.mark.covers("ML-stress-batches")
def test_jobs_of_several_sessions_run_at_the_same_time_and_lose_nothing(desk: Callable[..., Desk], folder: Folder):
    words = ["Amber", "Birch", "Cedar", "Delta", "Ember", "Fjord"]

    class OneEach:
        def provider(self, name: str, trace: object, /) -> Playing:
            return Playing([says("", edit("poem.md", name, name.upper())), says("Done.")])

    here = desk(settings=Settings(mode="merge"), providers=OneEach())
    sessions = [here.store.sessions.create().id for _ in words]
    jobs = [here.agent.start(each, "Shout", model=word) for each, word in zip(sessions, words, strict=True)]
    assert {here.agent.wait(job.id).status for job in jobs} == {"completed"}
    expected = POEM
    for word in words:
        expected = expected.replace(word, word.upper())
    assert folder.text("poem.md") == expected


@pytest.mark.covers("ML-loop-always-ends", "SB-event-job-failed", "SB-job-error")
def test_a_model_that_fails_fails_the_job_with_its_reason(desk: Callable[..., Desk], folder: Folder):
    here = desk(says("", RENAME), {"error": "auth", "message": "The key is wrong."})
    job = here.ask()
    assert job.status == "failed"
    assert job.error is not None
    assert (job.error["error"], job.error["message"]) == ("model_auth", "The key is wrong.")
    assert here.event(job, "job.failed")["reason"] == "The key is wrong."
    assert (folder.text("poem.md"), here.workspace.drafts(), here.workspace.turns()) == (POEM, [], [])


def test_a_result_over_the_budget_is_shown_as_a_window(desk: Callable[..., Desk], folder: Folder):
    folder.put("long.md", "".join(f"Line {number} of a long document.\n" for number in range(2000)))
    limits = Settings(agent=AgentLimits(result_characters=2000))
    here = desk(says("", call("read_document", path="long.md")), says("Done."), settings=limits)
    here.ask()
    [result] = [message for message in here.model.requests[-1].messages if isinstance(message, ToolResult)]
    assert result.result["truncated"] is True
    assert len(str(result.result)) < 4000
