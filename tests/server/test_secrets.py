"""No byte of a secret leaves, by any door: every route, tool and websocket is tried on every secret, in every role.

Each secret holds a canary. Whatever the server or a program answers is searched for it: the walk knows nothing of how
secrets are told from documents.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest

from tests.server.live.people import Person
from tests.server.serving import Client, Server, begun, ended
from tests.server.test_team import admitted, redraft, speak
from tests.server.walking import CANARY, PLACES, STREAMS, Listening, Walk, calls, operations, value
from tests.speaking.forking import run_program
from tests.speaking.lines import PATIENCE, environment

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

pytestmark = pytest.mark.slow

LINE = f"hunter secretword {CANARY}\n"
NAMED = """
.env .ENV .env.local prod.env PROD.ENV app/staging.env .envrc .dev.vars .flaskenv .secrets .credentials .token .Token
token.json tokens.json token.txt access_token.json github-token credentials.json Credentials.INI aws-credentials.json
secrets.yaml SECRETS.YAML app_secrets.toml client_secret_1.json service-account.json passwords.txt passwords.csv
api_key.json .codex/auth.json .Codex/Auth.json .claude/.credentials.json .claude.json .gemini/oauth_creds.json
.local/share/opencode/auth.json .config/github-copilot/hosts.json .config/gh/hosts.yml .aws/credentials .azure/x.json
.kube/config .docker/config.json .ssh/id_rsa .SSH/ID_RSA .ssh/config id_rsa id_ed25519 deploy_rsa server.pem Server.PEM
server.key tls/private.p8 .gnupg/private-keys-v1.d/a .password-store/mail .netrc _netrc .npmrc .NPMRC .pypirc .pgpass
.git-credentials .htpasswd .cargo/credentials.toml .m2/settings.xml rclone.conf .config/rclone/rclone.conf wallet.dat
wg0.conf terraform.tfstate prod.tfvars key.properties logins.json .bash_history wp-config.php kaggle.json .databrickscfg
.databricks.cfg .netlify/config.json .age/keys.txt azureauth.json
backup.psafe3 server.pem.bak .env~ id_rsa.old
"""
NAMES = NAMED.split()
KEY = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQ" + CANARY + "\n"
BELOW = (
    "# Deployment\n\n"
    + "How the server is set up, at some length.\n" * 2000
    + "\nIts key:\n\n    "
    + KEY.replace("\n", "\n    ")
)
ROLES = ("viewer", "editor", "owner")


@pytest.fixture(scope="module")
def walk(tmp_path_factory: pytest.TempPathFactory) -> Generator[Walk]:
    folder = tmp_path_factory.mktemp("walk") / "notes"
    folder.mkdir()
    (folder / "story.md").write_text("# A story\n\nNothing to hide.\n", encoding="utf-8")
    (folder / "plain-key.md").write_text(KEY, encoding="utf-8")
    (folder / "below-key.md").write_text(BELOW, encoding="utf-8")
    paths = [*NAMES, "plain-key.md", "below-key.md"]
    for number, name in enumerate(NAMES):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(LINE, encoding="utf-8")
        if number % 8 == 0:
            (folder / f"link-{number}.md").symlink_to(name)
            paths.append(f"link-{number}.md")
    (folder / "linked").symlink_to(".ssh")
    tokens = {role: admitted(folder, f"a-{role}", role) for role in ROLES[:2]}
    server = begun(folder)
    clients = {role: Client(server.port, token) for role, token in tokens.items()}
    found = Walk(server, {**clients, "owner": Client(server.port, server.token)}, [*paths, "linked/id_rsa"])
    _make_history(found)
    yield found
    assert ended(server) == ""


def _make_history(walk: Walk) -> None:
    """Old turns that hold canaries: a document that was renamed to a secret's name, in two steps; one that is a secret
    and was typed into by its owner; a secret that was deleted; a proposal in a document that became a secret."""
    owner = walk.clients["owner"]
    owner.post("/api/documents", {"path": "draft.md", "content": f"First {LINE}"})
    owner.post("/api/documents", {"content": f"Second {LINE}"}, method="PUT", path="draft.md")
    owner.post("/api/documents/move", {"path": "draft.md", "to": "draft-2.md"})
    owner.post("/api/documents/move", {"path": "draft-2.md", "to": "renamed.env"})
    owner.post("/api/documents", {"path": "draft.md", "content": "Another one.\n"})
    owner.post("/api/documents", {"path": "sub/outside.md", "content": f"Before {LINE}"})
    owner.post("/api/documents", {"content": f"After {LINE}"}, method="PUT", path="sub/outside.md")
    assert walk.server.folder is not None
    (walk.server.folder / "sub/outside.md").rename(walk.server.folder / "sub/outside.env")
    owner.post("/api/documents", {"path": "gone.env", "content": LINE})
    owner.post("/api/documents", method="DELETE", path="gone.env")
    owner.post("/api/documents", {"path": "proposal.md", "content": f"One {LINE}"})
    owner.tool("edit_text", path="proposal.md", old_text="One", new_text="Two")
    owner.post("/api/documents/move", {"path": "proposal.md", "to": "proposal.env"})
    home = Client(walk.server.port, "", {"Cookie": walk.server.cookie(), "Origin": walk.server.url})
    (walk.server.folder / "typed.env").write_text(LINE, encoding="utf-8")
    home.post("/api/secrets", {"path": "typed.env", "confirm": True})
    tab = home.post("/api/tabs", {"path": "typed.env"})
    home.post(f"/api/tabs/{tab['tab_id']}/type", {"content": f"Typed {LINE}"})
    walk.paths += [
        "sub/outside.md",
        "sub/outside.env",
        "renamed.env",
        "draft.md",
        "draft-2.md",
        "gone.env",
        "proposal.env",
        "proposal.md",
        "typed.env",
    ]


@pytest.mark.covers("P7", "RD-files-secrets", "RD-secrets-gate")
@pytest.mark.parametrize("role", ROLES)
def test_no_route_that_reads_gives_a_byte_of_a_secret(walk: Walk, role: str) -> None:
    for method, path, operation in operations():
        if method == "GET" and path not in STREAMS:
            for where, _, query in calls(walk, method, path, operation, walk.paths):
                walk.ask(role, method, where, **query)
    assert walk.asked > 1000
    assert walk.leaks == []


@pytest.mark.covers("P7", "RD-secrets-gate")
@pytest.mark.parametrize("role", ROLES)
def test_no_websocket_gives_a_byte_of_a_secret(walk: Walk, role: str) -> None:
    ends = walk.join(role)
    assert set(ends) == set(walk.paths)
    assert set(ends.values()) <= {4404, 4409, 4451}, ends
    assert walk.leaks == []


@pytest.mark.covers("P7", "RD-secrets-gate")
def test_no_tool_gives_a_byte_of_a_secret_to_any_role(walk: Walk) -> None:
    tools = walk.clients["owner"].get("/api/tools")["tools"]
    assert len(tools) > 20
    for tool in tools:
        secrets = walk.paths if set(PLACES) & set(tool["input_schema"].get("properties", {})) else walk.paths[:1]
        for number, secret in enumerate(secrets):
            for role in ROLES if number % 10 == 0 else ("editor",):
                for mode in ("apply", "propose") if number % 10 == 0 else ("propose",):
                    given = value("", tool["input_schema"], secret, {})
                    walk.ask(role, "POST", f"/api/tools/{tool['name']}", given, mode=mode, agree="true")
    for name in ("show_turn", "get_changes_since"):
        for number in range(1, 14):
            walk.ask("viewer", "POST", f"/api/tools/{name}", {"turn": number, "path": "draft.md", "version": "0" * 16})
    assert walk.leaks == []


@pytest.mark.covers("P7", "RD-secrets-gate")
def test_no_message_of_mcp_gives_a_byte_of_a_secret(walk: Walk) -> None:
    anyone = walk.clients["editor"]
    hello: dict[str, Any] = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "scribe", "version": "1"},
    }
    session = speak(anyone, "/mcp", 1, "initialize", **hello).headers["mcp-session-id"]
    for number, path in enumerate(walk.paths):
        for method, given in (
            ("resources/read", {"uri": f"redraft://documents/{quote(path)}"}),
            ("tools/call", {"name": "read_document", "arguments": {"path": path}}),
        ):
            answer = speak(anyone, "/mcp", number + 2, method, session, **given)
            walk.look(f"mcp {method} {path}", answer.body)
    for method in ("resources/list", "tools/list", "prompts/list"):
        walk.look(method, speak(anyone, "/mcp", 9000, method, session).body)
    assert walk.leaks == []


@pytest.mark.covers("P7", "RD-secrets-gate")
def test_no_command_prints_a_byte_of_a_secret(walk: Walk) -> None:
    folder = walk.server.folder
    assert folder is not None
    numbers = [str(turn["turn"]) for turn in walk.clients["owner"].get("/api/turns")["turns"]]
    commands = [
        *(["show", number] for number in numbers),
        ["diff"],
        ["diff", "typed.env"],
        ["diff", "--patch"],
        ["status", "--json"],
        ["turns", "--json"],
        *(
            [*words, path]
            for path in (".env", "id_rsa", "renamed.env", "plain-key.md", "typed.env")
            for words in (["doc", "read"], ["doc", "outline"], ["doc", "show"], ["doc", "blame"], ["doc", "diff"])
        ),
        ["doc", "search", ".env", "hunter"],
        ["export", ".env", "--output", "-"],
        ["merge", ".env", ".env", ".env"],
        ["rich", "positions", ".env"],
        ["tool", "read_document", '{"path": ".env"}'],
        ["tool", "search_documents", '{"query": "hunter"}'],
    ]
    for words in commands:
        line = [sys.executable, "-W", "error", "-m", "redraft", *words]
        done = run_program(line, cwd=folder, env=environment(folder), timeout=PATIENCE)
        walk.look(" ".join(words), done.stdout, done.stderr)
    assert walk.leaks == []


@pytest.mark.covers("P7", "RD-secrets-gate")
def test_no_act_of_anybody_makes_a_secret_readable(walk: Walk) -> None:
    """Last, since it changes the folder: every route that writes, then everything that can be read."""
    heard = Listening(walk.clients["viewer"])
    for role in ROLES:
        for method, path, operation in operations():
            if method == "GET" or path in ("/api/visit", "/api/settings", "/api/agent/run"):
                continue
            for where, body, query in calls(walk, method, path, operation, walk.paths[:: 3 if role == "editor" else 9]):
                walk.ask(role, method, where, body, **query)
    for role in ROLES:
        for path in ("draft.md", "draft-2.md", "proposal.md", *_plain_files(walk)):
            walk.ask(role, "GET", "/api/documents", path=path)
        walk.ask(role, "GET", "/api/search/lines", query="hunter")
    walk.look("the change stream", heard.end())
    assert walk.leaks == []


def _plain_files(walk: Walk) -> list[str]:
    return [
        entry["path"] for entry in walk.clients["owner"].get("/api/tree", limit=10_000)["entries"]
        if entry["kind"] == "file"
    ]  # fmt: skip


@pytest.mark.covers("RD-secrets-gate")
def test_the_walk_sees_what_a_document_says(folder: Path) -> None:
    """The walk's own test: of a document it finds the canary, by every way that shows one."""
    (folder / "plain.md").write_text("# hunter\n\nhunter openword\n", encoding="utf-8")
    server = begun(folder)
    walk = Walk(server, {"viewer": Client(server.port, server.token)}, ["plain.md"], "openword")
    walk.clients["owner"] = walk.clients["viewer"]
    walk.clients["owner"].post(
        "/api/documents", {"content": "# hunter\n\nhunter openword 2\n"}, method="PUT", path="plain.md"
    )
    for method, path, operation in operations():
        if method == "GET" and path not in STREAMS:
            for where, _, query in calls(walk, method, path, operation, walk.paths):
                walk.ask("viewer", method, where, **query)
    for tool in walk.clients["owner"].get("/api/tools")["tools"]:
        if tool["risk"] == "read":
            given = value("", tool["input_schema"], "plain.md", {})
            walk.ask("viewer", "POST", f"/api/tools/{tool['name']}", given)
    ways = {re.sub(r"^viewer (GET|POST) ", "", leak).partition(" ")[0] for leak in walk.leaks}
    assert ways >= {
        "/api/documents",
        "/api/blame",
        "/api/export",
        "/api/search/document",
        "/api/search/lines",
        "/api/turns/1",
        "/api/agent/checkpoints/1",
        "/api/agent/checkpoints/1/diff3",
        "/api/tools/read_document",
        "/api/tools/read_file",
        "/api/tools/show_turn",
        "/api/tools/search_document",
    }
    ended(server)


