"""The audit log: every act has its line, and no tampering with the lines goes unseen."""

from __future__ import annotations

import json
import sqlite3
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from redraft.errors import Refused
from redraft.history.audit import Audit
from redraft.history.database import Database
from redraft.history.turns import Author
from tests.conftest import TORTURE
from tests.workspace.folder import AGENT, PERSON, POEM, agent_writes, fresh_folder, person_writes, replaced, type_at_end

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

LINES = 12
COLUMNS = ("seq", "at", "author", "tool", "arguments", "result", "turn", "hash")


def filled(state: Path) -> Database:
    database = Database(str(state))
    audit = Audit(database)
    with database.transaction():
        for number in range(LINES):
            audit.add(number + 0.5, AGENT, "edit", {"path": f"{number}.md"}, "applied", number or None)
    return database


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Generator[Database]:
    database = filled(tmp_path_factory.mktemp("state"))
    yield database
    database.close()


@pytest.mark.covers("RD-history-audit")
def test_an_untouched_log_is_intact(log: Database) -> None:
    verdict = Audit(log).verify()
    assert (verdict.intact, verdict.entries, verdict.broken_at) == (True, LINES, None)


def test_an_empty_log_is_intact(tmp_path: Path) -> None:
    database = Database(str(tmp_path))
    assert Audit(database).verify().intact
    database.close()


VALUES = st.one_of(
    st.none(),
    st.integers(-5, 2**40),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=10),
    st.binary(max_size=40),
)
NUMBERS = st.integers(1, LINES)


@st.composite
def tamperings(draw: st.DrawFn) -> list[tuple[str, tuple[Any, ...]]]:
    """SQL that changes the log in one of the ways that somebody might try."""
    kind = draw(st.sampled_from(["change", "delete", "insert", "swap", "truncate", "head", "renumber"]))
    number = draw(NUMBERS)
    if kind == "change":
        column = draw(st.sampled_from(COLUMNS[1:]))
        return [(f"UPDATE audit SET {column} = ? WHERE seq = ?", (draw(VALUES), number))]
    if kind == "delete":
        return [("DELETE FROM audit WHERE seq = ?", (number,))]
    if kind == "insert":
        seq = draw(st.sampled_from([-1, 0, LINES + 1, LINES + 2]))
        return [
            (
                "INSERT INTO audit SELECT ?, at, author, tool, arguments, result, turn, hash FROM audit WHERE seq = ?",
                (seq, number),
            )
        ]
    if kind == "swap":
        other = draw(NUMBERS.filter(lambda each: each != number))
        return [
            ("UPDATE audit SET seq = ? WHERE seq = ?", pair) for pair in ((99, number), (number, other), (other, 99))
        ]
    if kind == "truncate":
        return [("DELETE FROM audit WHERE seq > ?", (number - 1,))]
    if kind == "renumber":
        return [
            ("DELETE FROM audit WHERE seq = ?", (number,)),
            ("UPDATE audit SET seq = -seq WHERE seq > ?", (number,)),
            ("UPDATE audit SET seq = -seq - 1 WHERE seq < 0", ()),
        ]
    head = draw(st.one_of(st.text(max_size=80), st.just(f"{number - 1} {'00' * 32}"), st.just(f"{LINES} zz")))
    return [("UPDATE meta SET value = ? WHERE key = 'audit_head'", (head,))]


@given(tamperings())
@settings(max_examples=1000 if TORTURE else 200)
@pytest.mark.slow
@pytest.mark.covers("RD-history-audit")
def test_every_tampering_is_found(log: Database, changes: list[tuple[str, tuple[Any, ...]]]) -> None:
    connection = log._connection  # pyright: ignore[reportPrivateUsage]
    before = connection.execute("SELECT * FROM audit ORDER BY seq").fetchall(), Audit(log)._ends()[1]  # pyright: ignore[reportPrivateUsage]
    connection.execute("BEGIN")
    try:
        try:
            for statement, values in changes:
                connection.execute(statement, values)
        except (sqlite3.Error, OverflowError):
            return  # the table itself refuses it
        if changed(connection, before):
            verdict = Audit(log).verify()
            assert not verdict.intact
            assert verdict.reason
    finally:
        connection.execute("ROLLBACK")
    assert Audit(log).verify().intact


def changed(connection: sqlite3.Connection, before: tuple[Any, Any]) -> bool:
    """Whether the log reads otherwise than before: 0.5 for '0.5' in a column of numbers is no change."""
    rows = connection.execute("SELECT * FROM audit ORDER BY seq").fetchall()
    head = connection.execute("SELECT value FROM meta WHERE key = 'audit_head'").fetchone()
    seq, link = before[1]
    return rows != before[0] or head[0] != f"{seq} {link.hex()}"


