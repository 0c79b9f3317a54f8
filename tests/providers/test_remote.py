"""Every wire format over a real socket: calls, streams, cut-offs, refusals, time-outs and waiting."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from redraft.providers.adapters.remote import Address, RemoteLimits, RemoteProvider, RetryPolicy
from redraft.providers.contract import (
    AssistantMessage,
    CancelToken,
    Message,
    ProviderError,
    ProviderStepResult,
    StepDelta,
    StepRequest,
    SystemMessage,
    ToolCall,
    ToolResult,
    Usage,
    UserMessage,
)
from tests.providers.endpoint import Answer, Endpoint, answer
from tests.providers.shapes import TOOLS
from tests.providers.wires import WIRES, Wire
from tests.speaking.lines import PATIENCE

if TYPE_CHECKING:
    from redraft.providers.contract import StreamItem

# Loading the library takes seconds, whichever test comes first.
pytestmark = pytest.mark.slow
TALK: tuple[Message, ...] = (SystemMessage("Be brief."), UserMessage("Find the harbour and the mill."))
REQUEST = StepRequest(TALK, TOOLS)
TWO: list[tuple[str, dict[str, Any]]] = [("search", {"query": "harbour"}), ("search", {"query": "mill", "limit": 3})]
QUICK = RetryPolicy(attempts=3, first_wait=0.01)
PATIENT = RetryPolicy(attempts=30, first_wait=0.01, longest_wait=0.1)  # for answers that a busy machine gives late
every_wire = pytest.mark.parametrize("wire", WIRES, ids=[wire.kind for wire in WIRES])


def provider(wire: Wire, endpoint: Endpoint, **options: Any) -> RemoteProvider:
    options.setdefault("policy", QUICK)
    return RemoteProvider(Address(wire.kind, wire.model, "the-key", endpoint.url + wire.path), **options)


def ask(asked: RemoteProvider, request: StepRequest = REQUEST, cancel: CancelToken | None = None) -> ProviderStepResult:
    async def main() -> ProviderStepResult:
        try:
            return await asked.run_step(request, cancel=cancel)
        finally:
            await asked.aclose()

    return asyncio.run(main())


def stream(asked: RemoteProvider, request: StepRequest = REQUEST) -> list[StreamItem]:
    async def main() -> list[StreamItem]:
        try:
            return [item async for item in asked.stream_step(request)]
        finally:
            await asked.aclose()

    return asyncio.run(main())


def failed(asked: RemoteProvider, request: StepRequest = REQUEST, cancel: CancelToken | None = None) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        ask(asked, request, cancel)
    return caught.value


def arguments(result: ProviderStepResult) -> list[tuple[str, dict[str, Any]]]:
    return [(call.name, call.arguments) for call in result.tool_calls]


@pytest.mark.covers("SB-call-mapped", "SB-adapter-differences")
@every_wire
def test_parallel_calls_arrive_in_canonical_form(wire: Wire, endpoint: Endpoint):
    endpoint.answers = [wire.whole("I look.", TWO, False)]
    result = ask(provider(wire, endpoint))
    assert result.text == "I look."
    assert arguments(result) == TWO
    assert len({call.id for call in result.tool_calls}) == 2
    assert result.finish == "tool_calls"
    assert result.provider == wire.kind
    assert result.latency_ms > 0


@pytest.mark.covers("SB-provider-usage")
@every_wire
def test_tokens_and_the_price_are_on_every_step(wire: Wire, endpoint: Endpoint):
    endpoint.answers = [wire.whole("Done.", [], False)]
    result = ask(provider(wire, endpoint))
    assert result.usage.output_tokens == 5
    assert result.usage.input_tokens in (10, 12)  # one provider counts what its cache gave apart from the rest
    if wire.kind == "compatible":
        assert result.price_usd is None
    else:
        assert result.price_usd is not None
        assert 0 < result.price_usd < 1


@pytest.mark.covers("SB-provider-stream-step")
@every_wire
def test_a_stream_shows_its_words_and_ends_with_the_same_step(wire: Wire, endpoint: Endpoint):
    endpoint.answers = [wire.streamed("I look for both.", TWO, False)]
    *shown, result = stream(provider(wire, endpoint))
    assert isinstance(result, ProviderStepResult)
    deltas = [item for item in shown if isinstance(item, StepDelta)]
    assert "".join(delta.text for delta in deltas if delta.kind == "text") == "I look for both."
    assert [delta.text for delta in deltas if delta.kind == "tool_call"] == ["search", "search"]
    assert (result.text, arguments(result), result.finish) == ("I look for both.", TWO, "tool_calls")
    assert result.usage.output_tokens == 5


@every_wire
@pytest.mark.parametrize("streaming", [False, True], ids=["whole", "stream"])
def test_a_cut_off_answer_is_marked_and_carries_no_call(wire: Wire, endpoint: Endpoint, streaming: bool):
    endpoint.answers = [(wire.streamed if streaming else wire.whole)("I begin", TWO, True)]
    asked = provider(wire, endpoint)
    result = stream(asked)[-1] if streaming else ask(asked)
    assert isinstance(result, ProviderStepResult)
    assert (result.finish, result.tool_calls, result.text) == ("cut_off", (), "I begin")
    assert result.message == AssistantMessage("I begin")


@every_wire
def test_a_stream_whose_connection_breaks_is_a_failure_and_not_a_short_answer(wire: Wire, endpoint: Endpoint):
    whole = wire.streamed("I look for both.", TWO, False)
    whole.break_off = len(whole.body) * 2 // 3
    endpoint.answers = [whole]
    with pytest.raises(ProviderError) as caught:
        stream(provider(wire, endpoint))
    assert caught.value.kind in ("unreachable", "invalid_output")
    assert len(endpoint.asked) == 1  # words were shown: sending it again would show them twice


@every_wire
@pytest.mark.parametrize(
    ("status", "kind", "attempts"),
    [
        (400, "bad_request", 1),
        (401, "auth", 1),
        (403, "auth", 1),
        (404, "bad_request", 1),
        (429, "rate_limited", 3),
        (500, "overloaded", 3),
        (503, "overloaded", 3),
    ],
)
def test_a_refusal_is_final_and_an_overload_is_tried_again(
    wire: Wire, endpoint: Endpoint, status: int, kind: str, attempts: int
):
    endpoint.answers = [answer(wire.refusal(status, "No, because."), status)]
    failure = failed(provider(wire, endpoint))
    assert (failure.kind, failure.status, failure.attempts) == (kind, status, attempts)
    assert len(endpoint.asked) == attempts
    assert "No, because." in failure.message
    assert "the-key" not in str(failure.as_dict())


@every_wire
def test_an_answer_after_two_overloads_says_how_many_attempts_it_took(wire: Wire, endpoint: Endpoint):
    refused = wire.refusal(500, "Try later.")
    endpoint.answers = [answer(refused, 500), answer(refused, 429), wire.whole("Done.", [], False)]
    result = ask(provider(wire, endpoint))
    assert (result.text, result.attempts) == ("Done.", 3)


@every_wire
def test_the_time_that_the_provider_names_is_waited(wire: Wire, endpoint: Endpoint):
    refused = answer(wire.refusal(429, "Slow down."), 429, retry_after="1")
    endpoint.answers = [refused, wire.whole("Done.", [], False)]
    assert ask(provider(wire, endpoint)).attempts == 2
    first, second = endpoint.asked
    assert 0.9 < second.at - first.at < 10


@every_wire
def test_a_time_that_is_too_long_is_told_at_once(wire: Wire, endpoint: Endpoint):
    endpoint.answers = [answer(wire.refusal(429, "Tomorrow."), 429, retry_after="86400")]
    failure = failed(provider(wire, endpoint))
    assert (failure.kind, failure.retry_after, len(endpoint.asked)) == ("rate_limited", 86400.0, 1)


@every_wire
def test_a_silent_provider_is_a_timeout_and_asked_again(wire: Wire, endpoint: Endpoint):
    slow = wire.whole("Too late.", [], False)
    slow.seconds = PATIENCE
    endpoint.answers = [slow, wire.whole("In time.", [], False)]
    asked = provider(wire, endpoint, limits=RemoteLimits(seconds=0.3), policy=PATIENT)
    assert ask(asked).text == "In time."
    endpoint.answers = [slow]
    failure = failed(provider(wire, endpoint, policy=RetryPolicy(attempts=1)), StepRequest(TALK, timeout=0.3))
    assert (failure.kind, failure.code) == ("timeout", "model_timeout")


@every_wire
def test_nobody_at_the_address_is_unreachable(wire: Wire, endpoint: Endpoint):
    nobody = Address(wire.kind, wire.model, "k", "http://127.0.0.1:9" + wire.path)
    failure = failed(RemoteProvider(nobody, policy=RetryPolicy(attempts=2, first_wait=0.01)))
    assert (failure.kind, failure.attempts) == ("unreachable", 2)


@every_wire
def test_garbage_instead_of_an_answer_is_a_typed_failure(wire: Wire, endpoint: Endpoint):
    for body in (b"", b"<html>Bad gateway</html>", b"{}", b"[1, 2", b"null"):
        endpoint.answers = [Answer(body)]
        failure = failed(provider(wire, endpoint, policy=RetryPolicy(attempts=1)))
        assert failure.kind in ("invalid_output", "unreachable", "bad_request")


def test_arguments_that_are_no_json_are_told_and_nothing_is_called(endpoint: Endpoint):
    wire = WIRES[1]
    broken = wire.whole("", [("search", {"query": "x"})], False)
    broken.body = broken.body.replace(b'{\\"query\\": \\"x\\"}', b'{\\"query\\": ')
    endpoint.answers = [broken]
    failure = failed(provider(wire, endpoint))
    assert failure.kind == "invalid_output"
    assert "The arguments of search cannot be read" in failure.message
    assert failure.output == '{"query": '


@pytest.mark.parametrize(
    ("wire", "said"),
    [
        (
            WIRES[0],
            {"type": "error", "error": {"type": "invalid_request_error", "message": "prompt is too long: 9 > 8"}},
        ),
        (WIRES[1], {"error": {"message": "too long", "type": "x", "code": "context_length_exceeded"}}),
        (WIRES[4], {"error": "Cannot truncate prompt with n_keep (15028) >= n_ctx (7424)"}),
        (WIRES[4], {"error": "The model is loaded with context length of only 4096 tokens, which is not enough."}),
        (WIRES[4], {"error": {"message": "request (4390 tokens) exceeds the available context size (4096 tokens)"}}),
    ],
)
def test_a_full_context_is_a_kind_of_its_own(wire: Wire, said: object, endpoint: Endpoint):
    endpoint.answers = [answer(said, 400)]
    failure = failed(provider(wire, endpoint))
    assert (failure.kind, failure.code) == ("context_overflow", "model_context_full")


@every_wire
def test_a_step_is_cancelled_while_it_waits(wire: Wire, endpoint: Endpoint):
    slow = wire.whole("Too late.", [], False)
    slow.seconds = PATIENCE
    endpoint.answers = [slow]
    cancel = CancelToken()

    async def main() -> None:
        asked = provider(wire, endpoint)
        step = asyncio.ensure_future(asked.run_step(REQUEST, cancel=cancel))
        await asyncio.to_thread(endpoint.arrived.wait)
        cancel.set()
        started = time.monotonic()
        try:
            await step
        finally:
            assert time.monotonic() - started < PATIENCE / 2
            await asked.aclose()

    with pytest.raises(ProviderError) as caught:
        asyncio.run(main())
    assert caught.value.kind == "cancelled"


@every_wire
def test_a_reader_may_leave_a_stream_in_the_middle(wire: Wire, endpoint: Endpoint):
    endpoint.answers = [wire.streamed("I look for both.", TWO, False)]

    async def main() -> StreamItem:
        asked = provider(wire, endpoint)
        items = asked.stream_step(REQUEST)
        first = await anext(items)
        await items.aclose()  # type: ignore[attr-defined]
        await asked.aclose()
        return first

    first = asyncio.run(main())
    assert isinstance(first, StepDelta)


@every_wire
def test_results_go_back_under_their_calls_names(wire: Wire, endpoint: Endpoint):
    endpoint.answers = [wire.whole("", TWO, False), wire.whole("Both are there.", [], False)]

    async def main() -> tuple[ProviderStepResult, ProviderStepResult]:
        asked = provider(wire, endpoint)
        first = await asked.run_step(REQUEST)
        results = [
            ToolResult(first.tool_calls[0].id, "search", True, {"found": "at the quay"}),
            ToolResult(first.tool_calls[1].id, "search", False, None, {"error": "not_found"}),
        ]
        second = await asked.run_step(StepRequest((*TALK, first.message, *results), TOOLS))
        await asked.aclose()
        return first, second

    first, second = asyncio.run(main())
    sent = str(endpoint.asked[1].body)
    assert second.text == "Both are there."
    assert "at the quay" in sent
    assert "not_found" in sent
    if wire.kind != "google":  # which knows results by the names of their tools
        assert all(sent.count(call.id) == 2 for call in first.tool_calls)


@pytest.mark.covers("SB-provider-contained")
def test_a_conversation_can_go_on_with_another_provider(endpoint: Endpoint):
    talk: list[Message] = list(TALK)
    for wire in WIRES:
        endpoint.answers = [wire.whole("I look.", [TWO[0]], False)]
        result = ask(provider(wire, endpoint), StepRequest(tuple(talk), TOOLS))
        [call] = result.tool_calls
        talk += [result.message, ToolResult(call.id, call.name, True, {"found": wire.kind})]
    sent = str(endpoint.asked[-1].body)
    assert all(wire.kind in sent for wire in WIRES[:-1])


@every_wire
def test_orders_are_read_first_wherever_they_stand(wire: Wire, endpoint: Endpoint):
    endpoint.answers = [wire.whole("Done.", [], False)]
    ask(provider(wire, endpoint), StepRequest((UserMessage("Hello."), SystemMessage("Speak French."))))
    sent = endpoint.asked[0].body
    turns = sent.get("messages") or sent.get("input") or sent.get("contents")
    said = [turn for turn in turns if turn["role"] in ("user", "assistant", "model")]
    assert "Speak French." in str(sent)
    assert "Speak French." not in str(said)


@every_wire
def test_limits_reach_the_provider(wire: Wire, endpoint: Endpoint):
    endpoint.answers = [wire.whole("Done.", [], False)]
    ask(provider(wire, endpoint), StepRequest(TALK, max_output_tokens=77))
    assert "77" in str(endpoint.asked[0].body)


@every_wire
def test_an_answer_in_json_is_asked_for_and_checked(wire: Wire, endpoint: Endpoint):
    schema = {
        "type": "object",
        "properties": {"places": {"type": "array", "items": {"type": "string"}}},
        "required": ["places"],
        "additionalProperties": False,
    }
    request = StepRequest(TALK, response_schema=schema)
    endpoint.answers = [wire.whole('{"places": ["quay"]}', [], False), wire.whole('{"places": "quay"}', [], False)]
    assert ask(provider(wire, endpoint), request).data == {"places": ["quay"]}
    assert "places" in str(endpoint.asked[0].body)
    failure = failed(provider(wire, endpoint), request)
    assert (failure.kind, failure.output) == ("invalid_output", '{"places": "quay"}')


def test_sixteen_steps_wait_side_by_side_on_one_provider(endpoint: Endpoint):
    wire = WIRES[1]
    done = wire.whole("Done.", [], False)
    done.together = threading.Barrier(16)  # none is answered before all have asked
    endpoint.answers = [done]

    async def main() -> list[ProviderStepResult]:
        asked = provider(wire, endpoint)
        found = await asyncio.gather(*[asked.run_step(REQUEST) for _ in range(16)])
        await asked.aclose()
        return found

    assert [result.text for result in asyncio.run(main())] == ["Done."] * 16


def test_one_provider_serves_one_event_loop_after_another(endpoint: Endpoint):
    wire = WIRES[0]
    endpoint.answers = [wire.whole("Done.", [], False)]
    asked = provider(wire, endpoint)
    assert [ask(asked).text for _ in range(3)] == ["Done."] * 3


def test_loops_that_have_ended_are_not_kept(endpoint: Endpoint):
    endpoint.answers = [WIRES[1].whole("Done.", [], False)]
    asked = provider(WIRES[1], endpoint)
    for _ in range(3):
        assert ask(asked).text == "Done."
    assert vars(asked)["_connections"] == {}


def test_sixteen_first_steps_share_one_connection_pool(endpoint: Endpoint):
    endpoint.answers = [WIRES[1].whole("Done.", [], False)]

    async def main() -> int:
        asked = provider(WIRES[1], endpoint)
        made: list[object] = []
        connected = vars(RemoteProvider)["_open_connection"]
        asked._open_connection = lambda: made.append(1) or connected(asked)  # type: ignore[method-assign]
        await asyncio.gather(*[asked.run_step(REQUEST) for _ in range(16)])
        await asked.aclose()
        return len(made)

    assert asyncio.run(main()) == 1


def test_the_key_is_sent_and_never_shown(endpoint: Endpoint):
    endpoint.answers = [WIRES[0].whole("Done.", [], False)]
    ask(provider(WIRES[0], endpoint))
    assert "the-key" in str(endpoint.asked[0].headers)
    assert "the-key" not in repr(Address("anthropic", "m", "the-key"))


@pytest.mark.parametrize("wire", WIRES, ids=lambda wire: wire.kind)
def test_a_server_without_a_key_is_sent_none_of_those_that_lie_around(
    endpoint: Endpoint, wire: Wire, monkeypatch: pytest.MonkeyPatch
):
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY", "GOOGLE_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.setenv(name, "a-real-key")
    endpoint.answers = [wire.whole("Done.", [], False)]
    ask(RemoteProvider(Address(wire.kind, wire.model, "", endpoint.url + wire.path), policy=QUICK))
    assert "a-real-key" not in str(endpoint.asked[0].headers)


def test_cached_tokens_are_part_of_the_input(endpoint: Endpoint):
    endpoint.answers = [WIRES[0].whole("Done.", [], False)]
    assert ask(provider(WIRES[0], endpoint)).usage == Usage(12, 5, cached_tokens=2)


def test_a_message_whose_calls_were_taken_out_is_sent_without_them(endpoint: Endpoint):
    wire = WIRES[2]
    endpoint.answers = [wire.whole("I look.", [TWO[0]], False), wire.whole("Done.", [], False)]
    asked = provider(wire, endpoint)
    first = ask(asked)
    assert first.opaque
    kept = AssistantMessage(first.text, (), first.opaque)
    ask(asked, StepRequest((*TALK, kept, UserMessage("Go on.")), TOOLS))
    assert "call_0" not in str(endpoint.asked[1].body)
    assert isinstance(first.tool_calls[0], ToolCall)