# The owner


def owner_and_others(server: Server, admin: str) -> tuple[Client, dict[str, Client]]:
    """The owner's browser on the machine itself, and everybody who is nearly as trusted."""
    home = Client(server.port, "", {"Cookie": server.cookie(), "Origin": server.url})
    return home, {
        "the owner's program": Client(server.port, server.token),
        "another admin": Client(server.port, admin),
        "the owner through a proxy": Client(server.port, "", {**home.sent, "X-Forwarded-For": "192.0.2.1"}),
    }


@pytest.mark.covers("RD-secrets-owner")
@pytest.mark.parametrize(("name", "content"), [("prod.env", LINE), ("below-key.md", BELOW)])
def test_only_the_owner_at_their_own_machine_may_ask_for_a_secret_and_has_to_confirm_it(
    folder: Path, name: str, content: str
) -> None:
    (folder / name).write_text(content, encoding="utf-8")
    anna = admitted(folder, "anna", "admin")
    server = begun(folder)
    home, others = owner_and_others(server, anna)
    assert home.refused("GET", "/api/live", None, 403, path=name)["error"] == "secret"
    assert home.get("/api/workspace")["caller"]["at_home"] is True
    asked = {"path": name, "confirm": True}
    for who, client in others.items():
        assert client.refused("POST", "/api/secrets", asked, 403)["error"] == "not_allowed", who
    assert home.refused("POST", "/api/secrets", {"path": name, "confirm": False}, 422)
    assert home.refused("POST", "/api/secrets", {"path": "none.env", "confirm": True}, 404)["error"] == "not_found"
    ended(server)


