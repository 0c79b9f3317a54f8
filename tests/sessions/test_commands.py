"""The commands as their specification has them: init, diff, reset, patch, write, outline, skill; and their options."""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
from datetime import datetime
from hashlib import sha256
from typing import TYPE_CHECKING

import pytest

from redraft import __version__
from redraft.cli.doc.program import NAMES, build_parser
from redraft.cli.program import run as run_redraft
from redraft.formats.components import component
from redraft.formats.frontmatter import fields

if TYPE_CHECKING:
    from pathlib import Path

    from tests.sessions.conftest import AgentDoc

LOG = "<!-- agent:log -->\none\n<!-- /agent:log -->\n"


def inner(text: str, name: str) -> str:
    found = component(text, name)
    assert found is not None
    return found.inner(text)


def history(agent_doc: AgentDoc) -> list[dict[str, str]]:
    from redraft.runtime import open_workspace

    with open_workspace(str(agent_doc.folder)) as workspace:
        return [{"author": turn.author.name, "title": turn.title, "mode": turn.mode} for turn in workspace.turns()]


@pytest.mark.covers("AD-init-args", "AD-init-exists", "AD-fm-session", "AD-body-inline")
def test_init_writes_frontmatter_and_a_block_for_the_person(agent_doc: AgentDoc):
    agent_doc.ok("init", "notes/plan.md", "The plan: Übersicht", "--agent", "codex")
    text = agent_doc.read("notes/plan.md")
    session = fields(text)["agent_doc_session"]
    assert session is not None
    assert re.fullmatch(r"[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}", session)
    assert text == (
        f"---\nagent_doc_session: {session}\nagent: codex\n---\n\n# Session: The plan: Übersicht\n\n## User\n\n"
    )
    again = agent_doc.run("init", "notes/plan.md")
    assert (again.status, agent_doc.read("notes/plan.md")) == (1, text)
    agent_doc.ok("init", "b.md")
    assert agent_doc.read("b.md").endswith("agent: claude\n---\n\n# Session: Untitled Session\n\n## User\n\n")


@pytest.mark.covers("AD-cmd-reset", "AD-snap-delete", "AD-fm-session")
def test_reset_forgets_the_conversation_and_the_snapshot_and_keeps_the_documents_id(agent_doc: AgentDoc):
    agent_doc.ok("init", "a.md")
    text = agent_doc.read("a.md").replace("---\n\n", "resume: s-1\n---\n\n")
    agent_doc.write("a.md", text)
    agent_doc.ok("write", "a.md", stdin="An answer.\n")
    assert agent_doc.snapshot("a.md") == agent_doc.read("a.md")
    agent_doc.ok("reset", "a.md")
    assert agent_doc.snapshot("a.md") is None
    assert (fields(agent_doc.read("a.md")).get("resume"), fields(agent_doc.read("a.md"))["agent"]) == (None, "claude")
    assert fields(agent_doc.read("a.md"))["agent_doc_session"] == fields(text)["agent_doc_session"]


@pytest.mark.covers("AD-snap-place", "AD-snap-name", "AD-patch-snapshot")
def test_snapshots_lie_under_the_hash_of_the_canonical_path(agent_doc: AgentDoc):
    agent_doc.write("sub/a.md", LOG)
    (agent_doc.folder / "link").symlink_to("sub")
    agent_doc.ok("patch", "link/a.md", "log", "two")
    name = sha256(str(agent_doc.folder / "sub" / "a.md").encode()).hexdigest()
    assert agent_doc.read(f".agent-doc/snapshots/{name}.md") == agent_doc.read("sub/a.md")


def test_a_project_is_found_from_a_folder_within_it(agent_doc: AgentDoc):
    (agent_doc.folder / ".agent-doc").mkdir()
    agent_doc.write("sub/a.md", LOG)
    agent_doc.patching.chdir(agent_doc.folder / "sub")
    agent_doc.ok("patch", "a.md", "log", "two")
    assert len(list((agent_doc.folder / ".agent-doc" / "snapshots").iterdir())) == 1
    assert not (agent_doc.folder / "sub" / ".agent-doc").exists()


def test_a_snapshot_folder_that_leads_elsewhere_is_not_followed(agent_doc: AgentDoc, tmp_path: Path):
    (tmp_path / "elsewhere").mkdir()
    (agent_doc.folder / ".agent-doc").mkdir()
    (agent_doc.folder / ".agent-doc" / "snapshots").symlink_to(tmp_path / "elsewhere")
    agent_doc.write("a.md", LOG)
    assert agent_doc.run("patch", "a.md", "log", "two").status == 3
    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.covers("AD-comp-name")
