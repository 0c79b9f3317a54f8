"""Record what other programs write to the folder, as turns by `outside`.

A document that the engine has seen has a known last content: what its draft says was on disk, else what the last turn
wrote, else the row that a tab stored (`seen`), else what this process has read. Code that finds other content on the
disk calls `look`, which takes the folder's lock, checks again, and records the difference with both sides before
anything is built on it. A change that another process recorded meanwhile is recognised, so one change is one turn.
Drafts follow in the same turn: their review before and after is part of it, and undoing it reverts both. They follow
from what they were before other programs began to write, because a file may be seen half written.

A program that keeps writing one document makes one turn, which grows as long as nobody else touches the document, and
is stored less and less often. Reading never waits for that: what was read and not yet recorded is recorded before a
turn is written over it, and by the next check of the folder's watcher.

If a file has a secret's name, or begins like a key, only the fact that a document became it is recorded.
"""

from __future__ import annotations

import json
import logging
import time
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from redraft.errors import Busy, RedraftError
from redraft.files.file_image import proves_content
from redraft.files.paths import DocPath
from redraft.files.secret_detection import is_secret_content, is_secret_name
from redraft.history.journal import AuditLine, Content, FilePlan
from redraft.history.turns import OUTSIDE, ReviewStep, State, TurnRecord
from redraft.review.outside_change import carry_typing
from redraft.workspace.document import is_another_document
from redraft.workspace.documents import RememberedFiles
from redraft.workspace.engine import new_token
from redraft.workspace.folder.move_detection import SAME_SECONDS, MoveDetector, OutsideChange
from redraft.workspace.folder.prompts import AgentPrompts

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Container, Generator, Iterable, Iterator, Sequence

    from redraft.files.file_image import FileImage
    from redraft.files.inotify import RenamedPath
    from redraft.history.reviews import KnownContent
    from redraft.workspace.document import Draft
    from redraft.workspace.engine import Engine

LOG = logging.getLogger(__name__)
# How long a reader waits for the folder to record what it noticed; whoever looks next does it then.
PATIENCE_SECONDS = 0.5
# While a program keeps writing, its turn is brought up to date after a pause that grows with it, up to the longest.
SHORTEST_PAUSE, LONGEST_PAUSE = 0.5, 30.0
# Among how many of a document's latest turns another program's is looked for, to say where a conflict is from.
CONFLICT_TURNS = 20
# The note in the history of the places that drafts left with their files in a turn.
LEFT_BY_DRAFTS = "places left by drafts in turn "
# How many documents `refresh` looks at that only the history knows.
MOST_WRITTEN = 1000


class LookResult(NamedTuple):
    """A file after everything that another program did to it was recorded: the file, where its document stands, and
    whether there was anything to record."""

    image: FileImage | None
    place: str
    changed: bool


@dataclass(slots=True)
class WriteRun:
    """A program that keeps writing a document: when it began, and when its turn was last updated."""

    began: float
    last: float

    @property
    def pause(self) -> float:
        return min(LONGEST_PAUSE, max(SHORTEST_PAUSE, (self.last - self.began) / 4))


