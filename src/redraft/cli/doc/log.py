"""`log`, `show`, `blame`, `undo` and `read`: a session document's history, and its parts."""

from __future__ import annotations

import os
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING

from redraft.cli.command import Command, Invocation, positive_number, turn_number
from redraft.cli.doc.context import add_file, find_project, open_for_reading, say
from redraft.cli.screen import CYAN, DIM, GREEN, StyledText
from redraft.errors import Refused

if TYPE_CHECKING:
    from argparse import ArgumentParser
    from collections.abc import Generator, Iterator

    from redraft.history.turns import TurnRecord
    from redraft.workspace.workspace import Workspace

USUAL_LIMIT = 20
CONFLICTS = 1
WHO = 12
_STYLES = {"agent": CYAN, "person": GREEN, "system": DIM, "outside": DIM}


@contextmanager
def _open_document(call: Invocation) -> Generator[tuple[Workspace, str]]:
    """The folder of the document, and the document's path in it."""
    from redraft.runtime import open_workspace

    project = find_project(call, call.arguments.file)
    with open_workspace(project.folder) as workspace:
        yield workspace, project.path


def log(call: Invocation) -> int:
    from redraft.cli.display import print_turn
    from redraft.workspace.shapes import turn_shape

    with _open_document(call) as (workspace, path):
        found = list(islice(_document_turns(workspace, path), call.arguments.limit))
        if call.screen.json:
            call.screen.emit({"turns": [turn_shape(turn) for turn in found]})
            return 0
        for turn in found:
            print_turn(call.screen, turn)
        if not found:
            call.screen.line("It has no history yet.")
    return 0


def show(call: Invocation) -> int:

    back: int = call.arguments.back
    with _open_document(call) as (workspace, path):
        now = str(workspace.read(path).text)
        # Newest first: the text as it is, and then for each turn what was there before it.
        texts = [revision.text for revision in workspace.revisions(path, now)[::-2]]
    if back >= len(texts):
        raise Refused(f"The history has {len(texts) - 1} changes of this document.", code="not_found")
    if call.screen.json:
        call.screen.emit({"back": back, "content": texts[back]})
    else:
        call.screen.content(texts[back])
    return 0


def blame(call: Invocation) -> int:
    from redraft.text.lines import split_lines
    from redraft.workspace.shapes import turn_shape

    with _open_document(call) as (workspace, path):
        text = str(workspace.read(path).text)
        found = workspace.blame(path, text)
        turns = {each.turn: workspace.show(each.turn) for each in found if each.turn is not None}
    if call.screen.json:
        stretches = [{"start_line": each.start + 1, "lines": each.lines, "turn": each.turn} for each in found]
        call.screen.emit({"blame": stretches, "turns": [turn_shape(turns[number]) for number in sorted(turns)]})
        return 0
    lines = split_lines(text)
    for each in found:
        turn = turns.get(each.turn or 0)
        number, who, style = (
            ("-", "-", DIM) if turn is None else (str(turn.id), turn.author.name, _STYLES[turn.author.kind])
        )
        for at in range(each.start, each.start + each.lines):
            place = f"{number:>5}  ", StyledText(f"{who[:WHO]:<{WHO}}", style), f"  {at + 1:>4}  "
            call.screen.line(*place, lines[at].rstrip("\r\n"))
    return 0


def diff_turns(call: Invocation) -> str:
    """What changed in the document from one turn's text to another's, or to the text as it is."""
    from redraft.sessions.conversation import difference

    with _open_document(call) as (workspace, path):
        now = str(workspace.read(path).text)
        known = {revision.turn: revision.text for revision in workspace.revisions(path, now)}
    texts: list[str] = []
    names: list[str] = []
    for number, text, name in ((call.arguments.from_turn, "", "nothing"), (call.arguments.to_turn, now, "document")):
        if number is not None and number not in known:
            raise Refused(f"Turn {number} did not write this document.", code="turn_not_found")
        texts.append(text if number is None else known[number])
        names.append(name if number is None else f"turn {number}")
    return difference(texts[0], texts[1], (names[0], names[1]))


