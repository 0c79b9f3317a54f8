"""Which model a job talks to: the loop reports what only it can see, and every choice is in the job's trace."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from redraft.agent.model_selection import Models
from redraft.config import AgentLimits, ModelEntry, RoutingSettings, Settings
from redraft.errors import RedraftError
from redraft.providers.contract import ProviderError
from redraft.providers.models import KeySources
from redraft.providers.router import RoutedProvider
from tests.agent.desk import Playing, call, edit, says

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from redraft.providers.contract import Provider
    from tests.agent.desk import Desk

READ = says("", call("read_document", path="poem.md"))
WRONG = says("", call("edit_text", path="poem.md", nonsense=True))
MISSES = says("", edit("poem.md", "Not there at all", "x"))
RENAME = says("", edit("poem.md", "Amber", "Agate"))


class Two:
    """A local and a remote model, under a routing."""

    def __init__(self, local: list[dict[str, Any]], remote: list[dict[str, Any]], **routing: Any) -> None:
        self.local, self.remote = Playing(local), Playing(remote)
        self.routing = RoutingSettings(agent_mode="hybrid_auto", **routing)

    def provider(self, name: str, trace: Any, /) -> Provider:
        return RoutedProvider(self.routing, local=self.local, remote=self.remote, trace=trace)


@pytest.mark.covers("SB-route-budget", "SB-route-local-first", "SB-guard-trace-choice")
def test_a_local_model_that_spends_its_calls_for_nothing_gives_way(desk: Callable[..., Desk]):
    done = [*[READ] * 4, RENAME, says("Done.")]
    two = Two([READ] * 9, done)
    here = desk(providers=two)
    job = here.ask(tool_config={"max_tool_calls": 3})
    assert (job.status, two.local.asked, two.remote.asked) == ("awaiting_review", [0, 1, 2, 3], [4, 5])
    chosen = [event.data for event in here.store.events.after(job.id) if event.type == "provider.chosen"]
    assert [(each["side"], each["trigger"]) for each in chosen] == [("local", None), ("remote", "tool_budget_spent")]
    assert all(each["reason"] for each in chosen)


@pytest.mark.covers("SB-route-schema", "SB-route-max-local")
def test_a_local_model_whose_calls_are_malformed_gives_way(desk: Callable[..., Desk]):
    two = Two([WRONG] * 9, [WRONG, WRONG, RENAME, says("Done.")], hybrid_max_local_attempts=2)
    here = desk(providers=two)
    assert (here.ask().status, two.local.asked, two.remote.asked) == ("awaiting_review", [0, 1], [2, 3])


@pytest.mark.covers("SB-route-validation")
def test_a_local_model_whose_edits_never_fit_gives_way(desk: Callable[..., Desk]):
    two = Two([MISSES] * 9, [*[MISSES] * 3, RENAME, says("Done.")])
    here = desk(providers=two)
    assert (here.ask().status, two.remote.asked) == ("awaiting_review", [3, 4])


@pytest.mark.covers("SB-guard-no-fallback")
def test_where_fallback_is_off_the_local_model_stays(desk: Callable[..., Desk]):
    two = Two([WRONG] * 9, [RENAME], fallback=False)
    here = desk(settings=Settings(agent=AgentLimits(schema_retries=2)), providers=two)
    assert (here.ask().status, two.remote.asked) == ("failed", [])


# From settings to a provider


def untold(_choice: object) -> None:
    """Nobody listens."""


def script(place: Path, name: str) -> ModelEntry:
    (place / name).write_text('{"text": "Hi."}\n', encoding="utf-8")
    return ModelEntry(kind="scripted", file=str(place / name))


def test_without_a_key_or_a_setting_the_offline_assistant_answers():
    assert Models().provider("", untold).provider_name == "offline"


def test_a_model_behind_a_server_on_this_machine_counts_as_local():
    ollama = ModelEntry(kind="compatible", model="m", base_url="http://localhost:11434/v1")
    elsewhere = replace(ollama, base_url="https://models.example/v1")
    models = Models(RoutingSettings(agent_mode="local"), {"far": elsewhere, "near": ollama})
    assert models.provider("", untold).model == "m"
    with pytest.raises(ProviderError):
        models.provider("far", untold)


def test_a_key_alone_is_enough():
    models = Models(keys=KeySources({"ANTHROPIC_API_KEY": "k"}))
    assert models.provider("", untold).provider_name == "anthropic"
    assert list(models.known) == ["anthropic"]


@pytest.mark.parametrize(
    ("mode", "environ", "expected"),
    [
        ("local", {"OPENAI_API_KEY": "k"}, "scripted"),
        ("hybrid_auto", {"OPENAI_API_KEY": "k"}, "scripted"),
        ("hybrid_auto", {}, "scripted"),
        ("remote", {}, "offline"),
    ],
)
def test_the_mode_says_which_side_begins(tmp_path: Path, mode: str, environ: dict[str, str], expected: str):
    models = Models(RoutingSettings(agent_mode=mode), {"mine": script(tmp_path, "a.jsonl")}, KeySources(environ))
    assert models.provider("", untold).provider_name == expected


def test_a_model_that_is_named_answers_whatever_the_routing(tmp_path: Path):
    models = Models(
        RoutingSettings(agent_mode="remote"),
        {"mine": script(tmp_path, "a.jsonl")},
        KeySources({"OPENAI_API_KEY": "k"}),
    )
    assert models.provider("mine", untold).provider_name == "scripted"


def test_where_documents_stay_on_this_machine_no_other_model_can_be_named():
    models = Models(RoutingSettings(agent_mode="local"), {}, KeySources({"OPENAI_API_KEY": "k"}))
    with pytest.raises(RedraftError) as caught:
        models.provider("openai", untold)
    assert caught.value.code == "model_unavailable"
