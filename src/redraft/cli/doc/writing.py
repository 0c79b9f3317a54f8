"""`patch` and `write`: an entry into a component, an answer into a document."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from redraft.cli.command import CONFLICTS, Call, Command
from redraft.cli.doc.desk import RULES, add_file, project_of, say, working
from redraft.cli.doc.through_server import Silent
from redraft.errors import Refused
from redraft.sessions.listening import NotTaken

if TYPE_CHECKING:
    from argparse import ArgumentParser

    from redraft.sessions.writing import Desk, Written

TRY_AGAIN = 75  # EX_TEMPFAIL of sysexits.h: an editor has the document and did not take the answer


def patch(call: Call) -> int:
    from redraft.runtime import read_outside
    from redraft.sessions.patching import Hooks
    from redraft.sessions.patching import patch as put
    from redraft.sessions.trust import is_trusted

    arguments = call.arguments
    project = project_of(call, arguments.file)
    content = read_outside("-").text if arguments.content is None else arguments.content
    with working(call, project) as opened:
        desk = opened.desk
        rules = desk.shelf.read(RULES)
        hooks = Hooks(rules is not None and is_trusted(desk.state, rules), dict(os.environ))
        written = put(desk, arguments.component, content, hooks)
    _tell(call, written, f"Patched component {arguments.component!r} in {arguments.file}")
    return 0


def write(call: Call) -> int:
    from redraft.runtime import read_outside

    arguments = call.arguments
    project = project_of(call, arguments.file)
    answer = read_outside("-").text
    if not answer.strip():
        raise Refused("The standard input holds no answer; nothing was written.", code="content_required")
    baseline = None if arguments.baseline_file is None else read_outside(arguments.baseline_file).text
    with working(call, project, alone=arguments.force_disk) as opened:
        try:
            return _write(call, opened.desk, answer, baseline)
        except (NotTaken, Silent) as error:
            call.screen.remark(f"agent-doc: {error.message}")
            return TRY_AGAIN


def _write(call: Call, desk: Desk, answer: str, baseline: str | None) -> int:
    from redraft.sessions import listening, writing
    from redraft.sessions.doors import OwnDoor

    arguments = call.arguments
    strategy = "crdt" if arguments.stream else None
    if arguments.ipc:
        letter = listening.leave(desk, answer, baseline, strategy)
        say(call, f"Left the answer for the editor in {letter}", state="left", letter=letter)
        return 0
    by_editor = not arguments.force_disk and isinstance(desk.door, OwnDoor) and listening.has_listener(desk)
    if by_editor:
        listening.deliver(desk, answer, baseline, strategy)
        say(call, f"The editor took the answer for {arguments.file}", state="taken")
        return 0
    written = writing.write(desk, answer, baseline=baseline, strategy=strategy)
    _tell(call, written, f"Wrote the answer into {arguments.file}")
    return CONFLICTS if written.marked else 0


def _tell(call: Call, written: Written, what: str) -> None:
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
    parser.add_argument("content", metavar="CONTENT", nargs="?", help="what comes into it (default: standard input)")


def configure_write(parser: ArgumentParser) -> None:
    add_file(parser)
    parser.add_argument("--baseline-file", metavar="PATH", help="the document as it was when the answer was begun")
    parser.add_argument("--stream", action="store_true", help="keep both versions of what both changed (crdt)")
    parser.add_argument("--ipc", action="store_true", help="leave the answer for an editor, and the document alone")
    parser.add_argument("--force-disk", action="store_true", help="write the file, whatever editor or server has it")


COMMANDS = {
    "doc patch": Command(
        "doc patch",
        "Put an entry into a component",
        patch,
        configure_patch,
        ("doc patch plan.md status 'All is well.'", "doc patch plan.md log < entry.txt"),
        "Replace a component's content, or add to it, as its marker and .agent-doc/components.toml say.",
    ),
    "doc write": Command(
        "doc write",
        "Write an agent's answer into its document",
        write,
        configure_write,
        ("doc write plan.md < answer.md", "doc write plan.md --baseline-file before.md < answer.md"),
        "Apply the patch blocks on the standard input, merged with what was typed since the baseline. Exit status 1:\n"
        "both changed the same words, and the document marks them; 75: an editor has the document, try again.",
    ),
}
