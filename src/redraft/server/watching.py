"""Seeing what changes, and telling it: to the change stream, to the rooms of live documents, whoever did it.

This process tells what it does at once. What other processes and programs do is seen by the eye that MCP keeps on the
folder (`Following`), within a fraction of a second; it is opened with the first who listens. A document is told as
changed when its version is another than the one told last.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from redraft.agent.jobs import BUSY
from redraft.errors import RedraftError

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from redraft.agent.agent import Agent
    from redraft.agent.events import Event as JobEvent
    from redraft.mcp_server.following import Following
    from redraft.server.changes import Changes
    from redraft.server.live.rooms import Rooms
    from redraft.workspace.events import Event
    from redraft.workspace.workspace import Workspace

LOG = logging.getLogger(__name__)
TYPED_SECONDS = 0.25
MANY = 64
REMEMBERED = 4096
# Those of a job's events with which it becomes another job to look at.
TURNING = ("job.", "clarification.", "confirmation.", "documents.", "diff.", "apply.", "review.")


class Watching:
    """Told by any thread. Close it before the workspace."""

    def __init__(
        self,
        workspace: Workspace,
        guard: AbstractContextManager[Any],
        agent: Agent,
        changes: Changes,
        rooms: Rooms,
        following: Callable[[], Following],
    ) -> None:
        self._workspace = workspace
        self._guard = guard
        self._agent = agent
        self._changes = changes
        self._rooms = rooms
        self._following = following
        self._starting = threading.Lock()
        self._unwatch: Callable[[], None] | None = None
        self._versions: OrderedDict[str, str | None] = OrderedDict()
        self._typed: dict[str, float] = {}
        self._waiting: set[str] = set()
        self._turn = self._newest_turn()
        self._tabs = self._open_tabs()
        self._notices = len(workspace.notices)
        self._ends = [workspace.subscribe(self._hear), agent.store.events.subscribe(self._hear_job)]

    def start(self) -> None:
        """Look at the folder from now on. Opening the eye takes a while in a large folder: not for the event loop."""
        with self._starting:
            if self._unwatch is None:
                self._unwatch = self._following().watch(self._looked)

    def close(self) -> None:
        for end in self._ends:
            end()
        if self._unwatch is not None:
            self._unwatch()

    # What this process does; whoever does it holds the guard

    def _hear(self, event: Event) -> None:
        data = event.data
        if event.type == "document.typed":
            self._hear_typing(str(data["path"]))
        elif event.type == "document.changed":
            self._tell_document(str(data["path"]), data.get("turn"), anyway=True)
        elif event.type.startswith("turn."):
            self._turn = max(self._turn, int(data["turn"]))
            self._changes.tell("turn", turn=data["turn"])
            self._tell_tree(int(data["turn"]))
        elif event.type == "review.updated":
            for path in data["paths"]:
                self._changes.tell("review", path=path)
        elif event.type.startswith("tab."):
            self._tabs = self._open_tabs()
            self._changes.tell("tabs", path=data.get("path"))

    def _hear_typing(self, path: str) -> None:
        now = time.monotonic()
        if now - self._typed.get(path, 0.0) < TYPED_SECONDS:
            self._waiting.add(path)  # told with the next look
            return
        self._typed[path] = now
        self._tell_document(path)

    def _tell_tree(self, turn: int) -> None:
        files = self._workspace.show(turn).files
        if any(step.before is None or step.after is None for step in files):
            self._changes.tell("tree", turn=turn)

    def _tell_document(self, path: str, turn: int | None = None, *, anyway: bool = False) -> None:
        try:
            version = self._workspace.read(path).version
        except RedraftError:
            version = None
        if not anyway and path in self._versions and self._versions[path] == version:
            return
        self._versions.pop(path, None)
        self._versions[path] = version
        if len(self._versions) > REMEMBERED:
            self._versions.popitem(last=False)
        self._changes.tell("document", path=path, version=version, turn=turn)
        if turn is not None:
            self._changes.tell("review", path=path, turn=turn)

    def _hear_job(self, event: JobEvent) -> None:
        if event.type.startswith(TURNING):
            self._changes.tell("job", job=event.job_id)
            self._rooms.show_agent(event.job_id, self._worked_on(event.job_id))

    def _worked_on(self, job_id: str) -> str:
        """The document that a job works on just now, or none."""
        try:
            job = self._agent.store.jobs.get(job_id)
            return self._workspace.engine.documents.path(job.document) if job.status in BUSY else ""
        except RedraftError:
            return ""  # it is about no document in particular

    # What others do, in the thread of the eye

    def _looked(self, changed: set[str] | None, listed: bool) -> None:
        if changed is None or changed or self._waiting:
            with self._guard:
                self._look(changed)
        if listed:
            self._changes.tell("tree")
        notices = len(self._workspace.notices)
        if notices != self._notices:
            self._notices = notices
            self._changes.tell("notice")

    def _look(self, changed: set[str] | None) -> None:
        typed, self._waiting = self._waiting, set()
        if changed is None:
            self._look_everywhere()
        elif len(changed) > MANY:
            self._changes.tell("document")
        else:
            typed |= changed
        for path in typed:
            self._tell_document(path)
            self._rooms.wake_soon(path, "disk")

    def _look_everywhere(self) -> None:
        """Another process has written into the history, or more happened than could be heard."""
        self._rooms.wake_soon(None, "disk")
        for turn in reversed(self._workspace.turns(limit=MANY)):
            if turn.id > self._turn:
                self._changes.tell("turn", turn=turn.id)
                for path in turn.paths:
                    self._tell_document(path, turn.id, anyway=True)
                self._tell_tree(turn.id)
        self._turn = max(self._turn, self._newest_turn())
        tabs = self._open_tabs()
        if tabs != self._tabs:
            self._tabs = tabs
            self._changes.tell("tabs")
        for _, path in tabs:
            self._tell_document(path)

    def _newest_turn(self) -> int:
        newest = self._workspace.turns(limit=1)
        return newest[0].id if newest else 0

    def _open_tabs(self) -> list[Any]:
        return list(self._workspace.engine.reviews.tabs())
