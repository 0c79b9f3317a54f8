"""The protocol loop, spoken to line by line by a real process of the program."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

STORY = "# Story\n\nThe hero John walked in.\n"


class Client:
    """A client that writes one message a line and reads the answers."""

    def __init__(self, folder: Path, *options: str) -> None:
        environment = {
            **os.environ,
            "XDG_STATE_HOME": str(folder.parent / "state"),
            "XDG_CONFIG_HOME": str(folder.parent),
        }
        self.process = subprocess.Popen(
            [sys.executable, "-m", "redraft", "mcp", str(folder), *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
        )
        self.number = 0
        self.replies: dict[str, Any] = {}

    def send(self, message: dict[str, Any] | bytes) -> None:
        assert self.process.stdin is not None
        line = message if isinstance(message, bytes) else json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline())

    def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Ask and give the answer; a question of the server's in between is answered from `replies`."""
        self.number += 1
        self.send({"id": self.number, "method": method, "params": parameters})
        while True:
            message = self.receive()
            if "method" in message:
                self.send({"id": message["id"], "result": self.replies[message["method"]]})
            elif message["id"] == self.number:
                return message

    def start(self, **capabilities: Any) -> dict[str, Any]:
        answer = self.ask(
            "initialize",
            protocolVersion="2025-06-18",
            capabilities=capabilities,
            clientInfo={"name": "tester", "version": "1"},
        )
        self.send({"method": "notifications/initialized"})
        return answer["result"]

    def call(self, name: str, **arguments: Any) -> dict[str, Any]:
        return self.ask("tools/call", name=name, arguments=arguments)["result"]

    def close(self) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        status = self.process.wait(20)
        self.process.stdout.close()
        assert status == 0


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "story.md").write_text(STORY, encoding="utf-8")
    return folder


@pytest.fixture
def client(folder: Path) -> Iterator[Client]:
    client = Client(folder)
    yield client
    client.close()


def test_the_server_says_what_it_is_and_agrees_on_the_protocol(client: Client) -> None:
    told = client.start()
    assert (told["protocolVersion"], told["serverInfo"]["name"]) == ("2025-06-18", "redraft")
    assert set(told["capabilities"]) == {"tools", "resources", "prompts"}


def test_a_client_of_another_age_is_offered_what_we_speak(client: Client) -> None:
    answer = client.ask("initialize", protocolVersion="1999-01-01", capabilities={})
    assert answer["result"]["protocolVersion"] == "2025-11-25"


def test_tools_are_listed_with_schemas_and_hints(client: Client) -> None:
    client.start()
    tools = {tool["name"]: tool for tool in client.ask("tools/list")["result"]["tools"]}
    assert tools["read_document"]["annotations"]["readOnlyHint"] is True
    assert tools["delete_document"]["annotations"]["destructiveHint"] is True
    assert all(tool["inputSchema"]["type"] == "object" for tool in tools.values())
    assert len(tools) <= 20


def test_a_document_is_read_edited_and_a_stale_write_refused(client: Client, folder: Path) -> None:
    client.start()
    read = client.call("read_document", path="story.md")
    version = read["structuredContent"]["version"]
    assert json.loads(read["content"][0]["text"]) == read["structuredContent"]
    edit = client.call("replace_lines", path="story.md", version=version, start_line=2, end_line=2, content="James.")
    assert edit["isError"] is False
    stale = client.call("replace_lines", path="story.md", version=version, start_line=0, end_line=0, content="STALE")
    assert stale["isError"] is True
    assert json.loads(stale["content"][0]["text"])["error"] == "version_mismatch"
    assert (folder / "story.md").read_text(encoding="utf-8") == "# Story\n\nJames.\n"


def test_the_caller_is_the_author_of_what_it_does(client: Client, folder: Path) -> None:
    client.start()
    client.call("edit_text", path="story.md", old_text="John", new_text="James")
    turns = client.call("list_turns")["structuredContent"]["turns"]
    assert "tester" in json.dumps(turns[0])


def test_deleting_is_refused_in_words_where_nobody_can_be_asked(client: Client, folder: Path) -> None:
    client.start()
    version = client.call("read_document", path="story.md")["structuredContent"]["version"]
    refused = client.call("delete_document", path="story.md", version=version)
    assert json.loads(refused["content"][0]["text"])["error"] == "confirmation_required"
    assert (folder / "story.md").exists()


@pytest.mark.parametrize(("agree", "left"), [(True, False), (False, True)])
def test_the_person_is_asked_through_the_client(client: Client, folder: Path, agree: bool, left: bool) -> None:
    client.start(elicitation={})
    client.replies["elicitation/create"] = {"action": "accept", "content": {"agree": agree}}
    version = client.call("read_document", path="story.md")["structuredContent"]["version"]
    client.call("delete_document", path="story.md", version=version)
    assert (folder / "story.md").exists() is left


def test_documents_are_resources_and_secrets_are_not_read(client: Client, folder: Path) -> None:
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


def test_prompts_can_be_listed_and_filled_in(client: Client) -> None:
    client.start()
    names = [prompt["name"] for prompt in client.ask("prompts/list")["result"]["prompts"]]
    assert "rename" in names
    filled = client.ask("prompts/get", name="rename", arguments={"document": "story.md", "old": "John", "new": "Jo"})
    assert "Rename John to Jo in story.md" in filled["result"]["messages"][0]["content"]["text"]
    assert client.ask("prompts/get", name="rename", arguments={})["error"]["code"] == -32602


@pytest.mark.parametrize(
    ("line", "code"),
    [(b"not json", -32700), (b"[1]", -32600), (b"[" * 100_000, -32700), (b'{"id": 7, "method": "surprise"}', -32601)],
)
def test_a_bad_message_is_answered_and_the_next_one_works(client: Client, line: bytes, code: int) -> None:
    client.send(line)
    assert client.receive()["error"]["code"] == code
    assert client.ask("ping")["result"] == {}


def test_in_the_mode_propose_nothing_is_written(folder: Path) -> None:
    client = Client(folder, "--mode", "propose")
    client.start()
    edit = client.call("edit_text", path="story.md", old_text="John", new_text="James")
    assert edit["structuredContent"]["state"] == "proposed"
    assert (folder / "story.md").read_text(encoding="utf-8") == STORY
    client.close()