@pytest.mark.parametrize("name", ["a", "A-1", "0x", "a--b-", "-a", "a_b", "", "ä"])
def test_a_name_is_a_letter_or_digit_and_then_letters_digits_and_hyphens(agent_doc: AgentDoc, name: str):
    text = f"<!-- agent:{name} -->\nold\n<!-- /agent:{name} -->\n"
    agent_doc.write("a.md", text)
    done = agent_doc.run("patch", "--", "a.md", name, "new")
    good = re.fullmatch("[a-zA-Z0-9][a-zA-Z0-9-]*", name) is not None
    assert (done.status, agent_doc.read("a.md")) == ((0, text.replace("old", "new")) if good else (1, text))


@pytest.mark.covers("AD-patch-args", "AD-patch-missing")
def test_patch_takes_its_content_from_the_argument_or_stdin(agent_doc: AgentDoc):
    agent_doc.write("a.md", LOG)
    agent_doc.ok("patch", "a.md", "log", "two ä😀")
    assert inner(agent_doc.read("a.md"), "log") == "\ntwo ä😀\n"
    agent_doc.ok("patch", "a.md", "log", stdin="three\n\n")
    assert inner(agent_doc.read("a.md"), "log") == "\nthree\n"
    missing = agent_doc.run("patch", "a.md", "nope", "x")
    assert (missing.status, "'nope'" in missing.err) == (1, True)
    assert history(agent_doc) == [{"author": "agent", "title": "Patch log in a.md", "mode": "merge"}] * 2


@pytest.mark.covers("AD-comp-mode-chain", "AD-patch-timestamp", "AD-patch-max-zero")
def test_the_marker_wins_over_the_file_and_that_over_replace(agent_doc: AgentDoc):
    agent_doc.write(".agent-doc/components.toml", "[log]\nmode = 'append'\ntimestamp = true\n[top]\nmode = 'prepend'\n")
    agent_doc.write("a.md", LOG + "<!-- agent:top mode=replace -->\nold\n<!-- /agent:top -->\n")
    agent_doc.ok("patch", "a.md", "log", "two")
    agent_doc.ok("patch", "a.md", "top", "new")
    text = agent_doc.read("a.md")
    stamp = re.fullmatch(r"\none\n\[(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)\] two\n", inner(text, "log"))
    assert stamp is not None
    assert abs(datetime.fromisoformat(stamp[1]).timestamp() - time.time()) < 60
    assert inner(text, "top") == "\nnew\n"
    agent_doc.write("a.md", LOG.replace("log -->\none", "log mode=sideways -->\none"))
    assert agent_doc.run("patch", "a.md", "log", "x").status == 1


def test_a_patch_leaves_what_the_agent_has_not_seen_for_the_next_diff(agent_doc: AgentDoc):
    agent_doc.write("a.md", LOG)
    agent_doc.ok("patch", "a.md", "log", "two")
    agent_doc.write("a.md", agent_doc.read("a.md") + "Typed by the person.\n")
    agent_doc.ok("patch", "a.md", "log", "three")
    assert agent_doc.ok("diff", "a.md").endswith("<!-- /agent:log -->\n+Typed by the person.\n")


@pytest.mark.covers("AD-write-modes", "AD-body-template", "AD-fm-format")
def test_write_keeps_each_components_own_mode_also_that_of_exchange(agent_doc: AgentDoc):
    top = "<!-- agent:top mode=prepend -->\nold\n<!-- /agent:top -->\n"
    agent_doc.write(".agent-doc/components.toml", "[log]\nmode = 'append'\n[top]\nmode = 'append'\n")
    agent_doc.write("a.md", "<!-- agent:exchange -->\nold\n<!-- /agent:exchange -->\n" + LOG + top)
    blocks = "".join(f"<!-- patch:{name} -->\nnew\n<!-- /patch:{name} -->" for name in ("exchange", "log", "top"))
    agent_doc.ok("write", "a.md", "--stream", stdin=blocks)
    filled = {name: inner(agent_doc.read("a.md"), name) for name in ("exchange", "log", "top")}
    assert filled == {"exchange": "\nnew\n", "log": "\none\nnew\n", "top": "\nnew\nold\n"}
    agent_doc.ok("write", "a.md", stdin="Beside the blocks.\n")
    assert inner(agent_doc.read("a.md"), "exchange") == "\nnew\n\nBeside the blocks.\n"
    told = agent_doc.run("write", "a.md", stdin="<!-- patch:gone -->\nfor nobody\n<!-- /patch:gone -->")
    assert "'gone'" in told.err
    assert inner(agent_doc.read("a.md"), "exchange").endswith("for nobody\n")


