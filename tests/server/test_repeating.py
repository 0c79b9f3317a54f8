"""A write that is sent twice is done once: through a restart, and even where the program was killed in between."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from redraft.errors import Refused
from redraft.server.auth.callers import OWNER
from redraft.server.idempotency import KEPT_SECONDS, IdempotencyStore, KeptResponse, RequestBodies
from redraft.server.replies import reply
from tests.server.serving import Answer, Client, begun, ended

if TYPE_CHECKING:
    from pathlib import Path

    from tests.server.serving import Server

NEW = {"path": "new.md", "content": "New.\n"}


def create(client: Client, key: str, body: Any = NEW) -> Answer:
    return client.request("POST", "/api/documents", body, {"Idempotency-Key": key})


def test_a_repetition_gets_the_first_answer_and_does_nothing(server: Server):
    first = create(server, "k1")
    again = create(server, "k1")
    assert (first.status, again.status, again.body) == (201, 201, first.body)
    assert ("idempotent-replayed" in first.headers, again.headers["idempotent-replayed"]) == (False, "true")
    assert len(server.get("/api/turns")["turns"]) == 1
    assert create(server, "k2").status == 409


def test_a_refusal_is_repeated_too(server: Server, folder: Path):
    (folder / "new.md").write_text("", encoding="utf-8")
    first = create(server, "k1")
    (folder / "new.md").unlink()
    assert (first.status, create(server, "k1").body) == (409, first.body)


def test_a_key_is_for_one_request(server: Server):
    create(server, "k1")
    told = create(server, "k1", {"path": "other.md"})
    assert (told.status, told.json["error"]) == (422, "invalid_argument")
    assert server.request("POST", "/api/turns/undo", {}, {"Idempotency-Key": "k1"}).status == 422


def test_an_answer_is_kept_through_a_restart(folder: Path):
    server = begun(folder)
    first = create(server, "k1")
    assert ended(server) == ""
    server = begun(folder)
    assert create(server, "k1").body == first.body
    assert len(server.get("/api/turns")["turns"]) == 1
    assert ended(server) == ""


def test_many_at_once_under_one_key_are_done_once(server: Server):
    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(create, [server] * 16, ["k1"] * 16))
    assert {answer.status for answer in answers} <= {201, 409}
    assert len({answer.body for answer in answers if answer.status == 201}) == 1
    assert len(server.get("/api/turns")["turns"]) == 1


@pytest.mark.slow
def test_nothing_is_done_twice_however_often_the_server_is_killed(folder: Path):
    """A client that repeats each request until it is answered, under one key for each."""
    for number in range(4):
        server = begun(folder)
        with ThreadPoolExecutor(1) as threads:
            waiting = threads.submit(create, server, f"k{number}", {"path": f"{number}.md"})
            assert server.process is not None
            with contextlib.suppress(TimeoutError, ConnectionError):
                waiting.result(0.002 * number)
            server.process.send_signal(signal.SIGKILL)
            server.process.communicate()
            waiting.exception(30)
        server = begun(folder)
        again = create(server, f"k{number}", {"path": f"{number}.md"})
        turns = [turn for turn in server.get("/api/turns")["turns"] if f"{number}.md" in turn["paths"]]
        assert again.status in (201, 409)
        assert len(turns) == (1 if again.status == 201 else len(turns))
        assert len(turns) <= 1
        ended(server)


def test_a_key_that_is_none_is_refused(server: Server):
    for key in (" ", "a b", "\xfc", "x" * 201):
        assert create(server, key).status == 422
    assert server.get("/api/turns")["turns"] == []


def test_a_body_that_is_no_json_is_refused(server: Server):
    cases: list[tuple[dict[str, str], bytes, int]] = [
        ({"Content-Type": "text/plain"}, b"{}", 415),
        ({}, b"{", 422),
        ({}, b"[" * 100_000, 422),
        ({}, b'"\xff"', 422),
        ({"Content-Length": "99999999999"}, b"", 413),
    ]
    for headers, body, status in cases:
        answer = server.request("POST", "/api/documents", body, headers)
        assert (answer.status, set(answer.json) >= {"error", "message"}) == (status, True)


def test_a_mistake_of_ours_is_told_and_never_repeated(tmp_path: Path):
    """A route that fails after it may have done something: the client is told, and the key does not do it again."""
    answers = IdempotencyStore(str(tmp_path))
    calls: list[str] = []

    async def broken(scope: Any, receive: Any, send: Any) -> None:
        calls.append(scope["path"])
        await reply(send, 500, b"{}")
        raise RuntimeError("a mistake")

    async def aside(act: Any, *arguments: Any) -> Any:
        return act(*arguments)

    async def posted() -> list[int]:
        sent: list[int] = []

        async def receive() -> Any:
            return {"type": "http.request", "body": b"{}", "more_body": False}

        async def send(message: Any) -> None:
            sent.append(message.get("status", 0))

        headers = [(b"content-type", b"application/json"), (b"idempotency-key", b"k1")]
        scope = {"type": "http", "method": "POST", "path": "/x", "query_string": b"", "headers": headers}
        with contextlib.suppress(RuntimeError):
            await RequestBodies(broken, answers, aside)({**scope, "state": {"caller": OWNER}}, receive, send)
        return sent

    assert asyncio.run(posted())[0] == 500
    assert asyncio.run(posted())[0] == 409
    assert calls == ["/x"]
    answers.close()


class Repeating(RuleBasedStateMachine):
    """Against a dictionary: begun, ended, forgotten, given up, and the program started again."""

    keys = st.sampled_from("abc")
    requests = st.sampled_from([b"1", b"2"])

    @initialize(path=st.just(None))
    def start(self, path: None) -> None:
        import tempfile

        self.folder = tempfile.TemporaryDirectory()
        self.now = 1000.0
        self.answers = IdempotencyStore(self.folder.name, lambda: self.now)
        self.model: dict[str, tuple[bytes, KeptResponse | None]] = {}

    @rule(key=keys, request=requests)
    def begin(self, key: str, request: bytes) -> None:
        try:
            told: Any = self.answers.begin("you", key, request)
        except Refused as error:
            told = error.code
        known = self.model.get(key)
        if known is None:
            assert told is None
            self.model[key] = (request, None)
        elif known[0] != request:
            assert told == "invalid_argument"
        else:
            assert told == (known[1] or "conflict")

    @rule(key=keys, body=st.binary(max_size=3))
    def end(self, key: str, body: bytes) -> None:
        if key in self.model and self.model[key][1] is None:
            kept = KeptResponse(200, "application/json", body)
            self.answers.end("you", key, kept)
            self.model[key] = (self.model[key][0], kept)

    @rule(key=keys)
    def forget(self, key: str) -> None:
        if key in self.model and self.model[key][1] is None:
            self.answers.forget("you", key)
            del self.model[key]

    @rule()
    def restart(self) -> None:
        self.answers.close()
        self.answers = IdempotencyStore(self.folder.name, lambda: self.now)

    @rule()
    def a_day_passes(self) -> None:
        """Old keys go when the next one is noted."""
        self.now += KEPT_SECONDS + 1
        self.answers.begin("somebody", f"{self.now}", b"")
        self.model.clear()

    def teardown(self) -> None:
        if hasattr(self, "answers"):
            self.answers.close()
            self.folder.cleanup()


TestRepeating = Repeating.TestCase
TestRepeating.settings = settings(max_examples=20, stateful_step_count=25, deadline=None)
