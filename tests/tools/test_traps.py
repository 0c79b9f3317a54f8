"""What has broken such tools elsewhere, tried on every tool that could fall for it."""

from __future__ import annotations

import os
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from redraft.errors import RedraftError
from redraft.tools.registry import load_registry
from tests.conftest import TORTURE
from tests.tools.calling import STORY, Caller
from tests.tools.speaking import McpAgent
from tests.workspace.folder import Folder, no

if TYPE_CHECKING:
    from pathlib import Path

KEY = "c2VjcmV0LXRoYXQtbm9ib2R5LXNlZXM"
SECRET_NAMES = """
.env .ENV .env.local .Env.production .envrc prod.env PROD.ENV .env.bak .env~ app/staging.env id_rsa ID_RSA id_dsa
id_ecdsa id_ed25519 id_rsa.old id_rsa_work deploy_rsa keys/id_ed25519_sk server.pem SERVER.PEM server.key
tls/private.pem a.p12 a.pfx a.jks a.keystore a.kdbx a.ppk .netrc _netrc .npmrc .pypirc .pgpass .htpasswd
.git-credentials .dockercfg .aws/credentials .ssh/config home/.ssh/known_hosts .kube/config .docker/config.json
.config/gh/hosts.yml credentials credentials.json Credentials.INI aws-credentials.json secrets.yaml Secrets.JSON
secret.yml app_secrets.yaml client_secret_1.json service-account.json serviceAccountKey.json terraform.tfstate
prod.tfvars .bash_history kubeconfig .vault-token wp-config.php passwords.csv vpn.ovpn
"""
SECRETS = SECRET_NAMES.split()
SAMPLES: dict[str, Any] = {
    "version": "0" * 16, "content": "x", "operation": "append", "old_text": KEY, "new_text": "in", "find": KEY,
    "replace": "x", "query": KEY, "heading": "x", "after_line": 0, "start_line": 1, "end_line": 1,
    "from_path": "story.md", "to_path": "moved.md",
}  # fmt: skip
PATHS = ("path", "file_path", "from_path", "to_path", "folder", "prefix", "title", "name", "template")
TAKE_PATHS = [entry.name for entry in load_registry().tools if set(PATHS) & set(entry.input_schema["properties"])]


def told(agent: Caller, tool: str, arguments: dict[str, Any]) -> tuple[str, bool]:
    try:
        return str(agent.call(tool, **arguments)), True
    except RedraftError as error:
        return str(error.as_dict()), False


@pytest.mark.parametrize("tool", TAKE_PATHS)
def test_sixty_secrets_are_neither_shown_nor_changed_by_any_tool(agent: Caller, tool: str):
    assert len(SECRETS) >= 60
    for name in SECRETS:
        agent.folder.put(name, f"key: {KEY}\n")
    schema = load_registry().get(tool).input_schema
    before = agent.folder.tree()
    for name in SECRETS:
        for field in set(PATHS) & set(schema["properties"]):
            arguments = {each: SAMPLES[each] for each in schema.get("required", ()) if each in SAMPLES}
            answer, _ = told(agent, tool, {**arguments, field: name})
            assert KEY not in answer.replace(f"'query': '{KEY}'", "")
            after = agent.folder.tree()
            assert {path: after.get(path) for path in before} == before, (name, field)


def test_no_search_finds_what_is_in_a_secret(agent: Caller):
    for name in SECRETS:
        agent.folder.put(name, f"key: {KEY}\n")
    for tool in ("search_documents", "search_project"):
        # What comes nearest in meaning comes back, and a secret never does.
        found = agent.call(tool, query=KEY)["results"]
        assert {each.get("path") or each["file_path"] for each in found} <= {"story.md"}
        assert KEY not in str(found)
        assert agent.call(tool, query=f'"{KEY}"')["results"] == []


@pytest.mark.parametrize("tool", ["create_document", "move_document"])
def test_no_agent_makes_a_document_that_would_be_taken_for_a_secret(agent: Caller, tool: str):
    for name in SECRETS:
        given = (
            {"path": name, "content": "x"} if tool == "create_document" else {"from_path": "story.md", "to_path": name}
        )
        _, made = told(agent, tool, given)
        assert not (agent.folder.path / name).exists()
        if made:  # under another name: an extension was added that makes a document of it
            agent.call("undo_turn")


@pytest.mark.parametrize("name", ["secretary-notes.md", "the-secret-garden.txt", "credentials-policy.md", "keynote.md"])
def test_a_document_that_only_sounds_like_a_secret_is_read_and_edited(agent: Caller, name: str):
    agent.folder.put(name, "one\n")
    agent.call("edit_text", path=name, old_text="one", new_text="two")
    assert agent.text(name) == "two\n"


def test_a_link_to_a_secret_gives_nothing_and_is_no_way_to_write_it(agent: Caller):
    agent.folder.put(".env", KEY)
    (agent.folder.path / "plain.md").symlink_to(".env")
    for tool, more in {
        "read_document": {"path": "plain.md"},
        "read_file": {"file_path": "plain.md"},
        "edit_text": {"path": "plain.md", "old_text": KEY, "new_text": ""},
        "move_document": {"from_path": "plain.md", "to_path": "b.md"},
    }.items():
        answer, done = told(agent, tool, more)
        assert (done, KEY in answer) == (False, False)
    assert agent.text(".env") == KEY


