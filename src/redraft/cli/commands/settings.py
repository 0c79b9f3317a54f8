"""`redraft settings`: show the settings in effect, and change the person's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from redraft.cli.command import Command, Invocation
from redraft.cli.screen import BOLD, DIM, StyledText
from redraft.config import TABLES, WRITABLE, Settings, parse_value
from redraft.errors import Refused

if TYPE_CHECKING:
    from argparse import ArgumentParser


def show_or_set(call: Invocation) -> int:
    from redraft.runtime import folder_settings, user_settings, user_settings_path, write_settings

    given = dict(_parse_change(each) for each in call.arguments.changes)
    if given:
        write_settings(given)
    own = user_settings()
    holds, notices = folder_settings(call.folder, own)
    found = {name: _value(holds, name) for name in WRITABLE}
    if call.screen.json:
        call.screen.emit({"file": user_settings_path(), "settings": found, "notices": notices})
        return 0
    for name, value in found.items():
        yours = _value(own, name)
        narrowed = "" if yours == value else f"  (yours is {yours}; the folder's settings are stricter)"
        call.screen.line("  ", StyledText(f"{name:<30}", BOLD), str(value), StyledText(narrowed, DIM))
    for notice in notices:
        call.screen.line(notice)
    call.screen.line(StyledText(f"Yours are in {user_settings_path()}; docs/settings.md describes them all.", DIM))
    return 0


def _parse_change(change: str) -> tuple[str, str | int | bool]:
    from redraft.runtime import user_settings_path

    name, sign, value = change.partition("=")
    if not sign:
        raise Refused(f"{change!a} is not a setting: write NAME=VALUE, such as mode=propose.")
    if name.partition(".")[0] in TABLES and name not in WRITABLE and not name.startswith("agent."):
        raise Refused(f"{name} cannot be set here: write it to {user_settings_path()}; see docs/settings.md.")
    if name not in WRITABLE:
        raise Refused(f"There is no setting {name!a}; `redraft settings` lists the ones you can set.")
    return name, parse_value(value, _value(Settings(), name))


def _value(settings: Settings, name: str) -> Any:
    table, _, key = name.rpartition(".")
    return getattr(getattr(settings, table) if table else settings, key)


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("changes", metavar="NAME=VALUE", nargs="*", help="change this in your own settings")


COMMANDS = {
    "settings": Command(
        "settings",
        "Show the settings in effect in the folder, or change your own",
        show_or_set,
        configure,
        ("settings", "settings mode=apply", "settings review=turn agent.cents=50"),
        "Show the settings in effect. With NAME=VALUE, first write that to your own settings file, whose comments\n"
        "and other lines stay as they are. A folder's own settings are never changed, and may be stricter than yours.",
    )
}
