"""A model for stories about long documents: it answers by what it is asked, in any order, and remembers what that was.

What it says is played by the scripted provider, so that it is read and checked like the words of any model.
"""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from redraft.providers.adapters.scripted import ScriptedProvider
from redraft.providers.contract import AssistantMessage, SystemMessage, UserMessage

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from redraft.providers.contract import CancelToken, Provider, ProviderStepResult, StepRequest
    from redraft.providers.router import ModelChoice

_BLOCK = re.compile(
    r"<(?P<name>[a-z ]+) (?P<mark>[0-9a-f]{8})> \([^)]*\)\n(?P<text>.*?)\n</(?P=name) (?P=mark)>", re.DOTALL
)
_FIELDS = {
    ("characters",): "characters",
    ("events", "summary"): "plot",
    ("observations", "person", "tense", "tone"): "style",
    ("findings", "summary"): "custom",
    ("doubts", "terms"): "targets",
    ("guidance", "replacements"): "plan",
    ("doubts", "edits"): "change",
    ("issues",): "check",
}
# What each is answered where a story says nothing about it.
NOTHING: dict[str, dict[str, Any]] = {
    "characters": {"characters": []},
    "plot": {"events": [], "summary": ""},
    "style": {"person": "third", "tense": "past", "tone": [], "observations": []},
    "custom": {"findings": [], "summary": ""},
    "summary": {"summary": "It goes on."},
    "together": {"summary": "It goes on and on."},
    "targets": {"terms": [], "doubts": []},
    "plan": {"replacements": [], "guidance": ""},
    "change": {"edits": [], "doubts": []},
    "check": {"issues": []},
}


def role_of(schema: Mapping[str, Any], *, has_passage: bool) -> str:
    """What is wanted, told from the shape of the answer."""
    alone = "summary" if has_passage else "together"
    return _FIELDS.get(tuple(sorted(schema["properties"])), alone)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as the model sees it: what is wanted, the blocks of data, and the conversation."""

    what: str
    passage: str
    known: str
    before: str
    instructions: str
    told_back: str
    request: StepRequest

    @staticmethod
    def of(request: StepRequest) -> Asked:
        system, user = request.messages[:2]
        assert isinstance(system, SystemMessage)
        assert isinstance(user, UserMessage)
        assert request.response_schema is not None
        blocks = {match["name"]: match["text"] for match in _BLOCK.finditer(user.text)}
        last = request.messages[-1]
        told = last.text if isinstance(last, UserMessage) and len(request.messages) > 2 else ""
        return Asked(
            role_of(request.response_schema, has_passage="passage" in blocks),
            blocks.get("passage", ""),
            blocks.get("what is known", ""),
            blocks.get("before", ""),
            system.text,
            told,
            request,
        )

    @property
    def attempt(self) -> int:
        """From 0: how often it was told that its answer could not be used."""
        return sum(isinstance(message, AssistantMessage) for message in self.request.messages)


class Model:
    """`says` gives the data of an answer, None for nothing in particular, or a step of a script (`{"step": {...}}`)."""

    provider_name = "scripted"
    model = "scripted"
    supports_native_tools = True

    def __init__(
        self,
        says: Callable[[Asked], dict[str, Any] | None] = lambda _: None,
        *,
        seconds: float = 0.0,
        context_tokens: int | None = None,
    ) -> None:
        self.says = says
        self.seconds = seconds
        self.context_tokens = context_tokens
        self.asked: list[Asked] = []
        self.at_once = self.most_at_once = 0
        self.spent_seconds = 0.0

    def provider(self, name: str, trace: Callable[[ModelChoice], None], /) -> Provider:
        return self

    def skip_step(self) -> None:
        """It counts nothing."""

    async def run_step(self, request: StepRequest, *, cancel: CancelToken | None = None) -> ProviderStepResult:
        asked = Asked.of(request)
        self.asked.append(asked)
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            if self.seconds:
                await asyncio.sleep(self.seconds)
                self.spent_seconds += self.seconds
            said = self.says(asked) or NOTHING[asked.what]
            step = said.get("step", {"text": json.dumps(said), "usage": {"input_tokens": 10, "output_tokens": 1}})
            return await ScriptedProvider([step]).run_step(request, cancel=cancel)
        finally:
            self.at_once -= 1

    def roles(self) -> list[str]:
        return [asked.what for asked in self.asked]
