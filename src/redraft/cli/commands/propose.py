"""`redraft propose`: a unified diff as one agent's turn. All of it is staged, or nothing."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from redraft.cli.command import CONFLICTS, Command, Invocation, add_yes
from redraft.cli.display import document_changes, print_change
from redraft.cli.screen import BOLD, CYAN, RED, StyledText
from redraft.errors import Refused
from redraft.workspace.shapes import turn_shape

if TYPE_CHECKING:
    from argparse import ArgumentParser

    from redraft.config import Limits
    from redraft.text.patch.unified_diff import FilePatch
    from redraft.workspace.document import Document
    from redraft.workspace.turns.turn import Outcome, Turn
    from redraft.workspace.workspace import Workspace

BOM = "\ufeff"
MODES = ("propose", "apply", "merge", "read")


def propose(call: Invocation) -> int:
    from redraft.history.turns import agent_author
    from redraft.text.patch.unified_diff import parse_patch

    arguments = call.arguments
    patches = parse_patch(_read_patch(arguments.patch))
    title = arguments.title or ("Patch" if arguments.patch == "-" else f"Patch {arguments.patch.rpartition('/')[2]}")
    with call.workspace(mode=arguments.mode) as workspace:
        limits = person_limits(workspace.settings.limits)
        turn = workspace.turn(agent_author(arguments.author), title, confirm=call.confirm, limits=limits)
        with turn:
            for patch in patches:
                stage(turn, patch)
        outcome = turn.outcome
        if outcome is None:
            raise Refused("The turn was not finished.", code="turn_closed")
        _report(call, workspace, outcome)
    return CONFLICTS if outcome.conflicts else 0


def person_limits(limits: Limits) -> Limits:
    """The limits without those that keep an agent from doing too much unseen: a person has seen this patch."""
    return replace(limits, actions=sys.maxsize, files=sys.maxsize, bytes=sys.maxsize)


def _read_patch(name: str) -> str:
    from redraft.runtime import read_input

    if name == "-" and sys.stdin.isatty():
        raise Refused("Name a file with a unified diff, or pipe one to standard input.")
    return read_input(name).text


def stage(turn: Turn, patch: FilePatch) -> None:
    """Do in the turn what the patch does to one file."""
    if patch.old_path is None:
        text = _apply(None, patch)
        turn.create(patch.path, text.removeprefix(BOM), bom=text.startswith(BOM))
        return
    document = turn.read(patch.old_path)
    text = _apply(document, patch)
    if patch.new_path is None:
        turn.delete(patch.old_path, document.version)
    elif patch.kind == "copied":
        turn.create(patch.new_path, text, bom=document.bom)
    else:
        if patch.new_path != patch.old_path:
            document = turn.move(patch.old_path, patch.new_path, document.version)
        if text != str(document.text):
            turn.write(patch.new_path, text, document.version)


def _apply(document: Document | None, patch: FilePatch) -> str:
    """The text after the patch. Git's patches carry a byte order mark as a character, a document carries it apart."""
    from redraft.text.patch.unified_diff import apply_patch

    try:
        if document is None:
            return apply_patch("", patch)
        marked = document.bom and any(line.startswith(BOM) for hunk in patch.hunks[:1] for _, line in hunk.lines)
        text = str(document.text)
        return apply_patch(BOM + text, patch).removeprefix(BOM) if marked else apply_patch(text, patch)
    except Refused as error:
        message = f"The patch does not apply to {patch.path}: {error.message}. Nothing was staged."
        raise Refused(message, code=error.code, **{**error.details, "path": patch.path}) from error


def _report(call: Invocation, workspace: Workspace, outcome: Outcome) -> None:
    screen, turn = call.screen, outcome.turn
    if screen.json:
        call.emit(
            {
                "turn": None if turn is None else turn_shape(turn),
                "documents": [] if turn is None else document_changes(workspace, turn),
                "applied": outcome.applied,
                "proposed": outcome.proposed,
                "conflicts": outcome.conflicts,
            }
        )
        return
    if turn is None:
        screen.line("The patch changes nothing.")
        return
    what = "is written" if outcome.applied else "waits for your decision"
    screen.line(StyledText(f"Turn {turn.id}", BOLD), f" by {turn.author} {what}: {turn.title}")
    for change in document_changes(workspace, turn):
        print_change(screen, change)
    for path in outcome.conflicts:
        screen.line(
            StyledText("conflict ", RED),
            f"{path}: both sides changed the same words; the conflict is marked in the text",
        )
    if outcome.applied:
        screen.line("Undo with: ", StyledText(call.command_line("undo", str(turn.id)), CYAN))
    else:
        screen.line("Show it: ", StyledText(call.command_line("diff"), CYAN))
        screen.line("Accept it: ", StyledText(call.command_line("accept", "--turn", str(turn.id)), CYAN))


def configure(parser: ArgumentParser) -> None:
    parser.add_argument(
        "patch",
        metavar="PATCH",
        nargs="?",
        default="-",
        help="a file with a unified diff (default, or with -: standard input)",
    )
    parser.add_argument("--title", metavar="T", help="the turn's title in the history")
    parser.add_argument("--author", metavar="NAME", default="agent", help="who made it (default: agent)")
    parser.add_argument("--mode", choices=MODES, help="when changes reach the disk (default: from the settings)")
    add_yes(parser)


COMMANDS = {
    "propose": Command(
        "propose",
        "Apply an agent's patch as a turn",
        propose,
        configure,
        (
            "propose changes.patch",
            "propose examples/first-turn.patch --folder examples/notes",
            "propose - --title 'Tidy the notes' --author scribe < changes.patch",
        ),
        "Apply a unified diff as one turn of an agent: edited, new, deleted and renamed documents. If any part does\n"
        "not apply, nothing is staged. In the mode propose it waits for your decision; in apply it is written\n"
        "at once (deletions and large turns ask first); in merge it is merged with what was typed in the meantime.",
    )
}
