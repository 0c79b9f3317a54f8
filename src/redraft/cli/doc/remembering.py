"""`log`, `show`, `undo` and `read`: a session document's own past, on the folder's one history, and its parts."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from redraft.cli.command import Call, Command, positive_number, turn_number
from redraft.cli.doc.desk import add_file, looking, project_of, say
from redraft.errors import Refused

if TYPE_CHECKING:
    from argparse import ArgumentParser
    from collections.abc import Generator

    from redraft.history.turns import TurnRecord
    from redraft.workspace.workspace import Workspace

USUAL_LIMIT = 20
CONFLICTS = 1


@contextmanager
def _opened(call: Call) -> Generator[tuple[Workspace, str]]:
    """The folder of the document, and the document's path in it."""
    from redraft.runtime import open_workspace

    project = project_of(call, call.arguments.file)
    with open_workspace(project.folder) as workspace:
        yield workspace, project.path


def log(call: Call) -> int:
    from redraft.cli.shapes import turn_line
    from redraft.workspace.shapes import turn_shape

    with _opened(call) as (workspace, path):
        found = workspace.turns(limit=call.arguments.limit, path=path)
        if call.screen.json:
            call.screen.emit({"turns": [turn_shape(turn) for turn in found]})
            return 0
        for turn in found:
            turn_line(call.screen, turn)
        if not found:
            call.screen.line("Nothing happened to it yet.")
    return 0


def show(call: Call) -> int:
    from redraft.workspace.blame import revisions

    back: int = call.arguments.back
    with _opened(call) as (workspace, path):
        now = str(workspace.read(path).text)
        # Newest first: the text as it is, and then for each turn what was there before it.
        texts = [revision.text for revision in revisions(workspace.engine, path, now)[::-2]]
    if back >= len(texts):
        raise Refused(f"The history knows {len(texts) - 1} changes of this document.", code="not_found")
    if call.screen.json:
        call.screen.emit({"back": back, "content": texts[back]})
    else:
        call.screen.content(texts[back])
    return 0


def between(call: Call) -> str:
    """What changed in the document from one turn's text to another's, or to the text as it is."""
    from redraft.sessions.conversing import difference
    from redraft.workspace.blame import revisions

    with _opened(call) as (workspace, path):
        now = str(workspace.read(path).text)
        known = {revision.turn: revision.text for revision in revisions(workspace.engine, path, now)}
    sides: list[str] = []
    for number, text in ((call.arguments.from_turn, ""), (call.arguments.to_turn, now)):
        if number is not None and number not in known:
            raise Refused(f"Turn {number} did not write this document.", code="turn_not_found")
        sides.append(text if number is None else known[number])
    return difference(sides[0], sides[1])


def undo(call: Call) -> int:
    with _opened(call) as (workspace, path):
        turn = call.arguments.turn
        if turn is None:
            turn = _last(workspace, path).id
        elif path not in workspace.show(turn).paths:
            raise Refused(f"Turn {turn} did not touch {call.arguments.file}.", code="turn_not_found")
        taken = workspace.undo(turn)
    if taken.turn is None:
        for clash in taken.conflicts:
            call.screen.remark(f"conflict: {clash.path}: {clash.reason}")
        say(call, "Nothing was changed: the same words were changed again since.", turn=None)
        return CONFLICTS
    say(call, f"Took back turn {turn} (by turn {taken.turn.id}, which can be undone too)", turn=taken.turn.id)
    return 0


def _last(workspace: Workspace, path: str) -> TurnRecord:
    """The newest turn in the document that still stands and is not itself an undo."""
    before: int | None = None
    while page := workspace.turns(path=path, before=before):
        for turn in page:
            accepted = turn.kind == "propose" and turn.state == "applied"
            if turn.state in ("applied", "proposed") and turn.kind != "undo" and not accepted and not turn.pruned:
                return turn
        before = page[-1].id
    raise Refused("There is nothing to undo in this document.", code="nothing_to_undo")


def read(call: Call) -> int:
    from redraft.formats.components import component

    name = call.arguments.component
    with looking(call, call.arguments.file) as desk:
        text = desk.door.read(desk.project.path).text
    if name is not None:
        place = component(text, name)
        if place is None:
            raise Refused(f"There is no component {name!r} in the document.", code="anchor_not_found", component=name)
        text = place.inner(text).removeprefix("\r\n").removeprefix("\n")
    if call.screen.json:
        call.screen.emit({"component": name, "content": text})
    else:
        call.screen.content(text)
    return 0


def _number(text: str) -> int:
    return 0 if text == "0" else positive_number(text)


def configure_log(parser: ArgumentParser) -> None:
    add_file(parser)
    parser.add_argument(
        "--limit", metavar="N", type=positive_number, default=USUAL_LIMIT, help=f"how many (default: {USUAL_LIMIT})"
    )


def configure_show(parser: ArgumentParser) -> None:
    add_file(parser)
    parser.add_argument("--back", metavar="N", type=_number, default=1, help="so many changes ago (default: 1)")


def configure_undo(parser: ArgumentParser) -> None:
    add_file(parser)
    parser.add_argument("turn", metavar="TURN", nargs="?", type=turn_number, help="its number (default: the last one)")


def configure_read(parser: ArgumentParser) -> None:
    add_file(parser)
    parser.add_argument("--component", metavar="NAME", help="only what is in this component")


COMMANDS = {
    "doc log": Command(
        "doc log",
        "List what happened to a document",
        log,
        configure_log,
        ("doc log plan.md", "doc log plan.md --limit 5"),
    ),
    "doc show": Command(
        "doc show", "Show a document as it was", show, configure_show, ("doc show plan.md", "doc show plan.md --back 3")
    ),
    "doc undo": Command(
        "doc undo",
        "Take back the last change of a document",
        undo,
        configure_undo,
        ("doc undo plan.md", "doc undo plan.md 12"),
        "Take a turn back that changed the document, and keep what came after it. Exit status 1: the same words were\n"
        "changed again since, and nothing was done.",
    ),
    "doc read": Command(
        "doc read",
        "Print a document or one of its components",
        read,
        configure_read,
        ("doc read plan.md", "doc read plan.md --component status"),
    ),
}
