"""What a step means to a loop, and that a cut-off step cannot be acted on."""

from __future__ import annotations

import asyncio
import pickle

import pytest

from redraft.errors import CODES
from redraft.providers.adapters.scripted import ScriptedProvider
from redraft.providers.contract import (
    KINDS,
    AssistantMessage,
    CancelToken,
    ProviderError,
    ProviderStepResult,
    StepRequest,
    ToolCall,
    Usage,
    UserMessage,
)
from tests.providers.shapes import TOOLS

REQUEST = StepRequest((UserMessage("Tidy up."),), TOOLS)
SEARCH = ToolCall("1", "search", {"query": "x"})
ASK = ToolCall("2", "clarify_user", {"question": "Which?"})
EDIT = ToolCall("3", "propose_edits", {"path": "a.md"})


@pytest.mark.covers("SB-provider-stop-reason")
@pytest.mark.parametrize(
    ("calls", "finish", "reason"),
    [
        ((), "stop", "done"),
        ((SEARCH,), "tool_calls", "needs_tools"),
        ((SEARCH, EDIT), "tool_calls", "needs_tools"),
        ((EDIT,), "tool_calls", "proposed_edits"),
        ((EDIT, ASK), "tool_calls", "needs_clarification"),
        ((), "cut_off", "error"),
        ((), "refused", "error"),
    ],
)
def test_a_step_says_what_comes_next(calls: tuple[ToolCall, ...], finish: str, reason: str):
    result = ProviderStepResult("text", calls, finish)  # type: ignore[arg-type]
    assert result.stop_reason(REQUEST) == reason


def test_a_cut_off_step_cannot_carry_a_call():
    with pytest.raises(ValueError, match="cut-off"):
        ProviderStepResult("half", (SEARCH,), "cut_off")
    with pytest.raises(ValueError, match="cut-off"):
        ProviderStepResult("half", finish="cut_off", data={})


def test_a_step_becomes_the_next_message():
    assert ProviderStepResult("a", (SEARCH,), opaque={"k": 1}).message == AssistantMessage("a", (SEARCH,), {"k": 1})


def test_usage_adds_up():
    assert Usage(1, 2, 3, 4, 5) + Usage(10, 20, 30, 40, 50) == Usage(11, 22, 33, 44, 55)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_failure_has_a_registered_code(kind: str):
    failure = ProviderError("It failed.", kind=kind, provider="p", status=500, retry_after=2.0)  # type: ignore[arg-type]
    assert failure.code in CODES
    assert failure.as_dict()["details"] == {"kind": kind, "provider": "p", "status": 500, "retry_after": 2.0}


def test_what_the_model_wrote_is_kept_short_and_out_of_the_report():
    failure = ProviderError("It failed.", kind="invalid_output", output="secret" * 1000)
    assert len(failure.output) == ProviderError.MAX_OUTPUT_KEPT
    assert "secret" not in str(failure.as_dict())


def test_a_failure_is_the_same_in_another_process():
    failure = ProviderError("No.", kind="rate_limited", provider="p", status=429, retry_after=2.0, output="x")
    failure.attempts = 3
    again = pickle.loads(pickle.dumps(failure))
    assert type(again) is ProviderError
    assert vars(again) == vars(failure)
    assert str(again) == "No."


@pytest.mark.covers("SB-provider-run-step", "SB-provider-name", "SB-provider-native-tools")
def test_a_provider_runs_a_step_from_messages_results_and_limits_and_names_itself():
    provider = ScriptedProvider([{"text": "Done."}])
    request = StepRequest((UserMessage("Go."),), TOOLS, max_output_tokens=100, temperature=0.5, session="s-1")
    assert asyncio.run(provider.run_step(request, cancel=CancelToken())).text == "Done."
    assert provider.asked == [request]
    assert (provider.provider_name, provider.supports_native_tools) == ("scripted", True)
