"""`redraft turns` and `redraft show`: what happened, and what exactly one turn did."""

from __future__ import annotations

from typing import TYPE_CHECKING

from redraft.cli.command import Call, Command, add_paths, counted, positive_number, turn_number
from redraft.cli.hunk_lines import show_change
from redraft.cli.screen import BOLD, CYAN, DIM, Styled
from redraft.cli.shapes import change_line, changes, turn_line, when
from redraft.errors import Refused
from redraft.workspace.shapes import turn_shape

if TYPE_CHECKING:
    from argparse import ArgumentParser

    from redraft.history.turns import TurnRecord
    from redraft.workspace.workspace import Workspace

USUAL_LIMIT = 20


def turns(call: Call) -> int:
    with call.workspace() as workspace:
        found = workspace.turns(limit=call.arguments.limit, path=_one_path(call))
        if call.screen.json:
            call.emit({"turns": [turn_shape(turn) for turn in found]})
            return 0
        for turn in found:
            turn_line(call.screen, turn)
        if not found:
            call.screen.line("No turn yet.")
        elif len(found) == call.arguments.limit:
            call.screen.line(Styled("Older ones: --limit N", DIM))
    return 0


def _one_path(call: Call) -> str | None:
    named = {*filter(None, [call.arguments.document]), *call.arguments.path}
    if len(named) > 1:
        raise Refused("Name one document.")
    return next(iter(named), None)


def show(call: Call) -> int:
    with call.workspace() as workspace:
        turn = workspace.show(call.arguments.turn)
        if call.screen.json:
            _emit(call, workspace, turn)
        else:
            _tell(call, workspace, turn)
    return 0


def _emit(call: Call, workspace: Workspace, turn: TurnRecord) -> None:
    hunks = [
        {
            "hunk_id": found.id,
            "path": found.path,
            "old_start": found.hunk.old.start + 1,
            "new_start": found.hunk.new.start + 1,
            "old_text": found.hunk.old_text,
            "new_text": found.hunk.new_text,
            "oversized": found.hunk.oversized,
        }
        for found in workspace.turn_hunks(turn.id)
    ]
    call.emit({"turn": turn_shape(turn), "documents": changes(workspace, turn), "hunks": hunks})


def _tell(call: Call, workspace: Workspace, turn: TurnRecord) -> None:
    screen = call.screen
    screen.line(Styled(f"Turn {turn.id}", BOLD), f"  {turn.title}")
    mode = f" in the mode {turn.mode}" if turn.mode else ""
    screen.line(Styled(f"{turn.kind}{mode} by {turn.author}, {when(turn.created)}, {turn.state}", DIM))
    if turn.source is not None:
        screen.line(Styled(f"about turn {turn.source}", DIM))
    for change in changes(workspace, turn):
        change_line(screen, change)
    if turn.pruned:
        screen.line("Its content is no longer kept: it is older than the settings keep.")
        return
    _tell_hunks(call, workspace, turn)
    if turn.state == "proposed":
        screen.line()
        screen.line("It waits for your decision: ", Styled(call.again("diff"), CYAN))


def _tell_hunks(call: Call, workspace: Workspace, turn: TurnRecord) -> None:
    """The hunks with the ids by which a rollback names them. A proposal's are named by `diff` while they wait."""
    screen = call.screen
    before = {path: old for path, old, _ in workspace.turn_texts(turn.id)}
    path = ""
    hunks = workspace.turn_hunks(turn.id)
    for found in hunks:
        if found.path != path:
            path = found.path
            screen.line()
            screen.line(Styled(path, BOLD))
        name = "" if turn.state == "proposed" else f"{found.id}  "
        screen.line("  ", Styled(name, CYAN), Styled(f"line {found.hunk.new.start + 1}", DIM))
        show_change(screen, before[path], found.hunk.at, found.hunk.old_text, found.hunk.new_text)
    if turn.state == "applied" and hunks:
        _tell_ways_back(call, turn, hunks[0].id, len(hunks))


def _tell_ways_back(call: Call, turn: TurnRecord, hunk: str, count: int) -> None:
    screen = call.screen
    screen.line()
    if turn.kind != "propose":  # a proposal that was taken is undone by undoing the taking
        undo = call.again("undo", str(turn.id))
        screen.line(f"{counted(count, 'hunk')}. Take all back: ", Styled(undo, CYAN))
    rollback = call.again("rollback", str(turn.id), "--mode", "scoped_selected", "--hunk", hunk)
    screen.line("Take one back: ", Styled(rollback, CYAN))


def configure_turns(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--limit", metavar="N", type=positive_number, default=USUAL_LIMIT, help=f"how many (default: {USUAL_LIMIT})"
    )
    parser.add_argument("document", metavar="PATH", nargs="?", help="only those that touched this document")
    add_paths(parser, "the same")


def configure_show(parser: ArgumentParser) -> None:
    parser.add_argument("turn", metavar="TURN", type=turn_number, help="its number")


COMMANDS = {
    "turns": Command(
        "turns",
        "List what happened, the newest first",
        turns,
        configure_turns,
        ("turns", "turns --limit 100", "turns chapter-1.md"),
    ),
    "show": Command(
        "show",
        "Show what one turn did, hunk by hunk",
        show,
        configure_show,
        ("show 4", "show 4 --json"),
        "Show a turn: who, when, which documents, and every hunk with the id by which `rollback` takes it back.",
    ),
}
