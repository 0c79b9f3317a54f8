"""Listeners are told what happened, in order, once it has happened, and can stop nothing."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import pytest

from tests.workspace.folder import AGENT, PERSON, POEM, agent_writes, person_writes, replaced, turn_of, type_at_end

if TYPE_CHECKING:
    from redraft.workspace.events import Event
    from redraft.workspace.workspace import Workspace
    from tests.workspace.folder import Folder


def listen(workspace: Workspace) -> list[Event]:
    heard: list[Event] = []
    workspace.subscribe(heard.append)
    return heard


def types(heard: list[Event]) -> list[str]:
    names = [event.type for event in heard]
    heard.clear()
    return names


@pytest.mark.covers("RD-turn-events", "SB-event-checkpoint-created")
def test_every_act_is_told_in_order_by_name(folder: Folder) -> None:
    folder.put("a.md", POEM)
    workspace = folder.open()
    heard = listen(workspace)
    tab = workspace.open_tab("a.md")
    assert types(heard) == ["tab.opened"]
    type_at_end(workspace, "a.md", "typed\n")
    assert types(heard) == ["document.typed"]
    workspace.save("a.md")
    assert types(heard) == ["checkpoint.created", "turn.applied", "document.changed"]
    text = POEM + "typed\n"
    agent_writes(workspace, {"a.md": replaced(text, Amber="Agate")})
    assert types(heard) == ["checkpoint.created", "turn.proposed", "document.changed"]
    workspace.accept({"a.md": None})
    assert types(heard) == ["checkpoint.created", "turn.applied", "document.changed", "review.updated"]
    workspace.undo()
    assert types(heard)[:2] == ["checkpoint.created", "turn.applied"]
    workspace.reject({"a.md": None})
    assert types(heard)[-1] == "review.updated"
    workspace.close_tab(tab.tab_id)
    assert types(heard) == ["tab.closed"]


@pytest.mark.covers("RD-turn-events", "SB-event-checkpoint-created")
def test_an_event_says_which_turn_and_which_documents(folder: Folder) -> None:
    folder.put("a.md", "one\n")
    workspace = folder.open()
    heard = listen(workspace)
    record = person_writes(workspace, {"a.md": "two\n"})
    assert [(event.type, event.data) for event in heard] == [
        ("checkpoint.created", {"checkpoint_id": record.id, "turn": record.id}),
        ("turn.applied", {"turn": record.id, "kind": "apply", "title": "Rewrite", "paths": ("a.md",)}),
        ("document.changed", {"path": "a.md", "turn": record.id}),
    ]


@pytest.mark.covers("SB-event-rollback-started", "SB-event-rollback-completed", "SB-event-rollback-failed")
def test_a_rollback_tells_its_beginning_and_how_it_ended(folder: Folder) -> None:
    folder.put("a.md", POEM)
    workspace = folder.open()
    turn = turn_of(agent_writes(workspace, {"a.md": replaced(POEM, Amber="Agate", Jetty="Quay")}, mode="apply"))
    heard = listen(workspace)
    workspace.restore(turn.id)
    names = types(heard)
    assert (names[0], names[-1]) == ("checkpoint.rollback.started", "checkpoint.rollback.completed")
    workspace.undo()
    agate, quay = (hunk.id for hunk in workspace.turn_content(turn.id).hunks())
    heard.clear()
    workspace.rollback(turn.id, "scoped_selected", [quay])
    names = types(heard)
    assert (names[0], names[-1]) == ("checkpoint.rollback.started", "checkpoint.rollback.completed")
    person_writes(workspace, {"a.md": replaced(POEM, Amber="Opal")})
    heard.clear()
    workspace.rollback(turn.id, "scoped_selected", [agate])
    failed = heard[-1]
    assert (failed.type, failed.data["hunk_ids"]) == ("checkpoint.rollback.failed", [agate])


@pytest.mark.covers("RD-turn-events")
def test_a_failing_listener_stops_neither_the_act_nor_the_others(
    folder: Folder, caplog: pytest.LogCaptureFixture
) -> None:
    folder.put("a.md", "one\n")
    workspace = folder.open()

    def fail(_event: Event) -> None:
        raise RuntimeError("a listener's own trouble")

    workspace.subscribe(fail)
    heard = listen(workspace)
    with caplog.at_level(logging.CRITICAL):
        person_writes(workspace, {"a.md": "two\n"})
    assert folder.text("a.md") == "two\n"
    assert types(heard) == ["checkpoint.created", "turn.applied", "document.changed"]


def test_by_the_time_it_is_told_it_has_happened(folder: Folder) -> None:
    folder.put("a.md", "one\n")
    workspace = folder.open()
    seen: list[tuple[str, int]] = []
    workspace.subscribe(lambda event: seen.append((folder.text("a.md"), len(workspace.turns()))))
    person_writes(workspace, {"a.md": "two\n"})
    assert set(seen) == {("two\n", 1)}


def test_a_subscription_ends_when_told_and_ending_it_twice_is_harmless(folder: Folder) -> None:
    folder.put("a.md", "one\n")
    workspace = folder.open()
    heard: list[Event] = []
    end = workspace.subscribe(heard.append)
    end()
    end()
    person_writes(workspace, {"a.md": "two\n"})
    assert heard == []


def test_a_listener_may_unsubscribe_and_act_while_it_is_told(folder: Folder) -> None:
    folder.put("a.md", "one\n")
    folder.put("b.md", "one\n")
    workspace = folder.open()
    calls: list[str] = []

    def once(event: Event) -> None:
        calls.append(event.type)
        end()
        person_writes(workspace, {"b.md": "also\n"})

    end = workspace.subscribe(once)
    person_writes(workspace, {"a.md": "two\n"})
    assert len(calls) == 1
    assert folder.tree() == {"a.md": b"two\n", "b.md": b"also\n"}


def test_what_is_refused_is_not_told(folder: Folder) -> None:
    folder.put("a.md", "one\n")
    workspace = folder.open()
    heard = listen(workspace)
    for author, mode in ((AGENT, "read"), (PERSON, "apply")):
        turn = workspace.turn(author, "No", mode=mode)
        turn.discard()
    assert heard == []
