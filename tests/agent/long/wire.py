"""A model for whole documents behind an address of this machine, which a program under test is set up to ask.

It answers by what it is asked, in any order, and keeps what that was, as it came over the wire.
"""

from __future__ import annotations

import json
import re
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.agent.long.model import NOTHING, role_of
from tests.providers.endpoint import Answer, Endpoint, answer
from tests.providers.wires import WIRES

if TYPE_CHECKING:
    from collections.abc import Callable
    from http.server import BaseHTTPRequestHandler

    from tests.providers.endpoint import Asked

_CHAT = next(wire for wire in WIRES if wire.kind == "compatible")
_BLOCK = re.compile(r"<(?P<name>[a-z ]+) (?P<mark>[0-9a-f]{8})>.*?\n(?P<text>.*?)\n</(?P=name) (?P=mark)>", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Question:
    """What a subagent was asked: what is wanted, the passage and what stands beside it, and how long it may answer."""

    what: str
    passage: str
    known: str
    instructions: str
    room: int


class Subagents(Endpoint):
    """`says` gives the data of an answer, None for nothing in particular, or a whole `Answer`."""

    def __init__(self) -> None:
        super().__init__()
        self.says: Callable[[Question], dict[str, Any] | Answer | None] = lambda _: None
        self.seconds = 0.0
        self.questions: list[Question] = []
        self.most_at_once = 0
        self._at_once = 0
        self._counting = threading.Lock()

    def begin(self, says: Callable[[Question], dict[str, Any] | Answer | None] = lambda _: None) -> None:
        """Forget what was asked, and answer like this from now on."""
        self.questions.clear()
        self.says, self.seconds, self.most_at_once = says, 0.0, 0

    def choose(self, asked: Asked) -> Answer:
        question = _read(asked.body)
        self.questions.append(question)
        said = self.says(question)
        chosen = (
            said if isinstance(said, Answer) else _CHAT.whole(json.dumps(said or NOTHING[question.what]), [], False)
        )
        chosen.seconds = chosen.seconds or self.seconds
        return chosen

    def play(self, handler: BaseHTTPRequestHandler, asked: Asked) -> None:
        with self._counting:
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            super().play(handler, asked)
        finally:
            with self._counting:
                self._at_once -= 1

    def roles(self) -> list[str]:
        """What was asked, each kind once, in the order in which it first came."""
        return list(dict.fromkeys(question.what for question in self.questions))

    def passages(self, what: str) -> list[str]:
        return [question.passage for question in self.questions if question.what == what]


def out_of_order(message: str) -> Answer:
    """A refusal that no second attempt can mend."""
    return answer({"error": {"message": message, "type": "invalid_request_error", "code": None}}, 400)


def _read(body: dict[str, Any]) -> Question:
    texts = {message["role"]: str(message["content"]) for message in body["messages"][:2]}
    blocks = {found["name"]: found["text"] for found in _BLOCK.finditer(texts["user"])}
    schema = body["response_format"]["json_schema"]["schema"]
    what = role_of(schema, has_passage="passage" in blocks)
    known, passage = blocks.get("what is known", ""), blocks.get("passage", "")
    return Question(what, passage, known, texts["system"], body["max_tokens"])
