"""How the agents of a folder perform: which tools were called, how the calls ended, what became of the changes.

Everything is counted from records that exist anyway: job events (see the retention settings) and the history's turns.
Nothing is sent anywhere. A share of nothing is unknown, not zero.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from statistics import quantiles
from typing import TYPE_CHECKING, Any

from redraft.history.turns import State

if TYPE_CHECKING:
    from collections.abc import Sequence

    from redraft.agent.store.agent_store import AgentStore
    from redraft.agent.store.events import JobEvent
    from redraft.workspace.workspace import Workspace

# These end the person's wait: what follows a proposal is their own time.
ENDS = frozenset({"edits.proposed", "job.completed", "job.failed", "job.cancelled"})


@dataclass(slots=True)
class ToolMetrics:
    """The calls of one tool: their number, how many failed, and the seconds and tokens that they took."""

    tool: str
    calls: int = 0
    failed: int = 0
    seconds: float = 0.0
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class AgentMetrics:
    """The figures. Shares are from 0 to 1; seconds are measured from a request to its end or its proposal."""

    conversations: int
    jobs: int
    actions: int
    actions_per_conversation: float | None
    succeeded: float | None
    accepted: float | None
    undone: float | None
    p50_seconds: float | None
    p95_seconds: float | None
    tools: tuple[ToolMetrics, ...]

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def collect_metrics(store: AgentStore, workspace: Workspace, *, since: float = 0.0) -> AgentMetrics:
    """Count everything that began at `since` or later."""
    jobs = [job for name in store.sessions.all() for job in store.jobs.of_session(name) if job.created_at >= since]
    found: dict[str, ToolMetrics] = {}
    seconds: list[float] = []
    for job in jobs:  # one at a time: all events together may not fit in memory
        events = store.events.after(job.id)
        _count_tools(events, found)
        seconds += [event.ts - job.created_at for event in events if event.type in ENDS][:1]
    tools = sorted(found.values(), key=lambda each: (-each.calls, each.tool))
    calls = sum(each.calls for each in tools)
    conversations = len({job.session_id for job in jobs})
    p50, p95 = _quantiles(seconds)
    became = workspace.count_turns("agent", since=since)
    decided = sum(became.get(state, 0) for state in (State.APPLIED, State.DISCARDED, State.UNDONE))
    return AgentMetrics(
        conversations=conversations,
        jobs=len(jobs),
        actions=calls,
        actions_per_conversation=_share(calls, conversations),
        succeeded=_share(calls - sum(each.failed for each in tools), calls),
        accepted=_share(became.get(State.APPLIED, 0), decided),
        undone=_share(became.get(State.UNDONE, 0), decided),
        p50_seconds=p50,
        p95_seconds=p95,
        tools=tuple(tools),
    )


def _count_tools(events: Sequence[JobEvent], found: dict[str, ToolMetrics]) -> None:
    """Add the calls of one job."""
    asked: dict[str, float] = {}
    for event in events:
        if event.type == "tool.call.requested":
            asked[event.data["tool_call_id"]] = event.ts
        elif event.type == "tool.call.completed":
            tool = found.setdefault(event.data["tool"], ToolMetrics(event.data["tool"]))
            tool.calls += 1
            tool.failed += not event.data["ok"]
            tool.seconds += event.ts - asked.get(event.data["tool_call_id"], event.ts)
            tool.tokens += event.data.get("tokens", 0)


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _quantiles(seconds: Sequence[float]) -> tuple[float | None, float | None]:
    if len(seconds) < 2:
        return (seconds[0], seconds[0]) if seconds else (None, None)
    cuts = quantiles(seconds, n=20, method="inclusive")
    return cuts[9], cuts[18]
