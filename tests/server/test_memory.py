"""What the agent keeps in mind, and for how long: told where it belongs and nowhere else, forgotten when it may be."""

from __future__ import annotations

import json
import platform
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.server.serving import Client, ended
from tests.server.test_jobs import EDIT, serving, until
from tests.server.test_team import TEAM, admitted, client, redraft

pytestmark = pytest.mark.slow
STEPS = ({"text": "", "calls": [EDIT]}, {"text": "Done."})
LOCAL = '[routing]\nagent_mode = "local"\n'


# Debian's package faketime; the file's folder is named after the machine.
FAKETIME = Path(f"/usr/lib/{platform.machine()}-linux-gnu/faketime/libfaketimeMT.so.1")


def clock_ahead(days: int) -> dict[str, str]:
    """The environment of a program whose clock is so many days ahead; waiting takes as long as ever."""
    return {
        "LD_PRELOAD": str(FAKETIME),
        "FAKETIME": f"+{days}d",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        "NO_FAKE_STAT": "1",
    }


def asked(caller: Client, instruction: str, session: str | None = None) -> dict[str, Any]:
    """The job of a request, once it is over or under review."""
    name = session or caller.post("/api/agent/sessions")["session_id"]
    body = {"session_id": name, "instruction": instruction, "model": "play"}
    return until(caller, caller.post("/api/agent/run", body)["job_id"], "completed", "awaiting_review")


def state_of(folder: Path) -> Path:
    identity = (folder / ".redraft" / "id").read_text(encoding="utf-8").split()[0]
    return folder.parent / "state" / "redraft" / identity


def prompt_of(folder: Path, job: str | None = None) -> str:
    """What the model was told at the start of a job (else of the last one), as it was recorded."""
    with closing(sqlite3.connect(state_of(folder) / "agent.db")) as database:
        chosen = job or database.execute("SELECT id FROM jobs ORDER BY created DESC").fetchone()[0]
        found = database.execute("SELECT value FROM steps WHERE job = ? AND kind = 'note' ORDER BY seq", (chosen,))
        return json.dumps(json.loads(found.fetchone()[0]), ensure_ascii=False)


def folder_beside(folder: Path, name: str, settings: str = "") -> Path:
    found = folder.parent / name
    (found / ".redraft").mkdir(parents=True)
    (found / "story.md").write_text("# Lamp\n\nAt eleven, twice.\n", encoding="utf-8")
    (found / ".redraft" / "settings.toml").write_text(settings, encoding="utf-8")
    return found


@pytest.mark.covers(
    "ML-adv-memory-preferences", "ML-adv-memory-corrections", "ML-adv-memory-workspace", "RD-memory-place"
)
def test_what_is_said_in_a_folder_that_stays_here_is_told_to_no_other_model(folder: Path):
    (folder / ".redraft").mkdir()
    (folder / ".redraft" / "settings.toml").write_text(LOCAL, encoding="utf-8")
    server = serving(folder, *STEPS)
    assert asked(server, "/remember here: The heir is called Ines.")["answer"] == (
        "I will remember that in this folder."
    )
    assert asked(server, "/remember Never mention the treasure.")["answer"] == "I will remember that."
    assert asked(server, "Change it.")["status"] == "awaiting_review"
    server.post("/api/review/reject", {"all": True})
    again = asked(server, "Once more.")
    server.post("/api/review/reject", {"all": True})
    told = prompt_of(folder, again["job_id"])
    assert all(note in told for note in ("The heir is called Ines.", "Never mention the treasure.", "twelve"))
    listed = asked(server, "/remember")["answer"]
    assert "- The heir is called Ines." in listed
    assert ended(server) == ""
    elsewhere, local = folder_beside(folder, "other"), folder_beside(folder, "third", LOCAL)
    for place in (elsewhere, local):
        done = redraft(place, "ask", "Please.", "--model", "play")
        assert done.returncode == 0, done.stderr
    for note in ("Ines", "treasure", "twelve"):
        assert note not in prompt_of(elsewhere), note
    assert "Never mention the treasure." in prompt_of(local)
    assert "Ines" not in prompt_of(local)
    assert "twelve" not in prompt_of(local)


