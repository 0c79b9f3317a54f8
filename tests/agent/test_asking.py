"""What a job asks the person: questions, consent, cost; and what they said once and for all."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest

from redraft.agent.memory.permissions import PermissionRule, PermissionRules, apply_rules, verdict_of
from redraft.agent.run.budget import reading_tokens, usual_tokens
from redraft.agent.run.prompts import build_prompt
from redraft.agent.run.tool_calls import JobContext
from redraft.config import AgentLimits, Settings
from redraft.errors import Refused
from redraft.providers.contract import ToolResult
from redraft.workspace.turns.modes import MODES, Verdict
from tests.agent.desk import PATIENCE, call, edit, says
from tests.workspace.folder import POEM, numbered_names

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.agent.desk import Desk
    from tests.workspace.folder import Folder

APPLY = Settings(mode="apply")
ASKS = says("", call("clarify_user", question="Terse or detailed?"))


def delete(*paths: str) -> dict[str, Any]:
    return says("", *(call("delete_document", path=path) for path in paths))


@pytest.mark.covers(
    "SB-tool-clarify-waits",
    "SB-tool-clarify-resumes",
    "SB-event-clarification-requested",
    "SB-event-clarification-received",
    "SB-dec-mid-run-question",
)
def test_a_question_waits_and_its_answer_reaches_the_model(desk: Callable[..., Desk]):
    here = desk(ASKS, says("Terse it is."))
    job = here.until(here.begin(), "waiting_for_user")
    assert job.question is not None
    assert (job.question.id, job.question.text) == ("q_1", "Terse or detailed?")
    assert here.event(job, "clarification.requested")["question"] == "Terse or detailed?"
    here.agent.answer(job.id, "q_1", "Terse, please")
    assert here.agent.wait(job.id).status == "completed"
    [result] = [message for message in here.model.requests[-1].messages if isinstance(message, ToolResult)]
    assert result.result["answer"] == "Terse, please"
    assert here.event(job, "clarification.received")["answer"] == "Terse, please"


@pytest.mark.covers("SB-clarify-skip")
def test_a_question_that_is_skipped_is_answered_with_the_token(desk: Callable[..., Desk]):
    here = desk(ASKS, says("I choose."))
    job = here.until(here.begin(), "waiting_for_user")
    here.agent.answer(job.id, "q_1")
    here.agent.wait(job.id)
    [result] = [message for message in here.model.requests[-1].messages if isinstance(message, ToolResult)]
    assert result.result["answer"] == "no_user_answer"


@pytest.mark.covers("SB-clarify-one")
def test_two_questions_of_one_step_are_asked_one_after_the_other(desk: Callable[..., Desk]):
    here = desk(
        says("", call("clarify_user", question="First?"), call("clarify_user", question="Second?")), says("Done.")
    )
    job = here.until(here.begin(), "waiting_for_user")
    assert job.question is not None
    assert job.question.text == "First?"
    with pytest.raises(Refused):
        here.agent.answer(job.id, "q_2", "to a question that was not asked yet")
    here.agent.answer(job.id, "q_1", "one")
    job = here.when(job, lambda: (here.store.jobs.get(job.id).question or job.question) != job.question)
    here.until(job, "waiting_for_user")
    here.agent.answer(job.id, "q_2", "two")
    assert here.agent.wait(job.id).status == "completed"


@pytest.mark.covers("SB-clarify-no-timeout")
def test_the_time_in_which_a_job_waits_does_not_count(desk: Callable[..., Desk]):
    here = desk(ASKS, says("Done."), settings=Settings(agent=AgentLimits(seconds=3)))
    job = here.until(here.begin(), "waiting_for_user")
    threading.Event().wait(3.5)
    here.agent.answer(job.id, "q_1", "Terse")
    assert (here.agent.wait(job.id).status, "budget.exhausted" in here.types(job)) == ("completed", False)


@pytest.mark.covers("ML-loop-confirm", "ML-sample-delete", "ML-err-ask")
def test_deleting_many_documents_waits_for_one_consent_that_names_them_all(desk: Callable[..., Desk], folder: Folder):
    names = numbered_names(4)
    for name in names:
        folder.put(name, "x\n")
    here = desk(delete(*names), says("Deleted."), settings=Settings(mode="apply", confirm_files=3))
    job = here.until(here.begin(), "waiting_for_user")
    assert job.question is not None
    assert (job.question.kind, list(job.question.paths)) == ("confirmation", names)
    assert all((folder.path / name).exists() for name in names)
    here.agent.confirm(job.id, job.question.id, allow=True)
    assert here.agent.wait(job.id).status == "completed"
    assert not any((folder.path / name).exists() for name in names)
    assert here.types(job).count("confirmation.requested") == 1


def test_a_large_turn_is_asked_about_where_it_does_more_than_was_agreed_to(desk: Callable[..., Desk], folder: Folder):
    names = numbered_names(3)
    for name in names:
        folder.put(name, "x\n")
    more = says("", edit("poem.md", "Amber", "Agate"))
    here = desk(delete(*names), more, says("Done."), settings=Settings(mode="apply", confirm_files=3))
    job = here.until(here.begin(), "waiting_for_user")
    here.agent.confirm(job.id, "q_1", allow=True)
    job = here.when(job, lambda: (here.store.jobs.get(job.id).question or job.question) != job.question)
    assert job.question is not None
    assert list(job.question.paths) == [*names, "poem.md"]
    here.agent.confirm(job.id, "q_2", allow=False)
    assert here.agent.wait(job.id).status == "cancelled"
    assert all((folder.path / name).exists() for name in names)


@pytest.mark.covers("ML-loop-refused")
def test_a_refused_consent_ends_the_job_and_nothing_of_it_stays(desk: Callable[..., Desk], folder: Folder):
    before = folder.tree()
    here = desk(says("", edit("poem.md", "Amber", "Agate")), delete("other.md"), says("Done."), settings=APPLY)
    job = here.until(here.begin(), "waiting_for_user")
    here.agent.confirm(job.id, "q_1", allow=False)
    job = here.agent.wait(job.id)
    assert (job.status, (job.error or {})["message"]) == ("cancelled", "The person cancelled the action.")
    assert (folder.tree(), here.workspace.turns()) == (before, [])


def test_a_turn_over_many_files_waits_for_consent_before_it_is_written(desk: Callable[..., Desk], folder: Folder):
    names = numbered_names(4)
    steps = says("", *(call("create_document", name=name, content="x\n") for name in names))
    here = desk(steps, says("Done."), settings=Settings(mode="apply", confirm_files=3))
    job = here.until(here.begin(), "waiting_for_user")
    assert job.question is not None
    assert list(job.question.paths) == names
    assert not any((folder.path / name).exists() for name in names)
    here.agent.confirm(job.id, job.question.id, allow=True)
    assert here.agent.wait(job.id).status == "completed"
    assert all((folder.path / name).exists() for name in names)


def test_in_propose_mode_a_deletion_is_a_hunk_and_nobody_is_asked(desk: Callable[..., Desk], folder: Folder):
    here = desk(delete("other.md"), says("Done."))
    job = here.ask()
    assert job.status == "awaiting_review"
    assert (folder.path / "other.md").exists()
    [file] = here.agent.job(job.id)["diff_bundle"]["files"]
    assert (file["kind"], file["hunks"][0]["hunk_id"]) == ("deleted", "file:other.md")


def test_a_remembered_rule_answers_the_next_time(desk: Callable[..., Desk], folder: Folder):
    folder.put("drafts/a.md", "a\n")
    folder.put("drafts/b.md", "b\n")
    here = desk(delete("drafts/a.md"), says("Done."), settings=APPLY)
    job = here.until(here.begin(), "waiting_for_user")
    always = PermissionRule("delete_document", "drafts/*", Verdict.ALLOW)
    here.agent.confirm(job.id, "q_1", allow=True, remember=always)
    here.agent.wait(job.id)
    here.session = here.store.sessions.create().id
    here.model.steps = [delete("drafts/b.md"), says("Done.")]
    assert here.ask().status == "completed"
    assert not (folder.path / "drafts/b.md").exists()
    assert not any(path.endswith("agent-rules.json") for path in folder.tree())


def test_a_rule_that_asks_about_moves_is_heeded_in_propose_mode_too(desk: Callable[..., Desk]):
    here = desk(says("", call("move_document", path="other.md", to_path="sub/other.md")), says("Done."))
    here.agent.environment.rules.remember(PermissionRule("move", "*", Verdict.ASK))
    job = here.until(here.begin(), "waiting_for_user")
    assert job.question is not None
    assert "other.md" in job.question.paths
    here.agent.confirm(job.id, "q_1", allow=True)
    assert here.agent.wait(job.id).status == "awaiting_review"


def test_a_rule_that_denies_is_told_to_the_model_as_a_refusal(desk: Callable[..., Desk], folder: Folder):
    here = desk(says("", edit("poem.md", "Amber", "Agate")), says("I may not."), settings=APPLY)
    here.agent.environment.rules.remember(PermissionRule("*", "poem*", Verdict.DENY))
    assert here.ask().status == "completed"
    [result] = [message for message in here.model.requests[-1].messages if isinstance(message, ToolResult)]
    assert (result.error or {})["error"] == "mode_refuses"
    assert folder.text("poem.md") == POEM


def test_no_rule_widens_a_mode():
    allow = [PermissionRule("*", "*", Verdict.ALLOW)]
    for mode in MODES.values():
        under = apply_rules(mode, allow, lambda: "delete_document")
        for action in ("read", "create", "modify", "move", "destroy"):
            assert under.verdict(action, "a.md") == mode.verdict(action, "a.md")
        assert under.writes is mode.writes


def test_every_path_of_an_act_needs_a_rule_that_allows_it():
    rules = [PermissionRule("destroy", "a*", Verdict.ALLOW), PermissionRule("destroy", "ab*", Verdict.DENY)]
    assert verdict_of(rules, "delete_document", "destroy", ["a1", "a2"]) is Verdict.ALLOW
    assert verdict_of(rules, "delete_document", "destroy", ["a1", "b1"]) is None
    assert verdict_of(rules, "delete_document", "destroy", []) is None
    assert verdict_of(rules[::-1], "delete_document", "destroy", ["a1", "ab"]) is Verdict.DENY


def test_rules_that_cannot_be_read_ask_about_everything(tmp_path: Path):
    rules = PermissionRules(str(tmp_path))
    (tmp_path / "agent-rules.json").write_text('[{"tool": "*", "path": "*", "verdict": "perhaps"}]', encoding="utf-8")
    assert rules.all() == [PermissionRule("*", "*", Verdict.ASK)]


def test_what_would_cost_much_is_asked_about_first(desk: Callable[..., Desk]):
    here = desk(says("Done."), settings=Settings(agent=AgentLimits(ask_above_tokens=10)))
    job = here.until(here.begin(), "waiting_for_user")
    assert job.question is not None
    assert (job.question.kind, here.model.asked) == ("estimate", [])
    assert "tokens" in job.question.text
    here.agent.confirm(job.id, "q_1", allow=True)
    assert here.agent.wait(job.id).status == "completed"


def test_a_cost_that_is_not_agreed_to_is_not_spent(desk: Callable[..., Desk]):
    here = desk(says("Done."), settings=Settings(agent=AgentLimits(ask_above_tokens=10)))
    job = here.until(here.begin(), "waiting_for_user")
    here.agent.confirm(job.id, "q_1", allow=False)
    assert (here.agent.wait(job.id).status, here.model.asked) == ("cancelled", [])


ANALYSE = says("", call("analyze_document", path="poem.md", task="summary"))


def test_what_subagents_would_take_is_asked_about_before_any_is_asked(desk: Callable[..., Desk], folder: Folder):
    folder.put("poem.md", POEM * 40)
    here = desk(ANALYSE, says("Done."), settings=Settings(agent=AgentLimits(ask_above_tokens=5000)))
    job = here.until(here.begin("Sum it up"), "waiting_for_user")
    assert job.question is not None
    assert (job.question.kind, len(here.model.asked)) == ("estimate", 1)
    here.agent.confirm(job.id, "q_1", allow=False)
    assert (here.agent.wait(job.id).status, len(here.model.asked)) == ("cancelled", 1)


@pytest.mark.parametrize(
    ("request_", "readings"),
    [("Summarise poem.md", 1), ("Please rewrite poem.md in verse", 2), ("Fix a comma in poem.md", 0)],
)
def test_an_estimate_before_a_job_counts_the_subagents_that_its_request_means(
    desk: Callable[..., Desk], folder: Folder, request_: str, readings: int
):
    folder.put("poem.md", POEM * 400)
    here = desk(ANALYSE, says("Done."), settings=Settings(agent=AgentLimits(ask_above_tokens=1)))
    job = here.until(here.begin(request_), "waiting_for_user")
    assert here.model.asked == []
    shown_in = JobContext(here.workspace, here.agent.environment.author)
    plain = usual_tokens(build_prompt(here.agent.environment, job, MODES["propose"], shown_in))
    ahead = readings * reading_tokens(len(POEM * 400), here.agent.environment.settings.limits)
    assert here.event(job, "estimate.made")["tokens"] == plain + ahead
    assert job.question is not None
    assert (f"{ahead} of them" in job.question.text) is bool(readings)
    here.agent.cancel(job.id)


def test_what_was_agreed_to_before_a_job_is_not_asked_about_again(desk: Callable[..., Desk], folder: Folder):
    folder.put("poem.md", POEM * 400)
    here = desk(ANALYSE, says("Done."), settings=Settings(agent=AgentLimits(ask_above_tokens=5000)))
    job = here.until(here.begin("Sum it up", document="poem.md"), "waiting_for_user")
    here.agent.confirm(job.id, "q_1", allow=True)
    here.agent.wait(job.id)
    assert here.types(job).count("estimate.made") == 1


def test_what_subagents_take_for_a_short_document_is_not_worth_a_question(desk: Callable[..., Desk]):
    here = desk(ANALYSE, says("Done."), settings=Settings(agent=AgentLimits(ask_above_tokens=5000)))
    job = here.agent.wait(here.begin("Sum it up").id)
    assert "estimate.made" not in [event.type for event in here.store.events.after(job.id)]


def test_an_undo_acts_at_once_and_so_is_asked_about(desk: Callable[..., Desk], folder: Folder):
    here = desk(says("", edit("poem.md", "Amber", "Agate")), says("Done."), settings=APPLY)
    here.ask()
    here.session = here.store.sessions.create().id
    here.model.steps = [says("", call("undo_turn")), says("Undone.")]
    job = here.until(here.begin("Undo that"), "waiting_for_user")
    assert folder.text("poem.md") != POEM
    assert job.question is not None
    assert (job.question.action, job.question.paths) == ("undo", ("poem.md",))
    here.agent.confirm(job.id, "q_1", allow=True)
    assert here.agent.wait(job.id).status == "completed"
    assert folder.text("poem.md") == POEM


@pytest.mark.covers("ML-loop-cancel")
def test_cancelling_a_job_that_waits_ends_it_at_once(desk: Callable[..., Desk], folder: Folder):
    before = folder.tree()
    here = desk(says("", edit("poem.md", "Amber", "Agate")), ASKS, says("Done."), settings=APPLY)
    job = here.until(here.begin(), "waiting_for_user")
    here.agent.cancel(job.id)
    job = here.agent.wait(job.id)
    assert (job.status, job.question, folder.tree(), here.workspace.turns()) == ("cancelled", None, before, [])
    assert here.types(job)[-1] == "job.cancelled"


def test_cancelling_a_model_that_thinks_ends_it_at_once(desk: Callable[..., Desk]):
    here = desk(says("Never.", delay_ms=60_000))
    job = here.begin()
    here.when(job, lambda: bool(here.model.asked))
    here.agent.cancel(job.id)
    assert here.agent.wait(job.id, 40).status == "cancelled"


def test_another_process_can_answer_and_cancel(desk: Callable[..., Desk], folder: Folder):
    here = desk(ASKS, ASKS, says("Done."))
    there = desk()
    job = here.until(here.begin(), "waiting_for_user")
    there.agent.answer(job.id, "q_1", "from elsewhere")
    here.when(job, lambda: here.types(job).count("clarification.requested") == 2)
    here.until(job, "waiting_for_user")
    there.agent.cancel(job.id)
    assert here.agent.wait(job.id, PATIENCE).status == "cancelled"
