"""`redraft undo`, `redo`, `restore` and `rollback`: going back, each time by a new turn that can be undone too."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from redraft.cli.choosing import matching
from redraft.cli.command import CONFLICTS, Call, Command, add_yes, turn_number
from redraft.cli.foreseeing import foresee
from redraft.cli.screen import BOLD, CYAN, RED, Styled
from redraft.cli.shapes import few, short
from redraft.errors import Refused
from redraft.workspace.shapes import turn_shape

if TYPE_CHECKING:
    from argparse import ArgumentParser
    from collections.abc import Sequence

    from redraft.workspace.rollback import TakenBack
    from redraft.workspace.workspace import Workspace

DECLINED = 3


def undo(call: Call) -> int:
    number = call.arguments.turn
    with call.workspace() as workspace:
        if call.arguments.dry_run:
            turn = workspace.engine.turns.last_to_undo() if number is None else workspace.show(number)
            return foresee(call, "undo", workspace, turn)
        return _report(call, workspace.undo(number), back=call.again("redo"))


def redo(call: Call) -> int:
    with call.workspace() as workspace:
        if call.arguments.dry_run:
            return foresee(call, "redo", workspace, workspace.engine.turns.last_to_redo())
        return _report(call, workspace.redo(), back=call.again("undo"))


def restore(call: Call) -> int:
    return _restored(call)


def rollback(call: Call) -> int:
    if call.arguments.mode == "hard_all":
        if call.arguments.hunk:
            raise Refused("hard_all takes a whole turn back; hunks are named with --mode scoped_selected.")
        return _restored(call)
    with call.workspace() as workspace:
        hunks = _hunks(workspace, call.arguments.turn, call.arguments.hunk or ())
        return _report(call, workspace.rollback(call.arguments.turn, "scoped_selected", hunks))


def _restored(call: Call) -> int:
    """Set documents to an earlier state, newer work in them included: only with the person's consent."""
    with call.workspace() as workspace:
        turn = workspace.show(call.arguments.turn)
        what = f"set {few(turn.paths)} to the state before turn {turn.id} ({short(turn.title)}), whatever came since"
        if not call.confirmed(what, list(turn.paths)):
            call.screen.line("Nothing was changed.")
            return DECLINED
        return _report(call, workspace.restore(turn.id))


def _hunks(workspace: Workspace, number: int, names: Sequence[str]) -> list[str]:
    """The ids that the names stand for; unlike those of a review, they are unique within their turn."""
    if not names:
        raise Refused(f"Say which hunks: --hunk ID, as `redraft show {number}` lists them.")
    known = [hunk.id for hunk in workspace.turn_hunks(number)]
    chosen: list[str] = []
    for name in names:
        found = matching(name, known)
        if not found:
            raise Refused(f"Turn {number} has no hunk {name}.", code="hunk_not_found", hunk_id=name)
        if len(found) > 1:
            raise Refused(f"{name} stands for several hunks: {', '.join(found)}. Write more of the id.")
        chosen += found
    return chosen


def _report(call: Call, taken: TakenBack, *, back: str = "") -> int:
    screen = call.screen
    if screen.json:
        turn = None if taken.turn is None else turn_shape(taken.turn)
        call.emit({"turn": turn, "conflicts": [asdict(clash) for clash in taken.conflicts]})
        return CONFLICTS if taken.conflicts else 0
    if taken.turn is not None:
        screen.line(Styled(f"Turn {taken.turn.id}", BOLD), f"  {taken.turn.title}")
        screen.line("Take this back: ", Styled(back or call.again("undo", str(taken.turn.id)), CYAN))
    for clash in taken.conflicts:
        screen.line(
            Styled("conflict ", RED), f"{clash.hunk_id} " if clash.hunk_id else "", clash.path, ": ", clash.reason
        )
    if taken.conflicts:
        left = "the rest was taken back" if taken.turn is not None else "nothing was changed"
        screen.line(f"These places stay as they are; {left}.")
    return CONFLICTS if taken.conflicts else 0


def configure_undo(parser: ArgumentParser) -> None:
    parser.add_argument("turn", metavar="TURN", nargs="?", type=turn_number, help="its number (default: the last turn)")
    configure_redo(parser)


def configure_redo(parser: ArgumentParser) -> None:
    parser.add_argument("--dry-run", action="store_true", help="show what it would do; write nothing")


def configure_restore(parser: ArgumentParser) -> None:
    parser.add_argument("turn", metavar="TURN", type=turn_number, help="its number")
    add_yes(parser)


def configure_rollback(parser: ArgumentParser) -> None:
    configure_restore(parser)
    parser.add_argument(
        "--mode",
        required=True,
        choices=("hard_all", "scoped_selected"),
        help="all documents of the turn as they were before it, or only the chosen hunks taken back",
    )
    parser.add_argument("--hunk", metavar="ID", action="append", help="a hunk of the turn; may be repeated")


COMMANDS = {
    "undo": Command(
        "undo",
        "Take a turn back, and keep what came after it",
        undo,
        configure_undo,
        ("undo", "undo 4", "undo --dry-run"),
        "Take a turn back, all of it or nothing. Later changes stay; where they touch the same words, the conflict\n"
        "is named, nothing is changed, and the exit status is 1.",
    ),
    "redo": Command("redo", "Take the last undo back", redo, configure_redo, ("redo", "redo --dry-run")),
    "restore": Command(
        "restore",
        "Set the documents of a turn to the state before it",
        restore,
        configure_restore,
        ("restore 4", "restore 4 --yes"),
        "Set every document of a turn to its checkpoint, the state before that turn, whatever came since.\n"
        "Asks first. It is a new turn, so it can be undone.",
    ),
    "rollback": Command(
        "rollback",
        "Take back a whole turn, or some of its hunks",
        rollback,
        configure_rollback,
        ("rollback 4 --mode hard_all", "rollback 4 --mode scoped_selected --hunk h_1a2b3c --hunk h_4d5e6f"),
        "hard_all is `restore`, and asks first. scoped_selected takes back the chosen hunks and keeps unrelated newer\n"
        "changes; a hunk that was changed again since is named as a conflict, and the exit status is 1.",
    ),
}
