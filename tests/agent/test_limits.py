"""Budgets, malformed output, and what the model is told about it."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from redraft.config import AgentLimits, Limits, Settings
from redraft.providers.contract import ToolResult, UserMessage
from tests.agent.desk import call, edit, says
from tests.conftest import TORTURE
from tests.workspace.folder import POEM

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.agent.desk import Desk
    from tests.workspace.folder import Folder

READ = says("", call("read_document", path="poem.md"))
RENAME = says("", edit("poem.md", "Amber", "Agate"))


def limited(mode: str = "propose", **limits: int) -> Settings:
    return Settings(mode=mode, agent=replace(AgentLimits(), **limits))


@pytest.mark.covers("SB-dec-tool-limit", "ML-err-agent")
def test_at_the_limit_of_tool_calls_the_agent_stops_and_sums_up(desk: Callable[..., Desk]):
    here = desk(RENAME, *[READ] * 5, says("I renamed Amber; more is left."))
    job = here.ask(tool_config={"max_tool_calls": 5})
    assert job.status == "awaiting_review"
    assert here.event(job, "budget.exhausted") == {"what": "tool_calls"}
    assert here.types(job).count("tool.call.completed") == 5
    assert "I renamed Amber; more is left." in job.answer
    assert "this job has used up its tool calls" in job.answer
    assert here.model.requests[-1].tools == ()


def test_the_loop_ends_after_its_iterations(desk: Callable[..., Desk]):
    here = desk(*[READ] * 20, settings=limited(iterations=10))
    job = here.ask()
    assert (job.status, len(here.model.asked)) == ("completed", 10)
    assert "this job has used up its steps" in job.answer


@pytest.mark.parametrize(("limit", "usage"), [("tokens", {"input_tokens": 900}), ("cents", {})])
def test_tokens_and_money_end_a_job(desk: Callable[..., Desk], limit: str, usage: dict[str, int]):
    step = {**READ, "usage": usage, "price_usd": "0.05"}
    here = desk(*[step] * 9, settings=limited(tokens=2000, cents=1000 if limit == "tokens" else 14))
    job = here.ask()
    assert (here.event(job, "budget.exhausted")["what"], len(here.model.asked)) == (limit, 3)


@pytest.mark.covers("ML-limit-timeout")
def test_time_ends_a_job(desk: Callable[..., Desk]):
    here = desk({**READ, "delay_ms": 1100}, says("Never said."), settings=limited(seconds=1))
    job = here.ask()
    assert (job.status, here.event(job, "budget.exhausted")["what"]) == ("completed", "seconds")


def test_the_actions_of_a_turn_end_a_job(desk: Callable[..., Desk]):
    words = ("Amber", "Birch", "Cedar", "Delta", "Ember")
    settings = Settings(limits=Limits(actions=3))
    here = desk(*(says("", edit("poem.md", word, word.upper())) for word in words), settings=settings)
    job = here.ask()
    assert (job.status, here.event(job, "budget.exhausted")["what"]) == ("awaiting_review", "actions")
    assert "CEDAR" in str(here.workspace.read("poem.md").text)
    assert "DELTA" not in str(here.workspace.read("poem.md").text)


def test_a_step_with_more_actions_than_are_left_is_refused_before_any_of_it(desk: Callable[..., Desk], folder: Folder):
    pages = [call("create_document", path=f"page-{number}.md", content="x\n") for number in range(4)]
    missing = call("edit_text", path="poem.md", old_text="Nowhere", new_text="x")
    settings = Settings(limits=Limits(actions=3))
    here = desk(says("", *pages), says("", *pages[:3], missing), says("Done."), settings=settings)
    job = here.ask()
    results = [message for message in here.model.requests[-1].messages if isinstance(message, ToolResult)]
    first, second = results[:4], results[4:]
    assert [result.ok for result in first] == [False] * 4
    assert "With this step the job would take 4 actions; it may take at most 3." in str(first[0].error)
    assert [result.ok for result in second] == [True, True, True, False], "a call that fails takes no action"
    assert job.status == "awaiting_review"


def test_what_an_unfinished_job_made_waits_for_the_person_even_in_apply_mode(desk: Callable[..., Desk], folder: Folder):
    here = desk(RENAME, *[READ] * 9, settings=limited("apply", iterations=3))
    job = here.ask()
    assert (job.status, folder.text("poem.md")) == ("awaiting_review", POEM)


def test_a_job_deletes_only_so_many_documents(desk: Callable[..., Desk], folder: Folder):
    for name in "abc":
        folder.put(f"{name}.md", "x\n")
    calls = [call("delete_document", path=f"{name}.md") for name in "abc"]
    here = desk(says("", *calls), says("Done."), settings=limited(destructive_calls=2))
    job = here.ask()
    results = [message for message in here.model.requests[-1].messages if isinstance(message, ToolResult)]
    assert [result.ok for result in results] == [False, False, False]
    assert "This would delete 3 documents; a job may delete at most 2." in str(results[0].error)
    assert job.status == "completed"


@pytest.mark.covers("ML-loop-tokens")
def test_a_step_may_be_so_long(desk: Callable[..., Desk]):
    here = desk(says("Done."))
    here.ask()
    assert here.model.requests[0].max_output_tokens == 4000


def test_output_that_is_cut_off_executes_nothing_and_is_told_back(desk: Callable[..., Desk]):
    cut = {"text": "I will now", "calls": RENAME["calls"], "finish": "cut_off"}
    here = desk(cut, says("I stop."))
    job = here.ask()
    assert (job.status, job.turn) == ("completed", None)
    told = here.model.requests[1].messages[-1]
    assert isinstance(told, UserMessage)
    assert "cut off" in told.text


@pytest.mark.covers("SB-retry-schema", "SB-guard-validate")
def test_malformed_calls_are_told_back_five_times_and_then_the_job_fails(desk: Callable[..., Desk], folder: Folder):
    wrong = says("", call("edit_text", path="poem.md", nonsense=True))
    here = desk(*[wrong] * 9, settings=limited(tool_calls=50))
    job = here.ask()
    assert (job.status, (job.error or {})["error"]) == ("failed", "model_output_invalid")
    assert len(here.model.asked) == 6
    results = [message for message in here.model.requests[1].messages if isinstance(message, ToolResult)]
    assert "nonsense" in (results[0].error or {})["message"]
    assert folder.text("poem.md") == POEM


def test_a_good_call_begins_the_count_of_malformed_ones_anew(desk: Callable[..., Desk]):
    wrong = says("", call("edit_text", path="poem.md", nonsense=True))
    here = desk(*[wrong] * 4, RENAME, *[wrong] * 4, says("Done."), settings=limited(tool_calls=50))
    assert here.ask().status == "awaiting_review"


def test_output_that_is_no_answer_is_told_back(desk: Callable[..., Desk]):
    here = desk({"raw": '{"say": '}, says("Now I know."))
    job = here.ask()
    assert (job.status, job.answer) == ("completed", "Now I know.")
    assert "step.invalid" in here.types(job)


def malformed(chance: random.Random) -> dict[str, Any]:
    """One bad step: cut off, unreadable, or a call that no tool takes."""
    tools = [
        "edit_text",
        "replace_lines",
        "write_document",
        "delete_document",
        "move_document",
        "no_such_tool",
        "batch",
    ]
    values: list[Any] = [
        None,
        -1,
        2**70,
        "",
        "\ud800",
        "../../etc/passwd",
        ".git/config",
        "poem.md\0",
        [],
        {},
        "x" * 5000,
    ]
    names = ["path", "version", "content", "old_text", "new_text", "start_line", "end_line", "to_path", "tab_id", "zzz"]
    arguments = {name: chance.choice(values) for name in chance.sample(names, chance.randint(0, 5))}
    kind = chance.choice(["cut", "raw", "call", "good cut"])
    if kind == "cut":
        return {
            "text": "Half a",
            "finish": "cut_off",
            "calls": [{"tool": chance.choice(tools), "arguments": arguments}],
        }
    if kind == "good cut":
        return {**RENAME, "finish": "cut_off"}
    if kind == "raw":
        return {"raw": chance.choice(['{"say": ', "{}", "[1,2", '{"calls": [{"tool": 3}]}', "\x00", "null"])}
    return says("", {"tool": chance.choice(tools), "arguments": arguments})


@pytest.mark.parametrize("mode", ["apply", "merge", "propose"])
def test_malformed_and_cut_off_output_leaves_the_folder_byte_for_byte(
    desk: Callable[..., Desk], folder: Folder, mode: str
):
    chance = random.Random(4)
    before = folder.tree()
    here = desk(settings=limited(mode))
    for _ in range(170 if TORTURE else 12):
        here.model.steps = [malformed(chance) for _ in range(12)]
        here.session = here.store.sessions.create().id
        job = here.begin()
        here.when(job, lambda job=job: here.store.jobs.get(job.id).status not in ("queued", "running"))
        here.agent.cancel(job.id)
        assert here.agent.wait(job.id).ended
        assert (folder.tree(), here.workspace.turns()) == (before, [])
