"""`commit`, `clean` and `history`: a session document in git."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from redraft.cli.command import Command, Invocation, pluralize
from redraft.cli.doc.context import add_file, find_project, open_for_writing, say
from redraft.cli.screen import BOLD, StyledText
from redraft.errors import Refused

if TYPE_CHECKING:
    from argparse import ArgumentParser

    from redraft.sessions.git_repository import Repository

EXCHANGE = "exchange"
SHOWN = 60


def commit(call: Invocation) -> int:
    file = call.arguments.file
    if call.arguments.agent_only:
        made, what = _commit_agents_part(call), f"the agent's changes in {file}"
    else:
        made, what = _repository(call).commit(_now()), file
    say(call, f"Nothing to commit in {file}." if made is None else f"Committed {what} as {made[:12]}", commit=made)
    return 0


def _commit_agents_part(call: Invocation) -> str | None:
    from redraft.sessions.agent_part import Commit, agents_part_since, changes
    from redraft.sessions.answers.writer import match_newlines

    git, project = _repository(call), find_project(call, call.arguments.file)
    with open_for_writing(call, project) as opened, opened.context.lock():
        now = str(opened.workspace.read(project.path).text)
        found = ((version.text, version.when) for version in git.versions())
        versions = [Commit(match_newlines(now, text), when) for text, when in found if text is not None]
        if not versions:
            raise Refused("git does not have this document yet. Commit the whole document once.", code="conflict")
        part = agents_part_since(versions, changes(opened.workspace, project.path, now))
        if part is None:
            raise Refused(
                "The history does not have the text that is in git, so it cannot tell who added what since. "
                "Commit the whole document once.",
                code="conflict",
            )
        return git.commit_text(part, _now())


def clean(call: Invocation) -> int:
    squashed = _repository(call).squash(_now())
    nothing = f"{call.arguments.file} has fewer than two agent-doc commits to squash."
    say(call, f"Squashed {pluralize(squashed, 'commit')}." if squashed else nothing, squashed=squashed)
    return 0


def history(call: Invocation) -> int:
    if call.arguments.restore is not None:
        return _restore(call)
    found = [
        {"commit": version.commit, "date": version.date, "preview": _preview(_exchange(version.text))}
        for version in _repository(call).versions()
    ]
    if call.screen.json:
        call.screen.emit({"file": call.arguments.file, "versions": found})
        return 0
    call.screen.line(StyledText(f"{'COMMIT':<12} {'DATE':<26} EXCHANGE", BOLD))
    for version in found:
        shown = "(no exchange component)" if version["preview"] is None else version["preview"]
        call.screen.line(f"{str(version['commit'])[:12]:<12} {version['date']:<26} {shown}")
    return 0


def _restore(call: Invocation) -> int:
    from redraft.formats.components import FillOptions, component, fill_component
    from redraft.history.turns import PERSON
    from redraft.sessions.document_store import change

    wanted = call.arguments.restore
    old = _exchange(_repository(call).version(wanted))
    if old is None:
        raise Refused(f"The commit {wanted} has no component {EXCHANGE!r}.", code="not_found")

    def make(text: str) -> str:
        place = component(text, EXCHANGE)
        if place is None:
            raise Refused(f"The document no longer has a component {EXCHANGE!r}.", code="anchor_not_found")
        return fill_component(text, place, old, FillOptions("prepend"))

    with open_for_writing(call, find_project(call, call.arguments.file), PERSON) as opened:
        context = opened.context
        with context.lock():
            done = change(context.store, context.project.path, f"Restore the exchange of {wanted}", make)
    line = f"The exchange of {wanted} was put above the current one in {call.arguments.file}"
    say(call, line, restored=wanted, turn=done.turn)
    return 0


def _repository(call: Invocation) -> Repository:
    from redraft.sessions.git_repository import Repository

    return Repository.require(find_project(call, call.arguments.file).file)


def _exchange(text: str | None) -> str | None:
    """The content of a text's exchange; None where it has none that can be read."""
    from redraft.formats.components import component

    try:
        place = None if text is None else component(text, EXCHANGE)
    except Refused:
        return None
    return None if place is None or text is None else place.inner(text)


def _preview(content: str | None) -> Any:
    if content is None:
        return None
    line = next((line.strip() for line in content.splitlines() if line.strip()), "(empty)")
    return line if len(line) <= SHOWN else f"{line[: SHOWN - 1]}…"


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def configure_commit(parser: ArgumentParser) -> None:
    add_file(parser)
    parser.add_argument("--agent-only", action="store_true", help="only what agents wrote since the last commit")


def configure_history(parser: ArgumentParser) -> None:
    add_file(parser)
    parser.add_argument("--restore", metavar="COMMIT", help="put that version's exchange above the current one")


COMMANDS = {
    "doc commit": Command(
        "doc commit",
        "Commit only a session document",
        commit,
        configure_commit,
        ("doc commit plan.md", "doc commit plan.md --agent-only"),
        "Commit this document and nothing else that is staged, with the time as message. Ignored files and\n"
        "secrets are refused, and your commit hooks run. With --agent-only your own new lines stay uncommitted;\n"
        "refused if an agent rewrote them.",
    ),
    "doc clean": Command(
        "doc clean",
        "Squash a document's agent commits",
        clean,
        add_file,
        ("doc clean plan.md",),
        "Squash each unbroken run of the document's `agent-doc:` commits into one. Commits that any remote has are\n"
        "left alone. Files and index are not changed.",
    ),
    "doc history": Command(
        "doc history",
        "List the versions of the exchange in git",
        history,
        configure_history,
        ("doc history plan.md", "doc history plan.md --restore 68368d0"),
    ),
}
