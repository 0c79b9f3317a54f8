"""What the program says to a person who made a mistake: what is wrong, and the command that helps."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.running import Program

DOCUMENTS = "Check its name; `redraft tool list_documents` lists what is in the folder."
TURNS = "`redraft turns` lists their numbers."
HUNKS = "`redraft diff` shows what is pending, with ids."
ENCODING = "Redraft works on UTF-8 text: convert a copy first, for example with iconv."
MISTAKES: dict[str, tuple[int, str, str]] = {
    "diff none.md": (4, "There is no document none.md.", DOCUMENTS),
    "export none.md": (4, "There is no document none.md.", DOCUMENTS),
    "undo 99": (4, "There is no turn 99.", TURNS),
    "show 99": (4, "There is no turn 99.", TURNS),
    "rollback 99 --mode hard_all": (4, "There is no turn 99.", TURNS),
    "accept zzz": (4, "No hunk zzz is pending.", HUNKS),
    "reject zzz": (4, "No hunk zzz is pending.", HUNKS),
    "accept none.md": (4, "Nothing is pending in none.md.", HUNKS),
    "split zzz --after 1": (4, "No hunk zzz is pending.", HUNKS),
    "settle story.md --mine": (4, "Nothing is pending in story.md.", HUNKS),
    "jobs zzz": (4, "There is no job 'zzz'.", "`redraft jobs` lists them."),
    "chat --session zzz": (
        4,
        "There is no session 'zzz'.",
        "`redraft jobs` shows the session of each job; without --session a new one starts.",
    ),
    "trash restore none.md": (4, "none.md is not in the trash.", "`redraft trash list` shows what is."),
    "users remove bob": (4, "There is no user 'bob'.", "`redraft users list` lists them."),
    "ask hi --model zzz": (
        2,
        "There is no model 'zzz'; known are: offline.",
        "Choose a model that is set up; see docs/models.md.",
    ),
    "export latin.md": (2, "latin.md is not UTF-8 text but text in another encoding, perhaps Latin-1", ENCODING),
    "export binary.md": (2, "binary.md is not UTF-8 text but binary data", ENCODING),
    "export drafts": (2, "drafts is a folder, not a text file.", "Name a text file."),
    "export .env": (
        3,
        ".env may contain a secret",
        "To see it, open the folder in the app on this machine with `redraft open`",
    ),
    "export story.md --out none/x.html": (
        5,
        "none/x.html cannot be written: No such file or directory.",
        "Name another place with --out.",
    ),
    "status --folder story.md": (
        4,
        "story.md is a file, not a folder.",
        "Name a folder that exists, or create it first.",
    ),
    "open nowhere --no-browser": (
        4,
        "The folder nowhere does not exist.",
        "Name a folder that exists, or create it first.",
    ),
    "serve --port 99999": (2, "'99999' is not a port: use a number from 0 to 65535.", ""),
    "turns --limit 0": (2, "it must be 1 or greater, not '0'.", ""),
    "settings mode=wild": (2, "mode must be one of read, propose, apply, merge. Nothing was changed.", ""),
    "settings agent.cents=some": (2, "agent.cents must be a whole number. Nothing was changed.", ""),
    "settings mode": (2, "'mode' is not a setting: write NAME=VALUE, such as mode=propose.", ""),
    "settings limits.files=3": (2, "limits.files cannot be set here: write it to ", ""),
    "settings colour=red": (2, "There is no setting 'colour'; `redraft settings` lists the ones you can set.", ""),
    "propose plan.txt": (2, "There is no unified diff in this text.", "Send a complete unified diff"),
}


@pytest.mark.covers("RD-cli-mistakes")
@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_told_with_the_command_that_helps(redraft: Program, mistake: str):
    redraft.write(".env", "TOKEN=hunter2\n")
    redraft.write("plan.txt", "Nothing of a patch.\n")
    (redraft.folder / "latin.md").write_bytes(b"caf\xe9\n")
    (redraft.folder / "binary.md").write_bytes(b"x\x00y\n")
    status, message, advice = MISTAKES[mistake]
    told = redraft.run(*mistake.split())
    said = " ".join(told.err.split())
    assert (told.status, told.out) == (status, "")
    assert message in said
    assert advice in said
    assert "hunter2" not in said


@pytest.mark.covers("RD-cli-mistakes")
def test_a_document_without_a_conflict_has_none_to_settle(proposed: Program):
    told = proposed.run("settle", "story.md", "--mine")
    assert (told.status, told.err) == (2, "redraft: There is no conflict to resolve in story.md.\n")


@pytest.mark.covers("RD-cli-mistakes")
def test_a_setting_that_is_refused_leaves_the_file_alone(redraft: Program):
    redraft.settings('mode = "read"  # mine\n')
    assert redraft.run("settings", "mode=wild").status == 2
    assert (redraft.home / "config/redraft/settings.toml").read_text(encoding="utf-8") == 'mode = "read"  # mine\n'
    assert not redraft.run("settings", "mode=wild", "--json").json["message"].startswith("/")


@pytest.mark.covers("RD-cli-mistakes")
def test_an_agent_is_told_in_words_that_fit_its_tools(redraft: Program):
    told = redraft.run("tool", "read_document", "--json", json.dumps({"path": "none.md"}))
    assert told.json["suggestion"] == "List the documents and use a path that exists."


@pytest.mark.covers("RD-cli-mistakes")
def test_a_model_that_there_is_not_is_told_so_where_documents_stay_on_this_machine(redraft: Program) -> None:
    place = redraft.folder / ".redraft" / "settings.toml"
    place.parent.mkdir(exist_ok=True)
    place.write_text('[routing]\nagent_mode = "local"\n', encoding="utf-8")
    refused = redraft.run("ask", "hi", "--model", "zzz")
    assert refused.status == 2
    assert "There is no model 'zzz'; known are: offline." in refused.err
