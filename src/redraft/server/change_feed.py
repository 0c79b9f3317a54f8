"""The folder's changes, in order, for clients that display it: enough to know what to fetch again, and no more.

The newest few thousand are kept in memory. Their numbers only grow, also across restarts, because they start with the
time; so a client that reconnects with an older number is known to have missed something, and gets `all`.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict, deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from redraft.agent.store.jobs import BUSY
from redraft.errors import RedraftError
from redraft.files.paths import DocPath
from redraft.workspace.events import Events

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from redraft.agent.agent import Agent
    from redraft.agent.store.events import JobEvent
    from redraft.mcp_server.subscriptions import ResourceWatcher
    from redraft.server.live.rooms import Rooms
    from redraft.workspace.events import Event
    from redraft.workspace.workspace import Workspace

Kind = Literal["all", "document", "review", "turn", "tabs", "tree", "job", "notice"]
KEPT = 4096
CHANGES = "changes"  # the one stream of them


@dataclass(frozen=True, slots=True)
class ChangeEntry:
    """One entry. What is None is not told; a kind without a path means any."""

    cursor: int
    type: Kind
    path: str | None = None
    version: str | None = None
    turn: int | None = None
    job: str | None = None

    @property
    def job_id(self) -> str:
        """Which stream it belongs to."""
        return CHANGES

    def as_dict(self) -> dict[str, Any]:
        told = {"path": self.path, "version": self.version, "turn": self.turn, "job_id": self.job}
        given = {key: value for key, value in told.items() if value is not None}
        return {"seq": self.cursor, "kind": self.type, **given}


class ChangeFeed:
    """The log. Used by any thread."""

    def __init__(self, kept: int = KEPT) -> None:
        self._lock = threading.Lock()
        self._kept: deque[ChangeEntry] = deque(maxlen=kept)
        self._newest = self._forgotten = int(time.time() * 1000)
        self._told = Events()

    def tell(
        self,
        kind: Kind,
        *,
        path: str | None = None,
        version: str | None = None,
        turn: int | None = None,
        job: str | None = None,
    ) -> None:
        with self._lock:
            self._newest += 1
            change = ChangeEntry(self._newest, kind, path, version, turn, job)
            if len(self._kept) == self._kept.maxlen:
                self._forgotten = self._kept[0].cursor
            self._kept.append(change)
        self._told.tell(kind, change=change)

    def after(self, _stream: str, cursor: int) -> list[ChangeEntry]:
        """The changes after a number; `all` first if some of them are no longer known."""
        with self._lock:
            found = [change for change in self._kept if change.cursor > cursor]
            return found if cursor >= self._forgotten else [ChangeEntry(self._forgotten, "all"), *found]

    def begin(self, last: int | None) -> int:
        """Where a client with this number, or none, continues."""
        with self._lock:
            if last is None:
                return self._newest
            return last if last <= self._newest else self._forgotten - 1

    def subscribe(self, listener: Callable[[ChangeEntry], None]) -> Callable[[], None]:
        return self._told.subscribe(lambda event: listener(event.data["change"]))


# Detects changes by anybody, and reports them to the change stream and the rooms of live documents.
#
# Changes by this process are reported at once. Changes by other processes and programs are seen by the folder's watcher
# (`ResourceWatcher`), within a fraction of a second; it starts with the first listener. A document is reported as
# changed when its version differs from the last one reported.


LOG = logging.getLogger(__name__)
TYPED_SECONDS = 0.25
MANY = 64
REMEMBERED = 4096
# Those of a job's events with which it becomes another job to look at.
TURNING = ("job.", "clarification.", "confirmation.", "documents.", "diff.", "apply.", "review.")


class ChangeWatcher:
    """Told by any thread. Close it before the workspace."""

    def __init__(
        self,
        workspace: Workspace,
        guard: AbstractContextManager[Any],
        agent: Agent,
        changes: ChangeFeed,
        rooms: Rooms,
        following: Callable[[], ResourceWatcher],
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
        """Start watching the folder. This takes a while in a large folder: do not call it on the event loop."""
        with self._starting:
            if self._unwatch is None:
                self._unwatch = self._following().watch(self._on_look)
                with self._guard:
                    self._look_outside(None)  # whatever happened before

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
        elif event.type == "document.conflict":
            self._changes.tell("notice", path=str(data["path"]))
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
        shown = self._workspace.show(turn)
        if not shown.paths or any(step.before is None or step.after is None for step in shown.files):
            self._changes.tell("tree", turn=turn)  # without documents it made folders, or took them away

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
            self._rooms.show_agent(event.job_id, self._document_of_job(event.job_id))

    def _document_of_job(self, job_id: str) -> str:
        """The document that a job works on just now, or none."""
        try:
            job = self._agent.store.jobs.get(job_id)
            return self._workspace.path(job.document) if job.status in BUSY else ""
        except RedraftError:
            return ""  # it is about no document in particular

    # Changes by others, in the watcher's thread

    def _on_look(self, changed: set[str] | None, listed: bool) -> None:
        if changed is None or changed or self._waiting or self._workspace.outside.waiting:
            with self._guard:
                self._look_outside(changed)
                self._look(changed)
        if listed:
            self._changes.tell("tree")
        with self._guard:
            notices = len(self._workspace.notices)
        if notices != self._notices:
            self._notices = notices
            self._changes.tell("notice")

    def _look_outside(self, changed: set[str] | None) -> None:
        """Record what other programs did, in one turn, before any of it is read."""
        outside = self._workspace.outside
        try:
            outside.look_again()
            paths = outside.open_documents() if changed is None else sorted(map(DocPath, changed))
            outside.look_at([path for path in paths if path not in outside.waiting], changed)
            if changed is None:
                outside.find_conflicts()
        except RedraftError as error:  # it is told all the same, and recorded when it is read
            LOG.warning("could not check what other programs wrote: %s", error.message)

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
        """Another process has written to the history, or there were more events than could be delivered."""
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
        return list(self._workspace.tab_paths().items())
