"""Somebody who works on long documents with tools, and with a model if they have one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from redraft.agent.store.database import AgentDatabase
from redraft.agent.subagents.long_documents import LongDocuments
from redraft.agent.subagents.pool import AnswerCache, PoolOptions
from tests.agent.long.model import Model
from tests.tools.calling import Caller

if TYPE_CHECKING:
    from collections.abc import Callable

    from redraft.agent.subagents.pool import Progress
    from redraft.providers.contract import ProviderStepResult
    from tests.agent.long.model import Asked
    from tests.workspace.folder import Folder

CHAPTER = 40  # sentences, so that a chapter is about half a chunk of the stories' size


def chapter(number: int, *sentences: str, filler: int = CHAPTER) -> str:
    """A chapter of plain prose with some sentences of one's own at its beginning."""
    filled = [
        f"The road of chapter {number} went on past milestone {at}, and nobody spoke a word." for at in range(filler)
    ]
    body = "\n\n".join([*sentences, *filled])
    return f"# Chapter {number}\n\n{body}\n\n"


@dataclass
class Writing:
    """One caller of tools in one folder."""

    caller: Caller
    database: AgentDatabase
    model: Model = field(default_factory=Model)
    progress: list[Progress] = field(default_factory=list["Progress"])
    bought: list[ProviderStepResult] = field(default_factory=list["ProviderStepResult"])

    @staticmethod
    def at(folder: Folder, mode: str = "apply") -> Writing:
        caller = Caller.at(folder, mode)
        return Writing(caller, AgentDatabase(caller.workspace.state))

    def close(self) -> None:
        self.database.close()

    def with_model(
        self, says: Callable[[Asked], dict[str, Any] | None] = lambda _: None, *, chunk_tokens: int = 1500, **more: Any
    ) -> Model:
        """A model that says these things, beside what was kept of others before it."""
        self.model = Model(says)
        answers = AnswerCache(self.database, self.caller.folder.clock)
        means = PoolOptions(self.model, answers, on_step=self.bought.append, on_progress=self.progress.append)
        worker = LongDocuments(means, chunk_tokens=chunk_tokens, **more)
        self.caller.context.find_worker = lambda _path: worker
        return self.model

    def analyse(self, path: str, task: str, **more: Any) -> dict[str, Any]:
        return self.caller.call("analyze_document", path=path, task=task, **more)

    def transform(self, path: str, transformation: str, **more: Any) -> dict[str, Any]:
        return self.caller.call("transform_document", path=path, transformation=transformation, **more)
