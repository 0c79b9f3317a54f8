"""`redraft undo`, `redo`, `restore` and `rollback`: go back, each time with a new turn that can itself be undone."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from redraft.cli.command import CONFLICTS, Command, Invocation, add_yes, turn_number
from redraft.cli.display import shorten, show_change, summarize_paths
from redraft.cli.hunk_selection import match_ids
from redraft.cli.screen import BOLD, CYAN, DIM, RED, StyledText
from redraft.errors import RedraftError, Refused
from redraft.text.diff.hunks import diff
from redraft.text.merge.three_way import merge
from redraft.text.patch.unified_diff import format_patch
from redraft.workspace.shapes import turn_shape
from redraft.workspace.undo.rollback import check_standing

if TYPE_CHECKING:
    from argparse import ArgumentParser
    from collections.abc import Callable, Iterator, Sequence

    from redraft.history.journal import Content
    from redraft.history.turns import TurnRecord
    from redraft.workspace.turns.plan import Plan
    from redraft.workspace.undo.draft_moves import Clash
    from redraft.workspace.undo.rollback import RollbackResult
    from redraft.workspace.workspace import Workspace

    Becomes = tuple[str, str | None, str | None]

# What `redraft undo` or `redraft redo` would do, shown before it is done: `--dry-run`. Nothing is written.
#
# It is the plan that the command would carry out, made from the current state and then discarded.


def preview(call: Invocation, word: str, workspace: Workspace, turn: TurnRecord | None) -> int:
    """Show what undoing this turn would change, or the conflicts; `word` is the command's name."""
    if turn is None:
        raise Refused(f"There is nothing to {word}.", code="nothing_to_undo")
    check_standing(turn)
    turns = workspace.turns_undone_with(turn)
    plans, clashes = workspace.plan_undo(turns)
    documents = [] if clashes else _join_changed_texts([list(_list_changed_texts(workspace, plan)) for plan in plans])
    if call.screen.json:
        patches = [{"path": path, "patch": format_patch(path, old, new)} for path, old, new in documents]
        found = {
            "dry_run": True,
            "takes_back": turn_shape(turn),
            "turns": [each.id for each in turns],
            "documents": patches,
            "conflicts": [asdict(clash) for clash in clashes],
        }
        call.emit(found)
    else:
        _print_preview(call, word, turns, documents, clashes)
    return CONFLICTS if clashes else 0


def _join_changed_texts(found: Sequence[Sequence[Becomes]]) -> list[Becomes]:
    """What several plans make of the documents together, each made from what they say now."""
    joined: dict[str, tuple[str | None, str | None]] = {}
    for path, old, new in (each for plan in found for each in plan):
        if path not in joined:
            joined[path] = old, new
        elif new is not None and old is not None and (before := joined[path][1]) is not None:
            both = merge(old, before, new)
            joined[path] = old, new if both.conflicts else both.text
        else:
            joined[path] = old, new
    return [(path, old, new) for path, (old, new) in joined.items() if old != new]


def _list_changed_texts(workspace: Workspace, plan: Plan) -> Iterator[Becomes]:
    """The files that would be written; then the documents of which only what waits in them would change."""
    for file in plan.files:
        yield str(file.path), _content_text(file.before), _content_text(file.after)
    written = {str(file.path) for file in plan.files}
    for path, after in plan.drafts.items():
        now = workspace.draft(path)
        either = now or after
        if path in written or either is None:
            continue
        saved = None if either.saved is None else either.saved_text
        old = saved if now is None else now.review.working
        new = saved if after is None else after.review.working
        if old != new:
            yield path, old, new


def _content_text(content: Content | None) -> str | None:
    """What a file says; a file that is not text says nothing."""
    return None if content is None else "" if content.text is None else str(content.text)


