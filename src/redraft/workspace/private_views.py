"""Private views of a workspace's folder, in which programs work; and their work brought back as one turn.

A program is shown the folder as the tools show it: with what is typed and not saved, with what is proposed and not
decided, and without secrets. What it leaves is compared with exactly that, so that its turn is merged, as any agent's
is, with whatever people and other agents did meanwhile. What cannot be part of a turn (it is no text, too large, in a
protected place, or was changed at the same words) is left out with the reason, and waits in the view.
"""

from __future__ import annotations

import os
import secrets
import stat
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from redraft.errors import Busy, ConfirmationRequired, RedraftError, Refused
from redraft.files.paths import DocPath, parse_path, split_path
from redraft.files.secret_detection import mask_credentials
from redraft.files.textfile import decode
from redraft.files.views.base_files import ShownDocument
from redraft.files.views.private_view import PrivateView, ViewOptions, ViewRecord, remove_view
from redraft.history.journal import AuditLine
from redraft.text.text import Text
from redraft.workspace.document import Document
from redraft.workspace.folder.identity import make_private
from redraft.workspace.secret_gate import is_secret_draft

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from redraft.files.views.private_view import ViewChange
    from redraft.history.turns import Author
    from redraft.workspace.engine import Engine
    from redraft.workspace.turns.modes import Mode
    from redraft.workspace.turns.turn import Confirm, Outcome, Turn

VIEWS = "views"
MOST_TITLE = 200
DAY_SECONDS = 86_400
# Where more documents than this came or went, those that were changed as well are not looked for among each other.
MOST_COMPARED = 100
ALIKE = 0.5
# After so many documents that stand in the way of a turn, it is given up; the view has everything.
MOST_TRIES = 100
EXECUTABLE = stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH
# Looking at the state of a repository refreshes its index; that alone is not worth keeping a view for.
REFRESHED = {".git/index"}


