"""Telling subscribers that a document, or the list of documents, is not what it was, whoever changed it.

A thread looks at the folder a few times a second: what the kernel has noticed of its files, what other processes have
written into its history, and at once when this process changes something. A document is told as changed when its
version is another than the subscriber was told of last: once for each change, not for what changes nothing. Nothing is
read of documents that nobody subscribed to.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from typing import TYPE_CHECKING, Any, NamedTuple

from redraft.errors import RedraftError
from redraft.history.turns import Author

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from redraft.mcp_server.protocol import Message
    from redraft.workspace.events import Event
    from redraft.workspace.workspace import Workspace

    Tell = Callable[[str, Message], None]
    Looked = Callable[[set[str] | None, bool], None]

LOG = logging.getLogger(__name__)

ANY_AGENT = Author("agent", "agent")
PAUSE_SECONDS = 0.2
# Where looking is slow (no notices from the kernel, very many files), it is done less often: a small part of the time.
SHARE = 20


class Subscription(NamedTuple):
    """A document as its subscriber calls it, and the version of it that the subscriber knows of."""

    uri: str
    version: str | None


class Subscriber:
    """One subscriber: the documents that it follows, by path, and whether it follows the list of them."""

    def __init__(self, following: ResourceWatcher, tell: Tell) -> None:
        self.subscriptions: dict[str, Subscription] = {}
        self.listing = False
        self.tell = tell
        self._watcher = following

    def add(self, path: str, uri: str) -> None:
        self.subscriptions[path] = Subscription(uri, self._watcher.version_of(path))

    def remove(self, path: str) -> None:
        self.subscriptions.pop(path, None)

    def close(self) -> None:
        self._watcher.forget(self)


class ResourceWatcher:
    """Keeps an eye on one folder from its making until it is closed."""

    def __init__(self, workspace: Workspace, guard: AbstractContextManager[Any]) -> None:
        self._workspace = workspace
        self._guard = guard
        self._present = workspace.watch_files()
        self._looking = threading.Lock()
        self._subscribers: list[Subscriber] = []
        self._watchers: list[Looked] = []
        self._woken = threading.Event()
        self._heard: deque[str] = deque()
        self._stopped = False
        self._other_writes = self._count_other_writes()
        self._documents: list[str] = []
        self._look()
        self._unsubscribe = workspace.subscribe(self._hear)
        self._thread = threading.Thread(target=self._keep, name="redraft-following", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._unsubscribe()
        self._stopped = True
        self._woken.set()
        self._thread.join()
        self._present.close()

    def subscribe(self, tell: Tell) -> Subscriber:
        follower = Subscriber(self, tell)
        self._subscribers.append(follower)
        return follower

    def forget(self, follower: Subscriber) -> None:
        if follower in self._subscribers:
            self._subscribers.remove(follower)

    def watch(self, looked: Looked) -> Callable[[], None]:
        """Be told after every look: the documents that may have changed (None for any), and whether the list did. Gives
        the function that ends it."""
        self._watchers.append(looked)
        return lambda: self._watchers.remove(looked)

    def documents(self) -> list[str]:
        """Every document as it is being worked on, in a fixed order."""
        self._look()
        return self._documents

    def version_of(self, path: str) -> str | None:
        """None where there is nothing that an agent may read."""
        with self._guard:
            try:
                return self._workspace.read(path, author=ANY_AGENT).version
            except RedraftError:
                return None

    # In the thread

    def _hear(self, event: Event) -> None:
        if event.type == "document.changed":
            self._heard.append(str(event.data["path"]))
            self._woken.set()

    def _keep(self) -> None:
        pause = PAUSE_SECONDS
        while not self._stopped:
            self._woken.wait(pause)
            self._woken.clear()
            if self._stopped:
                return
            began = time.monotonic()
            try:
                before = self._documents
                changed = self._look()
                pause = max(PAUSE_SECONDS, SHARE * (time.monotonic() - began))  # what is made of it is no looking
                listed = self._documents != before
                self._tell(changed, listed)
                for looked in tuple(self._watchers):
                    looked(changed, listed)
            except (RedraftError, OSError) as error:  # of the disk or the history, and perhaps gone the next time
                LOG.warning("could not check the folder: %s", error)

    def _look(self) -> set[str] | None:
        """Bring the list up to date; the documents that may have changed, or None for any of them."""
        with self._looking:
            writes = self._count_other_writes()
            elsewhere, self._other_writes = writes != self._other_writes, writes
            heard = {self._heard.popleft() for _ in range(len(self._heard))}
            changed = self._present.refresh()
            if changed is None or elsewhere or heard or changed:
                self._documents = self._list()
            return None if changed is None or elsewhere else changed | heard

    def _list(self) -> list[str]:
        with self._guard:
            drafts = self._workspace.drafts()
        found = set(self._present.files)
        found -= {draft.base_path for draft in drafts if draft.base_path not in (None, draft.path)}
        found |= {draft.path for draft in drafts if draft.path is not None and not draft.path.startswith(".")}
        return sorted(filter(self._has_address, found))

    def _has_address(self, path: str) -> bool:
        """Whether a tool would take this name: a file may have one that is no path here."""
        try:
            self._workspace.path(path)
        except RedraftError:
            return False
        return True

    def _count_other_writes(self) -> int:
        """A number that changes whenever another process has written into the history."""
        return (self._workspace.database.row("PRAGMA data_version") or (0,))[0]

    def _tell(self, changed: set[str] | None, listed: bool) -> None:
        for follower in tuple(self._subscribers):
            if listed and follower.listing:
                follower.tell("notifications/resources/list_changed", {})
            for path, known in tuple(follower.subscriptions.items()):
                if changed is not None and path not in changed:
                    continue
                version = self.version_of(path)
                if version != known.version and path in follower.subscriptions:
                    follower.subscriptions[path] = Subscription(known.uri, version)
                    follower.tell("notifications/resources/updated", {"uri": known.uri})
