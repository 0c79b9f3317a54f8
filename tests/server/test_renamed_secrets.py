"""What a document said stays secret once another program made a secret of it, however it did that.

A document holds a canary, in its file, in its history and in an agent's proposal. Then it is given a secret's name
outside of Redraft. Everything that any door gives afterwards is searched for the canary.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest

from tests.server.serving import Client, begun, ended
from tests.server.test_jobs import run, until
from tests.server.test_jobs import serving as playing
from tests.server.walking import CANARY, PLACES, STREAMS, Listening, Walk, calls, operations, value
from tests.speaking.forking import run_program
from tests.speaking.lines import PATIENCE, Lines, answer_of, environment

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from tests.server.serving import Server

pytestmark = pytest.mark.slow
LINE = f"hunter secretword {CANARY}\n"


# What another program does to a document, which is alone in its folder; where it is then


def rename_file(folder: Path, path: Path) -> Path:
    return path.rename(path.with_name(".env"))


def rename_far(folder: Path, path: Path) -> Path:
    place = folder / "deploy" / "here"
    place.mkdir(parents=True)
    return path.rename(place / "prod.env")


def rename_folder(folder: Path, path: Path) -> Path:
    path.parent.rename(folder / ".ssh")
    return folder / ".ssh" / path.name


def rename_folder_above(folder: Path, path: Path) -> Path:
    (folder / "home" / "me").mkdir(parents=True)
    path.parent.rename(folder / "home" / "me" / ".aws")
    return folder / "home" / "me" / ".aws" / path.name


def rename_and_write_on(folder: Path, path: Path) -> Path:
    place = rename_file(folder, path)
    with place.open("a", encoding="utf-8") as file:
        file.write(f"More of {LINE}")
    return place


def rename_and_replace(folder: Path, path: Path) -> Path:
    """Another document lies at the old place."""
    place = rename_file(folder, path)
    path.write_text("# Another\n\nNothing to hide.\n", encoding="utf-8")
    return place


def copy_and_delete(folder: Path, path: Path) -> Path:
    place = path.with_name("server.pem")
    place.write_bytes(path.read_bytes())
    path.unlink()
    return place


def link(folder: Path, path: Path) -> Path:
    """The document has a secret's name as well."""
    place = folder / "keys" / ".netrc"
    place.parent.mkdir()
    os.link(path, place)
    return place


RENAMINGS = (
    *(rename_file, rename_far, rename_folder, rename_folder_above),
    *(rename_and_write_on, rename_and_replace, copy_and_delete, link),
)


def path_for(renaming: Callable[[Path, Path], Path]) -> str:
    return f"{renaming.__name__}/quiet.md"


# What was there before


def write_history(server: Server, path: str, *, pending: bool) -> list[str]:
    """A document by an agent and a person, over several turns; its versions."""
    text = f"# Quiet\n\nFirst of {path} {LINE}\nSecond line.\n"
    server.post("/api/documents", {"path": path, "content": f"Older {LINE}{text}"})
    server.post("/api/documents", {"content": text}, method="PUT", path=path)
    server.tool("edit_text", path=path, old_text="Second line.", new_text=f"Second line of the {LINE.strip()}.")
    versions = [server.get("/api/documents", path=path)["version"]]
    if pending:
        return versions
    # The decision is made: the canary of the proposal is in no draft, but in its turn.
    server.post("/api/review/reject", {"hunks": {path: None}})
    return [*versions, server.get("/api/documents", path=path)["version"]]


# Everything that can be had


def walk_everything(server: Server, paths: list[str], versions: Mapping[str, list[str]] | None = None) -> list[str]:
    """The ways by which the canary came out."""
    walk = Walk(server, {"owner": Client(server.port, server.token)}, paths)
    for method, path, operation in operations():
        if method == "GET" and path not in STREAMS:
            for where, _, query in calls(walk, method, path, operation, walk.paths):
                walk.ask("owner", method, where, **query)
    walk.ask("owner", "GET", "/api/search/lines", query=CANARY[:6])
    _walk_tools(walk, versions or {})
    walk.join("owner")
    assert walk.asked > 60
    return walk.leaks


