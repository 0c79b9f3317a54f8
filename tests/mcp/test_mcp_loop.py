"""The protocol loop, spoken to line by line by a real process of the program."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from redraft.mcp_server import Endpoint
from redraft.mcp_server.connection import McpConnection
from redraft.mcp_server.protocol import READS
from redraft.tools.registry import load_registry
from redraft.workspace.turns.modes import Mode, Rule, Verdict, WriteTime
from redraft.workspace.workspace import Workspace
from tests.cli.running import Program
from tests.speaking.lines import Lines, answer_of, envelope

if TYPE_CHECKING:
    from pathlib import Path

STORY = "# Story\n\nThe hero John walked in.\n"


def test_the_server_says_what_it_is_and_agrees_on_the_protocol(client: Lines) -> None:
    told = client.start()
    assert (told["protocolVersion"], told["serverInfo"]["name"]) == ("2025-06-18", "redraft")
    assert set(told["capabilities"]) == {"tools", "resources", "prompts"}
    assert told["capabilities"]["resources"] == {"subscribe": True, "listChanged": True}


def test_a_client_of_another_age_is_offered_what_we_speak(client: Lines) -> None:
    answer = client.ask("initialize", protocolVersion="1999-01-01", capabilities={})
    assert answer["result"]["protocolVersion"] == "2025-11-25"


def test_tools_are_listed_with_schemas_and_hints(client: Lines) -> None:
    client.start()
    tools = {tool["name"]: tool for tool in client.ask("tools/list")["result"]["tools"]}
    assert tools["read_document"]["annotations"]["readOnlyHint"] is True
    assert tools["delete_document"]["annotations"]["destructiveHint"] is True
    assert all(tool["inputSchema"]["type"] == "object" for tool in tools.values())
    assert len(tools) <= 20


def test_a_document_is_read_edited_and_a_stale_write_refused(client: Lines, folder: Path) -> None:
    client.start()
    read = client.call("read_document", path="story.md")
    version = read["structuredContent"]["version"]
    assert json.loads(read["content"][0]["text"]) == read["structuredContent"]
    edit = client.call("replace_lines", path="story.md", version=version, start_line=2, end_line=2, content="James.")
    assert edit["isError"] is False
    stale = client.call("replace_lines", path="story.md", version=version, start_line=2, end_line=2, content="STALE")
    assert stale["isError"] is True
    assert json.loads(stale["content"][0]["text"])["error"] == "version_mismatch"
    assert (folder / "story.md").read_text(encoding="utf-8") == "# Story\n\nJames.\n"


def test_the_caller_is_the_author_of_what_it_does(client: Lines, folder: Path) -> None:
    client.start()
    client.call("edit_text", path="story.md", old_text="John", new_text="James")
    turns = client.call("list_turns")["structuredContent"]["turns"]
    assert "tester" in json.dumps(turns[0])


def test_calls_of_one_connection_gather_in_one_review(folder: Path) -> None:
    client = Lines.to(folder, "--mode", "propose")
    client.start()
    for old, new in (("John", "James"), ("walked", "ran")):
        edit = client.call("edit_text", path="story.md", old_text=old, new_text=new)
        assert edit["structuredContent"]["state"] == "proposed"
    assert (folder / "story.md").read_text(encoding="utf-8") == STORY
    assert answer_of(client.call("read_document", path="story.md"))["content"] == STORY.replace(
        "John walked", "James ran"
    )
    client.close()
    program = Program(folder)
    with program.open() as workspace:
        assert [draft.path for draft in workspace.drafts()] == ["story.md"]
        assert len(workspace.turns()) == 2
    program.ok("accept", "--all")
    assert (folder / "story.md").read_text(encoding="utf-8") == STORY.replace("John walked", "James ran")


def test_where_changes_are_written_at_once_each_call_is_a_turn_of_its_own(client: Lines) -> None:
    client.start()
    for old, new in (("John", "James"), ("walked", "ran")):
        client.call("edit_text", path="story.md", old_text=old, new_text=new)
    assert len(answer_of(client.call("list_turns"))["turns"]) == 2


def test_deleting_is_refused_in_words_where_nobody_can_be_asked(client: Lines, folder: Path) -> None:
    client.start()
    version = client.call("read_document", path="story.md")["structuredContent"]["version"]
    refused = client.call("delete_document", path="story.md", version=version)
    told = json.loads(refused["content"][0]["text"])
    assert told["error"] == "confirmation_required"
    assert told["message"].startswith("This would move story.md to the trash. A person must agree first")
    # No call can carry a consent here, so none is asked for: what it names is what there is to do.
    assert "repeat" not in told["suggestion"]
    assert "`redraft open`" in told["suggestion"]
    assert "`redraft mcp --mode propose`" in told["suggestion"]
    assert (folder / "story.md").exists()


@pytest.mark.parametrize(("agree", "left"), [(True, False), (False, True)])
def test_the_person_is_asked_through_the_client(client: Lines, folder: Path, agree: bool, left: bool) -> None:
    client.start(elicitation={})
    client.answer = lambda _: {"action": "accept", "content": {"agree": agree}}
    version = client.call("read_document", path="story.md")["structuredContent"]["version"]
    client.call("delete_document", path="story.md", version=version)
    assert (folder / "story.md").exists() is left


def test_documents_are_resources_and_secrets_are_not_read(client: Lines, folder: Path) -> None:
    (folder / "prod.env").write_text("PASSWORD=1", encoding="utf-8")
    client.start()
    listed = [entry["uri"] for entry in client.ask("resources/list")["result"]["resources"]]
    assert "redraft://documents/story.md" in listed
    read = client.ask("resources/read", uri="redraft://documents/story.md")["result"]
    assert read["contents"][0]["text"] == STORY
    refused = client.ask("resources/read", uri="redraft://documents/prod.env")
    assert "PASSWORD" not in json.dumps(refused)
    assert refused["error"]["code"] == -32002
    assert client.ask("resources/read", uri="redraft://documents/..%2f..%2fetc%2fpasswd")["error"]["code"] == -32002


def test_a_resource_that_was_read_is_remembered_and_in_the_log(client: Lines, folder: Path) -> None:
    client.start()
    client.ask("resources/read", uri="redraft://documents/story.md")
    client.ask("resources/read", uri="redraft://documents/gone.md")
    (folder / "story.md").write_text("Somebody wrote this.\n", encoding="utf-8")
    assert "Somebody wrote this." in str(answer_of(client.call("get_changes_since", path="story.md")))
    with Workspace.open(folder, state_home=str(folder.parent / "state")) as workspace:
        lines = [(line["tool"], line["result"]) for line in workspace.audit()]
    read = [("resources/read", "success"), ("resources/read", "error")]
    assert lines == [*read, ("outside", "applied"), ("get_changes_since", "success")]


@pytest.mark.parametrize("name", ["two\nlines.md", "back\\slash.md", "aux.md", "ends in a blank "])
def test_a_file_whose_name_no_tool_takes_is_no_resource(client: Lines, folder: Path, name: str) -> None:
    (folder / name).write_text("x", encoding="utf-8")
    client.start()
    assert [entry["name"] for entry in client.ask("resources/list")["result"]["resources"]] == ["story.md"]
    (folder / f"a{name}").write_text("x", encoding="utf-8")
    listed = {entry["name"] for entry in client.ask("resources/list")["result"]["resources"]}
    assert listed == {entry["path"] for entry in answer_of(client.call("list_documents"))["documents"]}


def test_a_resource_is_read_by_the_rules_of_the_mode(folder: Path) -> None:
    careful = Mode("careful", WriteTime.AT_ONCE, (Rule("read", "story.md", Verdict.DENY),))
    said: list[dict[str, Any]] = []
    with (
        Workspace.open(folder, state_home=str(folder.parent / "state")) as workspace,
        Endpoint(workspace, load_registry()) as endpoint,
    ):
        connection = McpConnection(endpoint, said.append)
        given = {"uri": "redraft://documents/story.md"}
        call = connection.receive({"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": given})
        assert call is not None
        connection.context(call).mode = careful
        call.run()
        connection.close()
    (answer,) = said
    assert "does not let agents read story.md" in answer["error"]["message"]


def test_prompts_can_be_listed_and_filled_in(client: Lines) -> None:
    client.start()
    names = [prompt["name"] for prompt in client.ask("prompts/list")["result"]["prompts"]]
    assert "rename" in names
    filled = client.ask("prompts/get", name="rename", arguments={"document": "story.md", "old": "John", "new": "Jo"})
    assert "Rename John to Jo in story.md" in filled["result"]["messages"][0]["content"]["text"]
    assert client.ask("prompts/get", name="rename", arguments={})["error"]["code"] == -32602


# The newer era: every request speaks for itself


def test_a_client_may_ask_what_is_spoken_here_before_anything_else(client: Lines) -> None:
    client.meta = envelope()
    told = client.ask("server/discover")["result"]
    assert "2026-07-28" in told["supportedVersions"]
    assert (told["resultType"], told["ttlMs"], told["cacheScope"]) == ("complete", 0, "private")


def test_a_request_that_speaks_for_itself_needs_no_handshake(client: Lines, folder: Path) -> None:
    client.meta = envelope("scribe")
    client.call("edit_text", path="story.md", old_text="John", new_text="James")
    turns = answer_of(client.call("list_turns"))["turns"]
    assert "scribe" in json.dumps(turns[0])


@pytest.mark.parametrize(
    ("meta", "code"),
    [
        ({"io.modelcontextprotocol/protocolVersion": "2026-07-28"}, -32602),
        ({**envelope(), "io.modelcontextprotocol/protocolVersion": "1999-01-01"}, -32022),
        ({**envelope(), "io.modelcontextprotocol/protocolVersion": 7}, -32602),
    ],
)
def test_an_envelope_that_is_not_in_order_is_refused(client: Lines, meta: dict[str, Any], code: int) -> None:
    client.meta = meta
    error = client.ask("tools/list")["error"]
    assert error["code"] == code
    assert code != -32022 or error["data"] == {"supported": ["2026-07-28"], "requested": "1999-01-01"}


@pytest.mark.parametrize("method", ["ping", "initialize", "resources/subscribe"])
def test_what_the_newer_era_has_no_more_is_not_there(client: Lines, method: str) -> None:
    client.meta = envelope()
    assert client.ask(method)["error"]["code"] == -32601


# Answers: the text once


@pytest.mark.parametrize("name", sorted(READS))
def test_a_client_that_is_known_is_sent_the_text_once(client: Lines, name: str) -> None:
    client.start(name, elicitation={})
    result = client.call("read_document", path="story.md")
    assert json.dumps(result).count("The hero John walked in") == 1
    assert answer_of(result)["content"] == STORY


def test_a_client_that_is_not_known_is_sent_both_forms(client: Lines) -> None:
    client.start("somebody")
    result = client.call("read_document", path="story.md")
    assert json.loads(result["content"][0]["text"]) == result["structuredContent"]


@pytest.mark.parametrize(
    ("options", "promised"), [((), False), (("--answers", "text"), False), (("--answers", "both"), True)]
)
def test_output_schemas_are_listed_for_whoever_asks_for_structured_answers(
    folder: Path, options: tuple[str, ...], promised: bool
) -> None:
    client = Lines.to(folder, *options)
    client.start("somebody")
    assert all(("outputSchema" in tool) == promised for tool in client.ask("tools/list")["result"]["tools"])
    client.close()


@pytest.mark.covers("RD-tools-list-size")
def test_the_list_of_tools_is_short_enough_to_be_sent_with_every_request(client: Lines) -> None:
    """At most 4,000 tokens of o200k_base; the tokenizer is a download, and makes one token of 4.5 characters here."""
    client.start("somebody")
    listed = client.ask("tools/list")["result"]["tools"]
    assert len(listed) == 20
    assert len(json.dumps(listed, separators=(",", ":"))) <= 4_000 * 4.5


def test_a_client_that_puts_tools_off_is_asked_to_load_them(client: Lines) -> None:
    client.start("claude-code")
    listed = client.ask("tools/list")["result"]["tools"]
    assert all(tool["_meta"] == {"anthropic/alwaysLoad": True} for tool in listed)


def test_a_client_from_before_structured_answers_is_sent_none(client: Lines) -> None:
    client.start("claude-code", "2025-03-26")
    assert "structuredContent" not in client.call("read_document", path="story.md")


def test_the_person_can_say_how_answers_are_written(folder: Path) -> None:
    client = Lines.to(folder, "--answers", "text")
    client.start("claude-code")
    assert "structuredContent" not in client.call("read_document", path="story.md")
    client.close()


def test_a_refusal_is_in_the_content_whoever_reads_it(client: Lines) -> None:
    client.start("claude-code")
    refused = client.call("read_document", path="nowhere.md")
    assert (refused["isError"], answer_of(refused)["error"]) == (True, "not_found")