@pytest.mark.covers("RD-history-audit")
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE audit SET author = CAST(X'FF' AS TEXT) WHERE seq = 3",
        "UPDATE audit SET tool = X'00FF' WHERE seq = 3",
        "UPDATE audit SET hash = 'text' WHERE seq = 3",
        "UPDATE audit SET at = 'noon' WHERE seq = 3",
        "UPDATE meta SET value = X'FF' WHERE key = 'audit_head'",
        "DELETE FROM meta WHERE key = 'audit_head'",
    ],
)
def test_a_line_that_cannot_even_be_read_is_found(tmp_path: Path, statement: str) -> None:
    database = filled(tmp_path)
    database.execute(statement)
    assert not Audit(database).verify().intact
    database.close()


@pytest.mark.covers("RD-history-audit")
@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM audit WHERE seq > 5",
        "UPDATE meta SET value = 'nonsense' WHERE key = 'audit_head'",
        "UPDATE meta SET value = '' WHERE key = 'audit_head'",
        "UPDATE meta SET value = '3 00' WHERE key = 'audit_head'",
        "DELETE FROM meta WHERE key = 'audit_head'",
    ],
)
def test_a_tampered_log_neither_stops_the_work_nor_is_healed_by_it(tmp_path: Path, statement: str) -> None:
    database = filled(tmp_path)
    database.execute(statement)
    audit = Audit(database)
    with database.transaction():
        audit.add(99.0, PERSON, "save", None, "applied")
        audit.add(100.0, PERSON, "save", None, "applied")
    assert audit.entries(limit=1)[0]["at"] == 100.0
    assert not audit.verify().intact
    database.close()


def test_two_chains_of_the_same_acts_are_the_same(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    logs = [filled(tmp_path / name) for name in "ab"]
    heads = [Audit(log)._ends() for log in logs]  # pyright: ignore[reportPrivateUsage]
    assert heads[0] == heads[1]
    for log in logs:
        log.close()


@pytest.mark.covers("ML-audit-fields", "P6")
def test_every_turn_has_its_line_with_who_what_when_and_how_it_ended() -> None:
    with fresh_folder() as folder:
        folder.put("a.md", POEM)
        workspace = folder.open()
        agent_writes(workspace, {"a.md": replaced(POEM, Amber="Agate")}, mode="apply")
        agent_writes(workspace, {"a.md": replaced(POEM, Amber="Agate", Jetty="Quay")})
        workspace.accept({"a.md": None})
        type_at_end(workspace, "a.md", "typed\n")
        workspace.save("a.md")
        workspace.undo()
        lines = workspace.audit()
        assert [(line["author"], line["tool"], line["result"]) for line in lines] == [
            ("agent:scribe", "apply", "applied"),
            ("agent:scribe", "propose", "proposed"),
            ("person:you", "accept", "applied"),
            ("person:you", "save", "applied"),
            ("person:you", "undo", "applied"),
        ]
        assert [line["turn"] for line in lines] == [turn.id for turn in reversed(workspace.turns())]
        assert all(line["at"] == folder.clock.now for line in lines)
        assert workspace.verify_audit().intact


def test_the_log_names_the_act_and_its_documents_and_holds_none_of_their_text() -> None:
    with fresh_folder() as folder:
        folder.put("a.md", "one\n")
        workspace = folder.open()
        with workspace.turn(AGENT, "The title", mode="apply") as turn:
            turn.write("a.md", "a private text\n", turn.read("a.md").version)
        plain = json.dumps(workspace.audit())
        assert "private" not in plain
        told = json.loads(workspace.audit()[0]["arguments"])
        assert told == {"title": "The title", "paths": ["a.md"]}


def test_a_turn_that_was_refused_at_the_last_moment_is_in_the_log_as_discarded() -> None:
    with fresh_folder() as folder:
        folder.put("a.md", "one\n")
        workspace = folder.open()
        folder.clock.meanwhile = lambda: folder.put("a.md", "an outsider's\n")
        with pytest.raises(Refused):
            person_writes(workspace, {"a.md": "two\n"})
        assert workspace.verify_audit().intact
        (turn,) = workspace.turns()
        assert str(turn.state) == "discarded"
        assert [(line["turn"], line["result"]) for line in workspace.audit()] == [
            (turn.id, "applied"),
            (turn.id, "discarded"),
        ]


def test_names_with_any_characters_are_kept(tmp_path: Path) -> None:
    database = Database(str(tmp_path))
    audit = Audit(database)
    with database.transaction():
        audit.add(1.0, Author("agent", 'näme "x"\n𝄞'), "töol", {"ключ": ["значение", 1.5, None]}, "applied")
    assert audit.verify().intact
    assert audit.entries()[0]["author"] == 'agent:näme "x"\n𝄞'
    database.close()
