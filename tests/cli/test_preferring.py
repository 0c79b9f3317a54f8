"""`redraft settings`: shows what holds, and writes the person's own file with all that is in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.running import Program

OWN = '# mine\nmode = "read"  # careful\n\n# about jobs\n[agent]\ncents = 5\n\n[models.big]\nkind = "claude"\n'


def own_file(redraft: Program) -> str:
    return (redraft.home / "config" / "redraft" / "settings.toml").read_bytes().decode()


def test_what_holds_is_shown_and_what_the_folder_narrows(redraft: Program):
    redraft.settings('mode = "apply"\n')
    redraft.write(".redraft/settings.toml", 'mode = "propose"\n')
    shown = redraft.ok("settings")
    assert "yours is apply; the folder's settings are stricter" in shown
    assert redraft.json("settings")["settings"]["mode"] == "propose"


def test_a_change_is_written_and_everything_else_stays(redraft: Program):
    redraft.settings(OWN)
    found = redraft.json("settings", "mode=propose", "agent.tokens=7", "retention_days=3")
    assert (found["settings"]["mode"], found["settings"]["agent.tokens"]) == ("propose", 7)
    wanted = OWN.replace('"read"', '"propose"').replace("cents = 5\n", "cents = 5\ntokens = 7\n")
    assert own_file(redraft) == wanted.replace("# careful\n", "# careful\nretention_days = 3\n")


def test_a_file_is_made_where_there_is_none(redraft: Program):
    redraft.ok("settings", "mode=apply")
    assert own_file(redraft) == 'mode = "apply"\n'
    assert redraft.json("status")["mode"] == "apply"


@pytest.mark.parametrize(
    "change",
    ["mode=free", "agent.cents=0", "agent.cents=five", "routing.local=x", "mode", "limits.files=9"],
)
def test_what_is_no_such_value_is_refused_and_nothing_is_written(redraft: Program, change: str):
    redraft.settings(OWN)
    assert redraft.run("settings", "confirm_files=2", change).status == 2
    assert own_file(redraft) == OWN


def test_a_folder_of_somebody_elses_is_never_written(redraft: Program):
    redraft.write(".redraft/settings.toml", 'mode = "read"\n')
    redraft.ok("settings", "mode=apply")
    assert redraft.read(".redraft/settings.toml") == 'mode = "read"\n'
