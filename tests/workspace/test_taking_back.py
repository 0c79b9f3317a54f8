"""Undo and redo of everything that can be done, each time a new turn, each time all of it or nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from redraft.errors import Refused
from redraft.history.turns import State
from tests.workspace.folder import (
    AGENT,
    PERSON,
    POEM,
    agent_writes,
    hunk_with,
    person_writes,
    replaced,
    type_at_end,
    type_over,
    yes,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from redraft.workspace.workspace import Workspace
    from tests.workspace.folder import Folder


def edit(workspace: Workspace) -> None:
    agent_writes(workspace, {"a.md": replaced(POEM, Ember="Flame")}, mode="apply")


def create(workspace: Workspace) -> None:
    with workspace.turn(AGENT, "New", mode="apply") as turn:
        turn.create("new/n.md", "new\n")


def delete(workspace: Workspace) -> None:
    with workspace.turn(AGENT, "Gone", mode="apply", confirm=yes) as turn:
        turn.delete("a.md", turn.read("a.md").version)


def move(workspace: Workspace) -> None:
    with workspace.turn(AGENT, "Elsewhere", mode="apply") as turn:
        turn.move("a.md", "b/c.md", turn.read("a.md").version)


def edit_and_move(workspace: Workspace) -> None:
    with workspace.turn(AGENT, "Elsewhere", mode="apply") as turn:
        changed = turn.write("a.md", replaced(POEM, Ember="Flame"), turn.read("a.md").version)
        turn.move("a.md", "b/c.md", changed.version)


def save(workspace: Workspace) -> None:
    type_over(workspace, "a.md", "Ember", "Emerald")
    workspace.save("a.md")


def accept_one(workspace: Workspace) -> None:
    workspace.accept({"p.md": [hunk_with(workspace, "p.md", "Agate").id]})


def accept_all(workspace: Workspace) -> None:
    workspace.accept({"p.md": None})


def reject_all(workspace: Workspace) -> None:
    workspace.reject({"p.md": None})


def restore(workspace: Workspace) -> None:
    workspace.restore(workspace.turns(path="old.md")[0].id)


def untrash(workspace: Workspace) -> None:
    workspace.untrash("gone.md")


def untrash_elsewhere(workspace: Workspace) -> None:
    workspace.untrash("gone.md", to="back/again.md")


def discard(workspace: Workspace) -> None:
    workspace.discard_typing("typed.md")


ACTS = [
    edit,
    create,
    delete,
    move,
    edit_and_move,
    save,
    accept_one,
    accept_all,
    reject_all,
    restore,
    untrash,
    untrash_elsewhere,
    discard,
]


def with_a_past(folder: Folder) -> Workspace:
    """A folder in which something is pending, something is typed, something was changed, and something deleted."""
    folder.put("a.md", POEM)
    folder.put("p.md", POEM)
    folder.put("old.md", "older\n")
    folder.put("gone.md", "gone\n")
    folder.put("typed.md", "typed\n")
    workspace = folder.open()
    person_writes(workspace, {"old.md": "newer\n"})
    with workspace.turn(PERSON, "Gone") as turn:
        turn.delete("gone.md", turn.read("gone.md").version)
    agent_writes(workspace, {"p.md": replaced(POEM, Amber="Agate", Jetty="Quay")})
    type_over(workspace, "typed.md", "typed", "typed, not saved")
    return workspace


def view(folder: Folder, workspace: Workspace) -> tuple[object, ...]:
    """All that a person can see."""
    drafts = {draft.key: (draft.kind, draft.review, draft.dirty) for draft in workspace.drafts()}
    trash = [(entry.path, entry.size) for entry in workspace.list_trash()]
    return folder.tree(), drafts, trash


@pytest.mark.covers(
    "P6",
    "RD-history-undo-undo",
    "ML-record-undo-edit",
    "ML-record-undo-create",
    "ML-record-undo-move",
    "ML-record-undo-delete",
    "ML-adv-undo-last",
    "ML-adv-redo",
)
@pytest.mark.parametrize("act", ACTS)
def test_every_act_can_be_undone_and_redone_and_undone_again(folder: Folder, act: Callable[[Workspace], None]) -> None:
    workspace = with_a_past(folder)
    if act is save:
        type_over(workspace, "a.md", "Ember", "Emerald")
        before = view(folder, workspace)
        workspace.save("a.md")
    else:
        before = view(folder, workspace)
        act(workspace)
    after = view(folder, workspace)
    assert after != before
    turns = len(workspace.turns())
    for number in range(2):
        assert workspace.undo().conflicts == []
        assert view(folder, workspace) == before
        assert workspace.redo().conflicts == []
        assert view(folder, workspace) == after
        assert len(workspace.turns()) == turns + 2 * (number + 1)
    again = folder.open()
    assert view(folder, again) == after


@pytest.mark.covers("ML-adv-redo")
def test_redo_follows_the_undos_in_reverse(folder: Folder) -> None:
    folder.put("a.md", "0\n")
    workspace = folder.open()
    for number in range(1, 4):
        person_writes(workspace, {"a.md": f"{number}\n"})
    seen: list[str] = []
    for act in (workspace.undo, workspace.undo, workspace.redo, workspace.redo, workspace.undo, workspace.redo):
        assert act().conflicts == []
        seen.append(folder.text("a.md").strip())
    assert seen == ["2", "1", "2", "3", "2", "3"]
    with pytest.raises(Refused) as refused:
        workspace.redo()
    assert refused.value.code == "nothing_to_undo"


def test_there_is_nothing_to_redo_after_something_new(folder: Folder) -> None:
    folder.put("a.md", "0\n")
    workspace = folder.open()
    person_writes(workspace, {"a.md": "1\n"})
    workspace.undo()
    person_writes(workspace, {"a.md": "2\n"})
    with pytest.raises(Refused):
        workspace.redo()
    assert folder.text("a.md") == "2\n"


def test_undoing_past_the_beginning_is_refused(folder: Folder) -> None:
    folder.put("a.md", "0\n")
    workspace = folder.open()
    with pytest.raises(Refused):
        workspace.undo()
    person_writes(workspace, {"a.md": "1\n"})
    workspace.undo()
    with pytest.raises(Refused) as refused:
        workspace.undo()
    assert refused.value.code == "nothing_to_undo"


def test_undoing_twice_the_same_turn_is_refused(folder: Folder) -> None:
    folder.put("a.md", "0\n")
    workspace = folder.open()
    turn = person_writes(workspace, {"a.md": "1\n"})
    workspace.undo(turn.id)
    with pytest.raises(Refused):
        workspace.undo(turn.id)
    with pytest.raises(Refused) as refused:
        workspace.undo(12345)
    assert refused.value.code == "turn_not_found"


@pytest.mark.covers("P6", "TK-checkpoint-per-document", "TK-checkpoint-fields", "SB-cp-fields")
def test_every_write_is_in_the_history_with_author_time_title_and_paths(folder: Folder) -> None:
    folder.put("a.md", POEM)
    folder.put("b.md", "one\n")
    workspace = folder.open()
    folder.clock.now = 100.0
    agent_writes(workspace, {"a.md": replaced(POEM, Amber="Agate")}, mode="apply")
    folder.clock.now = 200.0
    type_at_end(workspace, "b.md", "two\n")
    workspace.save("b.md")
    found = [(t.author.name, t.created, t.title, t.paths, t.state) for t in workspace.turns()]
    assert found == [
        ("you", 200.0, "Save b.md", ("b.md",), State.APPLIED),
        ("scribe", 100.0, "Rewrite", ("a.md",), State.APPLIED),
    ]
    assert [turn.title for turn in workspace.turns(path="a.md")] == ["Rewrite"]
    assert workspace.turn_texts(workspace.turns()[1].id) == [("a.md", POEM, replaced(POEM, Amber="Agate"))]


@pytest.mark.covers("ML-change-content", "ML-diffsys-before")
def test_a_change_says_its_kind_both_contents_and_both_places(folder: Folder) -> None:
    folder.put("a.md", "one\n")
    folder.put("b.md", "two\n")
    workspace = folder.open()
    with workspace.turn(PERSON, "All kinds") as turn:
        turn.write("a.md", "ONE\n", turn.read("a.md").version)
        turn.move("b.md", "c.md", turn.read("b.md").version)
        turn.create("d.md", "new\n")
    (record,) = workspace.turns()
    kinds = {step.path: (step.action, step.moved_from) for step in record.files}
    assert kinds == {
        "a.md": ("modified", None),
        "c.md": ("moved", "b.md"),
        "d.md": ("created", None),
        "b.md": ("deleted", None),
    }
    assert workspace.turn_texts(record.id) == [
        ("a.md", "one\n", "ONE\n"),
        ("c.md", "two\n", "two\n"),
        ("d.md", "", "new\n"),
    ]


@pytest.mark.parametrize("take_back", ["undo", "restore", "hunks"])
def test_taking_a_creation_back_takes_the_folders_made_for_it_away(folder: Folder, take_back: str) -> None:
    (folder.path / "mine").mkdir()
    workspace = folder.open()
    with workspace.turn(AGENT, "New", mode="apply") as turn:
        for place in ("new/deep/n.md", "full/n.md", "mine/n.md"):
            turn.create(place, "new\n")
    folder.put("full/other.md", "other\n")
    if take_back == "undo":
        workspace.undo()
    elif take_back == "restore":
        workspace.restore(1)
    else:
        workspace.rollback(1, "scoped_selected", [hunk.id for hunk in workspace.turn_content(1).hunks()])
    found = {path.relative_to(folder.path).as_posix() for path in folder.path.rglob("*")}
    assert found - {".redraft", ".redraft/id"} == {"mine", "full", "full/other.md"}
    workspace.undo(2)
    assert folder.text("new/deep/n.md") == "new\n"
