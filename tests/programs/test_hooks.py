"""Agents that work in the folder itself, by their own tools: their hooks say when a prompt begins and ends."""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from redraft.sessions.agent_hooks import HOOKED_AGENTS
from tests.conftest import TORTURE
from tests.programs.conftest import STORY, make_folder
from tests.programs.files import contents
from tests.real_clients import drive
from tests.server.serving import serving

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.running import Program

KEY = "ghp_" + "a1" * 18
EDITS = """
sed -i s/dark/bright/ story.md
sed -i s/two/TWO/ windows.txt
mv drafts/old.md idea.md
rm drafts/dull.md
mkdir -p new && printf 'A new one.\\n' > new/one.md
"""


@pytest.fixture
def notes(tmp_path: Path) -> Program:
    return make_folder(tmp_path)


def begin(program: Program, prompt: str, agent: str = "claude") -> None:
    assert program.ok("hooks", "begin", agent, stdin=json.dumps({"prompt": prompt, "session_id": "x"})) == ""


def end(program: Program, agent: str = "claude") -> None:
    assert program.ok("hooks", "end", agent, stdin="{}") == ""


def shell(program: Program, text: str) -> None:
    subprocess.run(["sh", "-ec", text], cwd=program.folder, check=True)


def turns(program: Program) -> list[tuple[str, str]]:
    """Author and title of each turn, the oldest first."""
    return [(each["author"]["name"], each["title"]) for each in reversed(program.json("turns")["turns"])]


def documents(program: Program) -> dict[str, tuple[bytes, int]]:
    return contents(program.folder, without=(".redraft", ".claude"))


@pytest.mark.covers("RD-hooks-turn", "RD-hooks-undo")
def test_what_an_agent_does_for_a_prompt_by_tools_and_shell_is_one_turn_and_undo_takes_it_back(notes: Program):
    before = documents(notes)
    begin(notes, "Brighten the story,\nplease.")
    shell(notes, EDITS)
    end(notes)
    after = documents(notes)
    assert turns(notes) == [("Claude Code", "Brighten the story, please.")]
    assert {*notes.json("turns")["turns"][0]["paths"]} == {
        "story.md",
        "windows.txt",
        "idea.md",
        "drafts/old.md",
        "drafts/dull.md",
        "new/one.md",
    }
    notes.ok("undo")
    assert documents(notes) == before
    notes.ok("redo")
    assert documents(notes) == after


@pytest.mark.covers("RD-hooks-turn")
def test_what_was_written_before_a_prompt_or_after_it_is_another_programs(notes: Program):
    begin(notes, "Nothing.")
    end(notes)
    shell(notes, "sed -i s/dark/dim/ story.md")
    begin(notes, "Replace the letter.")
    shell(notes, "sed -i s/letter/postcard/ story.md")
    end(notes)
    shell(notes, "sed -i s/keys/lock/ story.md")
    notes.ok("status")
    assert turns(notes) == [
        ("outside", "Another program changed story.md"),
        ("Claude Code", "Replace the letter."),
        ("outside", "Another program changed story.md"),
    ]
    notes.ok("undo")
    assert notes.read("story.md") == STORY.replace("dark", "dim").replace("keys", "lock")


@pytest.mark.covers("RD-hooks-turn")
def test_an_agent_that_ends_does_not_end_another_ones_prompt(notes: Program):
    begin(notes, "Brighten it.")
    end(notes, "codex")
    shell(notes, "sed -i s/dark/bright/ story.md")
    end(notes)
    assert turns(notes) == [("Claude Code", "Brighten it.")]


