"""Long documents within a job: staged in its turn, counted in its budget, told in its events, replayed for nothing."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from redraft.agent.environment import AgentEnvironment
from redraft.agent.offline.provider import OfflineProvider
from redraft.agent.run.budget import JobBudget
from redraft.agent.run.tool_calls import JobContext
from redraft.agent.store.agent_store import AgentStore
from redraft.agent.subagents.long_documents import make_for_call, make_for_job
from redraft.config import AgentLimits, Limits, Settings
from redraft.errors import RedraftError
from redraft.history.turns import Author
from redraft.providers.contract import CancelToken
from redraft.tools.context import ToolContext
from redraft.tools.registry import load_registry
from tests.agent.long.model import Model
from tests.agent.long.test_transforming import NOVEL, RENAME, pronouns

if TYPE_CHECKING:
    from collections.abc import Generator

    from redraft.agent.store.jobs import Job
    from tests.workspace.folder import Folder

SETTINGS = Settings(mode="propose", limits=Limits(chunk_tokens=1000, response_tokens=900, subagents=3))


@contextmanager
def at_work(folder: Folder, model: Model, **limits: int) -> Generator[tuple[JobContext, AgentStore, Job, JobBudget]]:
    """A job's context with its turn open, as the loop makes it."""
    workspace = folder.open(SETTINGS)
    with AgentStore(workspace.state, folder.clock) as store:
        room = AgentEnvironment(workspace, store, load_registry())
        job = store.jobs.add(store.sessions.create().id, "Rename him.", "propose", document="novel.md", token="t")
        budget = JobBudget.of(replace(AgentLimits(), **limits), {})
        context = JobContext(workspace, room.author, mode="propose")
        context.turn = workspace.turn(room.author, "Rename him.", mode="propose")

        def tell(event: str, /, **data: Any) -> None:
            store.events.append(job.id, event, **data)

        worker = make_for_job(room, job, model, budget, CancelToken(), tell)
        context.find_worker = lambda _path: worker
        with room.guard:
            yield context, store, job, budget


def rename(context: JobContext) -> dict[str, Any]:
    version = load_registry().call("read_document", {"path": "novel.md"}, context)["version"]
    arguments = {"path": "novel.md", "transformation": "character_rename", "params": RENAME}
    return load_registry().call(
        "transform_document", {**arguments, "output_mode": "in_place", "version": version}, context
    )


def test_a_transformation_is_staged_in_the_jobs_turn_and_a_replay_stages_the_same_for_nothing(folder: Folder):
    folder.put("novel.md", NOVEL)
    model = Model(pronouns)
    versions: list[str] = []
    asked: list[int] = []
    for _ in range(2):
        with at_work(folder, model) as (context, _, _, _):
            answer = rename(context)
            assert (answer["state"], answer["turn"]) == ("staged", None)
            versions.append(answer["version"])
            asked.append(len(model.asked))
            assert folder.text("novel.md") == NOVEL
    assert versions[0] == versions[1]
    assert asked[0] == asked[1] > 8


def test_chunks_and_answers_have_the_sizes_that_the_settings_say(folder: Folder):
    assert (Limits().chunk_tokens, Limits().response_tokens) == (4000, 2000)
    folder.put("novel.md", NOVEL)
    model = Model(pronouns)
    with at_work(folder, model) as (context, _, _, _):
        rename(context)
    sizes = [len(asked.passage.encode()) for asked in model.asked if asked.what == "change"]
    assert 2000 < max(sizes) <= 4 * SETTINGS.limits.chunk_tokens
    assert {asked.request.max_output_tokens for asked in model.asked} == {SETTINGS.limits.response_tokens}


def test_what_subagents_spend_and_do_is_the_jobs(folder: Folder):
    folder.put("novel.md", NOVEL)
    model = Model(pronouns)
    with at_work(folder, model) as (context, store, job, budget):
        rename(context)
        events = [event.data for event in store.events.after(job.id) if event.type == "subagents.progress"]
        assert budget.used_tokens == 11 * len(model.asked)
        (spent,) = store.usage.by("document")
        assert (spent.name, spent.steps, spent.tokens) == ("novel.md", len(model.asked), 11 * len(model.asked))
    assert {event["role"] for event in events} == {"analyser", "transformer", "checker"}
    analysers = [event for event in events if event["role"] == "analyser"]
    assert [event["done"] for event in analysers] == list(range(analysers[0]["total"] + 1))
    assert [event["active_subagents"] for event in events if event["done"] == 0] == [3] * 2 + [1]
    assert all(0 <= event["active_subagents"] <= 3 for event in events)
    assert max(event["active_subagents"] for event in events) >= 1


def test_a_single_call_outside_of_a_job_is_written_down_too(folder: Folder):
    folder.put("novel.md", NOVEL)
    workspace = folder.open(SETTINGS)
    with AgentStore(workspace.state, folder.clock) as store:
        model = Model(pronouns)
        context = ToolContext(workspace, Author("agent", "scribe"))
        worker = make_for_call(store, SETTINGS.limits, model, "novel.md")
        context.find_worker = lambda _path: worker
        load_registry().call("analyze_document", {"path": "novel.md", "task": "plot"}, context)
        (spent,) = store.usage.by("document")
        assert (spent.name, spent.steps) == ("novel.md", len(model.asked))


def test_the_rule_based_assistant_is_no_model_to_ask(folder: Folder):
    folder.put("novel.md", NOVEL)
    with at_work(folder, Model()) as (_, store, _, _):
        assert make_for_call(store, SETTINGS.limits, OfflineProvider()) is None


def test_a_wish_to_stop_from_another_process_is_heeded_between_two_questions(folder: Folder):
    folder.put("novel.md", NOVEL)
    model = Model(pronouns)
    with at_work(folder, model) as (context, store, job, _):
        store.jobs.update(job.id, cancel_wanted=True)
        with pytest.raises(RedraftError) as caught:
            rename(context)
        assert (caught.value.code, model.asked) == ("cancelled", [])


def test_where_the_budget_is_spent_the_work_stops_and_the_document_is_as_it_was(folder: Folder):
    folder.put("novel.md", NOVEL)
    model = Model(pronouns)
    with at_work(folder, model, tokens=40) as (context, _, _, _):
        with pytest.raises(RedraftError) as caught:
            rename(context)
        assert (caught.value.code, caught.value.details["budget"]) == ("limit_exceeded", "tokens")
        assert context.turn is not None
        assert not context.turn.staged
    assert len(model.asked) <= 4 + 3
    assert folder.text("novel.md") == NOVEL