class LeftoverFile(NamedTuple):
    """What a program did that is not part of its turn, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class ProgramChange:
    """What a program did to one document: `old` is what it was shown (None: created), `text` what it left (None:
    deleted). One that was moved is now at `path`."""

    path: DocPath
    old: Document | None
    text: str | None
    bom: bool = False
    mode: int | None = None

    @property
    def source(self) -> DocPath:
        return self.path if self.old is None else DocPath(self.old.path)

    def stage(self, turn: Turn) -> None:
        if self.old is None:
            turn.create(self.path, self.text or "", bom=self.bom, mode=self.mode)
            return
        turn.recall(self.old)
        if self.text is None:
            turn.delete(self.path, self.old.version)
            return
        document = self.old
        if self.path != self.source:
            document = turn.move(self.source, self.path, self.old.version)
        if self.text != str(document.text):
            turn.write(self.path, self.text, document.version)


@dataclass(slots=True)
class ViewOutcome:
    """What became of a program's work: its turn (None: nothing was brought back), what was left out, and which files
    of version control or ours it changed, which is never taken over."""

    outcome: Outcome | None
    left: list[LeftoverFile] = field(default_factory=list[LeftoverFile])
    internal: list[str] = field(default_factory=list[str])

    @property
    def is_complete(self) -> bool:
        """Whether nothing waits in the view that somebody could want."""
        return not self.left and REFRESHED.issuperset(self.internal)


class PrivateViews:
    """The views of one folder, kept in its state."""

    def __init__(self, engine: Engine, begin: Callable[..., Turn]) -> None:
        self._engine = engine
        self._begin = begin
        self._home = os.path.join(engine.state, VIEWS)

    def open(
        self, folder: str, name: str, command: Sequence[str], *, title: str, confined: bool, writable: Sequence[str]
    ) -> PrivateView:
        """A view of the folder as it is now, for a program of this name."""
        engine = self._engine
        settings = engine.settings
        make_private(self._home)
        view_id = secrets.token_hex(4)
        told = mask_credentials(title)
        record = ViewRecord(
            view_id, os.path.realpath(folder), name, mask_credentials(list(command)), told[:MOST_TITLE], engine.clock()
        )
        hidden = [os.path.realpath(os.path.dirname(engine.state))]
        options = ViewOptions(
            "copy" if settings.run.view == "copy" else "auto",
            confined,
            writable,
            hidden,
            settings.limits.document_bytes,
            settings.run.bytes,
        )
        return PrivateView.open(
            os.path.join(self._home, view_id), engine.root, record, self._find_shown_documents(), options
        )

    def _find_shown_documents(self) -> dict[str, ShownDocument | None]:
        """What is to be seen otherwise than it lies on disk: a document that is being worked on, as tools read it."""
        shown: dict[str, ShownDocument | None] = {}
        for draft in self._engine.documents.drafts():
            for path in (draft.base_path, draft.path):
                if path is not None:
                    shown.setdefault(path, None)
            if draft.path is not None and not is_secret_draft(self._engine.root, draft):
                shown[draft.path] = ShownDocument(draft.encode_text(draft.review.working), draft.mode)
        return shown

    def list(self) -> Sequence[PrivateView]:
        """All views, the oldest first."""
        found: list[PrivateView] = []
        with suppress(FileNotFoundError):
            for name in os.listdir(self._home):
                with suppress(Refused):
                    found.append(PrivateView.load(os.path.join(self._home, name)))
        return sorted(found, key=lambda view: view.record.started)

    def find(self, view_id: str) -> PrivateView:
        """The view with this id, or with one that begins so."""
        found = [view for view in self.list() if view_id and view.record.id.startswith(view_id)]
        if len(found) != 1:
            raise Refused(f"There is no view {view_id!r}.", code="not_found", view=view_id)
        return found[0]

    def sweep(self) -> None:
        """Remove views that nobody works in and that are older than the settings keep."""
        until = self._engine.clock() - self._engine.settings.run.keep_days * DAY_SECONDS
        for view in self.list():
            if view.record.started < until:
                self.remove(view)
        known = {view.place for view in self.list()}
        with suppress(FileNotFoundError), os.scandir(self._home) as entries:
            for entry in entries:  # what a process left that was stopped while it made a view
                if entry.path not in known and entry.stat().st_mtime < until:
                    remove_view(entry.path)

    def remove(self, view: PrivateView) -> bool:
        """Remove a view, unless a program works in it."""
        try:
            with view.hold():
                view.close()
        except Busy:
            return False
        return True

    def bring_back(
        self, view: PrivateView, author: Author, *, confirm: Confirm, mode: Mode | None = None, token: str | None = None
    ) -> ViewOutcome:
        """Make one turn of what a program did in a view. Whatever stands in the way is left out with its reason. Mode
        and token are as for any turn."""
        changes, internal = view.changes()
        work, left = _sort_out(view, changes, self._engine.settings.limits.document_bytes)
        consent = _Consent(confirm)
        outcome: Outcome | None = None
        for _ in range(MOST_TRIES):
            turn = self._stage(view.record, author, work, left, consent, mode, token)
            if not turn.staged:
                break
            consent.ask()
            try:
                outcome = turn.commit()
                break
            except ConfirmationRequired:
                raise
            except Refused as error:  # something that the person or somebody else did meanwhile stands in the way
                path = error.details.get("path")
                blocked = [each for each in work if path in (each.path, each.source)]
                if not blocked:
                    raise
                left += [LeftoverFile(each.path, error.message) for each in blocked]
                work = [each for each in work if each not in blocked]
        else:
            left += [LeftoverFile(each.path, "Too many other files of the turn could not be written.") for each in work]
        record = view.record
        record.turn = outcome.turn.id if outcome is not None and outcome.turn is not None else record.turn
        record.left = [*left]
        view.save()
        return ViewOutcome(outcome, sorted(left), internal)

    def _stage(
        self,
        record: ViewRecord,
        author: Author,
        work: list[ProgramChange],
        left: list[LeftoverFile],
        consent: _Consent,
        mode: Mode | None,
        token: str | None,
    ) -> Turn:
        """A turn with all that can be part of it; what cannot goes from the `work` to what is left."""
        consent.begin()
        title = f"Unfinished ({record.unfinished}): {record.title}" if record.unfinished else record.title
        limits = replace(self._engine.settings.limits, actions=max(1, 3 * len(work)))
        turn = self._begin(author, title, mode=mode, confirm=consent.note, limits=limits, token=token)
        turn.called = AuditLine(
            "run",
            {"paths": [each.path for each in work], "command": record.command, "unfinished": record.unfinished},
        )
        for change in [*work]:
            staged, moved = dict(turn.staged), dict(turn.moved)
            try:
                change.stage(turn)
            except RedraftError as error:
                turn.staged, turn.moved = staged, moved
                left.append(LeftoverFile(change.path, error.message))
                work.remove(change)
        return turn


class _Consent:
    """Asks the person once for all that they have to agree to before a turn is written."""

    def __init__(self, confirm: Confirm) -> None:
        self._confirm = confirm
        self._wanted: dict[str, list[str]] = {}
        self._given: set[str] = set()
        self._staging = True

    def begin(self) -> None:
        self._staging = True

    def note(self, what: str, paths: list[str]) -> bool:
        """While the turn is staged, only note what has to be asked; when it is carried out, ask."""
        if self._staging:
            self._wanted[what] = paths
            return True
        return self._confirm(what, paths)

    def ask(self) -> None:
        open_questions = [what for what in self._wanted if what not in self._given]
        self._given.update(open_questions)
        if open_questions:
            paths = sorted({path for what in open_questions for path in self._wanted[what]})
            more = len(open_questions) - 1
            what = open_questions[0] + (f", and {more} more such change{'s' * (more > 1)}" if more else "")
            if not self._confirm(what, paths):
                raise ConfirmationRequired(f"A person has to agree first: {what}.", action=what, paths=paths)
        self._staging = False


# From files to documents


def _sort_out(
    view: PrivateView, changes: Sequence[ViewChange], limit: int
) -> tuple[list[ProgramChange], list[LeftoverFile]]:
    """What can be part of a turn, in an order in which it can be done; and what cannot."""
    work: list[ProgramChange] = []
    left: list[LeftoverFile] = []
    for change in changes:
        try:
            found = _read_change(view, change, limit)
        except RedraftError as error:
            left.append(LeftoverFile(change.path, error.message.removesuffix(" Nothing was changed.")))
            continue
        if isinstance(found, str):
            left.append(LeftoverFile(change.path, found))
        elif found is not None:
            work.append(found)
    work = _join_moves(work)
    return sorted(work, key=lambda each: (each.text is not None, each.old is None, each.path)), left


def _read_change(view: PrivateView, change: ViewChange, limit: int) -> ProgramChange | str | None:
    """What was done to a document; or why it is none; None where nothing was done to it."""
    path = parse_path(change.path)
    if change.now in ("link", "other"):
        return f"{path} is {'now a symbolic link' if change.now == 'link' else 'no longer a file'}."
    was = change.was
    if was is not None and was.kind == "other":
        what = "deleted" if change.now == "gone" else "changed"
        return f"{path} was {what}, but it is not text, or too large for a turn: take it from the view yourself."
    image = None if change.now == "gone" else view.read_after(path, limit)
    after = None if image is None else decode(image.data, path)
    if was is None:
        if image is None or after is None:
            return None
        mode = stat.S_IMODE(image.mode) & 0o777
        return ProgramChange(path, None, after.text, after.bom, mode if mode & EXECUTABLE else None)
    shown = view.read_before(path, limit)
    if shown is None:
        return f"The content of {path} when the program started is no longer known."
    before = decode(shown, path)
    old = Document(path, Text(before.text), before.bom, was.mode)
    if image is None or after is None:
        return ProgramChange(path, old, None)
    if after.text != before.text:
        return ProgramChange(path, old, after.text)
    if after.bom != before.bom:
        return f"Only the byte order mark of {path} was changed, which a turn cannot do."
    if image.mode != was.mode | stat.S_IRUSR and image.mode != was.mode:
        return f"Only the permissions of {path} were changed, which a turn cannot do."
    return None


def _join_moves(work: list[ProgramChange]) -> list[ProgramChange]:
    """A document that is gone and one that came, and say the same or nearly the same, are one that was moved."""
    gone = {each.path: each for each in work if each.text is None}
    came = [each for each in work if each.old is None]
    joined: dict[DocPath, ProgramChange] = {}
    by_text: dict[tuple[str, bool], list[ProgramChange]] = {}
    for each in gone.values():
        if each.old is not None and (text := str(each.old.text)):
            by_text.setdefault((text, each.old.bom), []).append(each)
    for each in came:
        alike = [one for one in by_text.get((each.text or "", each.bom), ()) if one.path in gone]
        _join(each, alike, gone, joined)
    if len(gone) <= MOST_COMPARED and len(came) <= MOST_COMPARED:
        _join_changed(came, gone, joined)
    rest = [each for each in work if each.path in gone or (each.text is not None and each.path not in joined)]
    return [*rest, *joined.values()]


def _join_changed(
    came: list[ProgramChange], gone: dict[DocPath, ProgramChange], joined: dict[DocPath, ProgramChange]
) -> None:
    """Those that were moved and changed: the pairs that have most in common first."""
    old = {path: _phrases(str(each.old.text)) for path, each in gone.items() if each.old is not None}
    pairs = [
        (likeness, one.path, each)
        for each in came
        if each.path not in joined and each.text
        for phrases in [_phrases(each.text)]
        for one in gone.values()
        if one.old is not None and one.old.bom == each.bom
        if (likeness := _likeness(old[one.path], phrases)) >= ALIKE
    ]
    for _, source, each in sorted(pairs, key=lambda pair: (-pair[0], pair[1], pair[2].path)):
        if source in gone and each.path not in joined:
            _join(each, [gone[source]], gone, joined)


def _phrases(text: str) -> Counter[tuple[str, ...]]:
    """Every three words in a row: two texts on one subject share words, but hardly their order."""
    words = text.casefold().split()
    return Counter(zip(words, words[1:], words[2:], strict=False)) or Counter([tuple(words)])


def _likeness(old: Counter[tuple[str, ...]], new: Counter[tuple[str, ...]]) -> float:
    return 2 * (old & new).total() / (old.total() + new.total())


def _join(
    came: ProgramChange,
    alike: list[ProgramChange],
    gone: dict[DocPath, ProgramChange],
    joined: dict[DocPath, ProgramChange],
) -> None:
    if alike:
        name = split_path(came.path)[1]
        best = min(alike, key=lambda one: (split_path(one.path)[1] != name, one.path))
        del gone[best.path]
        joined[came.path] = replace(came, old=best.old)
