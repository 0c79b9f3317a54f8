"""`redraft turns` and `redraft show`: list the history, and show one turn in detail."""

from __future__ import annotations

from typing import TYPE_CHECKING

from redraft.cli.command import Command, Invocation, add_paths, pluralize, positive_number, turn_number
from redraft.cli.display import document_changes, format_time, print_change, print_turn, show_change, turn_state_words
from redraft.cli.screen import BOLD, CYAN, DIM, StyledText
from redraft.errors import Refused
from redraft.workspace.shapes import turn_shape

if TYPE_CHECKING:
    from argparse import ArgumentParser

    from redraft.history.turns import TurnRecord
    from redraft.workspace.workspace import Workspace

USUAL_LIMIT = 20


def turns(call: Invocation) -> int:
    with call.workspace() as workspace:
        workspace.refresh()
        found = workspace.turns(limit=call.arguments.limit, path=_one_path(call))
        if call.screen.json:
            call.emit({"turns": [turn_shape(turn) for turn in found]})
            return 0
        for turn in found:
            print_turn(call.screen, turn, found)
        if not found:
            call.screen.line("There are no turns yet.")
        elif len(found) == call.arguments.limit:
            call.screen.line(StyledText("Older ones: --limit N", DIM))
    return 0


def _one_path(call: Invocation) -> str | None:
    named = {*filter(None, [call.arguments.document]), *call.arguments.path}
    if len(named) > 1:
        raise Refused("Name one document.")
    return next(iter(named), None)


def show(call: Invocation) -> int:
    with call.workspace() as workspace:
        turn = workspace.show(call.arguments.turn)
        if call.screen.json:
            _emit(call, workspace, turn)
        else:
            _print_details(call, workspace, turn)
    return 0


def _emit(call: Invocation, workspace: Workspace, turn: TurnRecord) -> None:
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
        for found in workspace.turn_content(turn.id).hunks()
    ]
    call.emit({"turn": turn_shape(turn), "documents": document_changes(workspace, turn), "hunks": hunks})


def _print_details(call: Invocation, workspace: Workspace, turn: TurnRecord) -> None:
    screen = call.screen
    screen.line(StyledText(f"Turn {turn.id}", BOLD), f"  {turn.title}")
    mode = f" in the mode {turn.mode}" if turn.mode else ""
    screen.line(
        StyledText(f"{turn.kind}{mode} by {turn.author}, {format_time(turn.created)}, {turn_state_words(turn)}", DIM)
    )
    if turn.source is not None:
        screen.line(StyledText(f"about turn {turn.source}", DIM))
    for change in document_changes(workspace, turn):
        print_change(screen, change)
    if turn.pruned:
        screen.line("Its content is no longer kept: the turn is older than the settings allow.")
        return
    _print_hunks(call, workspace, turn)
    if turn.state == "proposed":
        screen.line()
        screen.line("It waits for your decision: ", StyledText(call.command_line("diff"), CYAN))


def _print_hunks(call: Invocation, workspace: Workspace, turn: TurnRecord) -> None:
    """The hunks with the ids by which a rollback names them. A proposal's are named by `diff` while they wait."""
    screen = call.screen
    before = {path: old for path, old, _ in workspace.turn_texts(turn.id)}
    path = ""
    hunks = workspace.turn_content(turn.id).hunks()
    for found in hunks:
        if found.path != path:
            path = found.path
            screen.line()
            screen.line(StyledText(path, BOLD))
        name = "" if turn.state == "proposed" else f"{found.id}  "
        screen.line("  ", StyledText(name, CYAN), StyledText(f"line {found.hunk.new.start + 1}", DIM))
        show_change(screen, before[path], found.hunk.at, found.hunk.old_text, found.hunk.new_text)
    if turn.state == "applied" and hunks:
        _print_undo_hints(call, turn, hunks[0].id, len(hunks))


def _print_undo_hints(call: Invocation, turn: TurnRecord, hunk: str, count: int) -> None:
    screen = call.screen
    screen.line()
    if turn.kind != "propose":  # a proposal that was taken is undone by undoing the taking
        undo = call.command_line("undo", str(turn.id))
        screen.line(f"{pluralize(count, 'hunk')}. Undo all: ", StyledText(undo, CYAN))
    rollback = call.command_line("rollback", str(turn.id), "--mode", "scoped_selected", "--hunk", hunk)
    screen.line("Undo one: ", StyledText(rollback, CYAN))


def configure_turns(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--limit", metavar="N", type=positive_number, default=USUAL_LIMIT, help=f"how many (default: {USUAL_LIMIT})"
    )
    parser.add_argument("document", metavar="PATH", nargs="?", help="only turns that touched this document")
    add_paths(parser, "the same")


def configure_show(parser: ArgumentParser) -> None:
    parser.add_argument("turn", metavar="TURN", type=turn_number, help="its number")


COMMANDS = {
    "turns": Command(
        "turns",
        "List the history, newest first",
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
        "Show a turn: who, when, which documents, and each hunk with the id that `rollback` takes.",
    ),
}