def _print_preview(
    call: Invocation, word: str, turns: Sequence[TurnRecord], documents: Sequence[Becomes], clashes: Sequence[Clash]
) -> None:
    screen = call.screen
    screen.line(f"`redraft {word}` would undo ", StyledText(_name_turns(turns), BOLD), f"  {turns[0].title}")
    for path, old, new in documents:
        screen.line()
        fate = "  would be deleted" if new is None else "  would be restored" if old is None else ""
        screen.line(StyledText(path, BOLD), StyledText(fate, DIM))
        for hunk in diff(old or "", new or ""):
            screen.line("  ", StyledText(f"line {hunk.old.start + 1}", DIM))
            show_change(screen, old or "", hunk.at, hunk.old_text, hunk.new_text)
    for clash in clashes:
        screen.line(StyledText("conflict ", RED), clash.path, ": ", clash.reason)
    if clashes:
        screen.line("So nothing would be changed.")
    elif not documents:
        screen.line("No text would be changed.")


def _name_turns(turns: Sequence[TurnRecord]) -> str:
    numbers = sorted(turn.id for turn in turns)
    named = ", ".join(map(str, numbers[:-1]))
    return f"turns {named} and {numbers[-1]}" if named else f"turn {numbers[-1]}"


DECLINED = 3


def _agree_to_secrets(call: Invocation, act: Callable[[set[str]], RollbackResult]) -> RollbackResult | None:
    """Undo; if that gives the text of a secret a name that everybody may read, once the person agrees. None: they did
    not."""
    agreed = set[str]()
    while True:
        try:
            return act(agreed)
        except RedraftError as error:
            path = str(error.details.get("path"))
            if error.code != "secret" or path in agreed:
                raise
            if not call.confirm(f"let every agent read what is in {path} now, under the name that it had before", []):
                return None
            agreed.add(path)


def undo(call: Invocation) -> int:
    number = call.arguments.turn
    with call.workspace() as workspace:
        if call.arguments.dry_run:
            turn = workspace.last_to_undo() if number is None else workspace.show(number)
            return preview(call, "undo", workspace, turn)
        taken = _agree_to_secrets(call, lambda agreed: workspace.undo(number, confirmed=agreed))
        if taken is None:
            return DECLINED
        again = workspace.last_to_redo()
        # The undo of an undo is not what `redo` would undo.
        redoes = taken.turn is not None and again is not None and again.id == taken.turn.id
        return _report(call, taken, back=call.command_line("redo") if redoes else "")


def redo(call: Invocation) -> int:
    with call.workspace() as workspace:
        if call.arguments.dry_run:
            return preview(call, "redo", workspace, workspace.last_to_redo())
        taken = _agree_to_secrets(call, lambda agreed: workspace.redo(confirmed=agreed))
        return DECLINED if taken is None else _report(call, taken, back=call.command_line("undo"))


def restore(call: Invocation) -> int:
    return _restore(call)


def rollback(call: Invocation) -> int:
    if call.arguments.mode == "hard_all":
        if call.arguments.hunk:
            raise Refused("hard_all undoes the whole turn; to name hunks, use --mode scoped_selected.")
        return _restore(call)
    with call.workspace() as workspace:
        hunks = _resolve_hunks(workspace, call.arguments.turn, call.arguments.hunk or ())
        return _report(call, workspace.rollback(call.arguments.turn, "scoped_selected", hunks))


def _restore(call: Invocation) -> int:
    """Set documents to an earlier state, newer work in them included: only with the person's consent."""
    with call.workspace() as workspace:
        turn = workspace.show(call.arguments.turn)
        paths = summarize_paths(turn.paths)
        what = f"set {paths} to the state before turn {turn.id} ({shorten(turn.title)}), discarding later changes"
        if not call.confirm(what, list(turn.paths)):
            call.screen.line("Nothing was changed.")
            return DECLINED
        return _report(call, workspace.restore(turn.id))


