"""Write a turn over any number of files to the disk, all or nothing.

1. The new contents are written to temporary files beside their targets, and the disk starts writing them; meanwhile
   large targets are compared with what should be there, and held.
2. The turn is recorded with images of both sides, in the state `applying`: one durable transaction.
3. The temporary files are flushed, which has little left to do by now.
4. Each temporary file is swapped with its target. What was displaced is compared with what should have been there:
   if somebody else wrote in the meantime, everything is swapped back and the turn is refused.
5. The folders are flushed, the turn is marked `applied`, and the displaced files are dropped.

A turn that is `applying` when somebody else gets the lock belongs to a dead process, and is completed or rolled back:
see `recover`. The answer is given only after step 5, so what was reported done is durable.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from redraft.errors import RedraftError
from redraft.files.atomic_write import AtomicWrite
from redraft.files.locks import folder_lock
from redraft.files.paths import split_path
from redraft.files.swap_file import sweep
from redraft.files.syscalls import explain_os_errors
from redraft.files.textfile import decode
from redraft.history.database import snapshot_of
from redraft.history.recovery import finish_turn
from redraft.history.turns import FileStep, State, TurnRecord, note_created_folders
from redraft.text.text import Text

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence

    from redraft.files.file_image import PlacedFile
    from redraft.files.paths import DocPath
    from redraft.files.root import Root
    from redraft.history.audit import Audit
    from redraft.history.database import Database, SnapshotId, Store
    from redraft.history.reviews import Reviews
    from redraft.history.turns import ReviewStep, Turns

    Steps = Callable[[], Sequence[ReviewStep]]  # called inside the transaction: an image stores its snapshots

# Which folders may contain temporary files of a stopped process, so that sweeping need not search the whole tree.
#
# A list in the state folder, one line of JSON for each: a folder is added, durably, before the first temporary file is
# created in it, and the list is deleted when its folders have been swept. It is read again for every turn, because any
# process that opens the workspace sweeps. All calls are made under the journal's lock.


DIRTY_FOLDERS_FILE = "written-folders"
ALWAYS_SWEPT = {"", ".redraft"}  # the folder's own id is written before there is a list


def note_dirty_folders(state: str, folders: set[str]) -> None:
    """Add these folders to the list, durably; nothing is written if all of them are on it."""
    with explain_os_errors("note", DIRTY_FOLDERS_FILE):
        if _is_noted(state, folders):
            return
        missing = folders - (_read_dirty_folders(state) or set())
        if missing:
            # Each line begins with a line break as well, in case a crash truncated the one before it.
            lines = "".join(f"\n{json.dumps(folder)}\n" for folder in sorted(missing))
            with open(os.path.join(state, DIRTY_FOLDERS_FILE), "a", encoding="utf-8") as file:
                file.write(lines)
                file.flush()
                os.fsync(file.fileno())
        _last_seen[state] = (_fingerprint(state), folders | (_read_dirty_folders(state) or set()))


# The content of each list when last read: checking its size and time is cheaper than reading it.
_last_seen: dict[str, tuple[tuple[int, int, int], set[str]]] = {}


def _is_noted(state: str, folders: set[str]) -> bool:
    seen = _last_seen.get(state)
    return not folders or (seen is not None and folders <= seen[1] and seen[0] == _fingerprint(state))


def _fingerprint(state: str) -> tuple[int, int, int]:
    try:
        found = os.stat(os.path.join(state, DIRTY_FOLDERS_FILE))
    except FileNotFoundError:
        return (0, 0, 0)
    return found.st_ino, found.st_size, found.st_mtime_ns


def sweep_dirty_folders(root: Root, state: str) -> list[DocPath]:
    """Remove what stopped processes left in the listed folders, or anywhere if the list cannot be read."""
    swept: list[DocPath] = []
    with suppress(OSError, RedraftError):  # if the disk fails now, the next opening sweeps
        noted = _read_dirty_folders(state)
        swept = sweep(root, folders=None if noted is None else sorted(noted | ALWAYS_SWEPT))
        if noted is None or noted:
            os.unlink(os.path.join(state, DIRTY_FOLDERS_FILE))
    return swept


def _read_dirty_folders(state: str) -> set[str] | None:
    """The folders on the list; None if there is one and it is damaged or empty."""
    try:
        with open(os.path.join(state, DIRTY_FOLDERS_FILE), encoding="utf-8") as file:
            found = [json.loads(line) for line in file if line.strip()]
    except FileNotFoundError:
        return set()
    except ValueError:
        return None
    return {folder for folder in found if isinstance(folder, str)} or None


LOG = logging.getLogger(__name__)
LOCK_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Content:
    """The content of a file: its bytes and, if it is a text, the decoded text."""

    data: bytes
    text: Text | None = None
    bom: bool = False

    @staticmethod
    def of(data: bytes) -> Content:
        """As a text if it is one, so that it is stored block by block; else as bytes."""
        try:
            found = decode(data)
        except RedraftError:
            return Content(data)
        return Content(data, Text(found.text), found.bom)

    @property
    def snapshot(self) -> SnapshotId:
        """The id under which the history stores it."""
        return snapshot_of(self.data, self.text, bom=self.bom)


@dataclass(frozen=True, slots=True)
class FilePlan:
    """A file to be replaced, created (`before` is None) or deleted (`after` is None)."""

    path: DocPath
    before: Content | None
    after: Content | None
    mode: int | None = None
    moved_from: DocPath | None = None
    edits: str | None = None

    @property
    def stays(self) -> bool:
        """Whether the same file is replaced, so that it keeps its current mode, whatever it was when it was read."""
        return self.before is not None and self.moved_from is None


@dataclass(frozen=True, slots=True)
class AuditLine:
    """The audit log's line about the turn."""

    tool: str
    arguments: Any = None


