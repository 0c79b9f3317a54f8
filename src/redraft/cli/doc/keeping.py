"""`rename`, `compact` and `doctor`: a session document kept in order, with all that is known of it."""

from __future__ import annotations

import os
from dataclasses import asdict
from typing import TYPE_CHECKING

from redraft.cli.command import Call, Command, counted, positive_number
from redraft.cli.doc.desk import add_file, project_of, say, working
from redraft.errors import RedraftError, Refused

if TYPE_CHECKING:
    from argparse import ArgumentParser

    from redraft.cli.doc.desk import Opened
    from redraft.workspace.turn import Turn

FOUND = 1
ARCHIVE = ".archive.md"


def rename(call: Call) -> int:
    from redraft.sessions.project import Project
    from redraft.sessions.renaming import carry_over
    from redraft.workspace.engine import PERSON

    old = project_of(call, call.arguments.file)
    new = Project.of(call.arguments.new, call.folder)
    if new.folder != old.folder or new.root != old.root:
        raise Refused("The new name is in another project; a document keeps its state within one.", code="invalid_path")
    with working(call, old, PERSON) as opened, opened.desk.alone():
        workspace = opened.workspace
        with workspace.turn(PERSON, f"Rename {old.path} to {new.path}") as turn:
            turn.move(old.path, new.path, workspace.read(old.path).version)
        carry_over(opened.desk.shelf, old, new)
    say(call, f"Renamed {call.arguments.file} to {call.arguments.new}", old=old.path, new=new.path)
    return 0


def compact(call: Call) -> int:
    from redraft.sessions.compacting import compacted
    from redraft.workspace.engine import PERSON

    project = project_of(call, call.arguments.file)
    archive = os.path.splitext(project.path)[0] + ARCHIVE
    with working(call, project, PERSON) as opened, opened.desk.alone():
        document = opened.workspace.read(project.path)
        before = str(document.text)
        made = compacted(before, call.arguments.keep)
        if made is None:
            say(call, "There are no more rounds than those.", rounds=0, archive=None)
            return 0
        with opened.workspace.turn(PERSON, f"Compact {project.path}") as turn:
            turn.write(project.path, made.text, document.version)
            _archive(opened, turn, archive, made.cut)
        _carry(opened, before, made.text, call.arguments.keep)
    shown = os.path.splitext(call.arguments.file)[0] + ARCHIVE
    say(call, f"Moved {counted(made.rounds, 'round')} to {shown}", rounds=made.rounds, archive=shown)
    return 0


def _archive(opened: Opened, turn: Turn, archive: str, cut: str) -> None:
    """Add the rounds to the archive, in the same turn."""
    try:
        known = opened.workspace.read(archive)
    except Refused as error:
        if error.code != "not_found":
            raise
        turn.create(archive, cut)
        return
    turn.write(archive, str(known.text) + cut, known.version)


def _carry(opened: Opened, before: str, after: str, keep: int) -> None:
    """The snapshot made as short as the document: what the person did not change is no news."""
    from redraft.sessions.compacting import compacted

    desk = opened.desk
    known = desk.shelf.snapshot(desk.project)
    if known is None:
        return
    made = None if known == before else compacted(known, keep)
    desk.shelf.save_snapshot(desk.project, after if known == before else known if made is None else made.text)


def doctor(call: Call) -> int:
    from redraft.cli.doc.desk import rules_of
    from redraft.sessions.doctor import Finding, document_findings, examine
    from redraft.sessions.project import Project, Shelf
    from redraft.sessions.rules import FILE

    file = call.arguments.file
    project = Project.of("document", call.folder) if file is None else project_of(call, file)
    with Shelf.open(project.root) as shelf:
        found = examine(shelf, project.root, _live())
        try:
            rules_of(shelf)
        except RedraftError as error:
            found.append(Finding(FILE, error.message, "Correct it."))
    if file is not None:
        found += document_findings(project.file, file)
    if call.screen.json:
        call.screen.emit({"findings": [asdict(finding) for finding in found]})
        return FOUND if found else 0
    for finding in found:
        call.screen.line(f"{finding.place}: {finding.what} {finding.advice}")
    if not found:
        call.screen.line("All is well.")
    return FOUND if found else 0


def _live() -> set[str] | None:
    """The panes that live; None where there is no tmux to ask."""
    from redraft.sessions.panes import panes

    try:
        return set(panes())
    except Refused:
        return None


def configure_rename(parser: ArgumentParser) -> None:
    add_file(parser)
    parser.add_argument("new", metavar="NEW", help="its new name")


def configure_compact(parser: ArgumentParser) -> None:
    add_file(parser)
    parser.add_argument("--keep", metavar="N", type=positive_number, required=True, help="how many rounds stay")


def configure_doctor(parser: ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", nargs="?", help="also look at this document")


COMMANDS = {
    "doc rename": Command(
        "doc rename",
        "Rename a document and keep its state",
        rename,
        configure_rename,
        ("doc rename plan.md plans/next.md",),
        "Move the document, and its snapshot and its place in the registry with it. It is one turn of the history.",
    ),
    "doc compact": Command(
        "doc compact",
        "Move older rounds of a conversation to an archive",
        compact,
        configure_compact,
        ("doc compact plan.md --keep 10",),
        "Keep the last rounds in the document; the others go to NAME.archive.md beside it, in one turn that can be\n"
        "undone.",
    ),
    "doc doctor": Command(
        "doc doctor",
        "Look for what is not as it should be",
        doctor,
        configure_doctor,
        ("doc doctor", "doc doctor plan.md"),
        "Answers that never came into their document, panes that are gone, files that cannot be read. Changes nothing.",
    ),
}