def _walk_tools(walk: Walk, versions: Mapping[str, list[str]]) -> None:
    owner = walk.clients["owner"]
    newest = owner.get("/api/turns", limit=1)["turns"][0]["turn"]
    for tool in owner.get("/api/tools")["tools"]:
        if tool["risk"] != "read":
            continue
        for path in walk.paths if set(PLACES) & set(tool["input_schema"].get("properties", {})) else walk.paths[:1]:
            walk.ask("owner", "POST", f"/api/tools/{tool['name']}", value("", tool["input_schema"], path, {}))
    for number in range(1, newest + 1):
        walk.ask("owner", "POST", "/api/tools/show_turn", {"turn": number})
    for path, known in versions.items():
        for version in known:
            given = {"path": path, "version": version}
            walk.ask("owner", "POST", "/api/tools/get_changes_since", given)
            walk.ask("owner", "POST", "/api/tools/edit_text", {**given, "old_text": "Second", "new_text": "Third"})


def walk_programs(folder: Path, paths: list[str]) -> list[str]:
    """The same by the programs that need no server: the commands, and MCP on the standard streams."""
    leaks: list[str] = []
    client = Lines.to(folder, "--profile", "all")
    client.start()
    newest = answer_of(client.call("list_turns", limit=1))["turns"][0]["turn"]
    numbers = range(1, newest + 1)
    asked: list[tuple[str, dict[str, Any]]] = [
        ("resources/list", {}),
        *(("resources/read", {"uri": f"redraft://documents/{quote(path)}"}) for path in paths),
        *(("tools/call", {"name": "read_document", "arguments": {"path": path}}) for path in paths),
        ("tools/call", {"name": "search_documents", "arguments": {"query": "hunter secretword"}}),
        ("tools/call", {"name": "search_project", "arguments": {"query": "secretword"}}),
        *(("tools/call", {"name": "show_turn", "arguments": {"turn": number}}) for number in numbers),
    ]
    for method, given in asked:
        if CANARY in json.dumps(client.ask(method, **given)):
            leaks.append(f"mcp {method} {given}")
    assert client.close() == ""
    commands = [
        *(["show", str(number)] for number in numbers),
        ["diff"],
        *(["diff", path] for path in paths[:2]),
        ["diff", "--patch"],
        ["status", "--json"],
        ["audit", "list", "--json"],
        ["export", paths[0], "--output", "-"],
        ["tool", "search_documents", '{"query": "hunter secretword"}'],
    ]
    for words in commands:
        line = [sys.executable, "-W", "error", "-m", "redraft", *words]
        done = run_program(line, cwd=folder, env=environment(folder), timeout=PATIENCE)
        if CANARY.encode() in done.stdout + done.stderr:
            leaks.append(" ".join(words))
    return leaks


@pytest.mark.covers("P7", "RD-secrets-gate", "RD-secrets-renamed")
@pytest.mark.parametrize("pending", [True, False], ids=["pending", "decided"])
@pytest.mark.parametrize("running", [True, False], ids=["running", "stopped"])
def test_what_a_document_said_is_withheld_once_another_program_made_a_secret_of_it(
    folder: Path, running: bool, pending: bool
) -> None:
    """While the server runs, or before it starts."""
    server = begun(folder)
    versions = {path: write_history(server, path, pending=pending) for path in map(path_for, RENAMINGS)}
    if not running:
        assert ended(server) == ""
    places = [renaming(folder, folder / path_for(renaming)) for renaming in RENAMINGS]
    paths = [*versions, *(str(place.relative_to(folder)) for place in places)]
    if not running:
        server = begun(folder)
    assert walk_everything(server, paths, versions) == []
    assert ended(server) == ""
    if running and pending:
        assert walk_programs(folder, paths) == []