@pytest.mark.covers("RD-hooks-undo")
def test_a_prompt_that_was_interrupted_ends_when_the_next_begins(notes: Program):
    begin(notes, "First.")
    shell(notes, "sed -i s/dark/bright/ story.md; printf 'x\\n' > first.md")
    begin(notes, "Second.", "codex")
    shell(notes, "sed -i s/letter/postcard/ story.md; printf 'y\\n' > second.md")
    end(notes, "codex")
    assert turns(notes) == [("Claude Code", "First."), ("Codex", "Second.")]
    notes.ok("undo")
    assert notes.read("story.md") == STORY.replace("dark", "bright")
    assert not (notes.folder / "second.md").exists()
    notes.ok("undo")
    assert notes.read("story.md") == STORY
    assert not (notes.folder / "first.md").exists()


@pytest.mark.covers("RD-hooks-turn", "RD-hooks-undo")
def test_undo_takes_back_a_prompts_work_around_what_a_person_types_meanwhile(notes: Program):
    with serving(notes.folder) as server:
        tabs = {name: server.post("/api/tabs", {"path": name})["tab_id"] for name in ("story.md", "windows.txt")}

        def text(name: str) -> str:
            return server.get("/api/documents", path=name)["content"]

        def type_at_end(name: str, words: str) -> None:
            found = server.get("/api/documents", path=name)
            body = {"edits": [{"at": len(found["content"]), "old": "", "new": words}], "version": found["version"]}
            server.post(f"/api/tabs/{tabs[name]}/type", body)

        begin(notes, "Brighten it.")
        type_at_end("story.md", "Typed one.\n")
        shell(notes, "sed -i s/dark/bright/ story.md")
        assert "Typed one." in text("story.md")
        type_at_end("story.md", "Typed two.\n")
        shell(notes, "sed -i s/letter/postcard/ story.md; sed -i s/two/TWO/ windows.txt; printf 'x\\n' > made.md")
        type_at_end("windows.txt", "typed three\r\n")
        end(notes)
        written = STORY.replace("dark", "bright").replace("letter", "postcard")
        assert text("story.md") == f"{written}Typed one.\nTyped two.\n"
        assert text("windows.txt") == "one\r\nTWO\r\nthree\r\ntyped three\r\n"
        assert {author for author, title in turns(notes) if title == "Brighten it."} == {"Claude Code"}
        notes.run("undo")
        assert text("story.md") == f"{STORY}Typed one.\nTyped two.\n"
        assert text("windows.txt") == "one\r\ntwo\r\nthree\r\ntyped three\r\n"
        assert not (notes.folder / "made.md").exists()
        assert notes.read("story.md") == STORY


@pytest.mark.covers("RD-hooks-undo")
def test_a_prompt_that_was_noticed_in_several_turns_is_undone_and_redone_as_a_whole(notes: Program):
    before = documents(notes)
    begin(notes, "Three things.")
    for path in ("story.md", "windows.txt", "drafts/dull.md"):
        shell(notes, f"printf 'Written.\\n' >> {path}")
        notes.ok("tool", "read_document", json.dumps({"path": path}))  # whoever reads it records what it became
    end(notes)
    after = documents(notes)
    assert turns(notes) == [("Claude Code", "Three things.")] * 3
    notes.ok("undo")
    assert documents(notes) == before
    notes.ok("redo")
    assert documents(notes) == after


@pytest.mark.covers("RD-hooks-undo")
def test_a_prompt_is_one_unit_also_by_number_in_a_dry_run_and_for_its_undos(notes: Program):
    before = documents(notes)
    begin(notes, "Three things.")
    for path in ("story.md", "windows.txt", "drafts/dull.md"):
        shell(notes, f"printf 'Written.\\n' >> {path}")
        notes.ok("tool", "read_document", json.dumps({"path": path}))
    end(notes)
    after = documents(notes)
    [first, second, last] = sorted(turn["turn"] for turn in json.loads(notes.ok("turns", "--json"))["turns"])
    told = json.loads(notes.ok("undo", str(second), "--dry-run", "--json"))
    assert told["turns"] == [last, second, first]
    assert {each["path"] for each in told["documents"]} == {"story.md", "windows.txt", "drafts/dull.md"}
    assert documents(notes) == after
    notes.ok("undo", str(first))
    assert documents(notes) == before
    undos = json.loads(notes.ok("turns", "--json"))["turns"][:3]
    assert {turn["kind"] for turn in undos} == {"undo"}
    notes.ok("undo", str(undos[1]["turn"]))
    assert documents(notes) == after


