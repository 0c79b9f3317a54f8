"""A person, an agent and an outside editor at work on one folder, through two programs, with restarts in between.

After every step: no stale token was accepted, every document reads as its draft or its file says, every pending hunk
belongs to an open turn, and every character that the person typed is in what they have, once, unless they themselves
agreed to its going; and even then the history has it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from redraft.errors import RedraftError, Refused, Stale
from redraft.history.turns import PERSON, State
from redraft.text.edits import Change, Edit
from tests.conftest import TORTURE
from tests.review.drafting import check_invariants, documents
from tests.workspace.desk import AGENT, PLACES, Watched, expect, has_conflict, naive_own_text
from tests.workspace.folder import yes

if TYPE_CHECKING:
    from redraft.workspace.workspace import Workspace

spots = st.integers(0, 400)
which = st.integers(0, len(PLACES) - 1)
programs = st.integers(0, 1)
modes = st.sampled_from(["propose", "propose", "apply", "merge"])
WAYS = st.sampled_from(["in place", "rename", "empties it"])

# Taking one of these back is what brings the person's own words back, or leaves them; any other may take some away.
KEEP_WORDS = ("propose", "apply", "accept", "reject", "take", "save", "discard", "restore", "rollback")


class Desk(RuleBasedStateMachine):
    """The folder and everybody who works in it."""

    def __init__(self) -> None:
        super().__init__()
        self.watched = Watched()
        self.tokens: list[tuple[str, str, str]] = []
        self.others_wrote = set[str]()

    def teardown(self) -> None:
        self.watched.check_history_has_everything_typed()
        assert self.watched.any.verify_audit().intact
        self.watched.close()

    def _name(self, number: int) -> str | None:
        found = self.watched.documents()
        return found[number % len(found)] if found else None

    def _at(self, number: int) -> Workspace:
        return self.watched.programs[number]

    # The agent

    @rule(
        some=st.lists(which, min_size=1, max_size=2),
        start=spots,
        length=st.integers(0, 30),
        new=documents(),
        mode=modes,
        program=programs,
    )
    def agent_edits(self, some: list[int], start: int, length: int, new: str, mode: str, program: int) -> None:
        names = sorted({name for number in some if (name := self._name(number))})
        try:
            with self._at(program).turn(AGENT, "edit", mode=mode) as turn:
                for name in names:
                    document = turn.read(name)
                    text = str(document.text)
                    at = start % (len(text) + 1)
                    # A mode that writes at once takes what it is told; here the agent keeps off what the person typed.
                    passage = text[at : at + length]
                    if mode != "propose" and any(key in passage for key in self.watched.must_stay):
                        passage = ""
                    turn.edit(name, [Edit(at, passage, new)], document.version)
                    self.tokens.append((name, document.version, text))
        except Refused as refusal:
            expect(refusal, "conflict", "not_found")

    @rule(number=which, text=documents(), mode=st.sampled_from(["propose", "merge"]), program=programs)
    def agent_is_slow_and_the_person_types_meanwhile(self, number: int, text: str, mode: str, program: int) -> None:
        name = self._name(number)
        if name is None:
            return
        try:
            with self._at(program).turn(AGENT, "rewrite", mode=mode) as turn:
                document = turn.read(name)
                old = str(document.text)
                if mode == "merge" and any(key in old for key in self.watched.must_stay):
                    text = old + text
                turn.write(name, text, document.version)
                self.person_types(number, 3, "", 1 - program)
            assert turn.outcome is not None
            for path in turn.outcome.conflicts:
                self.watched.marked_in(path)
        except Refused as refusal:
            expect(refusal, "conflict", "not_found")

    @rule(number=which, to=which, text=documents(), mode=modes, act=st.sampled_from(["create", "move", "delete"]))
    def agent_changes_files(self, number: int, to: int, text: str, mode: str, act: str) -> None:
        name, target = self._name(number), PLACES[to]
        # Where the disk is written at once the person is asked before a deletion. Here they say yes.
        try:
            with self._at(to % 2).turn(AGENT, act, mode=mode, confirm=yes) as turn:
                if act == "create":
                    turn.create(target, text)
                elif name is not None:
                    version = turn.read(name).version
                    turn.move(name, target, version) if act == "move" else turn.delete(name, version)
        except Refused as refusal:
            expect(refusal, "conflict", "not_found", "already_exists")
            return
        if act == "delete" and mode != "propose":
            self.watched.agreed()

    @precondition(lambda self: self.tokens)
    @rule(data=st.data(), program=programs)
    def stale_token_is_refused(self, data: st.DataObject, program: int) -> None:
        name, version, text = data.draw(st.sampled_from(self.tokens))
        try:
            now = str(self._at(program).read(name, author=AGENT).text)
        except RedraftError:
            return
        before = self.watched.disk()
        turn = self._at(program).turn(AGENT, "stale", mode="apply")
        if now == text:
            turn.edit(name, [Edit(0, "", "!")], version)
        else:
            with pytest.raises(Stale):
                turn.edit(name, [Edit(0, "", "!")], version)
        turn.discard()
        assert self.watched.disk() == before

    # The person

    @rule(number=which, at=spots, around=st.sampled_from(["", " ", "\n"]), program=programs)
    def person_types(self, number: int, at: int, around: str, program: int) -> None:
        name = self._name(number)
        if name is None:
            return
        key = self.watched.typed()
        document = self._at(program).read(name)
        edit = Edit(at % (len(document.text) + 1), "", around + key + around)
        self._at(program).type(name, Change((edit,)), version=document.version)
        self.watched.was_typed(key)

    @rule(
        number=which,
        at=spots,
        length=st.integers(0, 60),
        new=st.sampled_from(["", "own words", "own line\n"]),
        program=programs,
    )
    def person_writes_over(self, number: int, at: int, length: int, new: str, program: int) -> None:
        name = self._name(number)
        if name is None:
            return
        document = self._at(program).read(name)
        at %= len(document.text) + 1
        old = str(document.text)[at : at + length]
        # Where an agent would take the person's words out and the person writes over that very place, the two cannot be
        # parted any more: by the design what they have written then stands, and the words are in the history alone.
        draft = self._at(program).draft(name)
        beneath = "".join(
            hunk.base
            for hunk in (draft.review.hunks if draft is not None else ())
            if hunk.working_at <= at + len(old) and at <= hunk.working_at + len(hunk.working)
        )
        if not any(key in beneath for key in self.watched.must_stay):
            self._write_over(name, at, old, new, program)

    @rule(data=st.data(), program=programs)
    def person_types_a_hunk_away(self, data: st.DataObject, program: int) -> None:
        shown = [
            (draft.path, hunk.working_at, hunk.working, hunk.base)
            for draft in self._at(program).drafts()
            for hunk in draft.review.hunks
            # What a hunk only takes out would be typed beside it, and is judged by itself.
            if draft.path is not None and hunk.author == "agent" and hunk.working
        ]
        if shown:
            self._write_over(*data.draw(st.sampled_from(shown)), program)

    def _write_over(self, name: str, at: int, old: str, new: str, program: int) -> None:
        """The person is free to take out what they typed, but then nobody could tell whether it was lost."""
        if old != new and not any(key in old for key in self.watched.must_stay):
            self._at(program).type(name, Change((Edit(at, old, new),)))

    @rule(number=which, program=programs)
    def person_saves(self, number: int, program: int) -> None:
        name = self._name(number)
        if name is None:
            return
        draft = self._at(program).draft(name)
        own = draft.review.to_save if draft else self.watched.disk()[name]
        overwrites = draft is not None and any(hunk.unsettled and not hunk.turns for hunk in draft.review.hunks)
        before = self.watched.disk()
        try:
            self._at(program).save(name)
        except Refused as refusal:
            expect(refusal, "conflict")  # another program wrote the same words, and nobody has chosen yet
            assert draft is not None
            assert draft.review.unsaveable
            assert self.watched.disk() == before
            return
        assert not overwrites
        where = (draft.base_path if draft else None) or name
        if where in self.watched.disk():
            assert self.watched.disk()[where] == own

    @rule(number=which, to=which, act=st.sampled_from(["move", "delete"]), program=programs)
    def person_changes_files(self, number: int, to: int, act: str, program: int) -> None:
        name = self._name(number)
        if name is None:
            return
        try:
            with self._at(program).turn(PERSON, act) as turn:
                version = turn.read(name).version
                turn.move(name, PLACES[to], version) if act == "move" else turn.delete(name, version)
        except Refused as refusal:
            expect(refusal, "already_exists", "conflict")
            return
        if act == "delete":
            self.watched.agreed()

    @rule(data=st.data(), to=which, program=programs)
    def person_looks_into_the_trash(self, data: st.DataObject, to: int, program: int) -> None:
        trashed = self._at(program).list_trash()
        if not trashed:
            return
        found = data.draw(st.sampled_from(list(trashed)))
        try:
            self._at(program).untrash(found.path, turn=found.turn, to=PLACES[to])
        except Refused as refusal:
            expect(refusal, "already_exists")
            return
        # What came back may hold words that meanwhile stand elsewhere, too.
        own = "".join(self.watched.own_texts().values())
        self.watched.marked |= {key for key in self.watched.must_stay if own.count(key) > 1}
        assert found not in self._at(program).list_trash()

    @rule(data=st.data(), verdict=st.sampled_from(["accept", "reject"]), program=programs)
    def person_decides(self, data: st.DataObject, verdict: str, program: int) -> None:
        waiting = {draft.key: ids for draft in self._at(program).drafts() if (ids := draft.hunk_ids(of_agents=True))}
        if not waiting:
            return
        name = data.draw(st.sampled_from(sorted(waiting)))
        chosen = data.draw(st.lists(st.sampled_from(waiting[name]), min_size=1, unique=True))
        if verdict == "accept":
            draft = next(draft for draft in self._at(program).drafts() if draft.key == name)
            try:
                self._at(program).accept({name: chosen})
            except Refused as refusal:
                # Where it was to be moved to, another document stands by now; or it has to be settled first.
                expect(refusal, "already_exists", *(["conflict"] if has_conflict(draft, chosen) else []))
                return
            assert not has_conflict(draft, chosen)
            self.watched.agreed()
        else:
            self._at(program).reject({name: chosen})

    @rule(data=st.data(), program=programs)
    def person_splits_a_hunk(self, data: st.DataObject, program: int) -> None:
        drafts = [draft for draft in self._at(program).drafts() if draft.kind in ("modified", "moved")]
        hunks = {
            (draft.key, hunk.id): hunk for draft in drafts for hunk in draft.review.hunks if hunk.author == "agent"
        }
        if not hunks:
            return
        name, hunk_id = data.draw(st.sampled_from(sorted(hunks)))
        hunk = hunks[name, hunk_id]
        at, base_at = (data.draw(st.integers(0, len(text))) for text in (hunk.working, hunk.base))
        shown = str(self._at(program).read(name).text)
        try:
            self._at(program).split(name, hunk.id, at, base_at)
        except Refused as refusal:
            expect(refusal, "invalid_argument")
        assert str(self._at(program).read(name).text) == shown

    @rule(program=programs)
    def person_accepts_all_that_is_shown(self, program: int) -> None:
        for draft in self._at(program).drafts():
            for hunk in draft.review.hunks:
                if hunk.conflict and draft.kind not in ("created", "deleted"):
                    self._at(program).settle(draft.key, hunk.id, hunk.working)  # the person keeps what they see
                    self.watched.agreed()
        drafts = self._at(program).drafts()
        leaving = {draft.key for draft in drafts if draft.kind == "deleted"}
        staying = [name for name in self.watched.documents() if name not in leaving]
        shown = {name: str(self._at(program).read(name).text) for name in staying}
        if drafts:
            try:
                self._at(program).accept({draft.key: None for draft in drafts})
            except Refused as refusal:
                disputed = any(has_conflict(draft, draft.hunk_ids()) for draft in drafts)
                expect(refusal, "already_exists", *(["conflict"] if disputed else []))
                return
            self.watched.agreed()
        assert self.watched.disk() == shown
        assert self._at(program).drafts() == []

    @rule(program=programs)
    def person_rejects_all_that_is_shown(self, program: int) -> None:
        drafts = {draft.key: draft for draft in self._at(program).drafts()}
        before = self.watched.disk()
        if drafts:
            self._at(program).reject(dict.fromkeys(drafts))
        assert self.watched.disk() == before
        assert not any(draft.review.pending for draft in self._at(program).drafts())
        for draft in drafts.values():
            own, wanted = draft.review.to_save, naive_own_text(draft)
            assert wanted in (None, own)
            if draft.base_path is not None or own:
                where = draft.base_path or draft.key
                assert str(self._at(program).read(where).text) == own

    @rule(data=st.data(), by_number=st.booleans(), program=programs)
    def person_undoes(self, data: st.DataObject, by_number: bool, program: int) -> None:
        workspace = self._at(program)
        last = workspace.last_to_undo()
        standing = [turn.id for turn in workspace.turns() if turn.state in (State.APPLIED, State.PROPOSED)]
        if last is None:
            return
        chosen = workspace.show(data.draw(st.sampled_from(standing))) if by_number else last
        try:
            taken = workspace.undo(chosen.id if by_number else None)
        except Refused as refusal:
            expect(refusal, "nothing_to_undo")
            return
        if taken.turn is not None and (chosen.kind not in KEEP_WORDS or chosen.author == PERSON):
            self.watched.agreed()

    @rule(program=programs)
    def person_redoes(self, program: int) -> None:
        try:
            self._at(program).redo()
        except Refused as refusal:
            expect(refusal, "nothing_to_undo")
            return
        self.watched.agreed()

    @rule(data=st.data(), program=programs)
    def person_restores(self, data: st.DataObject, program: int) -> None:
        turns = [turn.id for turn in self._at(program).turns() if turn.files]
        if turns:
            self._at(program).restore(data.draw(st.sampled_from(turns)))
            self.watched.agreed()

    @rule(data=st.data(), program=programs)
    def person_rolls_hunks_back(self, data: st.DataObject, program: int) -> None:
        turns = [turn.id for turn in self._at(program).turns() if turn.kind == "apply" and turn.author == AGENT]
        if not turns:
            return
        number = data.draw(st.sampled_from(turns))
        hunks = [hunk.id for hunk in self._at(program).turn_content(number).hunks()]
        if hunks:
            chosen = data.draw(st.lists(st.sampled_from(hunks), min_size=1, unique=True))
            self._at(program).rollback(number, "scoped_selected", chosen)

    # The world outside

    @rule(
        number=which,
        new=st.sampled_from(["outside\n", "", "other words here\n"]),
        at=spots,
        length=st.integers(0, 60),
        how=WAYS,
    )
    def somebody_else_writes(self, number: int, new: str, at: int, length: int, how: str) -> None:
        disk = self.watched.disk()
        if not disk:
            return
        name = sorted(disk)[number % len(disk)]
        self.others_wrote.add(name)
        path, old = self.watched.folder / name, disk[name]
        at %= len(old) + 1
        text = "" if how == "empties it" else old[:at] + new + old[at + length :]
        if how == "rename":
            (self.watched.top / "new").write_bytes(text.encode())
            os.replace(self.watched.top / "new", path)
        else:
            path.write_bytes(text.encode())
        # What somebody else takes out of the file is their act, not ours.
        self.watched.must_stay = {key for key in self.watched.must_stay if key in text or key not in old}

    @rule(program=programs, orderly=st.booleans())
    def a_program_restarts(self, program: int, orderly: bool) -> None:
        if orderly:
            self._at(program).close()
        self.watched.programs[program] = self.watched.opened()
        told = [name for name in PLACES for notice in self._at(program).notices if f"program changed {name} " in notice]
        assert len(told) == len(self._at(program).notices)
        assert self.others_wrote.issuperset(told)

    @invariant()
    def nothing_the_person_typed_is_lost_or_doubled(self) -> None:
        self.watched.check_keys()

    @invariant()
    def a_pending_hunk_belongs_to_an_open_turn(self) -> None:
        self.watched.check_pending_hunks_have_an_open_turn()

    @invariant()
    def drafts_are_sound(self) -> None:
        disk = self.watched.disk()
        files = [draft.base_path for draft in self.watched.any.drafts() if draft.base_path is not None]
        assert len(files) == len(set(files)), "two drafts of one file"
        for draft in self.watched.any.drafts():
            check_invariants(draft.review)
            if draft.base_path in disk:
                assert draft.saved == disk[draft.base_path].encode()

    @invariant()
    def nothing_is_left_lying_around(self) -> None:
        allowed = {*PLACES, "sub", "sub/deep", ".redraft", ".redraft/id"}
        found = {path.relative_to(self.watched.folder).as_posix() for path in self.watched.folder.rglob("*")}
        assert not found - allowed


@pytest.mark.slow
@pytest.mark.covers("P3", "P4", "P5", "P6")
class TestDesk(Desk.TestCase):
    """The machine as a test."""


TestDesk.settings = settings(
    max_examples=10_000 if TORTURE else 150,
    stateful_step_count=50 if TORTURE else 25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)