def _resolve_hunks(workspace: Workspace, number: int, names: Sequence[str]) -> list[str]:
    """The ids that the names stand for; unlike those of a review, they are unique within their turn."""
    if not names:
        raise Refused(f"Name the hunks: --hunk ID, as `redraft show {number}` lists them.")
    known = [hunk.id for hunk in workspace.turn_content(number).hunks()]
    chosen: list[str] = []
    for name in names:
        found = match_ids(name, known)
        if not found:
            raise Refused(f"Turn {number} has no hunk {name}.", code="hunk_not_found", hunk_id=name)
        if len(found) > 1:
            raise Refused(f"{name} matches several hunks: {', '.join(found)}. Type more of the id.")
        chosen += found
    return chosen


def _report(call: Invocation, taken: RollbackResult, *, back: str = "") -> int:
    screen = call.screen
    if screen.json:
        turn = None if taken.turn is None else turn_shape(taken.turn)
        call.emit({"turn": turn, "conflicts": [asdict(clash) for clash in taken.conflicts]})
        return CONFLICTS if taken.conflicts else 0
    if taken.turn is not None:
        screen.line(StyledText(f"Turn {taken.turn.id}", BOLD), f"  {taken.turn.title}")
        screen.line("Undo with: ", StyledText(back or call.command_line("undo", str(taken.turn.id)), CYAN))
    elif not taken.conflicts:
        screen.line("Nothing was changed: the documents are already as they were before that turn.")
    for clash in taken.conflicts:
        screen.line(
            StyledText("conflict ", RED), f"{clash.hunk_id} " if clash.hunk_id else "", clash.path, ": ", clash.reason
        )
    if taken.conflicts:
        left = "the rest was undone" if taken.turn is not None else "nothing was changed"
        screen.line(f"These places were left alone; {left}.")
    return CONFLICTS if taken.conflicts else 0


def configure_undo(parser: ArgumentParser) -> None:
    parser.add_argument("turn", metavar="TURN", nargs="?", type=turn_number, help="its number (default: the last turn)")
    configure_redo(parser)


def configure_redo(parser: ArgumentParser) -> None:
    parser.add_argument("--dry-run", action="store_true", help="show what would happen; write nothing")
    add_yes(parser)


def configure_restore(parser: ArgumentParser) -> None:
    parser.add_argument("turn", metavar="TURN", type=turn_number, help="its number")
    add_yes(parser)


def configure_rollback(parser: ArgumentParser) -> None:
    configure_restore(parser)
    parser.add_argument(
        "--mode",
        required=True,
        choices=("hard_all", "scoped_selected"),
        help="hard_all: every document of the turn as it was before; scoped_selected: undo only the chosen hunks",
    )
    parser.add_argument("--hunk", metavar="ID", action="append", help="a hunk of the turn; may be repeated")


COMMANDS = {
    "undo": Command(
        "undo",
        "Undo a turn, and keep later changes",
        undo,
        configure_undo,
        ("undo", "undo 4", "undo --dry-run"),
        "Undo a turn, all of it or nothing. Later changes stay; where they touch the same words, the conflict\n"
        "is named, nothing is changed, and the exit status is 1. What another program wrote is a turn too;\n"
        "undo it by its number. What an agent did for one prompt (`redraft hooks`) is undone together.",
    ),
    "redo": Command("redo", "Redo what was last undone", redo, configure_redo, ("redo", "redo --dry-run")),
    "restore": Command(
        "restore",
        "Restore the documents of a turn to their state before it",
        restore,
        configure_restore,
        ("restore 4", "restore 4 --yes"),
        "Restore every document of a turn to its checkpoint, the state before that turn, discarding later changes.\n"
        "Asks first. This is a new turn, so it can be undone; if nothing would change, no turn is made.",
    ),
    "rollback": Command(
        "rollback",
        "Undo a whole turn, or some of its hunks",
        rollback,
        configure_rollback,
        ("rollback 4 --mode hard_all", "rollback 4 --mode scoped_selected --hunk h_1a2b3c --hunk h_4d5e6f"),
        "hard_all is `restore`, and asks first. scoped_selected undoes the chosen hunks and keeps unrelated later\n"
        "changes; a hunk that was changed again since is reported as a conflict, and the exit status is 1.",
    ),
}
