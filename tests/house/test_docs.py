"""The pages about commands, evals and settings leave out no command, option or setting that the programs have."""

from __future__ import annotations

import re
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from evals.__main__ import make_parser
from redraft.cli.program import MODULES, load_command
from redraft.config import (
    TABLES,
    AgentLimits,
    Limits,
    ModelEntry,
    ProgramEntry,
    RoutingSettings,
    RunSettings,
    ServerLimits,
    Settings,
)

if TYPE_CHECKING:
    from argparse import Action, ArgumentParser
    from collections.abc import Sequence

DOCS = Path(__file__).resolve().parents[2] / "docs"
COMMANDS = (DOCS / "commands.md").read_text(encoding="utf-8")
EVALS = (DOCS / "evals.md").read_text(encoding="utf-8")
SETTINGS = (DOCS / "settings.md").read_text(encoding="utf-8")

EVERYWHERE = ("--help", "--folder", "--json")


def sections(page: str) -> dict[str, str]:
    """The text under each heading that names a command."""
    parts = re.split(r"^#{2,3} (.*)$", page, flags=re.MULTILINE)
    return {title.strip("`"): body for title, body in zip(parts[1::2], parts[2::2], strict=True)}


def name_of(action: Action) -> str:
    if not action.option_strings:
        return str(action.metavar)
    value = (
        "" if action.nargs == 0 else " " + (str(action.metavar) if action.metavar else "/".join(action.choices or ()))
    )
    return action.option_strings[-1] + value


def table(parser: ArgumentParser, without: Sequence[str]) -> list[str]:
    """The rows that the section of a program must hold."""
    found = parser._actions  # the only place where argparse keeps them
    return [f"| `{name_of(each)}` | {each.help} |" for each in found if not set(each.option_strings) & set(without)]


def rows(section: str) -> list[str]:
    return [line for line in section.splitlines() if line.startswith("| `")]


@pytest.mark.parametrize("words", MODULES)
def test_every_command_is_documented_with_its_arguments_as_the_program_explains_them(words: str):
    section = sections(COMMANDS).get(f"redraft {words}")
    assert section is not None
    assert rows(section) == table(load_command(words).parser(), EVERYWHERE)


def test_the_options_of_the_evals_are_documented_as_they_explain_themselves():
    assert rows(sections(EVALS)["Options"]) == table(make_parser(), ["--help"])


def test_no_command_is_documented_that_does_not_exist():
    documented = {title.removeprefix("redraft ") for title in sections(COMMANDS) if title.startswith("redraft ")}
    assert documented == set(MODULES)


def test_the_options_of_every_command_are_documented():
    general = sections(COMMANDS)["Options of every command"]
    assert [option for option in (*EVERYWHERE, "--version") if option not in general] == []


def setting_rows() -> dict[str, tuple[str, bool]]:
    """Each documented setting, with its default and whether a folder may narrow it."""
    cells = (line.strip("| ").split(" | ") for line in rows(SETTINGS))
    return {row[0].strip("` "): (row[1].strip("` "), row[3].strip() != "no") for row in cells}


def known_settings() -> dict[str, tuple[str, bool]]:
    start = Settings(mode="merge")
    strictest = {str: "read", bool: True, int: 1}
    known: dict[str, tuple[str, bool]] = {}
    for entry in fields(Settings):
        value = getattr(Settings(), entry.name)
        if entry.name not in TABLES:
            narrow = "turn" if entry.name == "review" else strictest[type(value)]
            narrowed = start.narrow(replace(start, **{entry.name: narrow})) != start
            known[entry.name] = (written(value), narrowed)
    for entry in fields(Limits):
        folder = replace(start, limits=replace(start.limits, **{entry.name: 1}))
        known[f"limits.{entry.name}"] = (written(getattr(Limits(), entry.name)), start.narrow(folder) != start)
    for entry in fields(AgentLimits):
        folder = replace(start, agent=replace(start.agent, **{entry.name: 1}))
        known[f"agent.{entry.name}"] = (written(getattr(AgentLimits(), entry.name)), start.narrow(folder) != start)
    for entry in fields(ServerLimits):
        folder = replace(start, server=replace(start.server, **{entry.name: 1}))
        known[f"server.{entry.name}"] = (written(getattr(ServerLimits(), entry.name)), start.narrow(folder) != start)
    for entry in fields(RunSettings):
        value = getattr(RunSettings(), entry.name)
        other = {str: "copy", int: 1, tuple: ("/",)}[type(value)]
        folder = replace(start, run=replace(start.run, **{entry.name: other}))
        known[f"run.{entry.name}"] = (written(value), start.narrow(folder) != start)
    return {**known, **known_routing(start), **list_known_models(start), **known_programs(start)}


def known_routing(start: Settings) -> dict[str, tuple[str, bool]]:
    strictest = {"agent_mode": "local", "fallback": False}
    known: dict[str, tuple[str, bool]] = {}
    for entry in fields(RoutingSettings):
        value = getattr(RoutingSettings(), entry.name)
        other = strictest.get(entry.name, "other" if isinstance(value, str) else not value)
        folder = replace(start, routing=replace(start.routing, **{entry.name: other}))
        known[f"routing.{entry.name}"] = (written(value), start.narrow(folder) != start)
    return known


def list_known_models(start: Settings) -> dict[str, tuple[str, bool]]:
    narrowed = start.narrow(replace(start, models={"new": ModelEntry()})) != start
    entries = {entry.name: getattr(ModelEntry(), entry.name) for entry in fields(ModelEntry)}
    return {f"models.NAME.{name}": (written(value), narrowed) for name, value in entries.items()}


def known_programs(start: Settings) -> dict[str, tuple[str, bool]]:
    narrowed = start.narrow(replace(start, agents={"new": ProgramEntry()})) != start
    entries = {entry.name: getattr(ProgramEntry(), entry.name) for entry in fields(ProgramEntry)}
    return {f"agents.NAME.{name}": (written(value), narrowed) for name, value in entries.items()}


def written(value: str | bool | int | tuple[str, ...]) -> str:
    """A value as TOML writes it."""
    if isinstance(value, tuple):
        return str(list(value))
    return f'"{value}"' if isinstance(value, str) else str(value).lower()


def test_every_setting_is_documented_with_its_default_and_what_a_folder_may_do():
    assert setting_rows() == known_settings()


def test_every_page_that_a_page_leads_to_is_there():
    root = DOCS.parent
    pages = [*root.glob("*.md"), *DOCS.rglob("*.md")]
    assert pages
    assert [link for page in pages for link in _dead_links(page)] == []


def _dead_links(page: Path) -> list[str]:
    found = re.findall(r"\]\(([\w./-]+)(?:#[\w-]+)?\)", page.read_text(encoding="utf-8"))
    return [f"{page.name}: {link}" for link in found if not (page.parent / link).exists()]