def test_an_answer_may_begin_with_a_blank_line_to_be_a_paragraph_of_its_own(agent_doc: AgentDoc):
    agent_doc.write("a.md", LOG.replace("agent:log", "agent:log mode=append", 1))
    agent_doc.ok("write", "a.md", stdin="<!-- patch:log -->\n\n### Re: one\n\nYes.\n\n<!-- /patch:log -->")
    assert inner(agent_doc.read("a.md"), "log") == "\none\n\n### Re: one\n\nYes.\n"


@pytest.mark.covers("AD-body-inline", "AD-fm-format-append", "AD-fm-mode-append")
@pytest.mark.parametrize(
    "key", ["agent_doc_format: inline", "agent_doc_format: append", "agent_doc_mode: append", "x: y"]
)
def test_an_inline_answer_becomes_the_next_block(agent_doc: AgentDoc, key: str):
    agent_doc.write("a.md", f"---\n{key}\n---\n## User\n\nHello?\n")
    agent_doc.ok("write", "a.md", stdin="Hi.\n")
    assert agent_doc.read("a.md").endswith("Hello?\n\n## Assistant\n\nHi.\n\n## User\n\n")


@pytest.mark.covers("AD-write-merge-markers", "AD-write-stream", "AD-fm-write")
def test_marks_of_a_conflict_are_told_by_the_exit_status(agent_doc: AgentDoc):
    base = "---\nagent_doc_write: merge\n---\n<!-- agent:s -->\nThe lamp is dark.\n<!-- /agent:s -->\n"
    agent_doc.write("before.md", base)
    agent_doc.write("a.md", base.replace("is dark", "is bright"))
    answer = "<!-- patch:s -->\nThe lamp is lit.\n<!-- /patch:s -->"
    arguments = ("write", "a.md", "--baseline-file", "before.md")
    agent_doc.write("kept.md", agent_doc.read("a.md"))
    assert agent_doc.run("write", "kept.md", "--stream", "--baseline-file", "before.md", stdin=answer).status == 0
    assert inner(agent_doc.read("kept.md"), "s") == "\nThe lamp is bright.\nThe lamp is lit.\n"
    assert agent_doc.run(*arguments, stdin=answer).status == 1
    assert inner(agent_doc.read("a.md"), "s") == (
        "\n<<<<<<< person\nThe lamp is bright.\n||||||| before\nThe lamp is dark.\n=======\nThe lamp is lit.\n"
        ">>>>>>> agent\n"
    )


def test_a_folder_that_lets_agents_only_read_is_not_written(agent_doc: AgentDoc):
    agent_doc.write("a.md", LOG)
    agent_doc.write(".redraft/settings.toml", "mode = 'read'\n")
    assert agent_doc.run("patch", "a.md", "log", "x").status == 3
    agent_doc.write(".redraft/settings.toml", "mode = 'propose'\n")
    assert "waits for your decision" in agent_doc.ok("patch", "a.md", "log", "x")
    assert agent_doc.read("a.md") == LOG


@pytest.mark.parametrize("name", ["gone.md", ".env"])
def test_what_is_not_there_or_secret_is_refused(agent_doc: AgentDoc, name: str):
    agent_doc.write(".env", LOG)
    assert agent_doc.run("patch", name, "log", "x").status in (3, 4)
    assert agent_doc.read(".env") == LOG


@pytest.mark.covers(
    "AD-outline-args", "AD-outline-frontmatter", "AD-outline-fields", "AD-outline-tokens", "AD-outline-preamble",
    "AD-outline-text", "AD-outline-json", "AD-outline-fences",
)  # fmt: skip
def test_outline_counts_from_the_files_start_leaves_code_alone_and_is_valid_json(agent_doc: AgentDoc):
    agent_doc.write(
        "a.md", '---\nk: v\n---\nBefore.\n# Zwölf "\\d" 日本😀\nabcdefgh\n```\n# no\n```\n## Tab\there\nSetext\n===\n'
    )
    found = agent_doc.json("outline", "a.md", "--json")
    assert found == [
        {"heading": "(preamble)", "depth": 0, "line": 4, "lines": 1, "tokens": 2},
        {"heading": 'Zwölf "\\d" 日本😀', "depth": 1, "line": 5, "lines": 4, "tokens": 5},
        {"heading": "Tab\there", "depth": 2, "line": 10, "lines": 0, "tokens": 0},
        {"heading": "Setext", "depth": 1, "line": 11, "lines": 1, "tokens": 1},
    ]
    table = agent_doc.ok("outline", "a.md").splitlines()
    assert [re.sub(r"(?<=\S) +", " ", line) for line in table] == [
        "(preamble) 1 lines ~ 2 tokens",
        'Zwölf "\\d" 日本😀 4 lines ~ 5 tokens',
        "  Tab\there 0 lines ~ 0 tokens",
        "Setext 1 lines ~ 1 tokens",
        "---",
        "Total 6 lines ~ 8 tokens",
    ]


