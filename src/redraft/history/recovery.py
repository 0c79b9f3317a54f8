"""Complete or roll back a turn that a stopped process left half done.

A turn in the state `applying` has its images in the history and its new contents in temporary files. Each of its files
is done, ready (old content, new content waiting beside it), or withdrawn (old content, and nothing complete waiting:
the process had started to roll the turn back, or the power failed before the new content had reached the disk). If
nothing was withdrawn the turn is completed, otherwise it is rolled back; either way it is whole. A file with neither
side's content was written by somebody else. If the new content still waits beside it, theirs is kept as a conflict
copy when the turn is completed; if it does not, theirs came after ours, and stays, as it does in a rollback. Every
step can be repeated, so after a crash in here the next opening ends it.

A turn that can be neither completed nor rolled back must not lock the folder permanently. If a file can no longer be
reached (a link or a folder has taken its place) or its images are damaged, it stays as it is, the others are
rolled back unless all of them are done, and a notice says so. Only disk errors are raised: they may be temporary.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from redraft.errors import Damaged, RedraftError, Refused
from redraft.files.atomic_write import AtomicWrite, write_file
from redraft.files.paths import DocPath, split_path
from redraft.files.swap_file import is_unfinished
from redraft.text.merge.three_way import merge

if TYPE_CHECKING:
    from redraft.files.root import Root
    from redraft.history.database import Store
    from redraft.history.turns import FileStep, TurnRecord


@dataclass(slots=True)
class InterruptedFile:
    """One file of the turn: both sides, its current content, and what waits under the temporary name."""

    step: FileStep
    put: AtomicWrite
    before: bytes | None
    after: bytes | None
    now: bytes | None
    waiting: bytes | None

    @property
    def done(self) -> bool:
        return self.now == self.after

    @property
    def foreign(self) -> bool:
        return self.now not in (self.before, self.after)

    @property
    def ready(self) -> bool:
        return self.after is not None and self.waiting == self.after

    @property
    def overtaken(self) -> bool:
        """The new content was already in place, and somebody has written since: theirs is the newest, and stays."""
        return self.foreign and not self.ready and not self.torn

    @property
    def unclear(self) -> bool:
        """Somebody else's content, and nothing waits: they wrote after the whole turn was done, or before it began."""
        return self.foreign and self.waiting is None and self.after is not None

    @property
    def built_on(self) -> bool:
        """Whether theirs shows that ours was in place: what was displaced waits, or it contains all of ours."""
        if not self.unclear:
            return True
        try:
            before, after, now = ((side or b"").decode() for side in (self.before, self.after, self.now))
        except UnicodeDecodeError:
            return False
        merged = merge(before, now, after)
        return merged.clean and merged.text == now

    @property
    def torn(self) -> bool:
        """The new content was written but had not reached the disk: it never was in place."""
        waiting, after = self.waiting, self.after
        if waiting is None or after is None or waiting in (self.before, after):
            return False
        return is_unfinished(waiting, after)

    @property
    def withdrawn(self) -> bool:
        return self.torn or (self.now == self.before and self.after is not None and not self.ready)


@dataclass(slots=True)
class RecoveryResult:
    """How the turn ended."""

    forward: bool
    notices: list[str] = field(default_factory=list[str])
    puts: list[AtomicWrite] = field(default_factory=list[AtomicWrite])

    def close(self) -> None:
        for put in self.puts:
            put.close()


def finish_turn(root: Root, store: Store, turn: TurnRecord) -> RecoveryResult:
    """Complete the turn or roll it back. The caller holds the lock, marks the turn, discards the puts and closes."""
    ended = RecoveryResult(forward=False)
    try:
        files = [
            file for seq, step in enumerate(turn.files) if (file := _inspect_file(root, store, turn, seq, step, ended))
        ]
        started = any(file.done or file.ready or (file.overtaken and file.built_on) for file in files)
        missing = len(files) < len(turn.files)
        whole = (
            all(file.done or file.overtaken for file in files) if missing else not any(file.withdrawn for file in files)
        )
        if any(file.unclear for file in files) and any(file.ready and not file.done for file in files):
            whole = False  # a turn that got as far as dropping temporary files has none that still waits
        ended.forward = started and whole and _roll_forward(root, turn, files, ended)
        if not ended.forward:
            _roll_back(root, files, ended)
        for put in ended.puts:
            put.sync()
    except BaseException:
        ended.close()
        raise
    what = "completed" if ended.forward else "rolled back"
    ended.notices.append(f"Turn {turn.id} ({turn.title}) was interrupted; it was {what}.")
    return ended


