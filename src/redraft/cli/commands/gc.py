"""`redraft trash`, `audit` and `gc`: deleted documents, the audit log, and dropping old history."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from redraft.cli.command import Command, Invocation, pluralize, positive_number, turn_number
from redraft.cli.display import format_time, shorten
from redraft.cli.screen import BOLD, CYAN, DIM, GREEN, RED, StyledText
from redraft.workspace.shapes import turn_shape

if TYPE_CHECKING:
    from argparse import ArgumentParser

BROKEN = 1
USUAL_LIMIT = 100


def trash_list(call: Invocation) -> int:
    screen = call.screen
    with call.workspace() as workspace:
        trashed = workspace.list_trash()
        if screen.json:
            call.emit({"trash": [entry.as_json() for entry in trashed]})
            return 0
        for entry in trashed:
            deleted = f"  {format_time(entry.deleted)}  turn {entry.turn} by {entry.author}  {entry.size} bytes"
            screen.line("  ", StyledText(entry.path, BOLD), StyledText(deleted, DIM))
        if trashed:
            screen.line("Restore one: ", StyledText(call.command_line("trash", "restore", trashed[0].path), CYAN))
        else:
            screen.line("The trash is empty.")
    return 0


def trash_restore(call: Invocation) -> int:
    arguments = call.arguments
    with call.workspace() as workspace:
        turn = workspace.untrash(arguments.path, turn=arguments.turn, to=arguments.to)
        if call.screen.json:
            call.emit({"turn": turn_shape(turn), "path": arguments.to or arguments.path})
            return 0
        call.screen.line(StyledText(f"Turn {turn.id}", BOLD), f"  {turn.title}")
        call.screen.line("Undo with: ", StyledText(call.command_line("undo", str(turn.id)), CYAN))
    return 0


def audit_verify(call: Invocation) -> int:
    screen = call.screen
    with call.workspace() as workspace:
        verdict = workspace.verify_audit()
        if screen.json:
            call.emit({"intact": verdict.intact, **asdict(verdict)})
        elif verdict.intact:
            screen.line(StyledText("The audit log is intact", GREEN), f": {pluralize(verdict.entries, 'line')}.")
        else:
            broken = f"The audit log is broken at line {verdict.broken_at}"
            screen.line(StyledText(broken, RED), f": {verdict.reason}.")
            screen.line("Lines before it can be trusted; later ones cannot.")
    return 0 if verdict.intact else BROKEN


def audit_list(call: Invocation) -> int:
    screen = call.screen
    with call.workspace() as workspace:
        entries = workspace.audit(limit=call.arguments.limit)
        if screen.json:
            call.emit({"entries": entries})
            return 0
        for entry in entries:
            turn = "" if entry["turn"] is None else f"  turn {entry['turn']}"
            screen.line(
                StyledText(f"{entry['seq']:>5}", BOLD),
                StyledText(f"  {format_time(entry['at'])}", DIM),
                f"  {entry['author']}  {entry['tool']}  {entry['result']}{turn}",
                StyledText(f"  {shorten(entry['arguments'])}", DIM),
            )
        if not entries:
            screen.line("The audit log is empty.")
    return 0


def gc(call: Invocation) -> int:
    with call.workspace() as workspace:
        collected = workspace.gc()
        settings = workspace.settings
        if call.screen.json:
            call.emit(asdict(collected))
            return 0
        kept = f"{pluralize(settings.retention_days, 'day')} and {pluralize(settings.retention_turns, 'turn')}"
        call.screen.line(
            f"Dropped the content of {pluralize(collected.turns, 'turn')} and of "
            f"{pluralize(collected.snapshots, 'stored text')}. Kept: {kept}."
        )
    return 0


def configure_restore(parser: ArgumentParser) -> None:
    parser.add_argument("path", metavar="PATH", help="the path of the deleted document")
    parser.add_argument("--to", metavar="P", help="restore it under another path")
    parser.add_argument("--turn", metavar="T", type=turn_number, help="the turn that deleted it (default: the last)")


def configure_audit_list(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--limit", metavar="N", type=positive_number, default=USUAL_LIMIT, help=f"how many (default: {USUAL_LIMIT})"
    )


COMMANDS = {
    "trash list": Command("trash list", "List deleted documents, newest first", trash_list, examples=("trash list",)),
    "trash restore": Command(
        "trash restore",
        "Restore a deleted document",
        trash_restore,
        configure_restore,
        ("trash restore notes/old.md", "trash restore notes/old.md --to notes/new.md", "trash restore a.md --turn 7"),
        "Restore a deleted document: the last one with that path, unless you name a turn. Never overwrites anything.",
    ),
    "audit verify": Command(
        "audit verify",
        "Check that the audit log is intact",
        audit_verify,
        examples=("audit verify", "audit verify --json"),
        about="Verify the chain of hashes. Exit status 1, with the line number, if a line was changed or is missing.",
    ),
    "audit list": Command(
        "audit list",
        "Show the last lines of the audit log",
        audit_list,
        configure_audit_list,
        ("audit list", "audit list --limit 1000 --json"),
    ),
    "gc": Command(
        "gc",
        "Drop history that is older than the settings keep",
        gc,
        examples=("gc",),
        about="Old turns stay listed in the history but lose their content; pending proposals are never dropped.",
    ),
}
