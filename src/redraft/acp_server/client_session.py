"""What an editor has open: folders, and in each of them sessions."""

from __future__ import annotations

import os
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from redraft.acp_server.buffers import EditorBuffers
from redraft.runtime import open_agent, open_workspace

if TYPE_CHECKING:
    from redraft.acp_server.prompt_run import PromptRun
    from redraft.acp_server.tool_calls import ToolCallView

MODES = ("read", "propose", "apply")


class OpenFolder:
    """A folder with its workspace and agent. Close it when done."""

    def __init__(self, path: str) -> None:
        self.path = os.path.abspath(path)
        with ExitStack() as stack:
            self.workspace = stack.enter_context(open_workspace(path))
            self.agent = stack.enter_context(open_agent(self.workspace))
            self._stack = stack.pop_all()
        self.buffers = EditorBuffers(self.agent.environment)

    def close(self) -> None:
        """Jobs that run are stopped, and can be resumed."""
        self._stack.close()

    @property
    def modes(self) -> list[str]:
        """What a session may choose from: what the folder allows, and the mode of the settings whichever it is."""
        usual = self.workspace.settings.mode
        return [mode for mode in self.agent.modes if mode in (*MODES, usual)]

    def command(self, *words: str, cwd: str) -> str:
        """A command line for this folder, to be copied into a terminal in `cwd`."""
        from shlex import join

        elsewhere = os.path.realpath(cwd) != os.path.realpath(self.path)
        return join(["redraft", *words, *(["--folder", self.path] if elsewhere else [])])


@dataclass(slots=True)
class ClientSession:
    """A session as the editor has it open. `run` is the prompt that it waits for, `calls` those that have begun; one
    that asks the person may end in the next prompt."""

    id: str
    folder: OpenFolder
    cwd: str
    mode: str
    model: str = ""
    run: PromptRun | None = None
    calls: dict[str, ToolCallView] = field(default_factory=dict[str, "ToolCallView"])
    is_introduced: bool = False
