"""Whole documents by the person's own model, for a client's call: who `analyze_document` and `transform_document` ask.

A client may be an agent itself, but a server cannot borrow its model; what is asked here is whatever the person has set
up, within what one job of theirs may spend. It ends when the client calls the request off, and tells it how far it is.
Where no model is set up there is nothing to ask, and the tools do what can be computed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from redraft.agent.budget import Budget
from redraft.agent.choosing import OFFLINE, Models
from redraft.agent.long.wiring import by_model
from redraft.agent.store import AgentStore
from redraft.providers.contract import Cancel
from redraft.runtime import models

if TYPE_CHECKING:
    from redraft.agent.long.crew import Progress
    from redraft.agent.long.documents import LongDocuments
    from redraft.mcp_server.call import Call
    from redraft.providers.choosing import Choice
    from redraft.providers.contract import Provider
    from redraft.tools.long import Analysis, Ask, Source, Task, Transformation, Wish

ABOUT = "answers of subagents"


def work_for(call: Call) -> Subagents | None:
    """The `long` of a call's context; None where no model is set up."""
    settings = call.connection.endpoint.workspace.engine.settings
    # The person's environment, and the settings as the folder narrows them: it may keep its documents on this machine.
    provider = Models.of(settings, models().environ).provider("", _untold)
    return None if provider.provider_name == OFFLINE else Subagents(call, provider)


class Subagents:
    """A `LongWork` for one call. The guard of the endpoint, which the call holds, is let go while a model is asked."""

    def __init__(self, call: Call, provider: Provider) -> None:
        self._call = call
        self._endpoint = call.connection.endpoint
        self._provider = provider
        self._budget = Budget.of(self._endpoint.workspace.engine.settings.agent, {})
        self._answers = 0

    def analyse(self, source: Source, task: Task, prompt: str, /) -> Analysis:
        with self._store() as store:
            return self._documents(store, source).analyse(source, task, prompt)

    def transform(self, source: Source, wish: Wish, ask: Ask | None, /) -> Transformation:
        def asked(question: str) -> str | None:
            with self._endpoint.guard:  # whoever asks the person holds it, and lets go while they think
                return None if ask is None else ask(question)

        with self._store() as store:
            return self._documents(store, source).transform(source, wish, None if ask is None else asked)

    def _store(self) -> AgentStore:
        engine = self._endpoint.workspace.engine
        return AgentStore(engine.journal.state, engine.clock)

    def _documents(self, store: AgentStore, source: Source) -> LongDocuments:
        cancel = Cancel()
        self._call.when_called_off(cancel.set)
        return by_model(
            store,
            self._endpoint.workspace.engine.settings.limits,
            self._provider,
            source.path,
            self._endpoint.guard,
            self._budget,
            told=self._told,
            check=self._call.check,
            cancel=cancel,
        )

    def _told(self, progress: Progress) -> None:
        """Answers are counted through all rounds, so that the number only grows; of how many is known of this round."""
        self._answers += 1
        self._call.progress(self._answers, self._answers + progress.total - progress.done, ABOUT)


def _untold(choice: Choice) -> None:
    """Which model answered is in the log of what was spent."""
