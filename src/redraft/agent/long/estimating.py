"""What subagents will take for the calls of a step, roughly, so that the person can be asked before it is spent.

Every chunk is read once for an analysis, and for a transformation once more to plan it. What a subagent has answered
before is not asked again, so it may turn out to be less.
"""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

from redraft.agent.budget import CHARACTERS_A_TOKEN
from redraft.errors import RedraftError
from redraft.tools.arguments import parse
from redraft.tools.target import Target, place_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from redraft.agent.calls import Caller
    from redraft.config import Limits
    from redraft.providers.contract import ToolCall

READINGS = {"analyze_document": 1, "transform_document": 2}


def subagent_tokens(calls: Iterable[ToolCall], caller: Caller, limits: Limits) -> int:
    """About how many tokens; 0 where no subagent has anything to do. Whoever calls holds the workspace's guard."""
    if caller.context.long is None:
        return 0
    return sum(READINGS[call.name] * _tokens(call, caller, limits) for call in calls if call.name in READINGS)


def _tokens(call: ToolCall, caller: Caller, limits: Limits) -> int:
    tool = caller.tool(call.name)
    if tool is None:
        return 0
    try:
        given = parse(tool.takes, dict(call.arguments))
        place = place_of(Target(tab_id=given.tab_id, path=given.path), caller.context)
        characters = len(caller.context.look(place.path).text)
    except RedraftError:  # the call itself will say what is wrong with it, and costs nothing
        return 0
    tokens = characters / CHARACTERS_A_TOKEN
    return int(tokens + ceil(tokens / limits.chunk_tokens) * limits.response_tokens)
