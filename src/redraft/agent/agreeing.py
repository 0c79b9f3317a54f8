"""What the person has to agree to before a job does it: what it costs, what it destroys, how much it changes.

Each thing is asked about once: what was agreed to before the job began is not asked about again when it comes. Whether
something was asked is among the job's recorded steps, so a job that is replayed asks nothing twice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from redraft.agent.budget import Estimate, usual_tokens
from redraft.agent.calls import Wanted
from redraft.agent.long.estimating import subagent_tokens, tokens_ahead
from redraft.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from redraft.agent.asking import Asking
    from redraft.agent.calls import Caller
    from redraft.agent.jobs import Job
    from redraft.agent.room import Room
    from redraft.agent.steps import Tape
    from redraft.errors import ConfirmationRequired
    from redraft.providers.contract import Message, Provider, ToolCall


class Refusal(Refused):
    """The person said no to what the job wanted to do."""

    default_code = "cancelled"


class Agreeing:
    """The consents of one job. Each raises `Refusal` where the person does not agree."""

    def __init__(
        self,
        room: Room,
        job: Job,
        provider: Provider,
        caller: Caller,
        tape: Tape,
        asking: Asking,
        tell: Callable[..., None],
    ) -> None:
        self._room = room
        self._job = job
        self._provider = provider
        self._caller = caller
        self._tape = tape
        self._asking = asking
        self._tell = tell
        self._agreed_ahead = 0

    async def to_begin(self, messages: list[Message]) -> None:
        """To the conversation as it usually goes, and to subagents where the request is about a long document."""
        ahead = 0
        if not self._tape.replaying:
            with self._room.guard:
                ahead = tokens_ahead(self._job, self._caller, self._room.settings.limits)
        await self._to_cost(usual_tokens(messages) + ahead, ahead)

    async def to_subagents(self, calls: Sequence[ToolCall]) -> None:
        """To what these calls have subagents read, as far as it was not agreed to at the beginning."""
        with self._room.guard:
            tokens = subagent_tokens(calls, self._caller, self._room.settings.limits)
        known = min(tokens, self._agreed_ahead)
        self._agreed_ahead -= known
        if tokens > known or self._tape.replaying:
            await self._to_cost(tokens - known)

    async def _to_cost(self, tokens: int, ahead: int = 0) -> None:
        """Ask where it is worth a question. `ahead` of the tokens are for calls that are only guessed by now."""
        price = self._room.store.usage.price_of_a_token(self._provider.provider_name, self._provider.model)
        estimate = Estimate.of(tokens, price)
        words = estimate.in_words(ahead)
        recorded = self._tape.take("note", "estimate")
        if recorded is not None:
            words, ahead = recorded.value
        elif self._tape.replaying or not estimate.exceeds(self._room.limits):
            return
        else:
            self._tape.record("note", "estimate", [words, ahead])
        self._tell("estimate.made", tokens=tokens, usd=None if estimate.usd is None else str(estimate.usd))
        if not await self._asking.agree_to_cost(f"This will take {words}. Go on?"):
            raise Refusal("The person did not agree to the cost.")
        self._agreed_ahead += ahead

    async def to_acts(self, calls: Sequence[ToolCall]) -> None:
        """To everything in a step that needs consent: one question, with every path."""
        if wanted := self._caller.wanted(calls):
            await self._to(wanted)

    async def to_turn(self, error: ConfirmationRequired) -> None:
        """To what the turn as a whole would do."""
        paths = tuple(str(path) for path in error.details["paths"])
        await self._to([Wanted("", str(error.details["action"]), paths)])

    async def _to(self, wanted: Sequence[Wanted]) -> None:
        paths = tuple(dict.fromkeys(path for each in wanted for path in each.paths))
        action = " and ".join(dict.fromkeys(each.action for each in wanted))
        what = wanted[0].what if len(wanted) == 1 and not wanted[0].tool else action
        tool = wanted[0].tool if len({each.tool for each in wanted}) == 1 else ""
        if not await self._asking.agree(f"The agent wants to {what}: {', '.join(paths)}.", action, paths, tool):
            raise Refusal("The person cancelled the action.", action=what, paths=list(paths))
        self._caller.consent.granted.update(wanted)
