"""The document in front: the app's report of it, and what agents make of "this document" through every door."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.agent.listening import CALLS, configure, play, prompts, said_by, spoken, told_by_tools
from tests.cli.running import Program
from tests.providers.endpoint import Endpoint
from tests.server.serving import Client, Server, serving, settled
from tests.speaking.lines import Lines, answer_of

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

pytestmark = pytest.mark.slow
PLAN = "# Plan\n\nWe sail on Monday.\n\nBring the charts.\n"
TALE = "# Tale\n\nIt was dark.\n"


@pytest.fixture(scope="module")
def model() -> Generator[Endpoint]:
    with Endpoint() as endpoint:
        yield endpoint


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, model: Endpoint) -> Generator[Server]:
    folder = tmp_path_factory.mktemp("front") / "notes"
    (folder / "trips").mkdir(parents=True)
    configure(folder, model)
    with serving(folder, **CALLS) as found:
        yield found


@pytest.fixture
def tabs(server: Server) -> dict[str, str]:
    """Both documents anew, each open in a tab."""
    assert server.folder is not None
    (server.folder / "trips/plan.md").write_text(PLAN, encoding="utf-8")
    (server.folder / "tale.md").write_text(TALE, encoding="utf-8")
    server.post("/api/review/reject", {"all": True})
    return {path: server.post("/api/tabs", {"path": path})["tab_id"] for path in ("trips/plan.md", "tale.md")}


def look(client: Client, tab: str, selection: dict[str, Any] | None = None) -> Any:
    return client.post("/api/tabs/front", {"tab_id": tab, "selection": selection}, method="PUT")["front"]


def asked(server: Server, instruction: str, **more: Any) -> dict[str, Any]:
    """A job that is run to its end or to its review."""
    session = server.post("/api/agent/sessions", {})["session_id"]
    job = server.post("/api/agent/run", {"session_id": session, "instruction": instruction, **more})["job_id"]
    return settled(server, job)


@pytest.mark.covers("TK-principle-active-tab", "TK-tabs-active-id", "ML-create-folder-default", "RD-front-job")
@pytest.mark.covers("ML-loop-context")
def test_a_job_works_on_the_document_in_front_and_is_told_of_it_and_of_the_selection(
    server: Server, model: Endpoint, tabs: dict[str, str]
):
    look(server, tabs["tale.md"])
    chosen = {"start_line": 3, "end_line": 3, "text": "sail on Monday"}
    assert look(server, tabs["trips/plan.md"], chosen) == {
        "tab_id": tabs["trips/plan.md"],
        "path": "trips/plan.md",
        "selection": chosen,
    }
    play(
        model,
        spoken("", ("read_document", {}), ("list_tabs", {})),
        spoken("", ("edit_text", {"old_text": "Monday", "new_text": "Tuesday"}), number=1),
        spoken("", ("create_document", {"title": "List"}), number=2),
        spoken("", ("create_document", {"title": "Top", "folder": "/"}), number=3),
        spoken("Done."),
    )
    job = asked(server, "Move this to Tuesday.")
    [read, listed, edited, created, top] = told_by_tools(model)
    assert (read["content"], read["path"]) == (PLAN, "trips/plan.md")
    assert listed["active_tab_id"] == tabs["trips/plan.md"]
    assert (edited["path"], created["path"], top["path"]) == ("trips/plan.md", "trips/List.md", "Top.md")
    assert (job["status"], job["document"]) == ("awaiting_review", "trips/plan.md")
    prompt = said_by(prompts(model)[0], "user")
    assert 'path="trips/plan.md" front="true"' in prompt
    assert PLAN in prompt
    assert 'path="trips/plan.md" lines="3-3" selected="true"' in prompt
    assert "\nsail on Monday\n" in prompt
    assert prompt.endswith("Move this to Tuesday.")
    assert TALE not in prompt


@pytest.mark.covers("RD-front-mcp")
def test_a_joined_client_follows_the_tab_in_front_from_call_to_call(server: Server, tabs: dict[str, str]):
    assert server.folder is not None
    client = Lines.to(server.folder, "--profile", "all")
    client.start()
    for path, text in (("tale.md", TALE), ("trips/plan.md", PLAN)):
        look(server, tabs[path])
        read = answer_of(client.call("read_document"))
        assert (read["path"], read["content"]) == (path, text)
        seen = answer_of(client.call("getEditorText"))
        assert seen["path"] == path
        done = answer_of(client.call("replaceText", **{"from": 0, "to": 4, "newText": "Word"}))
        assert (done["success"], done["path"]) == (True, path)
        assert server.get("/api/documents", path=path)["content"] == text.replace(text[2:6], "Word", 1)
        made = answer_of(client.call("create_document", title=f"New {path.rpartition('/')[2]}"))
        assert made["path"] == path.replace(path.rpartition("/")[2], f"New {path.rpartition('/')[2]}")
    assert client.close() == ""


@pytest.mark.covers("RD-front-job")
def test_redraft_ask_means_the_document_in_front_unless_it_is_given_one(
    server: Server, model: Endpoint, tabs: dict[str, str]
):
    assert server.folder is not None
    program = Program(server.folder, dict(CALLS))
    look(server, tabs["trips/plan.md"])
    play(model, spoken("", ("read_document", {})), spoken("It is a plan."))
    assert program.ok("ask", "What is this document?") == "It is a plan.\n"
    assert told_by_tools(model)[0]["path"] == "trips/plan.md"
    play(model, spoken("", ("read_document", {})), spoken("It is a tale."))
    assert program.ok("ask", "What is this?", "--doc", "tale.md") == "It is a tale.\n"
    assert told_by_tools(model)[0]["path"] == "tale.md"
    assert said_by(prompts(model)[0], "user").count(TALE) == 1


def test_a_tool_over_http_works_on_the_document_in_front(server: Server, tabs: dict[str, str]):
    look(server, tabs["tale.md"])
    assert server.tool("read_document")["path"] == "tale.md"
    assert server.post("/api/tools/read_document", {}, tab=tabs["trips/plan.md"])["path"] == "trips/plan.md"


def test_what_is_in_front_is_known_after_a_restart_and_forgotten_with_its_tab(tmp_path: Path):
    folder = tmp_path / "notes"
    folder.mkdir()
    for name in ("a.md", "b.md"):
        (folder / name).write_text(name, encoding="utf-8")
    with serving(folder) as server:
        opened = [server.post("/api/tabs", {"path": name})["tab_id"] for name in ("a.md", "b.md")]
        look(server, opened[1])
    with serving(folder) as server:
        assert server.get("/api/tabs/front")["front"]["path"] == "b.md"
        server.post(f"/api/tabs/{opened[1]}", method="DELETE")
        assert server.get("/api/tabs/front") == {"front": None}
        assert look(server, opened[1]) is None


def test_everybody_of_a_team_has_a_front_of_their_own(server: Server, tabs: dict[str, str]):
    assert server.folder is not None
    program = Program(server.folder)
    anna = Client(server.port, program.json("users", "add", "anna", "--role", "editor")["token"])
    look(server, tabs["tale.md"])
    look(anna, tabs["trips/plan.md"])
    assert anna.tool("read_document")["path"] == "trips/plan.md"
    assert server.tool("read_document")["path"] == "tale.md"


def test_what_is_selected_in_a_secret_file_is_shown_to_no_agent(server: Server, model: Endpoint, tabs: dict[str, str]):
    assert server.folder is not None
    (server.folder / "keys.md").write_text("-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n", encoding="utf-8")
    assert server.refused("POST", "/api/tabs", {"path": "keys.md"}, 403)["error"] == "secret"
    play(model, spoken("I cannot see it."))
    asked(server, "What is this?")
    assert "MIIEow" not in json.dumps(prompts(model))