@pytest.mark.covers("RD-secrets-owner")
@pytest.mark.parametrize(("name", "content"), [("prod.env", LINE), ("below-key.md", BELOW)])
def test_a_secret_that_the_owner_has_confirmed_is_open_in_their_editor_and_nowhere_else(
    folder: Path, name: str, content: str
) -> None:
    (folder / name).write_text(content, encoding="utf-8")
    anna = admitted(folder, "anna", "admin")
    server = begun(folder)
    home, others = owner_and_others(server, anna)
    home.post("/api/secrets", {"path": name, "confirm": True})

    async def type_in_the_editor() -> None:
        person = await Person(home, name).join()
        assert str(person) == content
        person.type(0, "TYPED ")
        await person.sent()
        tab = home.post("/api/tabs", {"path": name})["tab_id"]
        home.post(f"/api/tabs/{tab}/save")
        for who, client in others.items():
            refused = client.refused("GET", "/api/live", None, 403, path=name)
            assert refused["error"] == "secret", who
            late = Person(client, name)
            await late.dial(person.epoch)
            assert (await late.ended())[0] == 4451, who
        agents = home.refused("POST", "/api/tools/read_document", {"path": name}, 403)
        assert agents["error"] == "secret"
        home.request("DELETE", f"/api/tabs/{tab}")
        await person.leave()

    asyncio.run(type_in_the_editor())
    assert (folder / name).read_text(encoding="utf-8") == f"TYPED {content}"
    assert home.refused("GET", "/api/documents", None, 403, path=name)["error"] == "secret", "it was closed"
    assert CANARY not in json.dumps(home.get("/api/turns/1"))
    ended(server)