class OutsideRecorder:
    """Notices changes by other programs and records them. Used by one thread at a time."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.files = RememberedFiles(engine)
        self.prompts = AgentPrompts(engine, self.files, self.look_at)
        self._moves = MoveDetector(engine, self._compare, self.files.last_stamp)
        self._runs: dict[str, WriteRun] = {}
        self._within = False
        self._conflicts: set[str] = set()
        self._without_file: set[str] = set()
        self.waiting: set[DocPath] = set()  # noticed, and not recorded yet
        self.hear_renames: Callable[[], list[RenamedPath]] = list  # those since the last call, where there is inotify

    # Telling

    @property
    def notices(self) -> list[str]:
        """What the person should know: documents in which another program changed the same words that they or an agent
        have changed and not saved, and documents that it deleted although they had unsaved changes."""
        self._conflicts = {path for path in self._conflicts if self._has_conflict(path)}
        self._without_file = {path for path in self._without_file if self._has_no_file(path)}
        return [
            f"Another program changed words in {path} that were changed here too. Both versions are kept: "
            "resolve the conflict in the app or with `redraft settle`."
            for path in sorted(self._conflicts)
        ] + [
            f"Another program deleted or renamed {path}. Your unsaved typing is kept: save {path} to write "
            "the file again, or discard it."
            for path in sorted(self._without_file)
        ]

    def find_conflicts(self) -> None:
        """Find the conflicts that were there before, or that another process noticed."""
        engine = self._engine
        for path in engine.reviews.paths():
            if path not in self._conflicts and self._has_conflict(path):
                turns = engine.turns.recent(limit=CONFLICT_TURNS, path=path)
                if any(self._is_conflict_source(turn, path) for turn in turns):
                    self._conflicts.add(path)
            if path not in self._without_file and self._has_no_file(path):
                turn = engine.turns.last_on([path])
                if turn is not None and turn.kind == "outside":
                    self._without_file.add(path)

    def _is_conflict_source(self, turn: TurnRecord, path: str) -> bool:
        images = [step.after for step in turn.reviews if step.path == path and step.after is not None]
        drafts = map(self._engine.documents.from_image, images if turn.kind == "outside" else ())
        return any(hunk.conflict for draft in drafts for hunk in draft.review.hunks)

    def _has_conflict(self, path: str) -> bool:
        draft = self._engine.documents.load_stored_draft(path)
        return draft is not None and any(hunk.conflict for hunk in draft.review.hunks)

    def _has_no_file(self, path: str) -> bool:
        """Whether there is typing here without a file."""
        draft = self._engine.documents.load_stored_draft(path)
        return draft is not None and draft.base_path is None and draft.dirty

    # Looking

    def look(self, path: DocPath) -> LookResult | None:
        """Record a file that the caller found changed; None if it cannot be recorded just now."""
        engine = self._engine
        if self._within:
            return None  # it is being recorded, or told, right now
        if engine.database.in_transaction:  # which may fail, and would take the record with it
            self.waiting.add(path)
            return None
        if engine.journal.held:
            return self._record([path]).get(path)
        if self._is_put_off(path):
            self.waiting.add(path)
            return None
        return self._look([path]).get(path)

    def look_at(self, paths: Iterable[DocPath], appeared: Collection[str] | None = None) -> list[str]:
        """Check documents whose files may have changed, and return those that did. `appeared` are files that came while
        they were watched: a document may have been moved to one of them."""
        wanted = [path for path in paths if self._may_differ(path)]
        return [looked.place for looked in self._look(wanted, appeared).values() if looked.changed]

    def look_again(self) -> list[str]:
        """Check what could not be recorded when it was noticed, if it is time to."""
        return self.look_at([path for path in self.waiting if not self._is_put_off(path)]) if self.waiting else []

    def look_now(self, paths: Iterable[str] = ()) -> list[str]:
        """Check these documents and everything that waits: something is about to be built on them."""
        return self.look_at({*self.waiting, *map(DocPath, paths)})

    def open_documents(self) -> list[DocPath]:
        """The files of the documents that are open, have a draft, or were read by this process."""
        return sorted(self._documents_at_work() | self._engine.documents.list_cached_paths())

    def _documents_at_work(self) -> set[DocPath]:
        engine = self._engine
        found = {DocPath(path) for _, path in engine.reviews.tabs()}
        for path in engine.reviews.paths():
            draft = engine.documents.load_stored_draft(path)
            if draft is not None:
                found.add(DocPath(draft.base_path or draft.key))
        return found

    def all_documents(self) -> list[DocPath]:
        """The open documents, and those that the latest turns wrote."""
        return [*{*self.open_documents(), *map(DocPath, self._engine.seen.recent_paths(MOST_WRITTEN))}]

    def _look(self, paths: Sequence[DocPath], appeared: Collection[str] | None = None) -> dict[DocPath, LookResult]:
        if not paths or self._within:
            return {}
        try:
            if self._engine.journal.held:
                return self._record(paths, appeared)
            self._within = True  # until it is told: a listener that reads may find the next change already
            with self._engine.journal.lock(PATIENCE_SECONDS):
                return self._record(paths, appeared)
        except Busy:
            self.waiting.update(paths)
        except RedraftError as error:  # the history cannot be written: a reader may read all the same
            LOG.warning("could not record what another program wrote: %s", error.message)
            self.waiting.update(paths)
        finally:
            self._within = False
        return {}

    def before_turn(self, plans: Iterable[FilePlan]) -> None:
        """Record what other programs did to the files that a turn is about to write. The caller must hold the lock."""
        unknown = [plan.path for plan in plans if not self._is_known(plan)]
        if unknown and not self._within:
            self._record(unknown)

    @contextmanager
    def pause(self) -> Generator[None]:
        """While a turn is being written: what comes in between is found when its files trade places, or by the next."""
        outer, self._within = self._within, True
        try:
            yield
        finally:
            self._within = outer

    def _is_known(self, plan: FilePlan) -> bool:
        known = self._engine.seen.find_known_content(plan.path)
        if known is None:
            kept = self._engine.documents.find_cached_file(plan.path)
            return kept is None or (plan.before is not None and kept.data == plan.before.data)
        return known.snapshot == (None if plan.before is None else plan.before.snapshot)

    def _is_put_off(self, path: str) -> bool:
        run = self._runs.get(path)
        return run is not None and time.monotonic() - run.last < run.pause

    def _may_differ(self, path: DocPath) -> bool:
        """Whether no stamp proves that the file has the content that it is known to have."""
        engine = self._engine
        draft = self._draft_of(path)
        if draft is not None:
            return self._differs(path, draft)
        known, kept = engine.seen.find_known_content(path), engine.documents.find_cached_file(path)
        if known is None and kept is None:
            return False
        try:
            stamp = engine.root.stamp(path)
        except RedraftError:
            return self._is_replaced(path)  # whoever reads it is told
        if stamp is None:
            return known is None or known.snapshot is not None
        if kept is not None and kept.proven and kept.stamp == stamp:
            return known is not None and known.snapshot != kept.as_content().snapshot
        return known is None or engine.seen.stamp(path, known.snapshot) != stamp

    def _differs(self, path: DocPath, draft: Draft) -> bool:
        try:
            image = self._engine.documents.read_file(path, draft.saved)
        except RedraftError:
            return self._is_replaced(path)
        return draft.saved != (None if image is None else image.data)

    # Comparing

    def _record(self, paths: Iterable[DocPath], appeared: Collection[str] | None = None) -> dict[DocPath, LookResult]:
        """Check these files and record what became of them; what cannot be decided is left out. The caller must hold
        the lock."""
        with self.pause():
            paths = [*paths]
            self.waiting -= {*paths}
            found, (moved, changes) = self._moves.look(paths, self.hear_renames, self._list_places, appeared)
            self._write_down(moved)
            while changes:
                moved, changes = self._moves.resolve(changes, self._list_places(), appeared)
                self._write_down(moved)
            return {change.path: LookResult(change.image, change.place, change.is_news) for change in found}

    def _list_places(self) -> set[DocPath]:
        return self._documents_at_work() | self.waiting

    def _compare(self, path: DocPath) -> OutsideChange | None:
        engine = self._engine
        if is_secret_name(path) or engine.root.is_secret_link(path):
            return None
        stored, known = self._draft_of(path), engine.seen.find_known_content(path)
        kept = engine.documents.find_cached_file(path)
        if known is None and stored is None and kept is None:
            return None
        before = self._content_before(known, stored, path)
        now = time.time_ns()
        try:
            image = engine.documents.read_file(path, None if before is None else before.data)
        except RedraftError:  # a link, a folder, or being written: whoever reads it is told
            if not self._is_replaced(path):
                return None
            image = None
        after = None if image is None else Content.of(image.data)
        if any(side is not None and is_secret_content(side.data) for side in (before, after)):
            return None
        proven = image is not None and proves_content(image.stamp, now)
        change = OutsideChange(path, before, after, image, proven, stored)
        if not change.is_news:
            self._remember_stamp(change, known)
        return change

    def _is_replaced(self, path: DocPath) -> bool:
        """Whether an agent replaced a document by a link or a folder, which must not lose the document."""
        return self.prompts.current is not None and self._engine.root.is_replaced(path)

    def _draft_of(self, path: DocPath) -> Draft | None:
        """The draft of the file at this path, or of the document that is to be created here."""
        engine = self._engine
        key = engine.reviews.working_path(path) or path
        draft = engine.documents.load_stored_draft(key)
        return draft if draft is not None and (draft.base_path or draft.key) == path else None

    def _content_before(self, known: KnownContent | None, stored: Draft | None, path: DocPath) -> Content | None:
        if known is not None:
            try:
                return None if known.snapshot is None else Content.of(self._engine.store.get(known.snapshot))
            except RedraftError as error:
                LOG.warning("the earlier content of %s is no longer known: %s", path, error.message)
        if stored is not None:
            return None if stored.saved is None else Content.of(stored.saved)
        kept = self._engine.documents.find_cached_file(path)
        return None if kept is None else kept.as_content()

    def _remember_stamp(self, change: OutsideChange, known: KnownContent | None) -> None:
        """Store the stamp of an unchanged file, if its content is known for longer than this process runs."""
        engine = self._engine
        if change.image is None or change.after is None or known is None or not change.proven:
            return
        snapshot = change.after.snapshot
        if known.snapshot == snapshot and engine.seen.stamp(change.path, snapshot) != change.image.stamp:
            with engine.database.transaction(durable=False):
                engine.seen.put(change.path, snapshot, change.image.stamp)

    # Recording

    def _write_down(self, changes: list[OutsideChange]) -> None:
        if not changes:
            return
        engine = self._engine
        self.waiting -= {change.path for change in changes}
        grown = {change.path: turn for change in changes if (turn := self._grow(change)) is not None}
        new = [change for change in changes if change.path not in grown]
        record = self._add(new) if new else None
        now = time.monotonic()
        for change in changes:
            run = self._runs.get(change.path)
            began = run.began if run is not None and change.path in grown else now
            self._runs[change.path] = WriteRun(began, now)
            engine.documents.cache_file(change.path, change.image, proven=change.proven)
        if record is not None:
            engine.tell(record)
        for turn in {turn.id: turn for turn in grown.values()}.values():
            engine.events.tell(f"turn.{turn.state}", turn=turn.id, kind=turn.kind, title=turn.title, paths=turn.paths)
        for change in changes:
            if record is None or change.place not in record.paths:
                turn = grown.get(change.path)
                engine.events.tell("document.changed", path=change.place, turn=turn and turn.id)
            self._tell_conflict(change)

    def _add(self, changes: list[OutsideChange]) -> TurnRecord | None:
        """Add one turn for all of them."""
        engine = self._engine
        written = [change for change in changes if change.written or change.came_from is not None]
        if not written:
            with engine.database.transaction(durable=False):
                for step in self._review_steps(changes):
                    engine.reviews.set(step.path, step.after)
            return None
        plans = [
            FilePlan(
                change.path,
                change.before,
                change.after,
                None if change.image is None else change.image.mode,
                change.came_from,
            )
            for change in sorted(written, key=lambda change: change.after is None)
        ]
        moves: dict[str, str] = {change.came_from: change.path for change in changes if change.came_from is not None}
        told = [change for change in written if change.path not in moves]
        words = told[0].words if len(told) == 1 else f"changed {len(told)} documents"
        prompt = self.prompts.current
        turn = TurnRecord(
            author=OUTSIDE if prompt is None else prompt.author,
            kind="outside",
            mode="",
            title=f"Another program {words}" if prompt is None else prompt.title,
            created=engine.clock(),
            token=new_token(),
        )
        line = AuditLine("outside", {"paths": [plan.path for plan in plans]})
        followers = self._drafts_that_follow(changes)
        tabs: dict[str, str] = {
            change.path: change.went_to
            for change in changes
            if change.went_to is not None and (change.stored is None or change.path in followers)
        }
        with engine.database.transaction():
            record = engine.journal.record(turn, plans, lambda: self._review_steps(changes), line)
            engine.reviews.move_tabs(tabs)
            if followers:
                key, gone = f"{LEFT_BY_DRAFTS}{record.id}", sorted(followers)
                engine.database.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, json.dumps(gone)))
            if prompt is not None:
                self.prompts.add(prompt, record.id)
        engine.comments.move(tabs)
        return record

    def _review_steps(self, changes: Sequence[OutsideChange]) -> list[ReviewStep]:
        """The documents' drafts before and after they followed their files. Called inside a transaction."""
        documents = self._engine.documents
        followers = self._drafts_that_follow(changes)
        left: dict[str, Draft | None] = {}
        made: dict[str, Draft | None] = {}
        for change in changes:
            draft = self._follow(change, moves=change.path in followers)
            # Whatever stood for the place that it has now goes: itself, or the draft of a file that was written over.
            standing = self._draft_of(DocPath(draft.base_path)) if draft is not None and draft.base_path else None
            left |= {old.key: None for old in (change.stored, standing) if old is not None}
            made |= {} if draft is None else {draft.key: draft}
        steps: list[ReviewStep] = []
        for key, draft in (left | made).items():
            before, after = (each and documents.to_image(each) for each in (documents.load_stored_draft(key), draft))
            steps += [ReviewStep(key, before, after)] * (before != after)
        return steps

    def _follow(self, change: OutsideChange, *, moves: bool) -> Draft | None:
        """The draft after the change; None if nothing is left to decide or to save."""
        stored, there, content = change.stored, change.went_to, change.after
        if stored is not None and there is not None and moves:
            stored, content = _move_draft(stored, there), change.left_as
            if is_secret_name(there):
                return stored
            origin = stored
        else:
            origin = self.draft_before_run(stored, change.path)
        if origin is None:
            return None
        try:
            draft = origin.with_disk(None if content is None else content.data)
        except RedraftError:
            return stored  # no text just now: there is nothing that it could follow
        return None if not draft.key or draft.settled or draft.worthless else draft

    def _drafts_that_follow(self, changes: Iterable[OutsideChange]) -> set[DocPath]:
        """The old paths of documents whose drafts can move to the new paths: nothing is there, or what is there moves
        away itself. If a document became a secret its draft must move too: left behind, it would show what the secret
        says."""
        moves = {
            change.path: (change.stored, change.went_to)
            for change in changes
            if change.stored is not None and change.went_to is not None
        }
        while True:
            leaving = {draft.key for draft, _ in moves.values()}
            stay = [path for path, (draft, there) in moves.items() if not self._is_free(draft, there, leaving)]
            came = {_move_draft(draft, there).key: path for path, (draft, there) in reversed(moves.items())}
            stay += [path for path in moves if path not in {*came.values(), *stay}]  # two cannot stand at one place
            if not stay:
                return {*moves}
            for path in stay:
                del moves[path]

    def _is_free(self, draft: Draft, there: DocPath, leaving: Container[str]) -> bool:
        key, standing = _move_draft(draft, there).key, self._draft_of(there)
        free = key in leaving or self._engine.reviews.get(key) is None
        return is_secret_name(there) or (free and (standing is None or standing.key in leaving))

    def draft_before_run(self, stored: Draft | None, path: DocPath) -> Draft | None:
        """The draft before other programs began to write the file, with what was typed since: what they wrote in
        between may be half a document, or for a moment none. If anything else was done with the draft since, or it took
        in their text a while ago without a conflict, the draft as it is."""
        try:
            return self._find_draft_before_run(stored, path)
        except RedraftError as error:
            LOG.warning("the earlier review of %s is no longer known: %s", path, error.message)
            return stored

    def _find_draft_before_run(self, stored: Draft | None, path: DocPath) -> Draft | None:
        documents, place = self._engine.documents, path if stored is None else stored.key
        hurt = stored is not None and (stored.base_path is None or any(hunk.conflict for hunk in stored.review.hunks))
        origin = found = stored  # the oldest there is, and what the turn at hand left
        later = self._engine.clock()
        typed: list[tuple[str, str]] = []
        for turn in self._turns_backwards(place):
            recent = 0 <= later - turn.created < SAME_SECONDS
            if not _is_plain_write(turn, path) or not (hurt or recent):
                break
            later = turn.created
            step = next((step for step in turn.reviews if step.path == place), None)
            if step is None:
                continue  # what it wrote was no text: the draft did not follow
            old = None if step.before is None else documents.from_image(step.before)
            if (step.after is None) != (found is None) or (old and (old.base_path or old.path) != path):
                break
            after = None if step.after is None else documents.from_image(step.after)
            if is_another_document(old, after) or (after is None and self._went_away(turn, path)):
                break  # documents traded places: what stands here stood elsewhere before
            if after is not None and found is not None:
                left = after.review.working
                typed += [(left, found.review.working)] * (left != found.review.working)
            found, origin = old, old or origin
        if origin is None or origin is stored or not self._is_waiting(origin):
            return stored
        for left, now in reversed(typed):
            review = carry_typing(origin.review, left, now)
            if review is None:
                return stored
            origin = replace(origin, review=review)
        return origin

    def _went_away(self, turn: TurnRecord, path: DocPath) -> bool:
        """Whether the draft of a document left this place in a turn, with its file."""
        row = self._engine.database.row("SELECT value FROM meta WHERE key = ?", (f"{LEFT_BY_DRAFTS}{turn.id}",))
        return row is not None and path in json.loads(row[0])

    def _turns_backwards(self, path: str) -> Iterator[TurnRecord]:
        before: int | None = None
        while turns := self._engine.turns.recent(limit=1, path=path, before=before):
            yield turns[0]
            before = turns[0].id

    def _is_waiting(self, draft: Draft) -> bool:
        """Whether nothing that an agent proposes in a draft was decided since."""
        turns = self._engine.turns.by_tokens({*draft.review.turns, draft.turn} - {""})
        return all(turn.state is State.PROPOSED for turn in turns if turn.kind == "propose")

    def _grow(self, change: OutsideChange) -> TurnRecord | None:
        """Extend the turn of the same program by this change, if nobody has built on what it wrote."""
        engine = self._engine
        if not change.written or change.before is None or change.after is None:
            return None
        if change.came_from is not None or change.went_to is not None:
            return None
        stored = change.stored
        places = {change.path, *(() if stored is None else (stored.key,))}
        turn = engine.turns.last_on(places)
        now = engine.clock()
        if turn is None or turn.kind != "outside" or turn.state is not State.APPLIED or turn.pruned:
            return None
        step = next((step for step in turn.files if step.path == change.path), None)
        if (
            step is None
            or not self._goes_on(turn, now)
            or step.moved_from is not None
            or step.after != change.before.snapshot
        ):
            return None
        review = next((each for each in turn.reviews if each.path in places), None)
        if not self._stands(stored, review):
            return None
        with engine.database.transaction(durable=False):
            after = engine.journal.store_content(change.after, change.before)
            steps = self._review_steps([change])
            if any(review is None or each.path != review.path for each in steps):
                return None
            for each in steps:
                engine.reviews.set(each.path, each.after)
            engine.turns.extend(turn.id, change.path, after, steps[0] if steps else None, now)
        return turn

    def _goes_on(self, turn: TurnRecord, now: float) -> bool:
        """Whether the same program is writing: the agent of this prompt, or another program a moment ago."""
        prompt = self.prompts.current
        if prompt is not None:
            return self.prompts.is_part(prompt, turn.id)
        return turn.author == OUTSIDE and 0 <= now - turn.created < SAME_SECONDS

    def _stands(self, stored: Draft | None, review: ReviewStep | None) -> bool:
        """Whether the draft is still what the turn left."""
        left = None if review is None or review.after is None else self._engine.documents.from_image(review.after)
        return left == stored

    def _tell_conflict(self, change: OutsideChange) -> None:
        """Report where the change met the same words that a person has typed or an agent proposes."""
        engine = self._engine
        if change.before is not None and self._has_no_file(change.place):
            self._without_file.add(change.place)
        old = {hunk.id for hunk in change.stored.review.hunks if hunk.conflict} if change.stored else set[str]()
        draft = engine.documents.load_stored_draft(change.place)
        if draft is None and change.stored is not None and change.went_to is not None:
            draft = engine.documents.load_stored_draft(_move_draft(change.stored, change.went_to).key)
        new = [hunk.id for hunk in draft.review.hunks if hunk.conflict and hunk.id not in old] if draft else []
        if draft is not None and new:
            self._conflicts.add(draft.key)
            engine.events.tell("document.conflict", path=draft.key, hunk_ids=new)


def _is_plain_write(turn: TurnRecord, path: str) -> bool:
    """Whether a turn is another program's, still stands, and wrote this file without moving it."""
    if turn.kind != "outside" or turn.state is not State.APPLIED or turn.pruned:
        return False
    moved = {place for step in turn.files if step.moved_from is not None for place in (step.path, step.moved_from)}
    return path not in moved and any(step.path == path for step in turn.files)


def _move_draft(draft: Draft, there: DocPath) -> Draft:
    """The draft of a file that is at this path now."""
    return replace(draft, path=there if draft.path == draft.base_path else draft.path, base_path=there)
