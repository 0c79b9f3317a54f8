"""A person, an agent and an outside editor at work on one folder, in any order, with restarts in between.

After every step: no stale token was accepted, every document reads as its draft or its file says, and every character
that the person typed is still in what they see, unless they themselves agreed to its going; and even then the history
has it.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import zlib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from conftest import TORTURE
from redraft.errors import RedraftError, Refused, Stale
from redraft.history.turns import Author
from redraft.text.edits import Change, Edit
from redraft.workspace.workspace import Workspace
from review.drafting import check_invariants, documents

AGENT = Author("agent", "agent")
NAMES = ("one.md", "two.md")
names = st.sampled_from(NAMES)
places = st.integers(0, 400)
WAYS = st.sampled_from(["in place", "rename", "empties it"])


def expect(refusal: Refused, *codes: str) -> None:
    """Let a refusal pass that the rules of the house foresee; any other is a fault."""
    if refusal.code not in codes:
        raise refusal


class Desk(RuleBasedStateMachine):
    """The folder and everybody who works in it."""

    def __init__(self) -> None:
        super().__init__()
        self.top = Path(tempfile.mkdtemp(prefix="redraft-desk-"))
        self.folder = self.top / "folder"
        self.folder.mkdir()
        for name in NAMES:
            (self.folder / name).write_text("# Title\n\nfirst\nsecond\n\n- a\n- b\n", encoding="utf-8")
        self.next_key = 0xE000
        self.must_stay: dict[str, str] = {}
        self.ever_typed: set[str] = set()
        self.tokens: list[tuple[str, str, str]] = []
        self.workspace = self._open()

    def _open(self) -> Workspace:
        return Workspace.open(self.folder, state_home=str(self.top / "state"))

    def teardown(self) -> None:
        self._check_history_has_everything_typed()
        assert self.workspace.verify_audit().intact
        self.workspace.close()
        shutil.rmtree(self.top)

    def _check_history_has_everything_typed(self) -> None:
        database = self.workspace.engine.database
        kept = [zlib.decompress(row[0]).decode() for row in database.rows("SELECT data FROM blocks")]
        kept += [row[0].encode().decode("unicode_escape") for row in database.rows("SELECT change FROM typing")]
        lost = [key for key in self.ever_typed if not any(key in text for text in kept)]
        assert not lost, f"{lost} are nowhere in the history"

    def _own_text(self, name: str) -> str:
        draft = self.workspace.draft(name)
        if draft is not None:
            return draft.review.to_save
        return (self.folder / name).read_bytes().decode() if (self.folder / name).exists() else ""

    def _agreed(self) -> None:
        """The person did something that may take their own words away; what is gone now is gone by their will."""
        self.must_stay = {key: name for key, name in self.must_stay.items() if key in self._own_text(name)}

    def _bytes(self) -> dict[str, bytes]:
        return {entry.name: entry.read_bytes() for entry in self.folder.iterdir() if entry.is_file()}

    # The agent

    @rule(
        name=names, start=places, length=st.integers(0, 30), new=documents(), mode=st.sampled_from(["propose", "apply"])
    )
    def agent_edits(self, name: str, start: int, length: int, new: str, mode: str) -> None:
        try:
            with self.workspace.turn(AGENT, "edit", mode=mode) as turn:
                document = turn.read(name)
                text = str(document.text)
                start %= len(text) + 1
                # A mode that writes at once takes what it is told; here the agent keeps off what the person typed.
                passage = text[start : start + length]
                if mode == "apply" and any(key in passage for key in self.must_stay):
                    passage = ""
                turn.edit(name, [Edit(start, passage, new)], document.version)
                self.tokens.append((name, document.version, text))
        except Refused as refusal:
            expect(refusal, "conflict", "not_found")

    @rule(name=names, text=documents())
    def agent_is_slow_and_the_person_types_meanwhile(self, name: str, text: str) -> None:
        if not (self.folder / name).exists():
            return
        try:
            with self.workspace.turn(AGENT, "rewrite", mode="propose") as turn:
                document = turn.read(name)
                turn.write(name, text, document.version)
                self.person_types(name, 3, "")
        except Refused as refusal:
            expect(refusal, "conflict", "not_found")

    @precondition(lambda self: self.tokens)
    @rule(data=st.data())
    def stale_token_is_refused(self, data: st.DataObject) -> None:
        name, version, text = data.draw(st.sampled_from(self.tokens))
        try:
            now = str(self.workspace.read(name, author=AGENT).text)
        except RedraftError:
            return
        before = self._bytes()
        turn = self.workspace.turn(AGENT, "stale", mode="apply")
        if now == text:
            turn.edit(name, [Edit(0, "", "!")], version)
        else:
            with pytest.raises(Stale):
                turn.edit(name, [Edit(0, "", "!")], version)
        turn.discard()
        assert self._bytes() == before

    # The person

    @rule(name=names, at=places, around=st.sampled_from(["", " ", "\n"]))
    def person_types(self, name: str, at: int, around: str) -> None:
        key = chr(self.next_key)
        try:
            document = self.workspace.read(name)
            edit = Edit(at % (len(document.text) + 1), "", around + key + around)
            self.workspace.type(name, Change((edit,)), version=document.version)
        except Refused as refusal:
            expect(refusal, "not_found")
            return
        self.next_key += 1
        self.must_stay[key] = name
        self.ever_typed.add(key)

    @rule(name=names)
    def person_saves(self, name: str) -> None:
        own = self._own_text(name)
        self.workspace.save(name)
        if (self.folder / name).exists():
            assert (self.folder / name).read_bytes().decode() == own

    @rule(name=names, data=st.data(), verdict=st.sampled_from(["accept", "reject"]))
    def person_decides(self, name: str, data: st.DataObject, verdict: str) -> None:
        draft = self.workspace.draft(name)
        ids = draft.hunk_ids(of_agents=True) if draft else []
        if not ids:
            return
        chosen = data.draw(st.lists(st.sampled_from(ids), min_size=1, unique=True))
        if verdict == "accept":
            self.workspace.accept({name: chosen})
            self._agreed()
        else:
            self.workspace.reject({name: chosen})

    @rule()
    def person_undoes(self) -> None:
        last = self.workspace.engine.turns.last_to_undo()
        if last is None:
            return
        taken = self.workspace.undo()
        if taken.turn is not None and last.kind not in ("propose", "apply", "reject", "save"):
            self._agreed()

    @rule()
    def person_redoes(self) -> None:
        undone = self.workspace.engine.turns.last_to_redo()
        try:
            self.workspace.redo()
        except Refused as refusal:
            expect(refusal, "nothing_to_undo")
            return
        if undone is not None and self.workspace.show(undone.source or 0).kind not in ("apply", "reject", "save"):
            self._agreed()

    @rule(data=st.data())
    def person_restores(self, data: st.DataObject) -> None:
        turns = [turn.id for turn in self.workspace.turns() if turn.files]
        if turns:
            self.workspace.restore(data.draw(st.sampled_from(turns)))
            self._agreed()

    @rule(data=st.data())
    def person_rolls_hunks_back(self, data: st.DataObject) -> None:
        turns = [turn.id for turn in self.workspace.turns() if turn.kind == "apply"]
        if not turns:
            return
        number = data.draw(st.sampled_from(turns))
        hunks = [hunk.id for hunk in self.workspace.turn_hunks(number)]
        if hunks:
            chosen = data.draw(st.lists(st.sampled_from(hunks), min_size=1, unique=True))
            self.workspace.rollback(number, "scoped_selected", chosen)

    # The world outside

    @rule(
        name=names,
        new=st.sampled_from(["outside\n", "", "other words here\n"]),
        at=places,
        length=st.integers(0, 60),
        how=WAYS,
    )
    def somebody_else_writes(self, name: str, new: str, at: int, length: int, how: str) -> None:
        path = self.folder / name
        if not path.exists():
            return
        old = path.read_bytes().decode()
        at %= len(old) + 1
        text = "" if how == "empties it" else old[:at] + new + old[at + length :]
        if how == "rename":
            (self.top / "new").write_bytes(text.encode())
            os.replace(self.top / "new", path)
        else:
            path.write_bytes(text.encode())
        # What somebody else takes out of the file is their act, not ours.
        self.must_stay = {key: where for key, where in self.must_stay.items() if key in text or key not in old}

    @rule(orderly=st.booleans())
    def the_program_restarts(self, orderly: bool) -> None:
        if orderly:
            self.workspace.close()
        self.workspace = self._open()
        assert not self.workspace.notices

    @invariant()
    def nothing_the_person_typed_is_lost(self) -> None:
        for key, name in self.must_stay.items():
            assert key in self._own_text(name), f"{key!r} is gone from {name}"

    @invariant()
    def drafts_are_sound(self) -> None:
        for draft in self.workspace.drafts():
            check_invariants(draft.review)
            if draft.base_path is not None and (self.folder / draft.base_path).exists():
                assert draft.saved == (self.folder / draft.base_path).read_bytes()

    @invariant()
    def nothing_is_left_lying_around(self) -> None:
        left = [name for name in os.listdir(self.folder) if name not in (*NAMES, ".redraft")]
        assert not left, left


@pytest.mark.slow
@pytest.mark.covers("P3", "P5", "P6")
class TestDesk(Desk.TestCase):
    """The machine as a test."""


TestDesk.settings = settings(
    max_examples=10_000 if TORTURE else 150,
    stateful_step_count=50 if TORTURE else 25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)
