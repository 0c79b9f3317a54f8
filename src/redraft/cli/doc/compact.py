"""`rename`, `compact` and `doctor`: a session document kept in order, with all that is known of it."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from redraft.cli.command import Command, Invocation, pluralize, positive_number
from redraft.cli.doc.context import add_file, find_project, open_for_writing, say
from redraft.errors import RedraftError, Refused

if TYPE_CHECKING:
    from argparse import ArgumentParser

    from redraft.cli.doc.context import OpenedDocument
    from redraft.workspace.document import Document
    from redraft.workspace.turns.turn import Turn

FOUND = 1


def rename(call: Invocation) -> int:
    from redraft.history.turns import PERSON
    from redraft.sessions.compaction import archive_path
    from redraft.sessions.project import Project
    from redraft.sessions.tmux.registry import move_document_state

    old = find_project(call, call.arguments.file)
    new = Project.of(call.arguments.new, call.folder)
    if new.folder != old.folder or new.root != old.root:
        raise Refused(
            "The new name is in another project; a document can only be renamed within its project.",
            code="invalid_path",
        )
    with open_for_writing(call, old, PERSON) as opened, opened.context.lock():
        workspace = opened.workspace
        with workspace.turn(PERSON, f"Rename {old.path} to {new.path}") as turn:
            turn.move(old.path, new.path, workspace.read(old.path).version)
            archive = _read_document(opened, archive_path(old.path))
            if archive is not None:
                turn.move(archive.path, archive_path(new.path), archive.version)
        move_document_state(opened.context.agent_files, old, new)
    say(call, f"Renamed {call.arguments.file} to {call.arguments.new}", old=old.path, new=new.path)
    return 0


def compact(call: Invocation) -> int:
    from redraft.history.turns import PERSON
    from redraft.sessions.compaction import archive_path, compact_rounds

    project = find_project(call, call.arguments.file)
    archive = archive_path(project.path)
    with open_for_writing(call, project, PERSON) as opened, opened.context.lock():
        document = opened.workspace.read(project.path)
        made = compact_rounds(str(document.text), call.arguments.keep)
        if made is None:
            say(call, "There are no older rounds to move.", rounds=0, archive=None)
            return 0
        with opened.workspace.turn(PERSON, f"Compact {project.path}") as turn:
            turn.write(project.path, made.text, document.version)
            _append_to_archive(opened, turn, archive, made.cut)
        _compact_snapshot(opened, made.cut)
    shown = archive_path(call.arguments.file)
    say(call, f"Moved {pluralize(made.rounds, 'round')} to {shown}", rounds=made.rounds, archive=shown)
    return 0


def _append_to_archive(opened: OpenedDocument, turn: Turn, archive: str, cut: str) -> None:
    """Add the rounds to the archive, in the same turn."""
    known = _read_document(opened, archive)
    if known is None:
        turn.create(archive, cut)
    else:
        turn.write(archive, str(known.text) + cut, known.version)


def _read_document(opened: OpenedDocument, path: str) -> Document | None:
    try:
        return opened.workspace.read(path)
    except Refused as error:
        if error.code != "not_found":
            raise
        return None


def _compact_snapshot(opened: OpenedDocument, cut: str) -> None:
    """The same rounds taken out of the snapshot: that they are gone is no news."""
    context = opened.context
    known = context.agent_files.snapshot(context.project)
    if known is not None:
        context.agent_files.save_snapshot(context.project, known.replace(cut, "", 1))


def doctor(call: Invocation) -> int:
    from redraft.cli.doc.context import read_rules
    from redraft.sessions.component_rules import FILE
    from redraft.sessions.doctor import Finding, document_findings, examine
    from redraft.sessions.project import AgentDocFiles, Project

    file = call.arguments.file
    project = Project.of("document", call.folder) if file is None else find_project(call, file)
    with AgentDocFiles.open(project.root) as agent_files:
        found = examine(agent_files, project.root, _live_panes())
        try:
            read_rules(agent_files, project)
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
        call.screen.line("No problems found.")
    return FOUND if found else 0


def _live_panes() -> set[str] | None:
    """The panes that live; None where there is no tmux to ask."""
    from redraft.sessions.tmux.panes import list_panes

    try:
        return set(list_panes())
    except Refused:
        return None


def configure_rename(parser: ArgumentParser) -> None:
    add_file(parser)
    parser.add_argument("new", metavar="NEW", help="its new name")


def configure_compact(parser: ArgumentParser) -> None:
    add_file(parser)
    parser.add_argument("--keep", metavar="N", type=positive_number, required=True, help="how many rounds to keep")


def configure_doctor(parser: ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", nargs="?", help="also check this document")


COMMANDS = {
    "doc rename": Command(
        "doc rename",
        "Rename a document and keep its state",
        rename,
        configure_rename,
        ("doc rename plan.md plans/next.md",),
        "Move the document with its archive, snapshot and registry entry. It is one turn, and\n"
        "`log`, `show` and `blame` follow it across the rename.",
    ),
    "doc compact": Command(
        "doc compact",
        "Move older rounds of a conversation to an archive",
        compact,
        configure_compact,
        ("doc compact plan.md --keep 10",),
        "Keep the last rounds in the document and move the others to NAME.archive.md beside it, in one turn that can\n"
        "be undone. `agent-doc search` searches both.",
    ),
    "doc doctor": Command(
        "doc doctor",
        "Check for problems",
        doctor,
        configure_doctor,
        ("doc doctor", "doc doctor plan.md"),
        "Finds answers that never reached their document, panes that are gone, unreadable files. Changes nothing.",
    ),
}
