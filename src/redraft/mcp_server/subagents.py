"""Whole documents by the person's own model, for a client's call: who `analyze_document` and `transform_document` ask.

A client may be an agent itself, but a server cannot borrow its model; what is asked here is whatever the person has set
up, within what one job of theirs may spend. It ends when the client calls the request off, and tells it how far it is.
Where no model is set up there is nothing to ask, and the tools do what can be computed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from redraft.agent.run.budget import JobBudget
from redraft.agent.store.agent_store import AgentStore
from redraft.agent.subagents.long_documents import make_for_model
from redraft.providers.contract import CancelToken
from redraft.providers.models import OFFLINE
from redraft.runtime import models

if TYPE_CHECKING:
    from redraft.agent.subagents.long_documents import LongDocuments
    from redraft.agent.subagents.pool import Progress
    from redraft.mcp_server.call import McpCall
    from redraft.providers.contract import Provider
    from redraft.providers.router import ModelChoice
    from redraft.tools.long_documents.worker import Analysis, Ask, Source, Task, Transformation, TransformationRequest

ABOUT = "answers of subagents"


def subagents_for(call: McpCall) -> Subagents | None:
    """The worker of a call's context; None where no model is set up."""
    # As the folder narrows them: it may keep its documents on this machine.
    provider = models(call.connection.endpoint.workspace.folder).provider("", _ignore_choice)
    return None if provider.provider_name == OFFLINE else Subagents(call, provider)


class Subagents:
    """A `DocumentWorker` for one call. The guard of the endpoint, which the call holds, is let go while a model is
    asked."""

    def __init__(self, call: McpCall, provider: Provider) -> None:
        self._call = call
        self._endpoint = call.connection.endpoint
        self._provider = provider
        self._budget = JobBudget.of(self._endpoint.workspace.settings.agent, {})
        self._answers = 0

    def analyse(self, source: Source, task: Task, prompt: str, /) -> Analysis:
        with self._store() as store:
            return self._documents(store, source).analyse(source, task, prompt)

    def transform(self, source: Source, wish: TransformationRequest, ask: Ask | None, /) -> Transformation:
        def ask_guarded(question: str) -> str | None:
            with self._endpoint.guard:  # whoever asks the person holds it, and lets go while they think
                return None if ask is None else ask(question)

        with self._store() as store:
            return self._documents(store, source).transform(source, wish, None if ask is None else ask_guarded)

    def _store(self) -> AgentStore:
        workspace = self._endpoint.workspace
        return AgentStore(workspace.state, workspace.now)

    def _documents(self, store: AgentStore, source: Source) -> LongDocuments:
        cancel = CancelToken()
        self._call.on_cancel(cancel.set)
        return make_for_model(
            store,
            self._endpoint.workspace.settings.limits,
            self._provider,
            source.path,
            self._endpoint.guard,
            self._budget,
            report=self._report,
            check=self._call.check,
            cancel=cancel,
        )

    def _report(self, progress: Progress) -> None:
        """Answers are counted through all rounds, so that the number only grows; of how many is known of this round."""
        self._answers += 1
        self._call.progress(self._answers, self._answers + progress.total - progress.done, ABOUT)


def _ignore_choice(choice: ModelChoice) -> None:
    """Which model answered is in the log of what was spent."""
