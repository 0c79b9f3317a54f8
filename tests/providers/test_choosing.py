"""Which model answers: every mode, every trigger, every switch, and the reason of each choice."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redraft.config import AGENT_MODES, RoutingSettings
from redraft.providers.adapters.scripted import ScriptedProvider
from redraft.providers.contract import ProviderError, ProviderStepResult, StepDelta, StepRequest, UserMessage
from redraft.providers.router import ModelChoice, RoutedProvider, RoutingState, Trigger, next_state, starting_side
from tests.providers.shapes import SEARCH

REQUEST = StepRequest((UserMessage("Go."),), (SEARCH,))
HYBRID = RoutingSettings(agent_mode="hybrid_auto")
LOCAL = RoutingState("local")
REMOTE = RoutingState("remote")
TRIGGERS: tuple[Trigger, ...] = get_args(Trigger)
routings = st.builds(
    RoutingSettings,
    agent_mode=st.sampled_from(AGENT_MODES),
    fallback=st.booleans(),
    hybrid_max_local_attempts=st.integers(1, 5),
    hybrid_remote_on_schema_fail=st.booleans(),
    hybrid_remote_on_context_overflow=st.booleans(),
)
triggers = st.sampled_from(TRIGGERS)


def local(*steps: Any) -> ScriptedProvider:
    return ScriptedProvider(steps, model="small")


def remote(*steps: Any) -> ScriptedProvider:
    return ScriptedProvider(steps or [{"text": "from afar"}], model="large", repeat=True)


def run(routed: RoutedProvider) -> ProviderStepResult:
    return asyncio.run(routed.run_step(REQUEST))


@pytest.mark.covers("SB-route-mode", "SB-route-local-first")
@pytest.mark.parametrize(("mode", "model"), [("local", "small"), ("remote", "large"), ("hybrid_auto", "small")])
def test_the_mode_names_the_model_that_starts(mode: str, model: str):
    traced: list[ModelChoice] = []
    routed = RoutedProvider(
        RoutingSettings(agent_mode=mode), local=local({"text": "near"}), remote=remote(), trace=traced.append
    )
    assert run(routed).model == model
    assert [(choice.model, choice.reason, choice.trigger) for choice in traced] == [
        (model, f"agent_mode is {mode}", None)
    ]
    assert traced == routed.choices


@pytest.mark.parametrize(("mode", "missing"), [("local", "local"), ("hybrid_auto", "local"), ("remote", "remote")])
def test_a_mode_without_its_model_is_told_at_once(mode: str, missing: str):
    sides: dict[str, Any] = {"local": local({"text": "x"}), "remote": remote()}
    sides[missing] = None
    with pytest.raises(ProviderError, match=f"needs a {missing} model"):
        RoutedProvider(RoutingSettings(agent_mode=mode), **sides)


@pytest.mark.covers("SB-route-budget", "SB-route-validation")
@pytest.mark.parametrize("trigger", ["tool_budget_spent", "validation_failed"])
def test_what_the_loop_reports_turns_to_the_remote_model(trigger: Trigger):
    routed = RoutedProvider(HYBRID, local=local({"text": "near"}), remote=remote())
    assert run(routed).model == "small"
    assert routed.report(trigger)
    assert run(routed).model == "large"
    assert routed.choices[-1].as_dict() == {
        "side": "remote",
        "provider": "scripted",
        "model": "large",
        "reason": f"switched from the local model: {trigger}",
        "trigger": trigger,
    }


@pytest.mark.covers("SB-route-context", "SB-route-on-overflow")
def test_a_full_context_turns_to_the_remote_model_unless_switched_off():
    full = {"error": "context_overflow"}
    routed = RoutedProvider(HYBRID, local=local(full), remote=remote())
    assert run(routed).model == "large"
    assert routed.choices[-1].trigger == "context_overflow"
    stays = dataclasses.replace(HYBRID, hybrid_remote_on_context_overflow=False)
    with pytest.raises(ProviderError) as caught:
        run(RoutedProvider(stays, local=local(full), remote=remote()))
    assert caught.value.kind == "context_overflow"


@pytest.mark.covers("SB-route-schema", "SB-route-max-local", "SB-route-on-schema-fail")
@pytest.mark.parametrize("attempts", [1, 2, 4])
def test_output_out_of_form_so_many_times_turns_to_the_remote_model(attempts: int):
    routing = dataclasses.replace(HYBRID, hybrid_max_local_attempts=attempts)
    routed = RoutedProvider(routing, local=local(*[{"raw": "{"}] * 9), remote=remote())
    told = 0
    for _ in range(attempts - 1):
        with pytest.raises(ProviderError):
            run(routed)
        told += 1
    assert run(routed).model == "large"
    assert routed.state == RoutingState("remote", attempts)
    assert told == attempts - 1


def test_output_out_of_form_is_only_told_where_that_trigger_is_switched_off():
    routing = dataclasses.replace(HYBRID, hybrid_remote_on_schema_fail=False, hybrid_max_local_attempts=1)
    routed = RoutedProvider(routing, local=local(*[{"raw": "{"}] * 3), remote=remote())
    for _ in range(3):
        with pytest.raises(ProviderError):
            run(routed)
    assert routed.state == LOCAL


@pytest.mark.covers("SB-route-on-timeout")
def test_a_slow_local_model_gives_way_after_the_time_that_is_set():
    routing = dataclasses.replace(HYBRID, hybrid_remote_on_timeout_ms=50)
    routed = RoutedProvider(routing, local=local({"text": "late", "delay_ms": 60_000}), remote=remote())
    assert run(routed).model == "large"
    assert routed.choices[-1].trigger == "timeout"


def test_only_a_model_that_may_give_way_is_hurried():
    routing = RoutingSettings(agent_mode="local", hybrid_remote_on_timeout_ms=10)
    routed = RoutedProvider(routing, local=local({"text": "late", "delay_ms": 200}), remote=remote())
    assert run(routed).text == "late"


@pytest.mark.parametrize("kind", ["unavailable", "unreachable", "overloaded", "rate_limited", "bad_request", "auth"])
def test_a_local_model_that_fails_gives_way(kind: str):
    routed = RoutedProvider(HYBRID, local=local({"error": kind}), remote=remote())
    assert run(routed).model == "large"


def test_a_cancelled_step_is_not_bought_elsewhere():
    far = remote()
    with pytest.raises(ProviderError):
        run(RoutedProvider(HYBRID, local=local({"error": "cancelled"}), remote=far))
    assert far.asked == []


@pytest.mark.covers("SB-guard-no-fallback")
@pytest.mark.parametrize("kind", ["unavailable", "context_overflow", "timeout", "invalid_output"])
def test_the_switch_forbids_every_fallback(kind: str):
    far = remote()
    routing = dataclasses.replace(HYBRID, fallback=False, hybrid_max_local_attempts=1)
    routed = RoutedProvider(routing, local=local({"error": kind}), remote=far)
    with pytest.raises(ProviderError) as caught:
        run(routed)
    assert caught.value.kind == kind
    assert not any(routed.report(trigger) for trigger in TRIGGERS)
    assert far.asked == []


@given(routings, st.lists(triggers, max_size=8))
def test_there_is_no_way_back_and_no_way_out_of_a_mode(routing: RoutingSettings, happened: list[Trigger]):
    standing = RoutingState(starting_side(routing))
    for trigger in happened:
        before = standing
        standing, reason = next_state(before, trigger, routing)
        assert reason
        assert not (before.side == "remote" and standing.side == "local")
        if routing.agent_mode != "hybrid_auto" or not routing.fallback:
            assert standing.side == before.side


@given(routings, triggers, st.integers(0, 5))
def test_the_policy_says_what_the_table_says(routing: RoutingSettings, trigger: Trigger, failures: int):
    """The naive twin: the specification's list, read line by line."""
    standing, _ = next_state(RoutingState("local", failures), trigger, routing)
    turns = {
        "tool_budget_spent": True,
        "validation_failed": True,
        "timeout": True,
        "local_failed": True,
        "context_overflow": routing.hybrid_remote_on_context_overflow,
        "schema_invalid": routing.hybrid_remote_on_schema_fail and failures + 1 >= routing.hybrid_max_local_attempts,
    }[trigger]
    allowed = routing.agent_mode == "hybrid_auto" and routing.fallback
    assert (standing.side == "remote") == (turns and allowed)


def test_a_routed_model_is_a_provider_like_any_other():
    routed = RoutedProvider(HYBRID, local=local({"error": "unavailable"}), remote=remote())
    assert (routed.provider_name, routed.model, routed.supports_native_tools) == ("scripted", "small", True)
    run(routed)
    assert (routed.model, routed.context_tokens) == ("large", None)


def test_a_stream_shows_only_the_words_of_the_model_that_answered():
    async def main() -> tuple[str, ProviderStepResult]:
        routed = RoutedProvider(HYBRID, local=local({"raw": "{"}, {"error": "timeout"}), remote=remote())
        with contextlib.suppress(ProviderError):
            await routed.run_step(REQUEST)
        items = [item async for item in routed.stream_step(REQUEST)]
        assert isinstance(items[-1], ProviderStepResult)
        return "".join(item.text for item in items[:-1] if isinstance(item, StepDelta)), items[-1]

    shown, result = asyncio.run(main())
    assert (shown, result.text, result.model) == ("from afar", "from afar", "large")


def test_a_job_goes_on_where_it_stood():
    routed = RoutedProvider(HYBRID, local=local({"text": "near"}), remote=remote(), state=REMOTE)
    assert run(routed).model == "large"
