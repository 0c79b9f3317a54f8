"""An agent at work in a folder: calls tools as a surface does, and tells failures as surfaces do."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from redraft.config import Settings
from redraft.errors import RedraftError
from redraft.tools.context import ToolContext
from redraft.tools.registry import load_registry
from tests.workspace.folder import AGENT, Folder, yes

if TYPE_CHECKING:
    from redraft.workspace.workspace import Workspace

STORY = """# The Lamp

The lighthouse had been dark for eleven years.

## The letter

She read the letter twice.

## The keys

Then she went to look for the keys.
"""


@dataclass(slots=True)
class Caller:
    """One agent on one folder. Calls are as keywords."""

    folder: Folder
    workspace: Workspace
    context: ToolContext
    questions: list[str] = field(default_factory=list[str])

    @staticmethod
    def at(folder: Folder, mode: str = "apply") -> Caller:
        workspace = folder.open(Settings(mode=mode))
        caller = Caller(folder, workspace, ToolContext(workspace, AGENT, confirm=yes))
        caller.context.ask = caller.answer
        return caller

    def answer(self, question: str) -> str:
        self.questions.append(question)
        return "as you like"

    def call(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        return load_registry().call(tool, arguments, self.context)

    def refused(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """The failure of a call that must fail, and must leave the folder as it was."""
        before = self.folder.tree()
        with pytest.raises(RedraftError) as caught:
            self.call(tool, **arguments)
        assert self.folder.tree() == before
        return caught.value.as_dict()

    def version(self, path: str) -> str:
        return self.call("read_document", path=path)["version"]

    def text(self, path: str) -> str:
        """What is on disk."""
        return self.folder.text(path)