# Undo takes back more than edits


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("create_document", {"path": "new/deep/x.md", "content": "x"}),
        ("move_document", {"from_path": "story.md", "to_path": "new/story.md"}),
        ("delete_document", {"path": "story.md"}),
        ("write_document", {"path": "story.md", "version": "", "content": STORY * 2}),
    ],
)
def test_a_creation_a_move_and_a_deletion_are_undone_and_redone(agent: Caller, tool: str, arguments: dict[str, Any]):
    if "version" in arguments:
        arguments = {**arguments, "version": agent.version("story.md")}
    before = agent.folder.tree()
    agent.call(tool, **arguments)
    after = agent.folder.tree()
    undone = agent.call("undo_turn")
    assert agent.folder.tree() == before != after
    agent.call("undo_turn", turn=undone["turn"])
    assert agent.folder.tree() == after


def test_documents_of_one_name_come_back_from_the_trash_each_to_its_place(agent: Caller):
    agent.folder.put("a/x.md", "first\n")
    agent.folder.put("b/x.md", "second\n")
    first, second = (agent.call("delete_document", path=path)["turn"] for path in ("a/x.md", "b/x.md"))
    agent.call("undo_turn", turn=first)
    agent.call("undo_turn", turn=second)
    assert (agent.text("a/x.md"), agent.text("b/x.md")) == ("first\n", "second\n")


def test_an_edit_made_for_a_state_that_was_undone_is_refused_and_for_the_state_before_is_not(agent: Caller):
    first = agent.version("story.md")
    second = agent.call("edit_text", path="story.md", old_text="eleven", new_text="twelve")["version"]
    agent.call("undo_turn")
    edit = {"path": "story.md", "start_line": 2, "end_line": 2, "content": "Dark."}
    assert agent.refused("replace_lines", **edit, version=second)["error"] == "version_mismatch"
    agent.call("replace_lines", **edit, version=first)


# Runaway agents


def test_a_batch_over_more_than_ten_documents_asks_first(agent: Caller):
    agent.context.confirm = no
    calls = [{"tool": "create_document", "arguments": {"path": f"n{number}.md"}} for number in range(11)]
    assert agent.refused("batch", calls=calls)["error"] == "confirmation_required"
    assert agent.call("batch", calls=calls[:10])["state"] == "applied"


def test_a_batch_over_more_documents_than_a_turn_has_actions_is_refused_whole(agent: Caller):
    calls = [{"tool": "create_document", "arguments": {"path": f"n{number}.md"}} for number in range(21)]
    told = agent.refused("batch", calls=calls)
    assert (told["error"], told["details"]["call"]) == ("limit_exceeded", 20)
    assert "Make several smaller batches." in told["message"]
    assert not agent.workspace.turns()


def test_a_batch_takes_hundreds_of_edits_of_one_document_and_says_its_limit(agent: Caller):
    agent.call("create_document", path="words.md", content="".join(f"word{number}\n" for number in range(501)))
    edit = [
        {"tool": "edit_text", "arguments": {"path": "words.md", "old_text": f"word{n}\n", "new_text": f"W{n}\n"}}
        for n in range(501)
    ]
    told = agent.refused("batch", calls=edit)
    assert (told["error"], told["details"]["limit"]) == ("limit_exceeded", 500)
    assert load_registry().get("batch").input_schema["properties"]["calls"]["maxItems"] == 500
    assert agent.call("batch", calls=edit[:500])["results"] == ["ok"] * 500
    assert agent.text("words.md") == "".join(f"W{number}\n" for number in range(500)) + "word500\n"


# What arrives with a folder


@pytest.mark.covers("ML-future-plugins")
def test_nothing_in_a_folder_adds_a_tool(tmp_path: Path):
    folder = tmp_path / "notes"
    for name in ("redraft/tools/evil.py", ".redraft/tools/evil.py", ".redraft/plugins/evil.py", "evil.py", "tools.py"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n", encoding="utf-8")
    (folder / ".mcp.json").write_text('{"mcpServers": {"evil": {"command": "touch"}}}', encoding="utf-8")
    (folder / "pyproject.toml").write_text(
        '[project.entry-points."redraft.tools"]\nevil = "evil:x"\n', encoding="utf-8"
    )
    with McpAgent(folder, "--profile", "all") as agent:
        listed = {tool["name"] for tool in agent.ask("tools/list")["tools"]}
        assert agent.refused("evil")["error"] == "unknown_tool"
    assert listed == {entry.name for entry in load_registry().tools}
    assert not (tmp_path / "ran").exists()


# A link that is swapped in while a tool works

SWAPPED: dict[str, dict[str, Any]] = {
    "read_document": {"path": "a.md"},
    "read_file": {"file_path": "a.md"},
    "get_outline": {"path": "a.md"},
    "search_project": {"query": "outside"},
    "search_documents": {"query": "outside"},
    "edit_text": {"path": "a.md", "old_text": "inside", "new_text": "inside"},
    "edit_document": {"path": "a.md", "operation": "append", "content": "more"},
    "move_document": {"from_path": "a.md", "to_path": "b.md"},
}


@pytest.mark.slow
@pytest.mark.parametrize("tool", SWAPPED)
def test_a_link_swapped_in_meanwhile_leads_nowhere(folder: Folder, tool: str):
    outside = folder.path.parent / "outside.md"
    outside.write_text("outside of the folder\n", encoding="utf-8")
    stop = threading.Event()

    def swap() -> None:
        beside, target = folder.path.parent / "beside", folder.path / "a.md"
        while not stop.is_set():
            beside.symlink_to("../outside.md")
            os.replace(beside, target)
            beside.write_text("inside\n", encoding="utf-8")
            os.replace(beside, target)

    agent = Caller.at(folder)
    thread = threading.Thread(target=swap)
    thread.start()
    try:
        until = time.monotonic() + (600 if TORTURE else 1)
        while time.monotonic() < until:
            answer, _ = told(agent, tool, SWAPPED[tool])
            assert "outside of the folder" not in answer
            assert outside.read_text(encoding="utf-8") == "outside of the folder\n"
    finally:
        stop.set()
        thread.join()