@pytest.mark.covers("RD-secrets-owner")
def test_a_visit_that_an_admin_asks_for_is_theirs_and_opens_no_secret(folder: Path) -> None:
    (folder / "prod.env").write_text(LINE, encoding="utf-8")
    anna = Client(0, admitted(folder, "anna", "admin"))
    server = begun(folder)
    anna.port = server.port
    entered = Client(server.port).request("GET", anna.post("/api/visit")["path"])
    assert entered.status == 303
    cookie = entered.headers["set-cookie"].partition(";")[0]
    browser = Client(server.port, "", {"Cookie": cookie, "Origin": server.url})
    assert browser.get("/api/workspace")["caller"] == {"name": "anna", "role": "admin", "at_home": False}
    opened = browser.refused("POST", "/api/secrets", {"path": "prod.env", "confirm": True}, 403)
    assert opened["error"] == "not_allowed"
    assert browser.refused("GET", "/api/documents", None, 403, path="prod.env")["error"] == "secret"
    left = anna.post("/api/visit")["path"]
    assert redraft(folder, "users", "remove", "anna").returncode == 0
    assert Client(server.port).request("GET", left).status == 401, "a visit ends with whoever asked for it"
    ended(server)


@pytest.mark.covers("RD-secrets-owner")
def test_a_rename_to_a_secrets_name_is_undone_by_the_owner_who_confirms_it(folder: Path) -> None:
    server = begun(folder)
    home = Client(server.port, "", {"Cookie": server.cookie(), "Origin": server.url})
    home.post("/api/documents/move", {"path": "story.md", "to": "story.env"})
    assert home.refused("POST", "/api/turns/undo", {}, 403)["error"] == "secret"
    home.post("/api/secrets", {"path": "story.env", "confirm": True})
    home.post("/api/turns/undo", {})
    assert home.get("/api/documents", path="story.md")["content"]
    ended(server)


