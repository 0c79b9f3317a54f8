"""What subagents will take, roughly, so that the person can be asked before it is spent.

Known well for the calls of a step, and guessed for a job that has not begun, from the documents that the request names
and the words it uses. Every chunk is read once for an analysis, and for a transformation once more to plan it. What a
subagent has answered before is not asked again, so it may turn out to be less.
"""

from __future__ import annotations

import re
from itertools import islice
from math import ceil
from typing import TYPE_CHECKING

from redraft.agent.budget import CHARACTERS_A_TOKEN
from redraft.errors import RedraftError
from redraft.tools.arguments import parse
from redraft.tools.long import DIRECT_CHARACTERS
from redraft.tools.target import Target, place_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from redraft.agent.calls import Caller
    from redraft.agent.jobs import Job
    from redraft.config import Limits
    from redraft.providers.contract import ToolCall

READINGS = {"analyze_document": 1, "transform_document": 2}
# How people ask for work on a whole document. A guess: other words miss it, and then the step itself asks.
TRANSFORMS = re.compile(r"(?i)\b(?:re-?writ|renam|transform|translat|(?:chang|mov)\w* the setting)")
ANALYSES = re.compile(r"(?i)\b(?:analy[sz]|characters?\b|plot\b|style\b|summar|sum it up\b|themes?\b)")
MEANS = {"transform_document": TRANSFORMS, "analyze_document": ANALYSES}
NAMED = re.compile(r"[^\s\"'`<>()\[\]]+\.[A-Za-z0-9]{1,8}\b")
MOST_NAMED, LOOKED_AT = 10, 2000


def subagent_tokens(calls: Iterable[ToolCall], caller: Caller, limits: Limits) -> int:
    """About how many tokens; 0 where no subagent has anything to do. Whoever calls holds the workspace's guard."""
    if caller.context.long is None:
        return 0
    return sum(READINGS[call.name] * _tokens(call, caller, limits) for call in calls if call.name in READINGS)


def tokens_ahead(job: Job, caller: Caller, limits: Limits) -> int:
    """The same before a job begins: where it asks for work on a whole document, and names one that is long."""
    tool = next((name for name, words in MEANS.items() if words.search(job.instruction[:LOOKED_AT])), "")
    if caller.context.long is None or caller.tool(tool) is None:
        return 0
    lengths = (_length(path, caller) for path in dict.fromkeys(islice(_named(job), MOST_NAMED)))
    return sum(READINGS[tool] * reading_tokens(length, limits) for length in lengths if length > DIRECT_CHARACTERS)


def reading_tokens(characters: int, limits: Limits) -> int:
    """What it takes to read so many characters in chunks, with an answer for each."""
    tokens = characters / CHARACTERS_A_TOKEN
    return int(tokens + ceil(tokens / limits.chunk_tokens) * limits.response_tokens)


def _named(job: Job) -> Iterator[str]:
    """The documents that a request is about: its own, those it shows, and those it names by their paths."""
    if job.document:
        yield job.document
    for row in job.context_rows:
        if row.get("file_path"):
            yield str(row["file_path"])
    for found in NAMED.finditer(job.instruction[:LOOKED_AT]):
        yield found[0]


def _length(path: str, caller: Caller) -> int:
    try:
        return len(caller.context.look(path).text)
    except RedraftError:  # a word with a dot in it, or a document that the agent may not read
        return 0


def _tokens(call: ToolCall, caller: Caller, limits: Limits) -> int:
    tool = caller.tool(call.name)
    if tool is None:
        return 0
    try:
        given = parse(tool.takes, dict(call.arguments))
        place = place_of(Target(tab_id=given.tab_id, path=given.path), caller.context)
    except RedraftError:  # the call itself will say what is wrong with it, and costs nothing
        return 0
    return reading_tokens(_length(place.path, caller), limits)
