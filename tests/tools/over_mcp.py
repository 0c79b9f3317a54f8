"""The same agent, as a client of a real `redraft mcp` process: every call goes over the wire.

The workspace of the tester is another process's view of the same folder: to open a tab before, to look at it after.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from redraft.config import Settings
from redraft.errors import RedraftError
from redraft.tools.context import ToolContext
from tests.speaking.lines import Lines, answer_of
from tests.tools.calling import Caller
from tests.workspace.folder import AGENT, yes

if TYPE_CHECKING:
    from tests.workspace.folder import Folder


@dataclass(slots=True)
class McpCaller(Caller):
    """One agent program. What `context` asks the person, the client's person is asked."""

    client: Lines | None = None

    @staticmethod
    def at(folder: Folder, mode: str = "apply") -> McpCaller:
        workspace = folder.open(Settings(mode=mode))
        caller = McpCaller(folder, workspace, ToolContext(workspace, AGENT, confirm=yes))
        caller.context.ask = caller.answer
        caller.client = Lines.to(folder.path, "--mode", mode, "--profile", "all", "--answers", "structured")
        caller.client.answer = caller._reply
        caller.client.start(name=AGENT.name, elicitation={})
        return caller

    def _reply(self, asked: dict[str, Any]) -> dict[str, Any]:
        if "agree" in asked["requestedSchema"]["properties"]:
            agreed = self.context.confirm is not None and self.context.confirm(asked["message"], [])
            return {"action": "accept", "content": {"agree": agreed}}
        assert self.context.ask is not None
        return {"action": "accept", "content": {"answer": self.context.ask(asked["message"])}}

    def call(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        assert self.client is not None
        result = self.client.call(tool, **arguments)
        found = answer_of(result)
        if result["isError"]:
            raise RedraftError(found["message"], code=found["error"], **found.get("details", {}))
        return found

    def refused(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """The failure as it came over the wire, and not as our own error would write it."""
        assert self.client is not None
        before = self.folder.tree()
        result = self.client.call(tool, **arguments)
        assert result["isError"], result
        assert self.folder.tree() == before
        return answer_of(result)

    def close(self) -> None:
        assert self.client is not None
        assert self.client.close() == ""
