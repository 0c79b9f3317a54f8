"""Watch the documents of `sessions.json`, and submit what people change in them.

Folders are watched rather than files, so a file that is replaced by a rename is still seen. An event only says where to
look; the content decides (`submit_loop`). Documents and snapshots are read under the writers' lock, so an answer that
was written through agent-doc is never mistaken for a person's words. A submit is a separate process and outlives the
watcher: its answer is paid for.

One thread decides; others only notify it of touched files and finished submits.
"""

from __future__ import annotations

import os
import subprocess
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import blake2b
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from redraft.errors import RedraftError
from redraft.sessions.answers.writer import sessions_lock
from redraft.sessions.document_store import FileStore
from redraft.sessions.project import AGENT_DOC, AgentDocFiles, Project
from redraft.sessions.session_fields import session_fields
from redraft.sessions.tmux.registry import FILE, load
from redraft.sessions.watch.submit_loop import LoopLimits, SubmitLoop, WatchedContent

if TYPE_CHECKING:
    from collections.abc import Callable

# A save in place truncates the file before it writes it; after this many quiet milliseconds it is complete.
_QUIET_MS = 50
_HEARTBEAT_MS = 200
_LOOK_AGAIN_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class FilesEvent:
    """Something happened to these files; None means to any of them, since watching has just begun."""

    files: frozenset[str] | None


@dataclass(frozen=True, slots=True)
class SubmitEvent:
    """The submit of a document has ended."""

    file: str
    status: int
    output: str


@dataclass(frozen=True, slots=True)
class StopEvent:
    """Somebody wants the watcher to stop."""


WatchMessage = FilesEvent | SubmitEvent | StopEvent


