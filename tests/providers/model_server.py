"""A model server on the loopback that wants a key: it speaks Anthropic's and OpenAI's formats, and lists its models as
Ollama does. Which key a request brings decides what it gets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.providers.endpoint import Answer, Asked, Endpoint, answer
from tests.providers.wires import WIRES

if TYPE_CHECKING:
    from http.server import BaseHTTPRequestHandler

GOOD, POOR = "sk-good-0123456789abcdef", "sk-poor-0123456789abcdef"
ANTHROPIC, CHAT = (next(wire for wire in WIRES if wire.kind == kind) for kind in ("anthropic", "compatible"))


class ModelServer(Endpoint):
    """Answers `said` to whoever has the good key, or to everybody where it is `open`."""

    def __init__(self, *, open: bool = False) -> None:  # noqa: A002 - what one says of a server
        super().__init__()
        self.open = open
        self.said = "I am the model of the test."
        outer = self

        def listing(handler: BaseHTTPRequestHandler) -> None:
            outer.answers = [answer({"models": [{"name": "tiny:1b"}, {"name": "small:7b"}]})]
            Endpoint.play(outer, handler, Asked(handler.path, dict(handler.headers), None, 0.0))

        self._server.RequestHandlerClass.do_GET = listing  # type: ignore[attr-defined]

    @property
    def keys(self) -> list[str]:
        """The keys that the requests brought."""
        return [self._key(asked) for asked in self.asked]

    @staticmethod
    def _key(asked: Asked) -> str:
        headers = {name.lower(): value for name, value in asked.headers.items()}
        return headers.get("x-api-key") or headers.get("authorization", "").removeprefix("Bearer ")

    def choose(self, asked: Asked) -> Answer:
        if asked.body is None:
            return super().choose(asked)
        wire = ANTHROPIC if asked.path.endswith("/messages") else CHAT
        key = self._key(asked)
        if key == POOR:
            message = "You exceeded your current quota, please check your plan and billing details."
            return answer(
                {"error": {"message": message, "code": "insufficient_quota", "type": "insufficient_quota"}}, 429
            )
        if key != GOOD and not self.open:
            # As careless servers do, it quotes the whole key.
            return answer(wire.refusal(401, f"Incorrect API key provided: {key}"), 401)
        write = wire.streamed if asked.body.get("stream") else wire.whole
        return write(self.said, [], False)