@pytest.mark.covers("RD-secrets-renamed")
def test_what_a_document_said_is_withheld_after_the_secret_is_gone(folder: Path) -> None:
    """Somebody has the app open when it is renamed, and so it is known."""
    server = begun(folder)
    heard = Listening(Client(server.port, server.token))
    versions = {path: write_history(server, path, pending=path == "a/q.md") for path in ("a/q.md", "b/q.md")}
    (folder / "a" / "q.md").rename(folder / "a" / ".env")
    (folder / "b").rename(folder / ".ssh")
    await_turns(server, {"a/.env", ".ssh/q.md"})
    (folder / "a" / ".env").unlink()
    shutil.rmtree(folder / ".ssh")
    assert walk_everything(server, [*versions, "a/.env", ".ssh/q.md"], versions) == []
    assert CANARY.encode() not in heard.end()
    assert ended(server) == ""
    server = begun(folder)
    assert walk_everything(server, [*versions, "a/.env", ".ssh/q.md"], versions) == []
    assert ended(server) == ""


def replace_at_once(folder: Path, path: Path) -> Path:
    """A new file takes the place of the secret: neither the inode nor the content is left of the document."""
    place = rename_file(folder, path)
    new = path.with_name("x.tmp")
    new.write_text("TOKEN=1\n", encoding="utf-8")
    return new.replace(place)


def delete_at_once(folder: Path, path: Path) -> Path:
    place = rename_file(folder, path)
    place.unlink()
    return place


def rename_twice(folder: Path, path: Path) -> Path:
    place = path.rename(path.with_name("between.txt")).rename(path.with_name("server.pem"))
    place.unlink()
    return place


def move_into_secret_folder(folder: Path, path: Path) -> Path:
    place = path.rename(folder / ".aws" / path.name)
    place.unlink()
    return place


def rename_folder_at_once(folder: Path, path: Path) -> Path:
    path.parent.rename(folder / ".ssh")
    (folder / ".ssh" / path.name).unlink()
    return folder / ".ssh" / path.name


AT_ONCE = (replace_at_once, delete_at_once, rename_twice, move_into_secret_folder, rename_folder_at_once)


@pytest.mark.covers("RD-secrets-renamed")
@pytest.mark.parametrize("pending", [True, False], ids=["pending", "decided"])
def test_what_a_document_said_is_withheld_where_nothing_is_left_of_the_file_that_became_a_secret(
    folder: Path, pending: bool
) -> None:
    """The kernel tells a server that runs what was renamed to what."""
    (folder / ".aws").mkdir()
    server = begun(folder)
    versions = {path: write_history(server, path, pending=pending) for path in map(path_for, AT_ONCE)}
    same = ["first.md", "second.md"]
    for path in same:
        versions[path] = write_history(server, path, pending=pending)
    await_watch(server)
    places = [renaming(folder, folder / path_for(renaming)) for renaming in AT_ONCE]
    for path in same:  # one over the other
        (folder / path).rename(folder / ".env")
    (folder / ".env").unlink()
    paths = [*versions, *(str(place.relative_to(folder)) for place in places), ".env"]
    assert walk_everything(server, paths, versions) == []
    assert ended(server) == ""
    server = begun(folder)
    assert walk_everything(server, paths, versions) == []
    assert ended(server) == ""


def await_watch(server: Server) -> None:
    """Wait until the server has noticed what another program wrote: it watches the folder from now on."""
    assert server.folder is not None
    server.post("/api/documents", {"path": "watched.md", "content": "One.\n"})
    (server.folder / "watched.md").write_text("Two.\n", encoding="utf-8")
    end = time.monotonic() + PATIENCE
    while server.get("/api/turns", limit=1)["turns"][0]["author"]["name"] != "outside":
        assert time.monotonic() < end, server.get("/api/turns")
        time.sleep(0.05)


def propose_words(server: Server, path: str) -> None:
    server.tool("edit_text", path=path, old_text="Second line.", new_text=f"Second {CANARY}.")


def propose_deletion(server: Server, path: str) -> None:
    server.tool("delete_document", path=path)


def type_words(server: Server, path: str) -> None:
    tab = server.post("/api/tabs", {"path": path})["tab_id"]
    server.post(f"/api/tabs/{tab}/type", {"content": f"Typed {CANARY}.\n"})


