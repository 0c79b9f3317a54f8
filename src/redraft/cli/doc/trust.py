"""`trust`: let the commands of a project's `components.toml` run, as long as it stays as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from redraft.cli.command import Command, Invocation, add_yes, pluralize
from redraft.cli.doc.context import RULES, say
from redraft.errors import ConfirmationRequired, Refused

if TYPE_CHECKING:
    from argparse import ArgumentParser


def trust(call: Invocation) -> int:
    import os

    from redraft.runtime import open_workspace, parse_toml
    from redraft.sessions.answers import component_patch as keeping
    from redraft.sessions.component_rules import FILE, parse_rules
    from redraft.sessions.project import AgentDocFiles, Project

    project = Project.of(os.path.join(call.folder, "document"), call.folder)
    with AgentDocFiles.open(project.root) as agent_files, open_workspace(project.folder) as workspace:
        state = workspace.state
        if call.arguments.revoke:
            gone = keeping.distrust(state)
            say(call, f"No longer trusted: {pluralize(gone, 'file')}.", revoked=gone)
            return 0
        data, source = agent_files.read(RULES), project.shown(FILE)
        if data is None:
            raise Refused(f"There is no {source} here.", code="not_found")
        rules = {name: rule for name, rule in parse_rules(parse_toml(data, source), source).items() if rule.has_hooks}
        for name, rule in rules.items():
            for kind, command in (("pre_patch", rule.pre_patch), ("post_patch", rule.post_patch)):
                if command:
                    call.screen.remark(f"  [{name}] {kind}: {command}")
        if not rules:
            say(call, f"{source} has no commands; there is nothing to trust.", trusted=False)
            return 0
        if not call.confirm("let these commands run when a component is patched", []):
            raise ConfirmationRequired("Nothing is trusted.")
        keeping.trust(state, data)
    say(call, f"{source} is trusted as it is now. After any change you have to trust it again.", trusted=True)
    return 0


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("--revoke", action="store_true", help="revoke trust in this folder")
    add_yes(parser)


COMMANDS = {
    "doc trust": Command(
        "doc trust",
        "Let the commands in components.toml run",
        trust,
        configure,
        ("doc trust", "doc trust --revoke"),
        "Show the pre_patch and post_patch commands of .agent-doc/components.toml and, if you agree, let them run.\n"
        "Trust applies to exactly this content; it is stored outside the folder.",
    ),
}
