"""What an editor has open: folders, and in each of them sessions."""

from __future__ import annotations

import asyncio
import logging
import os
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from acp.exceptions import RequestError

from redraft.errors import RedraftError
from redraft.runtime import open_agent, open_workspace
from redraft.text.diff.line_diff import diff_lines
from redraft.text.diff.word_diff import compare
from redraft.text.lines import split_lines
from redraft.text.merge.three_way import merge
from redraft.text.text import Text
from redraft.workspace.document import version_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from redraft.acp_server.prompt_run import PromptRun
    from redraft.acp_server.tool_calls import ToolCallView
    from redraft.agent.environment import AgentEnvironment

    Read = Callable[[str], Awaitable[str]]

# What the editor holds unsaved, as typing of the person's.
#
# An editor that offers to be read is asked for a document before the agent reads or changes it. What it holds is
# compared with what it held when it was last asked, at first with the file; the difference is typed into the working
# text, where it is unsaved typing like any other: the agent reads it and works around it, and nothing of it can be
# lost. Whoever saves it, in the editor or here, the two agree again. A buffer that at first holds an earlier text of
# the document was loaded before the file changed: nothing in it is typed. The editor's buffer itself is never written
# to: the editor notices what the agent writes to the disk as it notices any other program's change.


LOG = logging.getLogger(__name__)

# An editor that is asked answers from memory; one that takes longer is not waited for.
WAIT_SECONDS = 5.0


class EditorBuffers:
    """The documents of one folder as the editor holds them."""

    def __init__(self, environment: AgentEnvironment) -> None:
        self._environment = environment
        self._held: dict[str, str] = {}

    @property
    def paths(self) -> list[str]:
        """The documents that the editor was asked for."""
        return list(self._held)

    async def fetch(self, paths: Iterable[str], read: Read) -> None:
        """Ask the editor for these documents, and take in what it holds of them."""
        await asyncio.gather(*(self._fetch(path, read) for path in dict.fromkeys(paths)))

    async def _fetch(self, path: str, read: Read) -> None:
        if not await asyncio.to_thread(self._is_readable, path):
            return
        try:
            text = await asyncio.wait_for(read(path), WAIT_SECONDS)
        except (RequestError, TimeoutError) as error:  # it has no such document, or does not answer
            LOG.info("the editor was asked for %s: %s", path, error or "no answer")
            return
        await asyncio.to_thread(self._take_in, path, text)

    def _is_readable(self, path: str) -> bool:
        """Whether the agent may read it; nobody asks the editor for a secret."""
        try:
            with self._environment.guard:
                self._environment.workspace.read(path, author=self._environment.author)
        except RedraftError:
            return False
        return True

    def _take_in(self, path: str, text: str) -> None:
        try:
            with self._environment.guard:
                self._type(path, text)
        except RedraftError as error:  # moved, deleted or locked by now: the next time will tell
            LOG.info("%s was not brought in from the editor: %s", path, error)

    def _type(self, path: str, text: str) -> None:
        workspace = self._environment.workspace
        working = str(workspace.read(path, author=self._environment.author).text)
        draft = workspace.draft_unmasked(path)
        before = self._held.get(path, working if draft is None else draft.saved_text)
        held = match_line_ends(text, before)
        is_stale = path not in self._held and workspace.text_of_version(path, version_of(Text(held))) is not None
        # Where the person and a proposal changed the same words, what the person typed stands.
        new = working if held == before or is_stale else merge(before, held, working).text
        if new != working:
            workspace.type(path, compare(working, new))
        self._held[path] = held

    def find_unsaved(self, paths: Iterable[str]) -> list[str]:
        """Those of the documents that the editor holds with unsaved typing."""
        workspace = self._environment.workspace
        found: list[str] = []
        with self._environment.guard:
            for path in paths:
                draft = workspace.draft_unmasked(path) if path in self._held else None
                if draft is not None and draft.dirty:
                    found.append(path)
        return found


def match_line_ends(text: str, before: str) -> str:
    """A buffer's text with the line ends of the text that it came from. Editors hold every line end as "\\n", drop a
    byte order mark, and differ in whether a file's last line end is part of what they hold."""
    plain, old = _plain(text.removeprefix("\ufeff")), _plain(before)
    if old.endswith("\n") and not plain.endswith("\n"):
        plain += "\n"
    if plain in (old, f"{old}\n"):
        return before
    if "\r" not in before:
        return plain
    ends, lines = split_lines(before), split_lines(plain)
    usual = "\r\n" if "\r\n" in before else "\r"
    found: list[str] = []
    at = 0
    for region in diff_lines(old, plain):
        found += ends[at : region.old_start]
        found += [line.replace("\n", usual) for line in lines[region.new_start : region.new_end]]
        at = region.old_end
    joined = "".join([*found, *ends[at:]])
    # Of a file with several kinds, a "\r" may have come to stand before a "\n" that was a line end of its own.
    return joined if _plain(joined) == plain else plain.replace("\n", usual)


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


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
