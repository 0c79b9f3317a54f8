"""A large turn is planned while others use the folder: what comes of it is what comes of it without."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import pytest

from redraft.errors import RedraftError
from redraft.tools.context import ToolContext
from redraft.tools.registry import load_registry
from tests.workspace.folder import AGENT, fresh_folder, type_at_end, type_over, working

if TYPE_CHECKING:
    from collections.abc import Callable

    from redraft.workspace.workspace import Workspace
    from tests.workspace.folder import Folder

    Meanwhile = Callable[[Folder, Workspace], object]

LINES = 1500
OLD = "".join(f"Line {number} has a lamp.\n" for number in range(LINES))
NEW = OLD.replace("lamp", "lantern")
MEANWHILE: dict[str, Meanwhile] = {
    "nothing": lambda _folder, _workspace: None,
    "typed beside": lambda _folder, workspace: type_at_end(workspace, "a.md", "The end.\n"),
    "typed at the same words": lambda _, workspace: type_over(
        workspace, "a.md", "Line 7 has a lamp", "Line 7 had a lamb"
    ),
    "written by another program": lambda folder, _: folder.put("a.md", "Above.\n" + OLD),
    "deleted": lambda folder, _: (folder.path / "a.md").unlink(),
}


def carried_out(mode: str, meanwhile: Meanwhile, *, ahead: bool) -> Any:
    """What a turn over a large document makes of the folder, with something done while it is open."""
    with fresh_folder() as folder:
        folder.put("a.md", OLD)
        workspace = folder.open()
        turn = workspace.turn(AGENT, "Rewrite", mode=mode, token="t1")  # the same in both: hunks are named by it
        turn.write("a.md", NEW, turn.read("a.md").version)
        if ahead:
            work = workspace.plan_ahead(turn)
            assert work is not None
            work()
        meanwhile(folder, workspace)
        try:
            outcome = turn.commit()
        except RedraftError as error:
            return error.code, folder.tree()
        draft = workspace.draft("a.md")
        shown = None if draft is None else (draft.review.cuts(), draft.review.text)
        assert outcome.turn is not None
        before = outcome.applied, outcome.conflicts, folder.tree(), shown
        workspace.undo(outcome.turn.id)
        return before, folder.tree(), working(workspace, "a.md")


@pytest.mark.parametrize("mode", ["propose", "apply", "merge"])
@pytest.mark.parametrize("meanwhile", MEANWHILE.values(), ids=MEANWHILE)
def test_a_turn_that_was_planned_ahead_does_what_it_does_otherwise(mode: str, meanwhile: Meanwhile) -> None:
    assert carried_out(mode, meanwhile, ahead=True) == carried_out(mode, meanwhile, ahead=False)


def test_a_small_turn_is_not_planned_ahead(folder: Folder) -> None:
    folder.put("a.md", "A lamp.\n")
    workspace = folder.open()
    turn = workspace.turn(AGENT, "Rewrite", mode="propose")
    turn.write("a.md", "A lantern.\n", turn.read("a.md").version)
    assert workspace.plan_ahead(turn) is None


class Guard(AbstractContextManager[None]):
    """Held by a call; whenever it lets go, somebody else acts."""

    def __init__(self, others: Callable[[], object]) -> None:
        self.others = others
        self.released = 0

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        self.released += 1
        self.others()


@pytest.mark.parametrize("mode", ["propose", "apply"])
@pytest.mark.parametrize("tool", ["find_and_replace", "write_document", "batch"])
def test_others_type_while_a_tool_changes_a_great_deal(folder: Folder, tool: str, mode: str) -> None:
    folder.put("a.md", OLD)
    folder.put("b.md", "")
    workspace = folder.open()
    guard = Guard(lambda: type_at_end(workspace, "b.md", "x"))
    context = ToolContext(workspace, AGENT, mode=mode, guard=guard)
    tools = load_registry()
    version = tools.call("read_document", {"path": "a.md"}, context)["version"]
    replacing = {"path": "a.md", "version": version, "find": "lamp", "replace": "lantern"}
    given: dict[str, dict[str, Any]] = {
        "find_and_replace": replacing,
        "write_document": {"path": "a.md", "version": version, "content": NEW},
        "batch": {"calls": [{"tool": "find_and_replace", "arguments": replacing}]},
    }
    tools.call(tool, given[tool], context)
    assert working(workspace, "a.md") == NEW
    assert working(workspace, "b.md") == "x" * guard.released
    assert guard.released == 2


def test_others_type_while_a_document_is_checked(folder: Folder) -> None:
    folder.put("a.md", "[nowhere][none]\n")
    folder.put("b.md", "")
    workspace = folder.open()
    guard = Guard(lambda: type_at_end(workspace, "b.md", "x"))
    context = ToolContext(workspace, AGENT, mode="read", guard=guard)
    assert load_registry().call("read_document", {"path": "a.md", "check": True}, context)["slips"]
    assert working(workspace, "b.md") == "x"
