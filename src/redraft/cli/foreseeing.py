"""What `redraft undo` or `redraft redo` would do, shown before it is done: `--dry-run`. Nothing is written.

It is the plan that the command itself would carry out, made from the present and thrown away.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from redraft.cli.command import CONFLICTS
from redraft.cli.hunk_lines import show_change
from redraft.cli.screen import BOLD, DIM, RED, Styled
from redraft.errors import Refused
from redraft.text.diff import diff
from redraft.text.patch import format_patch
from redraft.workspace.inverse import invert_turn
from redraft.workspace.rollback import check_standing
from redraft.workspace.shapes import turn_shape

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from redraft.cli.command import Call
    from redraft.history.journal import Content
    from redraft.history.turns import TurnRecord
    from redraft.workspace.inverse import Clash
    from redraft.workspace.plan import Plan
    from redraft.workspace.workspace import Workspace

    # Where, what it says now, and what it would say; None where there is no document.
    Becomes = tuple[str, str | None, str | None]


def foresee(call: Call, word: str, workspace: Workspace, turn: TurnRecord | None) -> int:
    """Tell what taking this turn back would change, or what would stand in its way; `word` is the command's."""
    if turn is None:
        raise Refused(f"There is nothing to {word}.", code="nothing_to_undo")
    check_standing(turn)
    with workspace.engine.journal.locked():
        plan, clashes = invert_turn(workspace.engine, turn)
        documents = [] if clashes else list(_becoming(workspace, plan))
    if call.screen.json:
        patches = [{"path": path, "patch": format_patch(path, old, new)} for path, old, new in documents]
        conflicts = [asdict(clash) for clash in clashes]
        call.emit({"dry_run": True, "takes_back": turn_shape(turn), "documents": patches, "conflicts": conflicts})
    else:
        _tell(call, word, turn, documents, clashes)
    return CONFLICTS if clashes else 0


def _becoming(workspace: Workspace, plan: Plan) -> Iterator[Becomes]:
    """The files that would be written; then the documents of which only what waits in them would change."""
    for file in plan.files:
        yield str(file.path), _says(file.before), _says(file.after)
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


def _says(content: Content | None) -> str | None:
    """What a file says; a file that is no text says nothing."""
    return None if content is None else "" if content.text is None else str(content.text)


def _tell(call: Call, word: str, turn: TurnRecord, documents: Sequence[Becomes], clashes: Sequence[Clash]) -> None:
    screen = call.screen
    screen.line(f"`redraft {word}` would take back ", Styled(f"turn {turn.id}", BOLD), f"  {turn.title}")
    for path, old, new in documents:
        screen.line()
        fate = "  would be gone" if new is None else "  would be there again" if old is None else ""
        screen.line(Styled(path, BOLD), Styled(fate, DIM))
        for hunk in diff(old or "", new or ""):
            screen.line("  ", Styled(f"line {hunk.old.start + 1}", DIM))
            show_change(screen, old or "", hunk.at, hunk.old_text, hunk.new_text)
    for clash in clashes:
        screen.line(Styled("conflict ", RED), clash.path, ": ", clash.reason)
    if clashes:
        screen.line("So nothing would be changed.")
    elif not documents:
        screen.line("No text would be changed.")