@pytest.mark.covers("RD-memory-place")
def test_a_preference_holds_in_every_folder_until_it_is_forgotten(folder: Path):
    server = serving(folder, *STEPS)
    asked(server, "/remember Use British spelling.")
    assert ended(server) == ""
    other = folder_beside(folder, "other")
    redraft(other, "ask", "Please.", "--model", "play")
    assert "Use British spelling." in prompt_of(other)
    assert redraft(other, "ask", "/forget Use British spelling.").returncode == 0
    redraft(other, "ask", "Please.", "--model", "play")
    assert "Use British spelling." not in prompt_of(other)


@pytest.mark.covers("RD-memory-place")
def test_on_a_server_each_user_has_notes_of_their_own(folder: Path):
    tokens = [admitted(folder, name, "editor") for name in ("anna", "bob")]
    server = serving(folder, *STEPS, options=TEAM)
    anna, bob = (client(server, token) for token in tokens)
    asked(anna, "/remember Anna likes short sentences.")
    asked(anna, "/remember here: Anna's heir.")
    asked(anna, "Change it.")
    anna.post("/api/review/reject", {"all": True})
    hers, his = asked(anna, "Once more."), None
    anna.post("/api/review/reject", {"all": True})
    his = asked(bob, "Please.")
    for note in ("Anna likes short sentences.", "Anna's heir.", "twelve"):
        assert note in prompt_of(folder, hers["job_id"]), note
        assert note not in prompt_of(folder, his["job_id"]), note
    assert ended(server) == ""


@pytest.mark.covers("SB-life-sessions", "SB-life-keep", "RD-chat-kept")
def test_a_conversation_stays_until_it_is_archived_however_many_there_are(folder: Path):
    anna = admitted(folder, "anna", "editor")
    server = serving(folder, {"text": "Hello."})
    hers = Client(server.port, anna).post("/api/agent/sessions", {"title": "Hers"})["session_id"]
    Client(server.port, anna).post(f"/api/agent/sessions/{hers}/archive", {"archived": True})
    first = server.post("/api/agent/sessions", {"title": "The first"})["session_id"]
    asked(server, "What is this?", first)
    others = [server.post("/api/agent/sessions")["session_id"] for _ in range(60)]
    asked(server, "Hi.", others[-1])
    shown = server.get(f"/api/agent/sessions/{first}")
    assert [entry["text"] for entry in shown["chat"]] == ["What is this?", "Hello."]
    assert {each["session_id"] for each in server.get("/api/agent/sessions", limit=100)["sessions"]} == {
        first,
        hers,
        *others,
    }
    for name in others[:30]:
        server.post(f"/api/agent/sessions/{name}/archive", {"archived": True})
    asked(server, "Hi.", others[-1])
    left = {each["session_id"] for each in server.get("/api/agent/sessions", limit=100)["sessions"]}
    assert left == {first, hers, *others[5:]}, "of each user's that are archived the newest 25 stay"
    assert ended(server) == ""


@pytest.mark.skipif(not FAKETIME.exists(), reason="libfaketime is not installed")
@pytest.mark.covers("RD-chat-kept")
@pytest.mark.parametrize("limit", [90, 7])
def test_an_archived_conversation_goes_when_its_days_are_over_and_no_other_does(folder: Path, limit: int):
    chosen = {} if limit == 90 else {"REDRAFT_AGENT_ARCHIVED_DAYS": str(limit)}

    def titles_after(days: int) -> set[str]:
        """Those of the conversations that are left so many days later, when another request has been answered."""
        server = serving(folder, {"text": "Hello."}, variables=clock_ahead(days) | chosen)
        asked(server, "Hi.", names["Active"])
        found = {each["title"] for each in server.get("/api/agent/sessions", limit=100)["sessions"]}
        assert ended(server) == ""
        return found

    server = serving(folder, {"text": "Hello."})
    names = {title: server.post("/api/agent/sessions", {"title": title})["session_id"] for title in ("Active", "Old")}
    for name in names.values():
        asked(server, "What is this?", name)
    server.post(f"/api/agent/sessions/{names['Old']}/archive", {"archived": True})
    assert ended(server) == ""
    assert titles_after(limit - 1) == {"Active", "Old"}
    assert titles_after(limit + 1) == {"Active"}