@pytest.mark.covers("RD-hooks-undo")
def test_undo_before_a_prompts_end_was_heard_of_takes_back_what_it_created_too(notes: Program):
    before = documents(notes)
    begin(notes, "Create it.")
    shell(notes, "sed -i s/dark/bright/ story.md; echo made > made.md")
    notes.ok("undo")
    assert documents(notes) == before
    begin(notes, "Once more.")
    shell(notes, "sed -i s/dark/bright/ story.md")
    end(notes)
    assert turns(notes)[-1] == ("Claude Code", "Once more.")
    notes.ok("undo")
    assert documents(notes) == before


@pytest.mark.covers("RD-hooks-undo")
def test_a_document_that_was_given_a_secrets_name_goes_back_once_the_person_agrees(notes: Program):
    before = documents(notes)
    begin(notes, "Hide it.")
    shell(notes, "mv story.md .env.local; sed -i s/two/TWO/ windows.txt")
    end(notes)
    refused = notes.run("undo")
    assert refused.status != 0
    assert "--yes" in refused.err
    assert "TWO" in notes.read("windows.txt")
    notes.ok("undo", "--yes")
    assert documents(notes) == before


@pytest.mark.covers("RD-hooks-undo")
@pytest.mark.parametrize(
    "act", ["ln -s nowhere story.md", "mkdir story.md", "mkdir story.md; echo in > story.md/in.md"]
)
def test_a_document_that_an_agent_replaces_by_something_else_is_not_lost(notes: Program, act: str):
    begin(notes, "Replace it.")
    shell(notes, f"rm story.md; {act}; sed -i s/two/TWO/ windows.txt")
    end(notes)
    undone = notes.run("undo")
    assert (undone.status == 0) == (act == "mkdir story.md")  # an empty folder is in nobody's way
    if undone.status != 0:  # nothing is undone before it is gone
        assert "move that away first" in undone.out
        assert "TWO" in notes.read("windows.txt")
        shell(notes, "rm -r story.md")
        notes.ok("undo")
    assert notes.read("story.md") == STORY
    assert "TWO" not in notes.read("windows.txt")


@pytest.mark.covers("RD-hooks-turn")
def test_a_prompt_that_no_text_can_hold_is_still_the_agents(notes: Program):
    assert notes.ok("hooks", "begin", "claude", stdin='{"prompt": "half \\ud800"}') == ""
    shell(notes, "sed -i s/dark/bright/ story.md")
    end(notes)
    assert turns(notes) == [("Claude Code", "half ?")]


@pytest.mark.covers("RD-hooks-install")
@pytest.mark.parametrize("act", ["install", "remove"])
def test_a_plugin_of_the_persons_own_is_left_alone(notes: Program, act: str):
    notes.write(".opencode/plugins/redraft.js", "export const Mine = 1;\n")
    notes.run("hooks", act, "opencode")
    assert notes.read(".opencode/plugins/redraft.js") == "export const Mine = 1;\n"


@pytest.mark.covers("RD-hooks-secrets")
def test_a_secret_is_neither_remembered_nor_in_an_agents_turn(notes: Program):
    begin(notes, f"Use the key {KEY}.")
    shell(notes, "printf 'TOKEN=other-in-env\\n' > .env; sed -i s/keep/kept/ note.txt; printf 'k=1\\n' > id_rsa")
    end(notes)
    assert turns(notes) == []
    begin(notes, f"Use the key {KEY}.")
    shell(notes, "sed -i s/dark/bright/ story.md")
    end(notes)
    ((_, title),) = turns(notes)
    assert title == "Use the key [masked]."
    stored = b"".join(path.read_bytes() for path in (notes.home / "state").rglob("*") if path.is_file())
    assert b"hidden-in-env" not in stored
    assert b"OPENSSH" not in stored


