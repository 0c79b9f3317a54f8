"""`redraft status`: the state of the folder, and what to do next."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from redraft.cli.command import Command, Invocation, pluralize
from redraft.cli.commands.accept import can_be_accepted, settle_steps
from redraft.cli.display import print_draft, print_turn
from redraft.cli.screen import BOLD, CYAN, DIM, RED, StyledText
from redraft.workspace.shapes import draft_shape, turn_shape

if TYPE_CHECKING:
    from collections.abc import Sequence

    from redraft.workspace.document import Draft
    from redraft.workspace.workspace import Workspace

LAST_TURNS = 5
# An example folder may come with a first turn to try: a patch of this name beside it.
FIRST_TURN = "first-turn.patch"


def status(call: Invocation) -> int:
    with call.workspace() as workspace:
        workspace.refresh()
        drafts = workspace.drafts()
        if call.screen.json:
            _emit(call, workspace, drafts)
        else:
            _print_status(call, workspace, drafts)
    return 0


def _emit(call: Invocation, workspace: Workspace, drafts: Sequence[Draft]) -> None:
    settings = workspace.settings
    turns = workspace.proposals()
    call.emit(
        {
            "folder": os.path.realpath(workspace.folder),
            "workspace_id": workspace.id,
            "mode": settings.mode,
            "review": settings.review,
            "documents": [draft_shape(draft, turns) for draft in drafts],
            "proposals": sorted(turns.values()),
            "trash": len(workspace.list_trash()),
            "turns": [turn_shape(turn) for turn in workspace.turns(limit=LAST_TURNS)],
        }
    )


def _print_status(call: Invocation, workspace: Workspace, drafts: Sequence[Draft]) -> None:
    screen = call.screen
    screen.line(StyledText(os.path.realpath(workspace.folder), BOLD))
    screen.line(StyledText(_describe_mode(workspace), DIM))
    for notice in workspace.notices:
        screen.line(StyledText(f"note: {notice}", RED))
        call.shown_notices.append(notice)
    for title, some in (
        ("To review", [draft for draft in drafts if draft.pending]),
        ("Unsaved typing", [draft for draft in drafts if not draft.pending]),
    ):
        if some:
            screen.line()
            screen.line(f"{title}:")
            for draft in some:
                print_draft(screen, draft)
    _print_turns(call, workspace)
    screen.line()
    for what, command in _next_steps(call, workspace, drafts):
        screen.line(f"{what}: ", StyledText(command, CYAN))


def _describe_mode(workspace: Workspace) -> str:
    settings = workspace.settings
    mode = {
        "read": "agents may only read",
        "propose": "agents propose, you decide",
        "apply": "agents write at once, you can undo",
        "merge": "agents write at once, merged with what you typed",
    }[settings.mode]
    whole = ", each turn is decided as a whole" if settings.review == "turn" else ""
    return f"mode {settings.mode}: {mode}{whole}"


def _print_turns(call: Invocation, workspace: Workspace) -> None:
    screen = call.screen
    turns, trashed = workspace.turns(limit=LAST_TURNS), workspace.list_trash()
    if turns:
        screen.line()
        screen.line("The last turns:")
        for turn in turns:
            print_turn(screen, turn)
    if trashed:
        screen.line()
        screen.line(f"{pluralize(len(trashed), 'document')} in the trash.")


def _next_steps(call: Invocation, workspace: Workspace, drafts: Sequence[Draft]) -> list[tuple[str, str]]:
    settle = settle_steps(call, drafts)
    if any(draft.pending for draft in drafts):
        return [
            ("Show the proposals", call.command_line("diff")),
            *settle,
            *([("Accept all", call.command_line("accept", "--all"))] if can_be_accepted(drafts) else []),
            ("Reject all", call.command_line("reject", "--all")),
        ]
    if settle:
        return settle
    if drafts:
        return [("Save your typing", call.command_line("accept", "--path", drafts[0].key))]
    if workspace.last_to_redo() is not None:
        return [("Nothing is pending. Redo what was undone", call.command_line("redo"))]
    if workspace.last_to_undo() is not None:
        return [("Nothing is pending. Undo the last turn", call.command_line("undo"))]
    if workspace.turns(limit=1):
        return [("Nothing is pending. Show the history", call.command_line("turns"))]
    first = os.path.normpath(os.path.join(call.folder, os.pardir, FIRST_TURN))
    patch = first if os.path.isfile(first) else "CHANGES.patch"
    return [("There is no history yet. Apply an agent's patch", call.command_line("propose", patch))]


COMMANDS = {
    "status": Command(
        "status",
        "Show the state of the folder, and what to do next",
        status,
        examples=("status", "status --folder examples/notes", "status --json"),
        about="Show pending reviews, unsaved typing, anything lost or recovered, the trash and the last turns.",
    )
}