def _inspect_file(
    root: Root, store: Store, turn: TurnRecord, seq: int, step: FileStep, ended: RecoveryResult
) -> InterruptedFile | None:
    """One file of the turn, or None if nothing can be done about it."""
    path = DocPath(step.path)
    waiting = before = after = None
    try:
        put = AtomicWrite(root, path, f"{turn.token}-{seq}", create_folders=True)
        ended.puts.append(put)
        waiting = put.peek()
        before = store.get(step.before) if step.before is not None else None
        after = store.get(step.after) if step.after is not None else None
        return InterruptedFile(step, put, before, after, read_or_none(root, path), waiting)
    except (Refused, Damaged) as error:
        if isinstance(error, Damaged) and not error.details:
            raise  # no snapshot is named: the database itself could not be read, and the next opening checks it
        ended.notices.append(f"{path} was left unchanged: {error.message}")
        if waiting is not None and waiting not in (before, after):  # perhaps the only copy of what somebody wrote
            _keep_conflict_copy(root, turn, path, waiting, ended)
        return None


def _roll_forward(root: Root, turn: TurnRecord, files: list[InterruptedFile], ended: RecoveryResult) -> bool:
    """Complete every file; False if something in the way cannot be replaced."""
    try:
        for file in files:
            _complete(root, turn, file, ended)
    except Refused as error:
        ended.notices.append(error.message)
        return False
    return True


def _roll_back(root: Root, files: list[InterruptedFile], ended: RecoveryResult) -> None:
    for file in reversed(files):
        try:
            file.put.retract(old=file.before, new=file.after)
        except Refused as error:
            ended.notices.append(f"{file.step.path} was left unchanged: {error.message}")
        root.remove_empty_folders(file.put.made)


def _complete(root: Root, turn: TurnRecord, file: InterruptedFile, ended: RecoveryResult) -> None:
    if file.waiting not in (None, file.before, file.after):
        _keep_conflict_copy(root, turn, file.step.path, file.waiting, ended)
    if file.done or file.overtaken:
        return
    if file.foreign and file.now is not None:
        _keep_conflict_copy(root, turn, file.step.path, file.now, ended)
    if file.after is None:
        file.put.displace(file.now or b"")
        return
    if file.waiting != file.after:
        file.put.discard()
        file.put.prepare(file.after, mode=file.step.mode if file.now is None or file.step.moved_from else None)
    if file.now is None:
        file.put.place()
    else:
        file.put.exchange(file.now, file.after)


def _keep_conflict_copy(root: Root, turn: TurnRecord, path: str, content: bytes, ended: RecoveryResult) -> None:
    """Keep somebody else's content beside the file that it was found in; the same content only once."""
    folder, name = split_path(DocPath(path))
    stem, dot, ending = name.rpartition(".")
    if not stem:
        stem, dot, ending = name, "", ""
    number = 0
    while True:
        extra = f"-{number}" if number else ""
        copy = DocPath(f"{folder}/" * bool(folder) + f"{stem}.conflict-{turn.id}{extra}{dot}{ending}")
        there = read_or_none(root, copy)
        if there is None:
            write_file(root, copy, content, expected=None)
        if there in (None, content):
            ended.notices.append(f"{path} was changed by another program; that version is kept as {copy}.")
            return
        number += 1


def read_or_none(root: Root, path: DocPath) -> bytes | None:
    try:
        return root.read(path).data
    except RedraftError as error:
        if error.code == "not_found":
            return None
        raise