def undo(call: Invocation) -> int:
    from redraft.sessions.answers.writer import sessions_lock

    with _open_document(call) as (workspace, path), sessions_lock(workspace.state):
        turn = _find_turn(workspace, path, call) if call.arguments.turn else _last_undoable(workspace, path)
        before = str(workspace.read(path).text)
        taken = workspace.undo(turn.id)
        if taken.turn is not None:
            _restore_state(call, workspace, turn, before)
    if taken.turn is None:
        for clash in taken.conflicts:
            call.screen.remark(f"conflict: {clash.path}: {clash.reason}")
        say(call, "Nothing was changed: the same words have been changed since.", turn=None)
        return CONFLICTS
    say(call, f"Undid turn {turn.id} (by turn {taken.turn.id}, which can be undone too)", turn=taken.turn.id)
    return 0


def _find_turn(workspace: Workspace, path: str, call: Invocation) -> TurnRecord:
    wanted = call.arguments.turn
    found = next((turn for turn in _document_turns(workspace, path) if turn.id == wanted), None)
    if found is None:
        raise Refused(f"Turn {wanted} did not touch {call.arguments.file}.", code="turn_not_found")
    return found


def _restore_state(call: Invocation, workspace: Workspace, turn: TurnRecord, before: str) -> None:
    """Restore the document's session state with it: under its old name, or to its old text if nothing in it was new to
    the agent. That an agent's words are gone is new to it."""
    from redraft.sessions.project import AgentDocFiles, Project
    from redraft.sessions.tmux.registry import move_document_state

    project = Project.of(call.arguments.file, call.folder)
    origin = _origin(turn, project.path)
    with AgentDocFiles.open(project.root) as agent_files:
        if origin is not None:
            move_document_state(agent_files, project, Project.of(os.path.join(project.folder, origin), call.folder))
        elif not turn.author.is_agent and agent_files.snapshot(project) == before:
            agent_files.save_snapshot(project, str(workspace.read(project.path).text))


def _origin(turn: TurnRecord, path: str) -> str | None:
    """The name that a turn took from the document, if it gave it another."""
    return next((step.moved_from for step in turn.files if step.path == path and step.moved_from), None)


def _last_undoable(workspace: Workspace, path: str) -> TurnRecord:
    """The newest turn in the document that still stands and is not itself an undo, nor another program's."""
    for turn in _document_turns(workspace, path):
        if turn.author.kind == "outside":
            continue
        accepted = turn.kind == "propose" and turn.state == "applied"
        if turn.state in ("applied", "proposed") and turn.kind != "undo" and not accepted and not turn.pruned:
            return turn
    raise Refused("There is nothing to undo in this document.", code="nothing_to_undo")


def _document_turns(workspace: Workspace, path: str) -> Iterator[TurnRecord]:
    """What happened to the document, newest first, under whichever name it had."""
    where, before = path, None
    while page := workspace.turns(path=where, before=before):
        for turn in page:
            yield turn
            before = turn.id
            if (origin := _origin(turn, where)) is not None:
                where = origin
                break


def read(call: Invocation) -> int:
    from redraft.formats.components import component

    name = call.arguments.component
    with open_for_reading(call, call.arguments.file) as context:
        text = context.store.read(context.project.path).text
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
    parser.add_argument("--back", metavar="N", type=_number, default=1, help="how many changes ago (default: 1)")


def configure_undo(parser: ArgumentParser) -> None:
    add_file(parser)
    parser.add_argument("turn", metavar="TURN", nargs="?", type=turn_number, help="its number (default: the last one)")


def configure_read(parser: ArgumentParser) -> None:
    add_file(parser)
    parser.add_argument("--component", metavar="NAME", help="only what is in this component")


COMMANDS = {
    "doc log": Command(
        "doc log",
        "List the history of a document",
        log,
        configure_log,
        ("doc log plan.md", "doc log plan.md --limit 5"),
    ),
    "doc show": Command(
        "doc show", "Show a document as it was", show, configure_show, ("doc show plan.md", "doc show plan.md --back 3")
    ),
    "doc blame": Command(
        "doc blame",
        "Show who wrote which line of a document",
        blame,
        add_file,
        ("doc blame plan.md",),
        "Each line with the turn it comes from and its author, `outside` for another program. A line with -\n"
        "is older than the history.",
    ),
    "doc undo": Command(
        "doc undo",
        "Undo the last change of a document",
        undo,
        configure_undo,
        ("doc undo plan.md", "doc undo plan.md 12"),
        "Undo a turn that changed the document, and keep later changes. Exit status 1: the same words have been\n"
        "changed since, and nothing was done.",
    ),
    "doc read": Command(
        "doc read",
        "Print a document or one of its components",
        read,
        configure_read,
        ("doc read plan.md", "doc read plan.md --component status"),
    ),
}
