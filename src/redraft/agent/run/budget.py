"""The limits of a job: tool calls, iterations, tokens, money and time.

The budget counts and reports which limit is reached; the loop decides what happens then. Time spent waiting for the
person does not count.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import islice
from math import ceil
from typing import TYPE_CHECKING, Any, cast

from redraft.errors import RedraftError, Refused
from redraft.tools.long_documents.worker import DIRECT_CHARACTERS
from redraft.tools.parameters import parse
from redraft.tools.target import Target, resolve_target

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from redraft.agent.run.tool_calls import ToolRunner
    from redraft.agent.store.jobs import Job
    from redraft.config import AgentLimits, Limits
    from redraft.providers.contract import Message, ProviderStepResult, ToolCall

# The highest limit that a request may set; a larger value is a mistake.
MOST = 10_000
# Characters per token, over prose in several languages; what is paid is the provider's own count.
CHARACTERS_A_TOKEN = 3.5
# A job that edits reads, edits and answers: its first request is sent about this many times.
USUAL_STEPS = 4


@dataclass(slots=True)
class JobBudget:
    """The limits of one job and what it has used."""

    tool_calls: int
    iterations: int
    tokens: int
    cents: int
    seconds: int
    used_calls: int = 0
    used_iterations: int = 0
    used_tokens: int = 0
    used_usd: Decimal = Decimal(0)
    _since: float = field(default_factory=time.monotonic)
    _waited: float = 0.0

    @staticmethod
    def of(limits: AgentLimits, tool_config: dict[str, Any]) -> JobBudget:
        """The limits from the settings, adjusted by the request's own."""
        return JobBudget(
            tool_calls=_limit_from_config(tool_config, "max_tool_calls", limits.tool_calls),
            iterations=_limit_from_config(tool_config, "max_iterations", limits.iterations),
            tokens=limits.tokens,
            cents=limits.cents,
            seconds=limits.seconds,
        )

    def count_step(self, result: ProviderStepResult) -> None:
        """Count one step of the model."""
        self.used_iterations += 1
        self.used_tokens += result.usage.input_tokens + result.usage.output_tokens
        self.used_usd += result.price_usd or Decimal(0)

    def exclude_wait(self, seconds: float) -> None:
        self._waited += seconds

    @property
    def used_seconds(self) -> float:
        return time.monotonic() - self._since - self._waited

    @property
    def seconds_left(self) -> float:
        return max(0.0, self.seconds - self.used_seconds)

    @property
    def spent(self) -> str:
        """Which limit allows no further step; empty if one may follow. Tool calls are counted one by one."""
        reached = {
            "iterations": self.used_iterations >= self.iterations,
            "tokens": self.used_tokens >= self.tokens,
            "cents": self.used_usd * 100 >= self.cents,
            "seconds": self.used_seconds >= self.seconds,
        }
        return next((name for name, is_reached in reached.items() if is_reached), "")


def _limit_from_config(tool_config: dict[str, Any], name: str, default: int) -> int:
    value = tool_config.get(name, default)
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= MOST:
        raise Refused(f"`{name}` must be a number from 1 to {MOST}.", field=f"tool_config.{name}")
    return value


@dataclass(frozen=True, slots=True)
class Estimate:
    """A rough cost estimate. Money is None if the model's price is unknown."""

    tokens: int
    usd: Decimal | None

    @staticmethod
    def of(tokens: int, price_of_a_token: Decimal | None) -> Estimate:
        return Estimate(tokens, None if price_of_a_token is None else tokens * price_of_a_token)

    def exceeds(self, limits: AgentLimits) -> bool:
        dear = self.usd is not None and self.usd * 100 > limits.ask_above_cents
        return dear or self.tokens > limits.ask_above_tokens

    def describe(self, by_subagents: int = 0) -> str:
        money = "" if self.usd is None else f", about ${self.usd:.2f}"
        read = f", {by_subagents} of them if subagents read a whole long document" if by_subagents else ""
        return f"about {self.tokens} tokens{money}{read}"


def usual_tokens(messages: list[Message]) -> int:
    """What a conversation that starts like this usually takes."""
    return int(sum(len(_text_of(message)) for message in messages) / CHARACTERS_A_TOKEN) * USUAL_STEPS


def _text_of(message: Message) -> str:
    return cast("str", getattr(message, "text", ""))


# A rough estimate of what subagents will take, so that the person can be asked before it is spent.
#
# It is good for the calls of a step, and a guess for a job that has not begun: made from the documents that the request
# names and the words it uses. An analysis reads every chunk once, a transformation once more to plan it. Cached answers
# are not asked for again, so the real cost may be lower.


READINGS = {"analyze_document": 1, "transform_document": 2}
# How people ask for work on a whole document. A guess: if it misses, the step itself asks.
TRANSFORMS = re.compile(r"(?i)\b(?:re-?writ|renam|transform|translat|(?:chang|mov)\w* the setting)")
ANALYSES = re.compile(r"(?i)\b(?:analy[sz]|characters?\b|plot\b|style\b|summar|sum it up\b|themes?\b)")
MEANS = {"transform_document": TRANSFORMS, "analyze_document": ANALYSES}
NAMED = re.compile(r"[^\s\"'`<>()\[\]]+\.[A-Za-z0-9]{1,8}\b")
MOST_NAMED, LOOKED_AT = 10, 2000


def subagent_tokens(calls: Iterable[ToolCall], caller: ToolRunner, limits: Limits) -> int:
    """Roughly how many tokens; 0 if no subagent has anything to do. The caller holds the workspace's guard."""
    if caller.context.find_worker is None:
        return 0
    return sum(READINGS[call.name] * _tokens(call, caller, limits) for call in calls if call.name in READINGS)


def tokens_ahead(job: Job, caller: ToolRunner, limits: Limits) -> int:
    """The same before a job begins, if it asks for work on a whole document and names a long one."""
    tool = next((name for name, words in MEANS.items() if words.search(job.instruction[:LOOKED_AT])), "")
    if caller.context.find_worker is None or caller.tool(tool) is None:
        return 0
    lengths = (_length(path, caller) for path in dict.fromkeys(islice(_documents_of(job), MOST_NAMED)))
    return sum(READINGS[tool] * reading_tokens(length, limits) for length in lengths if length > DIRECT_CHARACTERS)


def reading_tokens(characters: int, limits: Limits) -> int:
    """The tokens it takes to read this many characters in chunks, with an answer for each."""
    tokens = characters / CHARACTERS_A_TOKEN
    return int(tokens + ceil(tokens / limits.chunk_tokens) * limits.response_tokens)


def _documents_of(job: Job) -> Iterator[str]:
    """The documents that a request is about: its own, those in its context, and those it names by path."""
    if job.document:
        yield job.document
    for row in job.context_rows:
        if row.get("file_path"):
            yield str(row["file_path"])
    for found in NAMED.finditer(job.instruction[:LOOKED_AT]):
        yield found[0]


def _length(path: str, caller: ToolRunner) -> int:
    try:
        return len(caller.context.peek(path).text)
    except RedraftError:  # a word with a dot in it, or a document that the agent may not read
        return 0


def _tokens(call: ToolCall, caller: ToolRunner, limits: Limits) -> int:
    tool = caller.tool(call.name)
    if tool is None:
        return 0
    try:
        given = parse(tool.takes, dict(call.arguments))
        place = resolve_target(Target(tab_id=given.tab_id, path=given.path), caller.context)
    except RedraftError:  # the call itself will report what is wrong, and costs nothing
        return 0
    return reading_tokens(_length(place.path, caller), limits)
