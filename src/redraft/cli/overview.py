"""`redraft status`: where the folder stands, and what to do next."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from redraft.cli.command import Call, Command, counted
from redraft.cli.screen import BOLD, CYAN, DIM, RED, Styled
from redraft.cli.shapes import draft_line, turn_line
from redraft.workspace.shapes import draft_shape, proposals, turn_shape

if TYPE_CHECKING:
    from collections.abc import Sequence

    from redraft.workspace.draft import Draft
    from redraft.workspace.workspace import Workspace

LAST_TURNS = 5
# An example folder may come with a first turn to try: a patch of this name beside it.
FIRST_TURN = "first-turn.patch"


def status(call: Call) -> int:
    with call.workspace() as workspace:
        drafts = workspace.drafts()
        if call.screen.json:
            _emit(call, workspace, drafts)
        else:
            _tell(call, workspace, drafts)
    return 0


def _emit(call: Call, workspace: Workspace, drafts: Sequence[Draft]) -> None:
    settings = workspace.engine.settings
    turns = proposals(workspace)
    call.emit(
        {
            "folder": os.path.realpath(workspace.folder),
            "workspace_id": workspace.id,
            "mode": settings.mode,
            "review": settings.review,
            "documents": [draft_shape(draft, turns) for draft in drafts],
            "proposals": sorted(turns.values()),
            "trash": len(workspace.trashed()),
            "turns": [turn_shape(turn) for turn in workspace.turns(limit=LAST_TURNS)],
        }
    )


def _tell(call: Call, workspace: Workspace, drafts: Sequence[Draft]) -> None:
    screen = call.screen
    screen.line(Styled(os.path.realpath(workspace.folder), BOLD))
    screen.line(Styled(_in_words(workspace), DIM))
    for notice in workspace.notices:
        screen.line(Styled(f"note: {notice}", RED))
        call.told.append(notice)
    for title, some in (
        ("Waiting for your decision", [draft for draft in drafts if draft.pending]),
        ("Typed and not saved yet", [draft for draft in drafts if not draft.pending]),
    ):
        if some:
            screen.line()
            screen.line(f"{title}:")
            for draft in some:
                draft_line(screen, draft)
    _tell_past(call, workspace)
    screen.line()
    for what, command in _next_steps(call, workspace, drafts):
        screen.line(f"{what}: ", Styled(command, CYAN))


def _in_words(workspace: Workspace) -> str:
    settings = workspace.engine.settings
    mode = {
        "read": "agents may only read",
        "propose": "agents propose, you decide",
        "apply": "agents write at once, you can undo",
        "merge": "agents write at once, merged with what you typed",
    }[settings.mode]
    whole = ", a turn is decided as a whole" if settings.review == "turn" else ""
    return f"mode {settings.mode}: {mode}{whole}"


def _tell_past(call: Call, workspace: Workspace) -> None:
    screen = call.screen
    turns, trashed = workspace.turns(limit=LAST_TURNS), workspace.trashed()
    if turns:
        screen.line()
        screen.line("The last turns:")
        for turn in turns:
            turn_line(screen, turn)
    if trashed:
        screen.line()
        screen.line(f"{counted(len(trashed), 'document')} in the trash.")


def _next_steps(call: Call, workspace: Workspace, drafts: Sequence[Draft]) -> list[tuple[str, str]]:
    clash = next((hunk for draft in drafts for hunk in draft.review.hunks if hunk.conflict), None)
    settle = [("Settle a conflict, with --mine, --theirs or --both", call.again("settle", clash.id))] if clash else []
    if any(draft.pending for draft in drafts):
        return [
            ("See what is proposed", call.again("diff")),
            *settle,
            ("Take all of it", call.again("accept", "--all")),
            ("Refuse all of it", call.again("reject", "--all")),
        ]
    if settle:
        return settle
    if drafts:
        return [("Save what you typed", call.again("accept", "--path", drafts[0].key))]
    past = workspace.engine.turns
    if past.last_to_redo() is not None:
        return [("Nothing waits for you. Do again what was undone", call.again("redo"))]
    if past.last_to_undo() is not None:
        return [("Nothing waits for you. Take the last turn back", call.again("undo"))]
    if workspace.turns(limit=1):
        return [("Nothing waits for you. See what happened", call.again("turns"))]
    first = os.path.normpath(os.path.join(call.folder, os.pardir, FIRST_TURN))
    patch = first if os.path.isfile(first) else "CHANGES.patch"
    return [("Nothing has happened here yet. Bring in an agent's work", call.again("propose", patch))]


COMMANDS = {
    "status": Command(
        "status",
        "Show where the folder stands, and what to do next",
        status,
        examples=("status", "status --folder examples/notes", "status --json"),
        about="Show pending reviews, unsaved typing, what was lost or recovered, the trash and the last turns.",
    )
}