@pytest.mark.covers("RD-secrets-renamed")
@pytest.mark.parametrize("gone", [False, True], ids=["written over", "deleted before"])
@pytest.mark.parametrize("draw_up", [propose_words, propose_deletion, type_words])
def test_a_second_document_with_a_draft_that_gets_the_same_secrets_name_is_withheld_too(
    folder: Path, draw_up: Callable[[Server, str], None], gone: bool
) -> None:
    """The draft of the first has the secret's place already."""
    server = begun(folder)
    for name in ("first.md", "second.md"):
        (folder / name).write_text(f"Of {name} {LINE}\nSecond line.\n", encoding="utf-8")
        draw_up(server, name)
        (folder / name).rename(folder / ".env")
        await_turns(server, {".env", name})
        if gone and name == "first.md":
            (folder / ".env").unlink()
    paths = ["first.md", "second.md", ".env"]
    assert walk_everything(server, paths) == []
    assert [draft["path"] for draft in server.get("/api/review")["documents"]] == [".env"]
    assert ended(server) == ""
    server = begun(folder)
    assert walk_everything(server, paths) == []
    assert ended(server) == ""


def await_turns(server: Server, paths: set[str]) -> None:
    """Wait until turns have noticed these."""
    end = time.monotonic() + PATIENCE
    while not paths <= {path for turn in server.get("/api/turns")["turns"] for path in turn["paths"]}:
        assert time.monotonic() < end, server.get("/api/turns")
        time.sleep(0.05)


@pytest.mark.covers("RD-secrets-renamed")
def test_a_link_in_the_old_place_gives_nothing_away_and_hostile_paths_break_no_log(folder: Path) -> None:
    server = begun(folder)
    versions = {"a/q.md": write_history(server, "a/q.md", pending=True)}
    (folder / "a").rename(folder / ".ssh")
    (folder / "a").symlink_to(".ssh")
    for path in ("../x.md", "a/q.md", "", "/etc/passwd", "a\x00b", "tab_1", ".git/config"):
        server.request("POST", "/api/tools/edit_text", {"path": path, "old_text": "a", "new_text": CANARY[::-1]})
    assert walk_everything(server, ["a/q.md", ".ssh/q.md"], versions) == []
    assert len(server.get("/api/audit")["entries"]) > 3
    assert ended(server) == ""


@pytest.mark.covers("P7", "RD-secrets-links")
def test_another_name_of_a_secret_is_a_secret(folder: Path) -> None:
    (folder / ".env").write_text(LINE, encoding="utf-8")
    (folder / "deep" / ".ssh").mkdir(parents=True)
    (folder / "deep" / ".ssh" / "config").write_text(LINE, encoding="utf-8")
    os.link(folder / ".env", folder / "before.md")
    server = begun(folder)
    (folder / "known.md").write_text("# Known\n\nhunter\n", encoding="utf-8")
    os.link(folder / "known.md", folder / "twice.md")
    server.get("/api/search/lines", query="hunter")
    os.link(folder / "deep" / ".ssh" / "config", folder / "after.md")
    paths = ["before.md", "after.md", ".env", "deep/.ssh/config"]
    server.post("/api/documents", {"path": "other.md", "content": "So that there is a turn.\n"})
    for path in paths:
        assert server.refused("GET", "/api/documents", None, 403, path=path)["error"] == "secret"
    assert walk_everything(server, paths) == []
    # A document that merely has two names is read under both.
    assert all("hunter" in server.get("/api/documents", path=path)["content"] for path in ("known.md", "twice.md"))
    found = {hit["path"] for hit in server.get("/api/search/lines", query="hunter")["hits"]}
    assert found >= {"known.md", "twice.md"}
    assert ended(server) == ""
    assert walk_programs(folder, paths) == []


