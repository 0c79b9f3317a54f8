"""`redraft mcp` on a folder that is served: its calls go through the server, and go on without it when it ends."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.running import Program
from tests.server.serving import Server, begun, ended, serving
from tests.speaking.lines import PATIENCE, Lines, answer_of, envelope
from tests.tools.calling import STORY

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from pathlib import Path

pytestmark = pytest.mark.slow
EDIT = {"old_text": "# The Lamp", "new_text": "# The Light"}
UPDATED = "notifications/resources/updated"
QUESTION = {"name": "clarify_user", "arguments": {"question": "Which?"}}


@pytest.fixture(scope="module")
def standing(tmp_path_factory: pytest.TempPathFactory) -> Generator[Server]:
    """One server for many clients, each with a document of its own."""
    place = tmp_path_factory.mktemp("joined") / "notes"
    place.mkdir()
    with serving(place) as server:
        yield server


@pytest.fixture
def document(standing: Server, request: pytest.FixtureRequest) -> Path:
    assert standing.folder is not None
    path = standing.folder / f"{request.node.name}.md"
    path.write_text(STORY, encoding="utf-8")
    return path


def joined(folder: Path, *options: str, **capabilities: Any) -> Lines:
    client = Lines.to(folder, *options)
    client.start(**capabilities)
    return client


def killed(server: Server) -> None:
    assert server.process is not None
    server.process.send_signal(signal.SIGKILL)
    server.process.communicate(timeout=PATIENCE)


def test_a_client_sees_unsaved_typing_and_its_edits_wait_in_the_review(standing: Server, document: Path):
    tab = standing.post("/api/tabs", {"path": document.name})["tab_id"]
    standing.post(f"/api/tabs/{tab}/type", {"content": STORY + "Typed.\n"})
    client = joined(document.parent)
    assert answer_of(client.call("read_document", path=document.name))["content"] == STORY + "Typed.\n"
    assert client.call("edit_text", path=document.name, **EDIT)["isError"] is False
    assert document.read_text(encoding="utf-8") == STORY, "the workspace's own mode holds, which is to propose"
    draft = standing.get("/api/review/document", path=document.name)
    assert {hunk["author"] for hunk in draft["hunks"]} == {"agent", "user"}
    assert standing.get("/api/turns")["turns"][0]["author"] == {"kind": "agent", "name": "tester"}
    assert client.close() == ""


def test_no_client_gets_more_than_the_workspace_allows_nor_more_than_it_was_started_with(document: Path):
    wide = joined(document.parent, "--mode", "apply")
    narrow = joined(document.parent, "--mode", "read", "--profile", "workspace")
    assert wide.call("edit_text", path=document.name, **EDIT)["isError"] is False
    assert document.read_text(encoding="utf-8") == STORY
    assert "mode_refuses" in narrow.call("delete_document", path=document.name)["content"][0]["text"]
    offered = [{tool["name"] for tool in each.ask("tools/list")["result"]["tools"]} for each in (wide, narrow)]
    assert offered[0] != offered[1], "each has the tools of its own profile"
    assert [wide.close(), narrow.close()] == ["", ""]


def test_a_question_reaches_the_person_and_the_answer_comes_back(document: Path):
    client = joined(document.parent, elicitation={})
    client.answer = lambda _: {"action": "accept", "content": {"answer": "The first."}}
    assert answer_of(client.ask("tools/call", **QUESTION)["result"])["answer"] == "The first."
    assert client.close() == ""


def test_calls_are_called_off_whether_they_wait_for_the_person_or_for_their_turn(document: Path):
    client = joined(document.parent, elicitation={})
    client.answer = lambda _: None
    asking = client.request("tools/call", **QUESTION)
    waiting = client.request("tools/call", name="edit_text", arguments={"path": document.name, **EDIT})
    assert client.told("elicitation/create") is not None
    for number in (waiting, asking):
        client.send({"method": "notifications/cancelled", "params": {"requestId": number}})
    assert client.ask("ping")["result"] == {}
    assert answer_of(client.call("read_document", path=document.name))["content"] == STORY
    assert not {asking, waiting} & {message.get("id") for message in client.heard}
    assert client.close() == ""


def test_the_end_of_the_input_leaves_no_question_open(document: Path):
    client = joined(document.parent, elicitation={})
    client.answer = lambda _: None
    asking = client.request("tools/call", **QUESTION)
    assert client.told("elicitation/create") is not None
    assert client.process.stdin is not None
    client.process.stdin.close()
    assert client.response(asking)["id"] == asking
    assert client.ended() == ""


def test_a_client_of_the_newer_era_is_passed_on_too_and_calls_off_in_its_own_way(document: Path):
    document = document.rename(document.with_name("süß.md"))
    client = Lines.to(document.parent)
    client.meta = envelope()
    assert "2026-07-28" in client.ask("server/discover")["result"]["supportedVersions"]
    address = f"redraft://documents/{document.name}"
    assert client.ask("resources/read", uri=address)["result"]["contents"][0]["text"] == STORY
    listening = client.request("subscriptions/listen", notifications={"resourceSubscriptions": [address]})
    assert client.told("notifications/subscriptions/acknowledged") is not None
    assert client.call("edit_text", path=document.name, **EDIT)["isError"] is False
    assert client.told(UPDATED) is not None
    client.send({"method": "notifications/cancelled", "params": {"requestId": listening}})
    assert client.call("read_document", path=document.name)["isError"] is False
    assert client.close() == ""


def test_a_subscriber_hears_of_what_others_do(standing: Server, document: Path):
    client = joined(document.parent)
    address = f"redraft://documents/{document.name}"
    client.ask("resources/subscribe", uri=address)
    standing.tool("edit_text", path=document.name, **EDIT)
    told = client.told(UPDATED)
    assert told is not None
    assert told["params"] == {"uri": address}
    assert client.close() == ""


def test_what_is_no_message_is_answered_as_without_a_server(document: Path):
    with Lines.to(document.parent).process as process:
        client = Lines(process)
        for line in (b"[]", b"{", b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}', b'{"id": [], "method": "ping"}'):
            client.send(line)
            assert client.must_receive()["error"]["code"] in (-32700, -32600)
        assert client.ask("no/such")["error"]["code"] in (-32601, -32600)
        assert client.close() == ""


# When the server ends


@pytest.mark.parametrize("end", [ended, killed])
def test_a_client_goes_on_without_the_server_in_the_same_mode(folder: Path, end: Callable[[Server], object]):
    server = begun(folder)
    client = joined(folder)
    client.ask("resources/subscribe", uri="redraft://documents/story.md")
    end(server)
    changed = client.call("edit_text", path="story.md", **EDIT)
    assert changed["isError"] is False, "it was not sent to the server, so it is done here"
    assert (folder / "story.md").read_text(encoding="utf-8") == STORY
    assert client.told(UPDATED) is not None
    assert client.close() == ""
    found = Program(folder).json("status")
    assert [turn["author"]["name"] for turn in found["turns"]] == ["tester"]
    assert [draft["path"] for draft in found["documents"]] == ["story.md"]


def test_a_call_under_way_when_the_server_dies_is_not_done_again(folder: Path):
    server = begun(folder, REDRAFT_MODE="apply")
    client = joined(folder, elicitation={})
    client.answer = lambda _: None
    asking = client.request("tools/call", name="delete_document", arguments={"path": "story.md"})
    assert client.told("elicitation/create") is not None
    killed(server)
    failure = client.response(asking)["result"]
    assert failure["isError"] is True
    assert "outcome_unknown" in failure["content"][0]["text"]
    assert answer_of(client.call("read_document", path="story.md"))["content"] == STORY
    assert client.close() == ""


def test_a_new_server_at_the_old_place_is_not_taken_for_the_old_one(folder: Path):
    server = begun(folder)
    client = joined(folder)
    ended(server)
    log = server.state / "server.log"
    before = log.read_text(encoding="utf-8").count("/mcp")
    with serving(folder, "--port", str(server.port)):
        assert client.call("read_document", path="story.md")["isError"] is False
        assert client.close() == ""
    assert log.read_text(encoding="utf-8").count("/mcp") == before
