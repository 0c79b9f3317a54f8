"""`patch` and `write`: an entry into a component, an answer into a document."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from redraft.cli.command import CONFLICTS, Command, Invocation
from redraft.cli.doc.context import RULES, add_file, find_project, open_for_writing, say
from redraft.cli.doc.server_store import ServerUnresponsive
from redraft.errors import Refused
from redraft.sessions.answers.writer import AnswerNotTaken

if TYPE_CHECKING:
    from argparse import ArgumentParser

    from redraft.sessions.answers.writer import SessionContext, WrittenAnswer

TRY_AGAIN = 75  # EX_TEMPFAIL of sysexits.h: an editor has the document and did not take the answer


def patch(call: Invocation) -> int:
    from redraft.runtime import read_input
    from redraft.sessions.answers.component_patch import HookPermission, is_trusted, patch_component

    arguments = call.arguments
    project = find_project(call, arguments.file)
    content = read_input("-").text if arguments.content is None else arguments.content
    with open_for_writing(call, project) as opened:
        context = opened.context
        rules = context.agent_files.read(RULES)
        hooks = HookPermission(rules is not None and is_trusted(context.state, rules), dict(os.environ))
        written = patch_component(context, arguments.component, content, hooks)
    _tell(call, written, f"Patched component {arguments.component!r} in {arguments.file}")
    return 0


def write(call: Invocation) -> int:
    from redraft.runtime import read_input

    arguments = call.arguments
    project = find_project(call, arguments.file)
    answer = read_input("-").text
    if not answer.strip():
        raise Refused("Standard input is empty; nothing was written.", code="content_required")
    baseline = None if arguments.baseline_file is None else read_input(arguments.baseline_file).text
    with open_for_writing(call, project, alone=arguments.force_disk) as opened:
        try:
            return _write(call, opened.context, answer, baseline)
        except (AnswerNotTaken, ServerUnresponsive) as error:
            call.screen.remark(f"agent-doc: {error.message}")
            return TRY_AGAIN


def _write(call: Invocation, context: SessionContext, answer: str, baseline: str | None) -> int:
    from redraft.sessions.answers import writer
    from redraft.sessions.document_store import WorkspaceStore

    arguments = call.arguments
    strategy = "crdt" if arguments.stream else None
    if arguments.ipc:
        letter = writer.leave_for_editor(context, answer, baseline, strategy)
        say(call, f"Left the answer for the editor in {letter}", state="left", letter=letter)
        return 0
    by_editor = not arguments.force_disk and isinstance(context.store, WorkspaceStore) and writer.has_listener(context)
    if by_editor:
        writer.deliver_to_editor(context, answer, baseline, strategy)
        say(call, f"The editor took the answer for {arguments.file}", state="taken")
        return 0
    written = writer.write_answer(context, answer, baseline=baseline, strategy=strategy)
    _tell(call, written, f"Wrote the answer into {arguments.file}")
    return CONFLICTS if written.marked else 0


def take(call: Invocation) -> int:
    """Merge an answer that was left for an editor into the text that the editor shows; nothing is written."""
    from redraft.runtime import read_input
    from redraft.sessions.answers.letter import merge_letter

    shown = read_input("-")
    merged = merge_letter(read_input(call.arguments.letter).text.encode(), shown.text)
    if call.screen.json:
        call.screen.emit({"text": merged.text, "conflicts": merged.conflicts})
    else:
        call.screen.content(merged.text, bom=shown.bom)
    return 0


def _tell(call: Invocation, written: WrittenAnswer, what: str) -> None:
    for remark in written.remarks:
        call.screen.remark(f"note: {remark}")
    changed = written.changed
    more = {"applied": "", "proposed": "; it waits for your decision", "unchanged": "; nothing changed"}[changed.state]
    say(call, f"{what}{more}", state=changed.state, turn=changed.turn, conflicts=written.conflicts)
    if written.conflicts:
        call.screen.remark(f"note: both changed the same place {written.conflicts} times; both versions are there.")


def configure_patch(parser: ArgumentParser) -> None:
    add_file(parser)
    parser.add_argument("component", metavar="COMPONENT", help="the component's name")
    parser.add_argument("content", metavar="CONTENT", nargs="?", help="its new content (default: standard input)")


def configure_write(parser: ArgumentParser) -> None:
    add_file(parser)
    parser.add_argument("--baseline-file", metavar="PATH", help="the document as it was when the answer was started")
    parser.add_argument(
        "--stream", action="store_true", help="keep both versions where both sides changed the text (crdt)"
    )
    parser.add_argument(
        "--ipc", action="store_true", help="leave the answer for an editor to apply; do not write the document"
    )
    parser.add_argument(
        "--force-disk", action="store_true", help="write the file even if an editor or server has it open"
    )


def configure_take(parser: ArgumentParser) -> None:
    parser.add_argument("letter", metavar="MESSAGE", help="the message in .agent-doc/patches")


COMMANDS = {
    "doc patch": Command(
        "doc patch",
        "Write to a component",
        patch,
        configure_patch,
        ("doc patch plan.md status 'All is well.'", "doc patch plan.md log < entry.txt"),
        "Replace a component's content or add to it, as set by its marker and .agent-doc/components.toml.",
    ),
    "doc write": Command(
        "doc write",
        "Write an agent's answer into its document",
        write,
        configure_write,
        ("doc write plan.md < answer.md", "doc write plan.md --baseline-file before.md < answer.md"),
        "Apply the patch blocks from standard input, merged with what was typed since the baseline. Exit status 1:\n"
        "conflicts, marked in the document; 75: an editor has the document open, try again.",
    ),
    "doc take": Command(
        "doc take",
        "Merge an answer into the text that an editor shows",
        take,
        configure_take,
        ("doc take .agent-doc/patches/plan.md.json < shown.md",),
        "For plugins of editors: read the text that the editor shows from standard input, and print it with the\n"
        "answer of a message in .agent-doc/patches. The plugin then shows and saves that, and removes the message.",
    ),
}
