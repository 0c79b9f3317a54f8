"""A desk to watch the agent at: a folder, a store, an agent with a scripted model, and the moves that stories make."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from redraft.agent.agent import Agent
from redraft.agent.store.agent_store import AgentStore
from redraft.config import Settings
from redraft.providers.adapters.scripted import ScriptedProvider
from redraft.providers.contract import AssistantMessage
from redraft.tools.registry import load_registry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from redraft.agent.run.job_runner import ProviderFactory
    from redraft.agent.store.jobs import Job
    from redraft.providers.contract import CancelToken, Provider, ProviderStepResult, StepRequest
    from redraft.providers.router import ModelChoice
    from redraft.workspace.workspace import Workspace
    from tests.workspace.folder import Folder

PATIENCE = 120.0


def call(tool: str, /, **arguments: Any) -> dict[str, Any]:
    return {"tool": tool, "arguments": arguments}


def edit(path: str, old: str, new: str) -> dict[str, Any]:
    return call("edit_text", path=path, old_text=old, new_text=new)


def says(text: str, *calls: dict[str, Any], **more: Any) -> dict[str, Any]:
    """One step of a script."""
    return {"text": text, **({"calls": list(calls)} if calls else {}), **more}


class Playing:
    """A scripted model that remembers nothing: which step it plays is told by the conversation that it is shown, so it
    goes on where a job was stopped. `asked` counts the steps that were bought of it."""

    provider_name = "scripted"
    model = "scripted"
    supports_native_tools = True
    context_tokens = None

    def __init__(self, steps: Iterable[dict[str, Any]], before: Callable[[int], None] | None = None) -> None:
        self.steps = list(steps)
        self.asked: list[int] = []
        self.requests: list[StepRequest] = []
        self.before = before

    def provider(self, name: str, trace: Callable[[ModelChoice], None], /) -> Provider:
        return self

    def skip_step(self) -> None:
        """The conversation tells which step comes next."""

    async def run_step(self, request: StepRequest, *, cancel: CancelToken | None = None) -> ProviderStepResult:
        number = sum(isinstance(message, AssistantMessage) for message in request.messages)
        self.asked.append(number)
        self.requests.append(request)
        if self.before is not None:
            self.before(number)
        step = self.steps[number : number + 1]
        return await ScriptedProvider(step).run_step(request, cancel=cancel)


@dataclass
class Desk:
    """One folder with its agent."""

    folder: Folder
    workspace: Workspace
    store: AgentStore
    agent: Agent
    model: Playing
    session: str
    opened: list[Any] = field(default_factory=list[Any])

    @staticmethod
    def at(
        folder: Folder,
        steps: Iterable[dict[str, Any]] | Playing = (),
        settings: Settings | None = None,
        *,
        providers: ProviderFactory | None = None,
        **more: Any,
    ) -> Desk:
        """Open a folder, as a program does that starts."""
        workspace = folder.open(settings or Settings())
        store = AgentStore(workspace.database.path.rpartition("/")[0], folder.clock)
        model = steps if isinstance(steps, Playing) else Playing(steps)
        agent = Agent(workspace, store, load_registry(), providers or model, **more)
        latest = store.sessions.latest()
        session = store.sessions.create().id if latest is None else latest.id
        return Desk(folder, workspace, store, agent, model, session)

    def close(self) -> None:
        self.agent.close()
        self.store.close()

    def leave(self) -> None:
        """Close the folder too: the program has ended."""
        self.close()
        self.workspace.close()

    def ask(self, instruction: str = "Please.", **more: Any) -> Job:
        """Start a job and wait for it."""
        return self.agent.wait(self.agent.start(self.session, instruction, **more).id, PATIENCE)

    def begin(self, instruction: str = "Please.", **more: Any) -> Job:
        return self.agent.start(self.session, instruction, **more)

    def until(self, job: Job, *statuses: str) -> Job:
        """Wait until the job has one of these states."""
        return self.when(job, lambda: self.store.jobs.get(job.id).status in statuses)

    def when(self, job: Job, so: Callable[[], bool]) -> Job:
        end = time.monotonic() + PATIENCE
        while not so():
            assert time.monotonic() < end, f"{self.store.jobs.get(job.id)} {self.types(job)}"
            time.sleep(0.002)
        return self.store.jobs.get(job.id)

    def types(self, job: Job) -> list[str]:
        return [event.type for event in self.store.events.after(job.id)]

    def event(self, job: Job, type_: str) -> dict[str, Any]:
        """The data of the last event of a type."""
        return [event.data for event in self.store.events.after(job.id) if event.type == type_][-1]
