"""How a turn over any number of files reaches the disk whole or not at all.

1. The new contents are written to temporary files beside their targets, which the disk begins to take; meanwhile large
   targets are compared with what should be there, and held.
2. The turn is recorded with images of both sides, in the state `applying`: one durable transaction.
3. The temporary files are flushed, which has little left to do by now.
4. Each temporary file trades places with its target. What was displaced is compared with what should have been there:
   if somebody else wrote meanwhile, everything trades back and the turn is refused.
5. The folders are flushed, the turn is marked `applied`, and the displaced files are dropped.

Whoever finds a turn in the state `applying` while holding the lock finds one whose process is gone, and ends it: see
`recover`. The answer is given only after step 5, so what was reported done is durable.
"""

from __future__ import annotations

import contextlib
import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from redraft.errors import RedraftError
from redraft.files.atomic import Put
from redraft.files.locks import folder_lock
from redraft.files.paths import split_path
from redraft.history.made import note_made
from redraft.history.recovery import finish
from redraft.history.turns import FileStep, State, TurnRecord
from redraft.history.written import note_folders, sweep_noted

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence

    from redraft.files.images import Standing
    from redraft.files.paths import DocPath
    from redraft.files.root import Root
    from redraft.history.audit import Audit
    from redraft.history.database import Database
    from redraft.history.reviews import Reviews
    from redraft.history.store import SnapshotId, Store
    from redraft.history.turns import ReviewStep, Turns
    from redraft.text.text import Text

    Steps = Callable[[], Sequence[ReviewStep]]  # called inside the transaction: an image stores its snapshots

LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Content:
    """What a file holds: its bytes and, where it is a text, the text they encode."""

    data: bytes
    text: Text | None = None
    bom: bool = False


@dataclass(frozen=True, slots=True)
class FilePlan:
    """A file to be replaced, created (`before` is None) or deleted (`after` is None)."""

    path: DocPath
    before: Content | None
    after: Content | None
    mode: int | None = None
    moved_from: DocPath | None = None

    @property
    def stays(self) -> bool:
        """Whether the same file is replaced, so that its mode is what it is now, whatever it was when it was read."""
        return self.before is not None and self.moved_from is None


@dataclass(frozen=True, slots=True)
class AuditLine:
    """What the audit log says of the turn."""

    tool: str
    arguments: Any = None


