"""What the agent's loop costs beside its model: jobs with a scripted model that answers at once, on a 100 KB document.

A step is one answer of the model, the call it makes, everything that is recorded of both, and its share of the job's
beginning and end. It is measured as wall clock (a step is flushed to disk) and as CPU time, the best of several jobs.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from benchmarks.measure import Note, shown
from redraft.agent.agent import Agent
from redraft.agent.store.agent_store import AgentStore
from redraft.config import AgentLimits, Settings
from redraft.providers.adapters.scripted import ScriptedProvider
from redraft.tools.registry import load_registry
from redraft.workspace.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from redraft.providers.contract import Provider

BAR = 0.015
JOBS = 7
LINES = 2000
LINE = "Line {number} of a document about the harbour at night."


def steps() -> list[dict[str, Any]]:
    """Reads and edits in turns, then the answer."""
    found: list[dict[str, Any]] = []
    for number in range(10):
        old = LINE.format(number=number * 150)
        read = {"tool": "read_document", "arguments": {"path": "long.md"}}
        edit = {"tool": "edit_text", "arguments": {"path": "long.md", "old_text": old, "new_text": old.upper()}}
        found += [{"text": "", "calls": [read]}, {"text": "", "calls": [edit]}]
    return [*found, {"text": "Done."}]


class Instant:
    """A model that takes no time."""

    def provider(self, name: str, trace: object, /) -> Provider:
        return ScriptedProvider(steps())


def results(folder: Path) -> Iterator[Note]:
    place = folder / "notes"
    place.mkdir()
    (place / "long.md").write_text("".join(LINE.format(number=n) + "\n" for n in range(LINES)), encoding="utf-8")
    limits = AgentLimits(tool_calls=100, iterations=100, ask_above_tokens=10**9)
    walls: list[float] = []
    cpus: list[float] = []
    with (
        Workspace.open(place, state_home=str(folder / "state"), settings=Settings(agent=limits)) as workspace,
        AgentStore(workspace.state) as store,
    ):
        agent = Agent(workspace, store, load_registry(), Instant())
        for _ in range(JOBS):
            wall, cpu = time.perf_counter(), time.process_time()
            job = agent.wait(agent.start(store.sessions.create().id, "Shout").id)
            walls.append((time.perf_counter() - wall) / len(steps()))
            cpus.append((time.process_time() - cpu) / len(steps()))
            if job.status != "awaiting_review":
                raise RuntimeError(f"the job ended as {job.status}: {job.error}")
            agent.apply(job.id, [])
        agent.close()
    good = min(walls) <= BAR
    mark = "ok  " if good else "SLOW"
    yield Note(f"{mark} {'a step of the loop, 100 KB':<48} {shown(min(walls)):>9}  (at most {shown(BAR)})", good)
    yield Note(f"     {'the same, CPU time':<48} {shown(min(cpus)):>9}")