@pytest.mark.covers("AD-skill-install", "AD-skill-idempotent", "AD-skill-check", "AD-skill-version", "AD-u9", "AD-u10")
def test_the_skill_is_installed_once_and_checked_by_its_bytes(agent_doc: AgentDoc):
    assert agent_doc.run("skill", "check").status == 1
    agent_doc.ok("skill", "install")
    place = agent_doc.folder / ".claude" / "skills" / "agent-doc" / "SKILL.md"
    text, written = place.read_text(encoding="utf-8"), place.stat().st_ino
    assert fields(text)["agent-doc-version"] == __version__
    agent_doc.ok("skill", "install")
    assert place.stat().st_ino == written
    assert "up to date" in agent_doc.ok("skill", "check")
    place.write_text(text.replace(__version__, "0.0.1"), encoding="utf-8")
    outdated = agent_doc.run("skill", "check")
    assert (outdated.status, "outdated" in outdated.out) == (1, True)
    agent_doc.ok("skill", "install")
    assert place.read_text(encoding="utf-8") == text


@pytest.mark.covers("AD-skill-preflight", "AD-diff-comments")
def test_the_skill_renews_itself_and_leaves_comments_out_of_account(agent_doc: AgentDoc):
    agent_doc.ok("skill", "install")
    text = agent_doc.read(".claude/skills/agent-doc/SKILL.md")
    assert agent_doc.ok("--version") == f"agent-doc {fields(text)['agent-doc-version']}\n", "they can be compared"
    said = " ".join(text.split())
    assert (
        "1. Compare `agent-doc-version` above with `agent-doc --version`. If the program is newer, run `agent-doc "
        "skill install` and read this file again."
    ) in said
    assert (
        "3. Leave comments out of account, on both sides: HTML comments (`<!-- ... -->`, except `<!-- agent:NAME -->` "
        "markers) and link reference comments (`[//]: # (...)`) are the person's scratchpad. If nothing else changed, "
        "stop."
    ) in said


OPTIONS = {
    "run": "FILE -b --agent --model --mode --yes --dry-run --no-git",
    "init": "FILE TITLE --agent",
    "diff": "FILE --from --to",
    "reset": "FILE",
    "clean": "FILE",
    "audit-docs": "--root",
    "prompt": "FILE --answer --all",
    "commit": "FILE --agent-only",
    "skill": "ACTION",
    "outline": "FILE --json",
    "patch": "FILE COMPONENT CONTENT",
    "write": "FILE --baseline-file --stream --ipc --force-disk",
    "history": "FILE --restore",
    "start": "FILE",
    "route": "FILE --pane",
    "claim": "FILE --position --window --pane",
    "focus": "FILE --pane",
    "layout": "FILE --split --window",
    "resync": "",
    "sync": "--col --window --focus",
    "watch": "--stop --status --debounce --max-cycles --foreground",
    "upgrade": "",
    "plugin": "ACTION EDITOR",
    # Our own, as are `run --mode --yes`, `diff --from --to`, `commit --agent-only` and `watch --foreground`:
    "take": "MESSAGE",
    "trust": "--revoke --yes",
    "log": "FILE --limit",
    "show": "FILE --back",
    "blame": "FILE",
    "undo": "FILE TURN",
    "read": "FILE --component",
    "search": "FILE TEXT --regex",
    "rename": "FILE NEW",
    "compact": "FILE --keep",
    "doctor": "FILE",
}


@pytest.mark.covers("AD-run-flags", "AD-write-args", "AD-outline-args")
@pytest.mark.parametrize("name", NAMES)
def test_a_command_has_the_options_of_its_specification_and_of_ours_only_those_named_here(name: str):
    found = [action for action in build_parser(name)._actions if action.dest != "help"]
    assert (
        " ".join(action.option_strings[-1] if action.option_strings else str(action.metavar) for action in found)
        == (OPTIONS[name])
    )