@pytest.mark.covers("P7", "RD-secrets-links")
@pytest.mark.parametrize("how", ["a new name", "a folder's new name"])
def test_no_search_shows_a_document_that_has_a_secrets_name_as_well_by_now(folder: Path, how: str) -> None:
    """Every search knows its text already. The kernel reports a new name only in the folder where it is."""
    (folder / "quiet.md").write_text(f"# Quiet\n\n{LINE}", encoding="utf-8")
    (folder / "other.md").write_text("# Other\n\nThe hunter has a secretword too.\n", encoding="utf-8")
    (folder / "shelf").mkdir()
    if how == "a folder's new name":
        os.link(folder / "quiet.md", folder / "shelf" / "quiet.md")
    server = begun(folder)
    await_all_searches(server, "quiet.md")
    if how == "a new name":
        os.link(folder / "quiet.md", folder / "shelf" / "id_rsa")
    (folder / "shelf").rename(folder / ".ssh")
    if how == "a folder's new name":  # it changes no file, so it counts once the names that are known are old
        await_refusal(server, "quiet.md")
    found = search_everywhere(server)
    assert {each for each, said in found.items() if CANARY in said} == set()
    assert {each for each, said in found.items() if "other.md" not in said} == set()
    assert ended(server) == ""


def search_everywhere(server: Server) -> dict[str, str]:
    """What each search that there is finds."""
    query = {"query": "hunter secretword"}
    tools = [("search_documents", query), ("search_project", query), ("search_project", {"query": "secretword"})]
    return {
        "lines": json.dumps(server.get("/api/search/lines", query="secretword")),
        "meaning": json.dumps(server.get("/api/search/meaning", **query)),
        **{f"{name} {given['query']}": json.dumps(server.tool(name, **given)) for name, given in tools},
    }


def await_all_searches(server: Server, path: str) -> None:
    """Wait until the document is found by every search, and its file is old enough for its text to be kept."""
    end = time.monotonic() + PATIENCE
    while not all(path in said for said in search_everywhere(server).values()) or time.time() < settled(server, path):
        assert time.monotonic() < end, search_everywhere(server)
        time.sleep(0.05)
    search_everywhere(server)


def settled(server: Server, path: str) -> float:
    assert server.folder is not None
    return (server.folder / path).stat().st_ctime + 1.0


def await_refusal(server: Server, path: str) -> None:
    end = time.monotonic() + PATIENCE
    while server.request("GET", "/api/documents", query={"path": path}).status != 403:
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.covers("RD-secrets-renamed")
def test_what_an_agent_read_and_proposed_is_not_shown_again_once_it_is_a_secret(folder: Path) -> None:
    (folder / "quiet.md").write_text(f"# Quiet\n\nFirst {LINE}\nSecond line.\n", encoding="utf-8")
    edit = {"path": "quiet.md", "old_text": "Second line.", "new_text": f"Second {CANARY}."}
    server = playing(
        folder,
        {"text": "", "calls": [{"tool": "read_document", "arguments": {"path": "quiet.md"}}]},
        {"text": "", "calls": [{"tool": "search_documents", "arguments": {"query": "hunter secretword"}}]},
        {"text": "", "calls": [{"tool": "read_document", "arguments": {"path": "story.md"}}]},
        {"text": "", "calls": [{"tool": "edit_text", "arguments": edit}]},
        {"text": "It is done."},
    )
    job = until(server, run(server), "awaiting_review")["job_id"]
    told = server.get(f"/api/agent/jobs/{job}/events")["events"]
    assert CANARY in json.dumps(told), "as long as it is a document"
    (folder / "quiet.md").rename(folder / ".env")
    assert walk_everything(server, ["quiet.md", ".env"]) == []
    shown = server.get(f"/api/agent/jobs/{job}/events")["events"]
    results = [each["data"] for each in shown if "result" in each["data"]]
    read = [data["result"] for data in results if data["tool"] == "read_document"]
    assert "[masked]" in read[0]
    assert "content" in read[1], "the other document is shown as before"
    stream = Listening(Client(server.port, server.token), f"/api/agent/jobs/{job}/events/stream")
    stream.wait_for(b"diff.generated")
    assert CANARY.encode() not in stream.end()
    assert ended(server) == ""
    done = subprocess.run(
        [sys.executable, "-m", "redraft", "jobs", job, "--json"],
        capture_output=True,
        cwd=folder,
        env=environment(folder),
        check=True,
    )
    assert b"read_document" in done.stdout
    assert CANARY.encode() not in done.stdout