@dataclass(slots=True)
class SessionWatcher:
    """The watcher of one project. `command` returns the words of a submit, `say` reports what happens, and `ready` is
    called once no change can be missed any more."""

    root: str
    state: str
    limits: LoopLimits
    command: Callable[[str], list[str]]
    say: Callable[[str], None]
    ready: Callable[[], None]
    _messages: SimpleQueue[WatchMessage] = field(default_factory=SimpleQueue[WatchMessage])
    _loops: dict[str, SubmitLoop] = field(default_factory=dict[str, SubmitLoop])
    _folder_thread: _FolderThread | None = None
    _retry: set[str] = field(default_factory=set[str])

    def stop(self) -> None:
        """Make `run` return; may be called from a signal handler."""
        self._messages.put(StopEvent())

    def run(self) -> None:
        """Watch until `stop`. Running submits continue without us."""
        with AgentDocFiles.open(self.root) as agent_files:
            try:
                self._read_registry(agent_files)
                self.ready()
                while not isinstance(word := self._next_message(), StopEvent):
                    if isinstance(word, SubmitEvent):
                        self._on_submit_ended(agent_files, word)
                    else:
                        self._on_files_touched(agent_files, word)
                    self._submit_due(agent_files)
            finally:
                if self._folder_thread is not None:
                    self._folder_thread.close()

    def _next_message(self) -> WatchMessage:
        """The next message; submits what is due in the meantime."""
        dues = [loop.due for loop in self._loops.values() if loop.due is not None and not loop.running]
        if self._retry:
            dues.append(time.monotonic() + _LOOK_AGAIN_SECONDS)
        try:
            return self._messages.get(timeout=max(0.0, min(dues) - time.monotonic()) if dues else None)
        except Empty:
            again, self._retry = self._retry, set()
            return FilesEvent(frozenset(again))

    def _read_registry(self, agent_files: AgentDocFiles) -> None:
        """Read the registry, and watch the folders of its documents from now on."""
        try:
            entered = list_registered_documents(agent_files, self.root)
        except RedraftError as error:
            self.say(error.message)
            return
        # A document that is already watched stays, even if it cannot be read right now because an editor is saving it.
        files = [file for file, session in entered.items() if file in self._loops or has_id(file, session)]
        self._loops = {file: self._loops.get(file) or self._start_loop(agent_files, file) for file in files}
        folders = frozenset({os.path.join(self.root, AGENT_DOC), *(os.path.dirname(file) for file in files)})
        if self._folder_thread is None or self._folder_thread.folders != folders:
            if self._folder_thread is not None:
                self._folder_thread.close()
            self._folder_thread = _FolderThread(folders, self._messages)

    def _start_loop(self, agent_files: AgentDocFiles, file: str) -> SubmitLoop:
        """The loop of a new document, with its current content as the starting point."""
        loop = SubmitLoop(self.limits)
        if (found := self._read_content(agent_files, file)) is not None:
            loop.observe(found, time.monotonic())
        self.say(f"Watching {self._relative_path(file)}")
        return loop

    def _on_files_touched(self, agent_files: AgentDocFiles, event: FilesEvent) -> None:
        if event.files is None or os.path.join(self.root, AGENT_DOC, FILE) in event.files:
            self._read_registry(agent_files)
        for file, loop in self._loops.items():
            if event.files is None or file in event.files:
                found = self._read_content(agent_files, file)
                if found is not None:
                    loop.observe(found, time.monotonic())

    def _submit_due(self, agent_files: AgentDocFiles) -> None:
        for file, loop in self._loops.items():
            if loop.running or loop.due is None or loop.due > time.monotonic():
                continue
            found = self._read_content(agent_files, file)
            verdict = None if found is None else loop.begin(found, time.monotonic())
            if verdict == "submit":
                self.say(f"Submitting {self._relative_path(file)}")
                threading.Thread(target=self._submit, args=(file,), daemon=True).start()
            elif verdict == "held":
                self.say(
                    f"{self._relative_path(file)} changed after {loop.cycles} cycles in a row; "
                    "it now waits for you to change it."
                )
            if verdict is None:
                loop.due = None

    def _submit(self, file: str) -> None:
        try:
            done = subprocess.run(  # noqa: S603 - a list of words, never a shell command line
                self.command(file),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                cwd=self.root,
                start_new_session=True,
                check=False,
            )
            self._messages.put(SubmitEvent(file, done.returncode, done.stdout.decode("utf-8", "replace")))
        except OSError as error:
            self._messages.put(SubmitEvent(file, 1, str(error)))

    def _on_submit_ended(self, agent_files: AgentDocFiles, event: SubmitEvent) -> None:
        for line in event.output.splitlines():
            self.say(line)
        loop = self._loops.get(event.file)
        if loop is None:
            return  # it was removed from the registry meanwhile
        found = self._read_content(agent_files, event.file)
        loop.finish(found or WatchedContent(b"", news=False), time.monotonic())

    def _read_content(self, agent_files: AgentDocFiles, file: str) -> WatchedContent | None:
        """The document as it is; None if it cannot be read right now."""
        try:
            with sessions_lock(self.state):
                text = FileStore(file).read("").text
                known = agent_files.snapshot(Project.of(file, self.root))
            reactive = session_fields(text).write == "crdt"
        except RedraftError as error:
            if error.code == "busy":
                self._retry.add(file)
            return None
        digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        return WatchedContent(digest, news=bool(text.strip()) and text != known, reactive=reactive)

    def _relative_path(self, file: str) -> str:
        return os.path.relpath(file, self.root)


class _FolderThread:
    """A thread that watches some folders, not their subfolders, and reports which files were touched."""

    def __init__(self, folders: frozenset[str], words: SimpleQueue[WatchMessage]) -> None:
        self.folders = folders
        self._messages = words
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._closed.set()
        self._thread.join()

    def _watch(self) -> None:
        from watchfiles import watch

        there = [folder for folder in self.folders if os.path.isdir(folder)]
        started = False
        with suppress(FileNotFoundError):  # a folder disappeared while watching was set up
            for burst in watch(
                *there,
                watch_filter=None,
                recursive=False,
                step=_QUIET_MS,
                rust_timeout=_HEARTBEAT_MS,
                yield_on_timeout=True,
                stop_event=self._closed,
                raise_interrupt=False,
            ):
                if not started:
                    self._messages.put(FilesEvent(None))
                elif burst:
                    self._messages.put(FilesEvent(frozenset(name for _, name in burst)))
                started = True


def list_registered_documents(agent_files: AgentDocFiles, root: str) -> dict[str, str]:
    """The documents of the registry, each with its registered id. The registry may have come with the folder: a name
    that leads out of the project is left out."""
    within = os.path.join(os.path.realpath(root), "")
    named = {os.path.realpath(os.path.join(root, entry.file)): session for session, entry in load(agent_files).items()}
    return {file: session for file, session in named.items() if file.startswith(within)}


def has_id(file: str, session: str) -> bool:
    """Whether the document is the registered one."""
    try:
        return session_fields(FileStore(file).read("").text).session == session
    except RedraftError:
        return False