@pytest.mark.covers("RD-secrets-owner")
def test_nobody_but_the_owner_deletes_or_moves_a_secret_nor_undoes_a_turn_that_would(folder: Path) -> None:
    (folder / "key.md").write_text(KEY, encoding="utf-8")
    tokens = [admitted(folder, "anna", "admin"), admitted(folder, "ben", "editor")]
    server = begun(folder)
    made = server.post("/api/documents", {"path": "prod.env", "content": LINE})["turn"]["turn"]
    secrets = {path: (folder / path).read_bytes() for path in ("prod.env", "key.md")}
    for token in tokens:
        other = Client(server.port, token)
        for path in secrets:
            moved = {"path": path, "to": "moved.md"}
            assert other.refused("DELETE", "/api/documents", None, 403, path=path)["error"] == "secret"
            assert other.refused("POST", "/api/documents/move", moved, 403)["error"] == "secret"
        assert other.refused("POST", "/api/turns/undo", {"turn": made}, 403)["error"] == "secret"
        checkpoint = f"/api/agent/checkpoints/{made}/rollback"
        assert other.refused("POST", checkpoint, {"mode": "hard_all"}, 403)["error"] == "secret"
        assert {path: (folder / path).read_bytes() for path in secrets} == secrets
    server.post("/api/turns/undo", {"turn": made})
    for token in tokens:
        assert Client(server.port, token).refused("POST", "/api/turns/redo", {}, 403)["error"] == "secret"
    server.post("/api/documents", method="DELETE", path="key.md")
    assert not any((folder / path).exists() for path in secrets)
    ended(server)


def test_a_viewer_who_looks_at_a_document_opens_no_tab(folder: Path) -> None:
    (folder / "story.md").write_text("# A story\n\nNothing to hide.\n", encoding="utf-8")
    viewer = admitted(folder, "vera", "viewer")
    server = begun(folder)
    walk = Walk(
        server, {"viewer": Client(server.port, viewer), "owner": Client(server.port, server.token)}, ["story.md"]
    )
    server.post("/api/documents", {"path": "other.md", "content": "So that there is a turn.\n"})
    for method, path, operation in operations():
        if method == "GET" and path not in STREAMS:
            for where, _, query in calls(walk, method, path, operation, walk.paths):
                walk.ask("viewer", method, where, **query)
    for tool in server.get("/api/tools")["tools"]:
        if tool["risk"] == "read":
            walk.ask("viewer", "POST", f"/api/tools/{tool['name']}", value("", tool["input_schema"], "story.md", {}))

    async def look_on() -> None:
        person = await Person(walk.clients["viewer"], "story.md").join()
        await person.leave()

    asyncio.run(look_on())
    assert server.get("/api/tabs")["tabs"] == []
    ended(server)