@pytest.mark.parametrize("agent", [*HOOKED_AGENTS])
@pytest.mark.covers("RD-hooks-install")
def test_hooks_are_added_to_an_agents_settings_and_removed_without_touching_the_rest(notes: Program, agent: str):
    file = notes.folder / HOOKED_AGENTS[agent].file
    told = notes.ok("hooks", "install", agent)
    assert HOOKED_AGENTS[agent].file in told
    installed = file.read_bytes()
    assert b"hooks" in installed
    assert "already" in notes.ok("hooks", "install", agent)
    assert file.read_bytes() == installed
    notes.ok("hooks", "remove", agent)
    assert not file.exists()
    if agent == "opencode":
        return
    own: dict[str, Any] = {
        "permissions": {"allow": ["Bash"]},
        "hooks": {"Stop": [{"hooks": [{"command": "say done"}]}]},
    }
    file.write_text(json.dumps(own), encoding="utf-8")
    notes.ok("hooks", "install", agent)
    found = json.loads(file.read_bytes())
    assert found["permissions"] == own["permissions"]
    assert found["hooks"]["Stop"][0] == own["hooks"]["Stop"][0]
    notes.ok("hooks", "remove", agent)
    assert json.loads(file.read_bytes()) == own


@pytest.mark.covers("RD-hooks-install")
@pytest.mark.parametrize(
    "content",
    ["{not json", "[]", "[" * 100_000, '{"a": 1e400}', '{"a": "\\ud800"}', '{"hooks": []}', '{"hooks": {"Stop": {}}}'],
)
def test_settings_that_the_agent_would_not_accept_are_left_alone(notes: Program, content: str):
    notes.write(".claude/settings.local.json", content)
    result = notes.run("hooks", "install", "claude")
    assert result.status != 0
    assert "nothing was changed" in result.err
    assert notes.read(".claude/settings.local.json") == content


@pytest.mark.covers("RD-hooks-install")
def test_hooks_are_not_written_through_a_link_out_of_the_folder(notes: Program):
    outside = notes.home / "elsewhere"
    outside.mkdir()
    os.symlink(outside, notes.folder / ".claude")
    assert notes.run("hooks", "install", "claude").status != 0
    assert [*outside.iterdir()] == []


@pytest.mark.covers("RD-hooks-install")
def test_a_hook_that_fails_neither_stops_the_agent_nor_talks_to_its_model(notes: Program):
    result = notes.run("hooks", "begin", "claude", "--folder", str(notes.home / "gone"), stdin="{}")
    assert (result.status, result.out) == (1, "")
    assert "does not exist" in result.err


@pytest.mark.slow
@pytest.mark.covers("RD-hooks-real")
@pytest.mark.parametrize("name", ["claude", "gemini", "opencode"] if TORTURE else ["claude"])
def test_a_real_agents_prompt_is_a_turn_of_its_own(notes: Program, name: str):
    before = notes.read("story.md")
    tool = {"claude": "Bash", "gemini": "run_shell_command", "opencode": "bash"}[name]
    command = {"command": "sed -i s/dark/bright/ story.md; rm drafts/dull.md", "description": "edit"}
    if name == "claude":
        notes.write(".claude/settings.local.json", json.dumps({"permissions": {"allow": ["Bash"]}}))
    notes.ok("hooks", "install", name)
    steps = [{"tool": tool, "args": command}, {"text": "Finished."}]
    drive(name, notes.folder, steps, [*notes.command, "mcp", str(notes.folder)], notes.state_home)
    assert notes.read("story.md") == before.replace("dark", "bright")
    assert [author for author, _ in turns(notes)] == [HOOKED_AGENTS[name].name]
    notes.ok("undo")
    assert notes.read("story.md") == before
    assert notes.read("drafts/dull.md") == "Dull.\n"
