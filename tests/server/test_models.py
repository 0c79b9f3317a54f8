"""Models set up over HTTP: by the owner or an admin alone, at once, and without a word of the key to anybody."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.providers.model_server import GOOD, POOR, ModelServer
from tests.server.serving import Client, serving, settled
from tests.server.test_team import TEAM, admitted, client

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.slow
LOOPBACK = {"REDRAFT_MODEL_CALLS": "loopback"}


@pytest.fixture
def model() -> Iterator[ModelServer]:
    with ModelServer() as served:
        yield served


def wish(model: ModelServer, key: str = GOOD, provider: str = "compatible") -> dict[str, str]:
    path = "" if provider == "anthropic" else "/v1"
    return {"provider": provider, "model": "llama3.2", "base_url": model.url + path, "key": key}


def traces(folder: Path, word: str) -> list[str]:
    """The files beside and in the folder that contain a word."""
    found = [path for path in folder.parent.rglob("*") if path.is_file() and word.encode() in path.read_bytes()]
    return sorted(path.name for path in found)


def ask(server: Client) -> str:
    """What whoever answers by default says to a request."""
    session = server.post("/api/agent/sessions")["session_id"]
    job = server.post("/api/agent/run", {"session_id": session, "instruction": "Who are you?"})["job_id"]
    settled(server, job)
    chat = server.get(f"/api/agent/sessions/{session}")["chat"]
    return chat[-1]["text"]


@pytest.mark.covers("RD-models-keys", "RD-models-switch")
@pytest.mark.parametrize("provider", ["anthropic", "compatible"])
def test_a_model_that_is_set_up_answers_the_next_request_and_its_key_is_shown_nowhere(
    folder: Path, model: ModelServer, provider: str
):
    with serving(folder, **LOOPBACK) as server:
        assert server.get("/api/providers")["default"]["provider"] == "offline"
        made = server.post("/api/models/big", wish(model, provider=provider), method="PUT")
        [entry] = made["models"]
        assert (entry["name"], entry["key"], entry["in_use"]) == ("big", "file", True)
        assert server.get("/api/providers")["default"]["model"] == "llama3.2"
        assert ask(server) == model.said
        tested = server.post("/api/models/big/test")
        assert (tested["ok"], tested["text"]) == (True, model.said)
        assert set(model.keys) == {GOOD}
        shown = [server.request("GET", path).body for path in ("/api/models", "/api/settings", "/api/audit")]
        assert not any(GOOD.encode() in body for body in shown)
        assert traces(folder, GOOD) == ["keys.json"]
        keys = folder.parent / "state" / "redraft" / "keys.json"
        assert keys.stat().st_mode & 0o777 == 0o600
        assert server.post("/api/models/big", method="DELETE") == {"models": [], "keys_go_to": "file"}
        assert traces(folder, GOOD) == []
        assert server.get("/api/providers")["default"]["provider"] == "offline"


@pytest.mark.covers("RD-models-advice")
def test_a_model_that_cannot_answer_says_what_to_do_and_never_the_key(folder: Path, model: ModelServer):
    wrong = "sk-wrong-0123456789abcdef"
    with serving(folder, **LOOPBACK) as server:
        said: dict[str, str] = {}
        for name, key in (("wrong", wrong), ("poor", POOR)):
            server.post(f"/api/models/{name}", wish(model, key), method="PUT")
            tested = server.post(f"/api/models/{name}/test")
            assert tested["ok"] is False
            said[name] = tested["text"]
        ask(server)  # a job that fails reports it, too
        gone = {**wish(model), "base_url": "http://127.0.0.1:9/v1"}
        server.post("/api/models/gone", gone, method="PUT")
        said["gone"] = server.post("/api/models/gone/test")["text"]
        assert "Copy the whole key again" in said["wrong"]
        assert "no credit or quota" in said["poor"]
        assert "Start the model's server" in said["gone"]
        assert wrong not in "".join(said.values())
        assert traces(folder, wrong) == []  # the key of this address was replaced, and no event or log has it
        for name, words in (("a b", "small letters"), ("big", "one line")):
            refused = server.refused("PUT", f"/api/models/{name.replace(' ', '%20')}", wish(model, "two words"), 422)
            assert words in refused["message"]
        away = {**wish(model), "base_url": "http://models.example.org/v1"}
        assert "https" in server.refused("PUT", "/api/models/big", away, 422)["message"]


@pytest.mark.covers("RD-models-roles")
def test_only_the_owner_and_admins_may_see_or_change_the_models(folder: Path, model: ModelServer):
    tokens = {role: admitted(folder, role, role) for role in ("viewer", "editor", "admin")}
    with serving(folder, *TEAM, **LOOPBACK) as server:
        acts = [
            ("PUT", "/api/models/big", wish(model)),
            ("GET", "/api/models", None),
            ("GET", "/api/models/found", None),
            ("POST", "/api/models/big/use", None),
            ("POST", "/api/models/big/test", None),
            ("DELETE", "/api/models/big", None),
        ]
        for method, path, body in acts:
            for role in ("viewer", "editor"):
                answered = client(server, tokens[role]).request(method, path, body)
                assert (answered.status, answered.json["error"]) == (403, "not_allowed"), (role, path)
            assert client(server, tokens["admin"]).request(method, path, body).status == 200, path
        assert not any(GOOD in str(entry) for entry in server.get("/api/audit")["entries"])


def test_a_real_keyring_holds_the_key_and_no_file_does(folder: Path, model: ModelServer):
    drawer = folder.parent / "drawer"
    root = Path(__file__).resolve().parents[2]
    keyring = {
        "PYTHON_KEYRING_BACKEND": "tests.providers.desk_keyring.DeskKeyring",
        "DESK_KEYRING": str(drawer),
        "PYTHONPATH": str(root),
    }
    with serving(folder, **LOOPBACK, **keyring) as server:
        made = server.post("/api/models/big", wish(model), method="PUT")
        assert (made["keys_go_to"], made["models"][0]["key"]) == ("keyring", "keyring")
        assert ask(server) == model.said
        assert traces(folder, GOOD) == ["drawer"]
        server.post("/api/models/big", method="DELETE")
        assert traces(folder, GOOD) == []


@pytest.mark.covers("RD-models-found")
def test_a_server_on_this_machine_is_found_with_its_models(folder: Path):
    with ModelServer(open=True) as ollama, serving(folder, OLLAMA_HOST=ollama.url, **LOOPBACK) as server:
        [found] = [each for each in server.get("/api/models/found")["servers"] if each["name"] == "Ollama"]
        assert found == {"name": "Ollama", "base_url": f"{ollama.url}/v1", "models": ["tiny:1b", "small:7b"]}
        add = {"provider": "compatible", "model": "tiny:1b", "base_url": found["base_url"]}
        [entry] = server.post("/api/models/tiny", add, method="PUT")["models"]
        assert (entry["key"], entry["local"], entry["in_use"]) == ("none", True, True)
        tested = server.post("/api/models/tiny/test")
        assert (tested["text"], tested["price_usd"]) == (ollama.said, "0")
