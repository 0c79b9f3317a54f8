"""How far a job may go: tool calls, iterations, tokens, money and time, each with a limit of its own.

The budget counts and says which limit is reached; what happens then is the loop's to decide. Time in which the job
waits for the person does not count.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any, cast

from redraft.errors import Refused

if TYPE_CHECKING:
    from redraft.config import AgentLimits
    from redraft.providers.contract import Message, ProviderStepResult

# A tool's arguments say how much of a job they may take; more than this is a mistake.
MOST = 10_000
# Characters of a token, over prose in several languages; the providers' own counts are what is paid.
CHARACTERS_A_TOKEN = 3.5
# A job that edits reads, edits and answers: what its first request holds is sent about so often.
USUAL_STEPS = 4


@dataclass(slots=True)
class Budget:
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
    def of(limits: AgentLimits, tool_config: dict[str, Any]) -> Budget:
        """The limits of the settings, with what the request itself says."""
        return Budget(
            tool_calls=_wanted(tool_config, "max_tool_calls", limits.tool_calls),
            iterations=_wanted(tool_config, "max_iterations", limits.iterations),
            tokens=limits.tokens,
            cents=limits.cents,
            seconds=limits.seconds,
        )

    def step(self, result: ProviderStepResult) -> None:
        """Count a model's step."""
        self.used_iterations += 1
        self.used_tokens += result.usage.input_tokens + result.usage.output_tokens
        self.used_usd += result.price_usd or Decimal(0)

    def waited(self, seconds: float) -> None:
        self._waited += seconds

    @property
    def used_seconds(self) -> float:
        return time.monotonic() - self._since - self._waited

    @property
    def spent(self) -> str:
        """Which limit allows no further step; empty where one may follow. Tool calls are counted one by one."""
        reached = {
            "iterations": self.used_iterations >= self.iterations,
            "tokens": self.used_tokens >= self.tokens,
            "cents": self.used_usd * 100 >= self.cents,
            "seconds": self.used_seconds >= self.seconds,
        }
        return next((name for name, is_reached in reached.items() if is_reached), "")


def _wanted(tool_config: dict[str, Any], name: str, default: int) -> int:
    value = tool_config.get(name, default)
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= MOST:
        raise Refused(f"`{name}` is a number from 1 to {MOST}.", field=f"tool_config.{name}")
    return value


@dataclass(frozen=True, slots=True)
class Estimate:
    """What something will cost, roughly, before it begins. Money is None where nobody knows the model's price."""

    tokens: int
    usd: Decimal | None

    @staticmethod
    def of(tokens: int, price_of_a_token: Decimal | None) -> Estimate:
        return Estimate(tokens, None if price_of_a_token is None else tokens * price_of_a_token)

    def exceeds(self, limits: AgentLimits) -> bool:
        dear = self.usd is not None and self.usd * 100 > limits.ask_above_cents
        return dear or self.tokens > limits.ask_above_tokens

    def in_words(self, by_subagents: int = 0) -> str:
        money = "" if self.usd is None else f", about ${self.usd:.2f}"
        read = f", {by_subagents} of them if subagents read the whole of a long document" if by_subagents else ""
        return f"about {self.tokens} tokens{money}{read}"


def usual_tokens(messages: list[Message]) -> int:
    """What a conversation that begins so usually takes."""
    return int(sum(len(_told(message)) for message in messages) / CHARACTERS_A_TOKEN) * USUAL_STEPS


def _told(message: Message) -> str:
    return cast("str", getattr(message, "text", ""))
