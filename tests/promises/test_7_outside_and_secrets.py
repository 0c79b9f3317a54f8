"""Promise 7: no path outside the folder is read or written, and no secret file's bytes leave.

Two words are written where nobody may read: one in files outside, one in files that hold secrets. Random calls with
hostile paths come through every door; neither word may be in any answer, and nothing outside may change.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest

from tests.promises.doors import Folder, Lines, chance, fingerprint, rounds, run, served

if TYPE_CHECKING:
    import random
    from pathlib import Path

pytestmark = pytest.mark.slow
OUTSIDE = "canaryoutsidezq"
SECRET = "canarysecretzq"
SECRETS = (
    *(".env", ".env.local", ".ssh/id_rsa", "server.pem", "credentials.json", ".netrc", ".aws/config", "a/.npmrc"),
    *(".secrets", ".credentials", ".token", ".dev.vars", ".codex/auth.json", "token.json", "rclone.conf", "wallet.dat"),
)
READS = ("read_document", "get_outline", "search_document", "get_changes_since", "getEditorText", "list_turns")
WRITES = ("edit_text", "write_document", "insert_lines", "delete_document", "create_document", "edit_document")
ROUTES = ("documents", "outline", "blame", "review/document", "turns", "export", "search/document", "images", "live")


def lay_out(folder: Folder, outside: Path) -> None:
    """What nobody may reach, and links that lead there."""
    outside.mkdir()
    (outside / "diary.md").write_text(f"# {OUTSIDE}\n\nNot yours.\n", encoding="utf-8")
    (outside / "sub").mkdir()
    (outside / "sub" / "more.txt").write_text(f"{OUTSIDE}\n", encoding="utf-8")
    folder.put("story.md", "# Story\n\nA lamp was lit.\n")
    for name in SECRETS:
        folder.put(name, f"TOKEN={SECRET}\n")
    links = {"file.md": outside / "diary.md", "way": outside, "up.md": "../outside/diary.md", "secret.md": ".env"}
    for name, target in links.items():
        (folder.path / name).symlink_to(target)
    (folder.path / "loop").symlink_to("loop")


def hostile_path(dice: random.Random, outside: Path) -> str:
    """A path that leads outside or to a secret, written as somebody might try who wants to get there."""
    plain = ["../outside/diary.md", str(outside / "diary.md"), "way/diary.md", "way/sub/more.txt", "file.md", "up.md"]
    path = dice.choice([*plain, "secret.md", *SECRETS])
    for _ in range(dice.randint(0, 2)):
        act = dice.randrange(8)
        if act == 0:
            path = "./" * dice.randint(1, 3) + path
        elif act == 1:
            path = "a/../" + path
        elif act == 2:
            path = path.replace("/", dice.choice(["//", "/./", "\\", "%2f", "\u2215"]))
        elif act == 3:
            path = dice.choice([str.upper, str.title])(path)
        elif act == 4:
            path += dice.choice(["/", ".", " ", "::$DATA", "\x00.md", "~", ".bak"])
        elif act == 5:
            path = quote(path, safe="")
        elif act == 6:
            path = "file://" + path
        else:
            path = dice.choice(["way/../", "loop/", "story.md/../", "~/"]) + path
    return path


def tool_call(dice: random.Random, path: str) -> tuple[str, dict[str, Any]]:
    """A call of a tool that reads or writes there."""
    name = dice.choice([*READS, *WRITES, "read_file", "propose_edits", "move_document", "list_files", "list_documents"])
    searching = {"query": dice.choice([OUTSIDE, SECRET])[:-2], "match_type": "exact"}
    shapes: dict[str, dict[str, Any]] = {
        "search_document": {"path": path, **searching},
        "read_file": {"file_path": path},
        "list_files": {"prefix": path},
        "list_documents": {"folder": path, "recursive": True},
        "move_document": dice.choice(
            [{"from_path": path, "to_path": "mine.md"}, {"from_path": "story.md", "to_path": path}]
        ),
        "edit_text": {"path": path, "old_text": "Not yours.", "new_text": "Mine."},
        "write_document": {"path": path, "version": "0" * 16, "content": "Mine.", "allow_shrink": True},
        "insert_lines": {"path": path, "version": "0" * 16, "after_line": -1, "content": "Mine."},
        "create_document": {"path": path, "content": "Mine."},
        "edit_document": {"path": path, "operation": "append", "content": "Mine."},
        "propose_edits": {
            "edits": [{"file_path": path, "operation": "replace", "start_line": 1, "end_line": 1, "new_text": "Mine."}]
        },
    }
    return name, shapes.get(name, {"path": path})


def search_call(dice: random.Random) -> tuple[str, dict[str, Any]]:
    """A search for the words themselves; only the answer's echo of the question may hold what was asked."""
    word = dice.choice([OUTSIDE, SECRET])
    name = dice.choice(["search_documents", "search_project"])
    return name, {"query": word[:-2]}


def by_http(folder: Folder, name: str, arguments: dict[str, Any]) -> bytes:
    where = {"mode": "apply", "agree": "true"}
    return folder.server.request("POST", f"/api/tools/{name}", arguments, query=where).body


def by_mcp(agent: Lines, name: str, arguments: dict[str, Any]) -> bytes:
    return json.dumps(agent.ask("tools/call", name=name, arguments=arguments), ensure_ascii=False).encode()


def by_route(dice: random.Random, folder: Folder, path: str) -> tuple[str, bytes]:
    route = dice.choice(ROUTES)
    query = {"path": path, "query": OUTSIDE[:-2], "format": "html"}
    wanted = {"export": ("path", "format"), "search/document": ("path", "query")}.get(route, ("path",))
    answer = folder.server.request("GET", f"/api/{route}", query={name: query[name] for name in wanted})
    return route, answer.body


@pytest.mark.covers("P7")
def test_no_hostile_path_reads_or_writes_outside_and_no_secret_leaves(tmp_path: Path):
    outside = tmp_path / "outside"
    with served(tmp_path) as folder:
        lay_out(folder, outside)
        before = fingerprint(outside)
        secrets = {name: folder.bytes_of(name) for name in SECRETS}
        agent = folder.agent("curious")
        for seed in rounds(250, 50_000):
            dice = chance("hostile", seed)
            path = hostile_path(dice, outside)
            name, arguments = tool_call(dice, path) if dice.random() < 0.9 else search_call(dice)
            door = dice.choice(["http", "mcp", "route", "mcp", "http", "program" if seed % 60 == 0 else "http"])
            told = f"seed {seed} by {door}: {name} {arguments}"
            if door == "route":
                route, found = by_route(dice, folder, path)
                told = f"seed {seed}: GET {route} {path!r}"
            elif door == "http":
                found = by_http(folder, name, arguments)
            elif door == "mcp":
                found = by_mcp(agent, name, arguments)
            else:
                done = run(folder.path, "tool", name, "--json", json.dumps(arguments), "--mode", "apply", "--yes")
                found = done.stdout + done.stderr
            for word in (OUTSIDE, SECRET):
                assert word.encode() not in found, f"{told}: {found!r}"
            if seed % 25 == 0:
                assert fingerprint(outside) == before, told
        assert agent.close() == ""
        assert fingerprint(outside) == before
        assert sorted(os.listdir(tmp_path)) == ["config", "notes", "outside", "state"]
        assert {name: folder.bytes_of(name) for name in SECRETS} == secrets
        assert b"lamp" in by_http(folder, "read_document", {"path": "mine.md" if moved(folder) else "story.md"})


def moved(folder: Folder) -> bool:
    return not (folder.path / "story.md").exists()
