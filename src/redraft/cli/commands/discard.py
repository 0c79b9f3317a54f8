"""`redraft discard`: drop what was typed into a document and not saved. The history keeps it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from redraft.cli.command import Command, Invocation, add_yes
from redraft.cli.screen import BOLD, CYAN, StyledText
from redraft.workspace.shapes import turn_shape

if TYPE_CHECKING:
    from argparse import ArgumentParser

DECLINED = 3


def discard(call: Invocation) -> int:
    path = call.arguments.document
    with call.workspace() as workspace:
        draft = workspace.draft(path)
        if draft is not None and (draft.dirty or draft.saved is None):
            if not call.confirm(f"discard the unsaved typing in {path}", [path]):
                call.screen.line("Nothing was changed.")
                return DECLINED
            turn = workspace.discard_typing(path)
        else:
            turn = None
        if call.screen.json:
            call.emit({"turn": None if turn is None else turn_shape(turn)})
        elif turn is None:
            call.screen.line(f"There is no unsaved typing in {path}.")
        else:
            call.screen.line(StyledText(f"Turn {turn.id}", BOLD), f"  {turn.title}")
            call.screen.line("Undo with: ", StyledText(call.command_line("undo", str(turn.id)), CYAN))
    return 0


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("document", metavar="DOCUMENT", help="its path in the folder")
    add_yes(parser)


COMMANDS = {
    "discard": Command(
        "discard",
        "Discard the unsaved typing in a document",
        discard,
        configure,
        ("discard notes.md", "discard notes.md --yes"),
        "Discard what was typed into a document and not saved. Agents' proposals in it stay. Asks first. This is a\n"
        "new turn, so it can be undone.",
    )
}