@dataclass(frozen=True, slots=True)
class CarriedOut:
    """A turn that was done, and its files as they stand; None for one that is gone, or was written to at once."""

    turn: TurnRecord
    standing: Mapping[DocPath, Standing | None]


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
    recovered: Callable[[], None] = lambda: None  # told when the turn of a dead process was ended

    @contextlib.contextmanager
    def locked(self) -> Generator[None]:
        """Hold the folder, with any half-done turn of a dead process ended first. `around` is left once it is free."""
        with self.around(), folder_lock(self.state), self.database.lock:
            self.recover()
            yield

    def recover(self) -> None:
        """End the turn that a stopped process left half done, if there is one. The lock must be held."""
        if turn := self.turns.under_way():
            with contextlib.closing(finish(self.root, self.store, turn)) as ended:
                self._end(turn, State.APPLIED if ended.forward else State.DISCARDED)
                self.notices += ended.notices
                for put in ended.puts:
                    put.discard()
            self.recovered()

    def carry_out(self, turn: TurnRecord, plans: Sequence[FilePlan], steps: Steps, line: AuditLine) -> CarriedOut:
        """Do a turn: its files and its reviews together. The lock must be held."""
        ordered = sorted(plans, key=lambda plan: plan.after is None)  # deletions last: see `recovery`
        note_folders(self.state, {split_path(plan.path)[0] for plan in ordered})
        puts: list[Put] = []
        try:
            for seq, plan in enumerate(ordered):
                create = plan.before is None
                puts.append(Put(self.root, plan.path, f"{turn.token}-{seq}", create_folders=create))
            recorded = self._stage(puts, ordered, turn, steps, line)
            try:
                for put in puts:
                    put.flush()
                _replace(puts, ordered)
                sync_folders(puts)
            except BaseException:
                self._take_back(recorded, puts, ordered)
                raise
            standing = {put.path: put.standing() for put in puts}
            self._settle(recorded, puts)
            return CarriedOut(recorded, standing)
        finally:
            for put in puts:
                put.close()

    def sweep(self) -> list[str]:
        """Remove temporary files that stopped processes left. The lock must be held, and recovery done."""
        return [str(path) for path in sweep_noted(self.root, self.state)]

    def _stage(
        self,
        puts: Sequence[Put],
        plans: Sequence[FilePlan],
        turn: TurnRecord,
        steps: Steps,
        line: AuditLine,
    ) -> TurnRecord:
        """Write the new contents beside their targets, then the journal. Until here nothing has changed."""
        try:
            for put, plan in zip(puts, plans, strict=True):
                if plan.after is not None:
                    put.prepare(plan.after.data, mode=None if plan.stays else plan.mode)
                    if plan.before is not None:
                        put.hold(plan.before.data)
            return self._record(turn, plans, steps, line)
        except BaseException:
            self._drop(puts)
            raise

    def _drop(self, puts: Sequence[Put]) -> None:
        for put in reversed(puts):
            put.discard()
            self.root.remove_empty_folders(put.made)

    def _record(self, turn: TurnRecord, plans: Sequence[FilePlan], steps: Steps, line: AuditLine) -> TurnRecord:
        with self.database.transaction():
            files: list[FileStep] = []
            for plan in plans:
                before = self._snapshot(plan.before, None)
                after = self._snapshot(plan.after, plan.before)
                files.append(FileStep(plan.path, before, after, plan.mode, plan.moved_from))
            reviews = steps()
            recorded = self.turns.add(turn, State.APPLYING if plans else turn.state, files, reviews)
            for step in reviews:
                self.reviews.set(step.path, step.after)
            if not plans:
                self.turns.mark_consequences(recorded)
            self.audit.add(turn.created, turn.author, line.tool, line.arguments, str(turn.state), recorded.id)
        self.database.note_newest(recorded.id)
        return recorded

    def _snapshot(self, content: Content | None, like: Content | None) -> SnapshotId | None:
        if content is None:
            return None
        if content.text is None:
            return self.store.put_bytes(content.data)
        return self.store.put_text(content.text, bom=content.bom, like=like and like.text)

    def _settle(self, turn: TurnRecord, puts: Sequence[Put]) -> None:
        if not puts:
            return
        try:
            # Not flushed: files and journal are durable, and a turn whose mark is lost is found done and marked again.
            self._end(turn, turn.state, durable=False)
            note_made(self.database, turn.id, [folder for put in puts for folder in put.made])
        except RedraftError as error:
            LOG.warning("turn %s is done but could not be marked so: %s", turn.id, error.message)
            return
        for put in puts:
            if copy := put.discard():
                self.notices.append(f"{put.path} was written by another program at the same time; see {copy}.")

    def _take_back(self, turn: TurnRecord, puts: Sequence[Put], plans: Sequence[FilePlan]) -> None:
        """Undo what was done of a turn that failed. If even that fails, the next opening ends it."""
        try:
            for put, plan in reversed(list(zip(puts, plans, strict=True))):
                put.retract(old=plan.before and plan.before.data, new=plan.after and plan.after.data)
            sync_folders(puts)
            for put in reversed(puts):
                self.root.remove_empty_folders(put.made)
        except (RedraftError, OSError) as error:
            LOG.warning("turn %s could not be taken back: %s", turn.id, error)
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


def _replace(puts: Sequence[Put], plans: Sequence[FilePlan]) -> None:
    for put, plan in zip(puts, plans, strict=True):
        if plan.after is None:
            put.displace(plan.before.data if plan.before else b"")
        elif plan.before is None:
            put.place()
        else:
            put.exchange(plan.before.data, plan.after.data, looked=True)


def sync_folders(puts: Sequence[Put]) -> None:
    """Make the names durable in each folder once, however many of the puts are in it."""
    folders = {split_path(put.path)[0]: put for put in puts}
    for put in folders.values():
        put.sync()
