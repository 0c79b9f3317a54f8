"""A person and the offline assistant in a folder: the steps of a job, made with the real tools in one real turn."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING, Any

from redraft.agent.offline import OfflineProvider
from redraft.agent.run.prompts import compose_messages, label_result
from redraft.agent.run.tool_selection import select_tools, tool_definitions
from redraft.agent.run.truncate import truncate_result
from redraft.agent.store.sessions import ChatEntry, ContextRow
from redraft.config import AgentLimits, Settings
from redraft.errors import RedraftError
from redraft.providers.contract import StepRequest, ToolResult
from redraft.tools.context import ToolContext
from redraft.tools.registry import load_registry
from redraft.workspace.turns.modes import mode_by_name
from tests.workspace.folder import AGENT, Folder, yes

if TYPE_CHECKING:
    from redraft.providers.contract import Message, ToolCall
    from redraft.workspace.turns.turn import Confirm
    from redraft.workspace.workspace import Workspace

TODAY = date(2026, 11, 15)
LIMITS = AgentLimits()


@dataclass(slots=True)
class Said:
    """How a job ended: the answer, every call with its result, and the questions that were asked."""

    text: str
    calls: list[tuple[ToolCall, ToolResult]] = field(default_factory=list["tuple[ToolCall, ToolResult]"])
    questions: list[str] = field(default_factory=list[str])
    steps: int = 0

    def made(self, *tools: str) -> list[dict[str, Any]]:
        """The arguments of the calls of these tools that succeeded."""
        return [call.arguments for call, result in self.calls if call.name in tools and result.ok]

    @property
    def names(self) -> list[str]:
        return [call.name for call, _ in self.calls]


@dataclass(slots=True)
class Assistant:
    """The assistant at work in one folder; every request is one job, and one turn."""

    folder: Folder
    workspace: Workspace
    mode: str
    answer: str = "no_user_answer"
    confirm: Confirm = yes
    provider: OfflineProvider = field(default_factory=lambda: OfflineProvider(clock=lambda: TODAY))

    @staticmethod
    def at(folder: Folder, mode: str = "apply") -> Assistant:
        return Assistant(folder, folder.open(Settings(mode=mode)), mode)

    def asked(
        self, instruction: str, *, pinned: str = "", tool_calls: int = LIMITS.tool_calls, before: str = ""
    ) -> Said:
        """What the assistant answers, after it has done what it does."""
        mode = mode_by_name(self.mode)
        tools = select_tools(load_registry(), {}, mode)
        context = ToolContext(self.workspace, AGENT, mode=mode, confirm=self.confirm, registry=tools)
        said = Said("")
        context.ask = lambda question: (said.questions.append(question), self.answer)[1]
        rows = [ContextRow("row", file_path=pinned, content=self.folder.text(pinned))] if pinned else []
        chat = [ChatEntry("assistant", before, 0.0)] if before else []
        messages: list[Message] = compose_messages(instruction, mode=mode, rows=rows, chat=chat)
        with self.workspace.turn(AGENT, instruction[:80], mode=mode, confirm=self.confirm) as turn:
            context.turn = turn
            while not said.text:
                request = StepRequest(tuple(messages), tuple(tool_definitions(tools)))
                step = asyncio.run(self.provider.run_step(request))
                said.steps += 1
                messages.append(step.message)
                for call in step.tool_calls:
                    result = self._called(call, context, beyond=len(said.calls) >= tool_calls)
                    messages.append(result)
                    said.calls.append((call, result))
                assert said.steps <= LIMITS.iterations, "the budget of steps was not kept"
                assert len(said.calls) <= tool_calls, "the budget of calls was not kept"
                said.text = "" if step.tool_calls else step.text
        return said

    def _called(self, call: ToolCall, context: ToolContext, *, beyond: bool) -> ToolResult:
        assert not beyond, f"{call.name} is one call too many"
        turn = context.turn
        if load_registry().get(call.name).alone:
            context.turn = None
        try:
            told = load_registry().call(call.name, call.arguments, context)
        except RedraftError as error:
            return ToolResult(call.id, call.name, ok=False, error=error.as_dict())
        finally:
            context.turn = turn
        return ToolResult(
            call.id, call.name, ok=True, result=truncate_result(label_result(told), LIMITS.result_characters)
        )