@dataclass(frozen=True, slots=True)
class CommittedTurn:
    """A committed turn, and its files as they are now; None for one that is gone, or was written to at once."""

    turn: TurnRecord
    standing: Mapping[DocPath, PlacedFile | None]


@dataclass(slots=True)
class Journal:
    """The one writer of documents. All processes on this folder share the lock in `state`."""

    root: Root
    database: Database
    store: Store
    turns: Turns
    reviews: Reviews
    audit: Audit
    state: str
    around: Callable[[], contextlib.AbstractContextManager[None]] = contextlib.nullcontext
    notices: list[str] = field(default_factory=list[str])
    on_recovery: Callable[[], None] = lambda: None  # called after the turn of a dead process was ended
    _holder: int | None = None

    @contextlib.contextmanager
    def lock(self, timeout: float = LOCK_SECONDS) -> Generator[None]:
        """Lock the folder, after ending any half-done turn of a dead process. `around` is left once it is free."""
        self.database.hold_in_place()
        with self.around(), folder_lock(self.state, timeout=timeout), self.database.lock:
            self._holder = threading.get_ident()
            try:
                self.recover()
                yield
            finally:
                self._holder = None

    @property
    def held(self) -> bool:
        """Whether this thread holds the lock."""
        return self._holder == threading.get_ident()

    def recover(self) -> None:
        """Complete or roll back the turn that a stopped process left half done, if there is one. The caller holds the
        lock."""
        if turn := self.turns.find_applying_turn():
            with contextlib.closing(finish_turn(self.root, self.store, turn)) as ended:
                self._end(turn, State.APPLIED if ended.forward else State.DISCARDED)
                self.notices += ended.notices
                for put in ended.puts:
                    put.discard()
            self.on_recovery()

    def commit(self, turn: TurnRecord, plans: Sequence[FilePlan], steps: Steps, line: AuditLine) -> CommittedTurn:
        """Commit a turn: its files and its reviews together. The caller holds the lock."""
        ordered = sorted(plans, key=lambda plan: plan.after is None)  # deletions last: see `recovery`
        note_dirty_folders(self.state, {split_path(plan.path)[0] for plan in ordered})
        puts: list[AtomicWrite] = []
        try:
            for seq, plan in enumerate(ordered):
                create = plan.before is None
                puts.append(AtomicWrite(self.root, plan.path, f"{turn.token}-{seq}", create_folders=create))
            recorded = self._stage(puts, ordered, turn, steps, line)
            try:
                for put in puts:
                    put.flush()
                _replace(puts, ordered)
                sync_folders(puts)
            except BaseException:
                self._take_back(recorded, puts, ordered)
                raise
            placed = {put.path: put.find_placed_file() for put in puts}
            self._settle(recorded, puts)
            return CommittedTurn(recorded, placed)
        finally:
            for put in puts:
                put.close()

    def record(self, turn: TurnRecord, plans: Sequence[FilePlan], steps: Steps, line: AuditLine) -> TurnRecord:
        """Record a turn whose files are already written, by somebody else. The caller holds the lock."""
        return self._record(turn, plans, steps, line, turn.state)

    def store_content(self, content: Content, like: Content | None = None) -> SnapshotId:
        """Store a file's content. Called inside a transaction."""
        if content.text is None:
            return self.store.put_bytes(content.data)
        return self.store.put_text(content.text, bom=content.bom, like=like and like.text)

    def sweep(self) -> list[str]:
        """Remove temporary files that stopped processes left. The caller holds the lock, after recovery."""
        return [str(path) for path in sweep_dirty_folders(self.root, self.state)]

    def _stage(
        self,
        puts: Sequence[AtomicWrite],
        plans: Sequence[FilePlan],
        turn: TurnRecord,
        steps: Steps,
        line: AuditLine,
    ) -> TurnRecord:
        """Write the new contents beside their targets, then the journal. Up to here nothing has changed."""
        try:
            for put, plan in zip(puts, plans, strict=True):
                if plan.after is not None:
                    put.prepare(plan.after.data, mode=None if plan.stays else plan.mode)
                    if plan.before is not None:
                        put.hold(plan.before.data)
            return self._record(turn, plans, steps, line, State.APPLYING if plans else turn.state)
        except BaseException:
            self._drop(puts)
            raise

    def _drop(self, puts: Sequence[AtomicWrite]) -> None:
        for put in reversed(puts):
            put.discard()
            self.root.remove_empty_folders(put.made)

    def _record(
        self, turn: TurnRecord, plans: Sequence[FilePlan], steps: Steps, line: AuditLine, state: State
    ) -> TurnRecord:
        with self.database.transaction():
            files: list[FileStep] = []
            for plan in plans:
                before = self._snapshot(plan.before, None)
                after = self._snapshot(plan.after, plan.before)
                files.append(FileStep(plan.path, before, after, plan.mode, plan.moved_from, plan.edits))
            reviews = steps()
            recorded = self.turns.add(turn, state, files, reviews)
            for step in reviews:
                self.reviews.set(step.path, step.after)
            if not plans:
                self.turns.mark_consequences(recorded)
            self.audit.add(turn.created, turn.author, line.tool, line.arguments, str(turn.state), recorded.id)
        self.database.note_newest(recorded.id)
        return recorded

    def _snapshot(self, content: Content | None, like: Content | None) -> SnapshotId | None:
        return None if content is None else self.store_content(content, like)

    def _settle(self, turn: TurnRecord, puts: Sequence[AtomicWrite]) -> None:
        if not puts:
            return
        try:
            # Not flushed: files and journal are durable, and a turn whose mark is lost is found done and marked again.
            self._end(turn, turn.state, durable=False)
            note_created_folders(self.database, turn.id, [folder for put in puts for folder in put.made])
        except RedraftError as error:
            LOG.warning("turn %s is done but could not be marked as done: %s", turn.id, error.message)
            return
        for put in puts:
            if copy := put.discard():
                self.notices.append(f"{put.path} was written by another program at the same time; see {copy}.")

    def _take_back(self, turn: TurnRecord, puts: Sequence[AtomicWrite], plans: Sequence[FilePlan]) -> None:
        """Undo the done part of a turn that failed. If even that fails, the next opening ends it."""
        try:
            for put, plan in reversed(list(zip(puts, plans, strict=True))):
                put.retract(old=plan.before and plan.before.data, new=plan.after and plan.after.data)
            sync_folders(puts)
            for put in reversed(puts):
                self.root.remove_empty_folders(put.made)
        except (RedraftError, OSError) as error:
            LOG.warning("turn %s could not be rolled back: %s", turn.id, error)
            return
        with contextlib.suppress(RedraftError):
            self._end(turn, State.DISCARDED)

    def _end(self, turn: TurnRecord, state: State, *, durable: bool = True) -> None:
        with self.database.transaction(durable=durable):
            self.turns.mark(turn.id, state)
            if state is State.DISCARDED:
                self.audit.add(turn.created, turn.author, turn.kind, None, str(state), turn.id)
                for step in turn.reviews:
                    self.reviews.set(step.path, step.before)
            else:
                self.turns.mark_consequences(turn)


def _replace(puts: Sequence[AtomicWrite], plans: Sequence[FilePlan]) -> None:
    for put, plan in zip(puts, plans, strict=True):
        if plan.after is None:
            put.displace(plan.before.data if plan.before else b"")
        elif plan.before is None:
            put.place()
        else:
            put.exchange(plan.before.data, plan.after.data, looked=True)


def sync_folders(puts: Sequence[AtomicWrite]) -> None:
    """Make the names durable, once per folder, however many of the writes are in it."""
    folders = {split_path(put.path)[0]: put for put in puts}
    for put in folders.values():
        put.sync()
