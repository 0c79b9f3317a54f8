"""`redraft users`: manage who can use a team's server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from redraft.cli.command import Command, Invocation
from redraft.cli.display import format_time
from redraft.cli.screen import BOLD, DIM, StyledText

if TYPE_CHECKING:
    from argparse import ArgumentParser

    from redraft.server.auth.callers import Users

ROLES = ("viewer", "editor", "admin")


def _users(call: Invocation) -> Users:
    from redraft.server.auth.callers import Users

    with call.workspace() as workspace:
        return Users(workspace.state)


def add(call: Invocation) -> int:
    arguments = call.arguments
    token = _users(call).add(arguments.name, arguments.role)
    if call.screen.json:
        call.screen.emit({"name": arguments.name, "role": arguments.role, "token": token})
        return 0
    call.screen.line(token)
    call.screen.remark(
        f"This is {arguments.name}'s token ({arguments.role}). It is not stored and cannot be shown again."
    )
    return 0


def list_users(call: Invocation) -> int:
    found = list(_users(call).all().values())
    if call.screen.json:
        call.screen.emit({"users": [user.as_json() for user in found]})
        return 0
    for user in found:
        call.screen.line(
            StyledText(f"{user.name:<24}", BOLD), f"{user.role:<8}", StyledText(format_time(user.added), DIM)
        )
    if not found:
        call.screen.line("There are no users.")
    return 0


def remove(call: Invocation) -> int:
    _users(call).remove(call.arguments.name)
    if call.screen.json:
        call.screen.emit({"removed": call.arguments.name})
    else:
        call.screen.line(
            f"{call.arguments.name} was removed: their token and every cookie made with it no longer work."
        )
    return 0


def configure_add(parser: ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="the name to show in turns and the audit log")
    parser.add_argument("--role", choices=ROLES, default="editor", help="what they may do (default: editor)")


def configure_remove(parser: ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="who to remove")


COMMANDS = {
    "users add": Command(
        "users add",
        "Give somebody access to the folder's server",
        add,
        configure_add,
        ("users add anna", "users add bot --role viewer"),
        "Create a token and show it once. A viewer can read; an editor can also change documents, decide and\n"
        "run the agent; an admin can also change the settings of the person who runs the server.",
    ),
    "users list": Command("users list", "List who can use the folder's server", list_users, examples=("users list",)),
    "users remove": Command(
        "users remove",
        "Remove somebody from the folder's server",
        remove,
        configure_remove,
        ("users remove anna",),
    ),
}