def test_a_wrong_call_is_told_with_status_2_and_help_names_every_command(agent_doc: AgentDoc):
    for arguments in (["nope"], ["patch"], ["diff", "a.md", "--json"], ["skill", "remove"]):
        assert agent_doc.run(*arguments).status == 2
    assert all(name in agent_doc.ok("--help") for name in NAMES)
    assert "agent-doc write plan.md" in agent_doc.ok("write", "--help")


def test_redraft_doc_is_the_same(agent_doc: AgentDoc):
    agent_doc.write("a.md", LOG)
    agent_doc.patching.chdir("/")
    assert run_redraft(["doc", "patch", "a.md", "log", "two", "--folder", str(agent_doc.folder), "--json"]) == 0
    told = json.loads(agent_doc.capture.readouterr().out)
    assert (told["state"], inner(agent_doc.read("a.md"), "log")) == ("applied", "\ntwo\n")
    for words in (["outline", "a.md"], ["diff", "a.md"], ["audit-docs"], ["skill", "check"]):
        run_redraft(["doc", *words, "--folder", str(agent_doc.folder), "--json"])
        assert json.loads(agent_doc.capture.readouterr().out) is not None


SECRET = "# Title hunter2\n\nthe password is hunter2\n"


@pytest.mark.covers("RD-secrets-links")
@pytest.mark.parametrize("secret", [".env", "deep/.ssh/config", "token.json"])
def test_one_more_name_of_a_secret_is_a_secret_for_every_command(agent_doc: AgentDoc, secret: str):
    git("init", "--quiet")
    agent_doc.write(secret, SECRET)
    agent_doc.write("plan.md", "# Plan\n\nhunter2 is not here.\n")
    (agent_doc.folder / "sub").mkdir()
    names = ["hard.md", "sub/hard.md", "plan.archive.md", secret]
    for name in names[:-1]:
        os.link(agent_doc.folder / secret, agent_doc.folder / name)
    os.link(agent_doc.folder / "plan.md", agent_doc.folder / "twice.md")
    commands = [["read"], ["search", "password"], ["outline"], ["diff"], ["run", "--dry-run"], ["commit"], ["history"]]
    commands += [["compact"], ["patch", "log", "x"], ["write"], ["reset"], ["undo"], ["claim"], ["doctor"]]
    for name in names:
        for command, *more in commands:
            done = agent_doc.run(command, name, *more, stdin="x\n")
            assert "hunter2" not in done.out + done.err, (command, name, done)
            assert done.status, (command, name, done)
    # From the folder that the further name lies in, too; and where a document's archive is one.
    agent_doc.patching.chdir(agent_doc.folder / "sub")
    for command in (["read", "hard.md"], ["search", "hard.md", "hunter2"], ["commit", "hard.md"]):
        done = agent_doc.run(*command)
        assert (done.status, "hunter2" in done.out + done.err) == (3, False), (command, done)
    agent_doc.patching.chdir(agent_doc.folder)
    assert "the password" not in agent_doc.run("search", "plan.md", "hunter2").out
    assert git("status", "--porcelain", "--untracked-files=no") == ""
    # A document that merely has two names is read under both.
    assert all("hunter2 is not here" in agent_doc.ok("read", name) for name in ("plan.md", "twice.md"))


def git(*words: str) -> str:
    return subprocess.run(["git", *words], check=True, capture_output=True, encoding="utf-8").stdout


@pytest.mark.parametrize(
    "name",
    [".env", "id_rsa.md", ".ssh/a.md", "token.json", "private-keys-v1.d/a.md", "share/keyrings/a.md", "id_ed25519.md",
     "bitwarden_export.md", "utc--a.md", "key.md", "cookies.md", "deploy.key"],
)  # fmt: skip
def test_the_outline_of_a_secret_is_withheld(agent_doc: AgentDoc, name: str):
    said = {
        "key.md": f"{SECRET}\n-----BEGIN RSA PRIVATE KEY-----\n{'QUJD' * 16}\n",
        "cookies.md": f"# Netscape HTTP Cookie File\n{SECRET}",
    }
    agent_doc.write(name, said.get(name, SECRET))
    for words in ([name], [name, "--json"]):
        done = agent_doc.run("outline", *words)
        assert (done.status, "hunter2" in done.out + done.err) == (3, False), done
