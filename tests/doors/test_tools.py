"""The tools as an agent program meets them over MCP: what is offered, what is listed, what is kept out of reach."""

from __future__ import annotations

import json
import os
import socket
import stat
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.running import Program
from tests.speaking.lines import Lines, answer_of
from tests.tools.test_registry import PROJECT, TABS, WORKSPACE

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from tests.server.serving import Server

KEY = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAA\n-----END OPENSSH PRIVATE KEY-----\n"


def offered(folder: Path, profile: str) -> dict[str, dict[str, Any]]:
    """What a client of this profile is told of its tools."""
    client = Lines.to(folder, "--profile", profile)
    client.start()
    found = {tool["name"]: tool for tool in client.ask("tools/list")["result"]["tools"]}
    assert client.close() == ""
    return found


def call(tools: Lines, tool: str, /, **arguments: Any) -> dict[str, Any]:
    result = tools.call(tool, **arguments)
    assert not result["isError"], result
    return answer_of(result)


def check_refused(tools: Lines, tool: str, /, **arguments: Any) -> dict[str, Any]:
    result = tools.call(tool, **arguments)
    assert result["isError"], result
    return answer_of(result)


@pytest.mark.covers("RD-decided-profiles", "TK-principle-no-overlap", "TK-principle-line-addressing")
def test_a_client_is_offered_one_set_of_tools_and_no_other(tools: Lines, shelf: Path):
    tabs, default = offered(shelf, "tabs"), offered(shelf, "default")
    assert (set(tabs), set(offered(shelf, "workspace")), set(offered(shelf, "project"))) == (TABS, WORKSPACE, PROJECT)
    assert len(default) <= 20
    for pair in (
        ("read_document", "read_file"),
        ("list_documents", "list_files"),
        ("search_documents", "search_project"),
        ("edit_text", "propose_edits"),
        ("write_document", "edit_document"),
        ("replace_lines", "edit_section"),
    ):
        assert len(set(pair) & set(default)) == 1
    assert {"replace_lines", "delete_lines"} <= set(default), "the one overlap that is allowed"
    every = {tool["name"] for tool in tools.ask("tools/list")["result"]["tools"]}
    assert every >= {*TABS, *WORKSPACE, *PROJECT, *default}
    fields = {name for tool in tabs.values() for name in tool["inputSchema"]["properties"]}
    assert not {name for name in fields if "offset" in name or "byte" in name}


RISK_READ = {"read_document", "list_documents", "search_documents"}


@pytest.fixture
def questions(tools: Lines) -> Generator[list[str]]:
    """What the person is asked meanwhile; they agree to nothing."""
    answer, found = tools.answer, list[str]()

    def decline(asked: dict[str, Any]) -> dict[str, Any]:
        found.append(asked["message"])
        return {"action": "decline"}

    tools.answer = decline
    yield found
    tools.answer = answer


@pytest.mark.covers("ML-risk-read", "TK-summary-read-only")
def test_a_tool_says_whether_it_only_reads(tools: Lines):
    hints = {tool["name"]: tool["annotations"] for tool in tools.ask("tools/list")["result"]["tools"]}
    assert all(hints[name]["readOnlyHint"] for name in (*RISK_READ, "list_tabs", "search_document", "get_outline"))
    assert not any(hints[name].get("readOnlyHint") for name in ("create_document", "create_folder", "edit_document"))
    assert [name for name, hint in hints.items() if hint.get("destructiveHint")] == ["delete_document"]


@pytest.mark.covers("ML-risk-read", "TK-summary-read-only")
def test_tools_that_read_change_no_file_leave_no_turn_and_ask_nothing(tools: Lines, shelf: Path, questions: list[str]):
    (shelf / "read-only.md").write_text("# One\n", encoding="utf-8")
    held = {path: path.read_bytes() for path in shelf.rglob("*.md")}
    turns = call(tools, "list_turns")["turns"]
    call(tools, "list_tabs")
    call(tools, "read_document", path="read-only.md", check=True)
    call(tools, "search_document", path="read-only.md", query="One", match_type="exact")
    call(tools, "get_outline", path="read-only.md")
    call(tools, "list_documents")
    call(tools, "search_documents", query="One")
    assert ({path: path.read_bytes() for path in shelf.rglob("*.md")}, call(tools, "list_turns")["turns"]) == (
        held,
        turns,
    )
    assert questions == []


@pytest.mark.covers("ML-risk-create", "ML-risk-modify")
@pytest.mark.parametrize(
    ("name", "arguments", "path", "patch"),
    [
        ("create_document", {"path": "risk-new.md", "content": "x\n"}, "risk-new.md", "\n@@ -0,0 +1 @@\n+x\n"),
        ("create_folder", {"path": "risk/deep"}, "", ""),
        (
            "edit_document",
            {"path": "risk.md", "operation": "append", "content": "two"},
            "risk.md",
            "\n@@ -1 +1,3 @@\n one\n+\n+two\n",
        ),
        ("move_document", {"from_path": "risk.md", "to_path": "risk-moved.md"}, "risk-moved.md", ""),
    ],
)
def test_what_a_tool_writes_without_asking_can_be_undone(
    tools: Lines, shelf: Path, questions: list[str], name: str, arguments: dict[str, Any], path: str, patch: str
):
    (shelf / "risk.md").write_text("one\n", encoding="utf-8")
    call(tools, "read_document", path="risk.md")
    done = call(tools, name, **arguments)
    assert (done["state"], questions) == ("applied", [])
    shown = call(tools, "show_turn", turn=done["turn"])
    assert shown["turn"]["title"]
    if patch:
        assert {each["path"]: each["patch"].partition("@@")[2] for each in shown["documents"]} == {
            path: patch.partition("@@")[2]
        }
    elif path:
        assert set(shown["turn"]["paths"]) == {"risk.md", path}
    call(tools, "undo_turn", turn=done["turn"])
    assert (shelf / "risk.md").read_text(encoding="utf-8") == "one\n"
    assert not any((shelf / name).exists() for name in ("risk-new.md", "risk-moved.md", "risk"))


@pytest.mark.covers("RT-tool-name", "RT-mcp-registered", "RT-mcp-required", "RT-mcp-minimum", "RT-desc-examples",
                    "RT-desc-read-first", "RT-desc-positions")  # fmt: skip
def test_replace_text_is_offered_as_the_specification_has_it(shelf: Path):
    tools = offered(shelf, "editor")
    assert set(tools) == {"replaceText", "getEditorText"}
    tool = tools["replaceText"]
    schema = tool["inputSchema"]
    assert schema["required"] == ["from", "to", "newText"]
    kinds = {name: (schema["properties"][name]["type"], schema["properties"][name].get("minimum"))
             for name in schema["required"]}  # fmt: skip
    assert kinds == {"from": ("integer", 0), "to": ("integer", 0), "newText": ("string", None)}
    said = [schema["properties"][name]["description"] for name in schema["required"]]
    beginnings = ("Start position (inclusive) in plain text", "End position (exclusive) in plain text", "New text to i")
    assert all(map(str.startswith, said, beginnings))
    description = " ".join(tool["description"].split())
    for sentence in (
        "Replace text in the editor between two positions.",
        "1. First, call getEditorText() to get the current document text. 2. Calculate positions in that plain text:",
        "position 0 is the start of the document, positions are character offsets. 3. Call replaceText(from, to, new",
        'to replace "Hello world" with "Hi there": from 0, to 11, newText "Hi there".',
        'To delete "world": from 6, to 11, newText "".',
        'To insert "beautiful " before "world": from 6, to 6, newText "beautiful ".',
        "from must be <= to, and both within the document.",
    ):
        assert sentence in description


@pytest.mark.covers("ML-list-params", "ML-list-defaults", "ML-list-result", "ML-list-recursive", "ML-list-hidden",
                    "SB-tool-list-input", "SB-tool-list-output")  # fmt: skip
def test_documents_are_listed_by_folder_prefix_and_glob(tmp_path: Path):
    folder = tmp_path / "notes"
    for path in ("a/b/deep.md", "a/one.txt", "story.md", ".hidden.md", ".dir/x.md"):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text("x", encoding="utf-8")
    tools = Lines.to(folder, "--profile", "all")
    tools.start()
    listed = call(tools, "list_documents")
    assert listed["documents"] == [
        {"name": "a", "path": "a", "type": "folder"},
        {"name": "story.md", "path": "story.md", "type": "file"},
    ]
    assert listed["count"] == 2
    deep = call(tools, "list_documents", folder="/", recursive=True)["documents"]
    assert [each["path"] for each in deep] == ["a", "a/b", "a/b/deep.md", "a/one.txt", "story.md"]
    assert call(tools, "list_documents", folder="a")["documents"] == [
        {"name": "b", "path": "a/b", "type": "folder"},
        {"name": "one.txt", "path": "a/one.txt", "type": "file"},
    ]
    assert check_refused(tools, "list_documents", folder="none")["error"] == "not_found"
    assert call(tools, "list_files", prefix="a/", glob="**/*.md")["files"] == ["a/b/deep.md"]
    assert tools.close() == ""


# Out of reach


@pytest.mark.covers("RD-files-components", "RD-files-links", "ML-exec-path-inside", "ML-sec-traversal",
                    "ML-sec-outside", "SB-scope-project-folder")  # fmt: skip
@pytest.mark.parametrize(
    "path",
    [
        "../outside.md",
        "a/../../outside.md",
        "/etc/hostname",
        "C:\\x.md",
        "a\x00.md",
        "a\x07.md",
        "a\n.md",
        "a//b.md",
        "link.md",
        "links/x.md",
    ],
)
def test_no_path_leaves_the_folder(tools: Lines, shelf: Path, path: str):
    outside = shelf.parent / "outside.md"
    outside.write_text("not yours\n", encoding="utf-8")
    if not (shelf / "link.md").is_symlink():
        (shelf / "link.md").symlink_to(outside)
        (shelf.parent / "elsewhere").mkdir()
        (shelf / "links").symlink_to(shelf.parent / "elsewhere")
        (shelf / "plain.md").write_text("plain\n", encoding="utf-8")
    for tool, arguments in (
        ("read_document", {"path": path}),
        ("create_document", {"path": path, "content": "x"}),
        ("write_document", {"path": path, "content": "x", "version": "0"}),
        ("move_document", {"from_path": "plain.md", "to_path": path}),
        ("delete_document", {"path": path}),
    ):
        assert "not yours" not in json.dumps(check_refused(tools, tool, **arguments))
    assert outside.read_text(encoding="utf-8") == "not yours\n"
    assert os.listdir(shelf.parent / "elsewhere") == []
    assert (shelf / "plain.md").read_text(encoding="utf-8") == "plain\n"


@pytest.mark.covers("RD-files-links")
def test_a_file_that_has_a_second_name_outside_is_not_written(tools: Lines, shelf: Path):
    outside = shelf.parent / "hard.md"
    outside.write_text("shared\n", encoding="utf-8")
    os.link(outside, shelf / "hard.md")
    check_refused(tools, "edit_text", path="hard.md", old_text="shared", new_text="x")
    assert outside.read_text(encoding="utf-8") == "shared\n"


@pytest.mark.covers("RD-files-special")
def test_a_pipe_is_refused_and_nobody_waits(tools: Lines, shelf: Path):
    os.mkfifo(shelf / "pipe.md")
    check_refused(tools, "read_document", path="pipe.md")
    check_refused(tools, "edit_text", path="pipe.md", old_text="a", new_text="b")
    os.unlink(shelf / "pipe.md")
    with socket.socket(socket.AF_UNIX) as listener:
        here = os.getcwd()
        os.chdir(shelf)  # a socket's name may not be long
        listener.bind("socket.md")
        os.chdir(here)
        check_refused(tools, "read_document", path="socket.md")
    os.unlink(shelf / "socket.md")
    if os.geteuid() == 0:
        os.mknod(shelf / "zero.md", stat.S_IFCHR | 0o666, os.makedev(1, 5))  # endless, if anybody read it
        check_refused(tools, "read_document", path="zero.md")
        os.unlink(shelf / "zero.md")


@pytest.mark.covers("RD-files-protected", "ML-exec-internal-refused", "ML-sens-internal")
@pytest.mark.parametrize(
    "path",
    [
        ".git/config",
        ".redraft/settings.toml",
        ".agent-doc/sessions.json",
        ".agent-doc/snapshots/x.md",
        ".vscode/tasks.json",
        ".github/workflows/x.yml",
    ],
)
def test_an_agent_cannot_write_where_text_is_executed_nor_our_own_state(tools: Lines, shelf: Path, path: str):
    (shelf / path).parent.mkdir(parents=True, exist_ok=True)
    text = "" if path.startswith(".redraft") else "steps\n"
    (shelf / path).write_text(text, encoding="utf-8")
    for tool, arguments in (
        ("edit_text", {"path": path, "old_text": "steps", "new_text": "x"}),
        ("delete_document", {"path": path}),
        ("move_document", {"from_path": path, "to_path": "free.md"}),
        ("create_document", {"path": f"{path}.new.md", "content": "x"}),
    ):
        assert check_refused(tools, tool, **arguments)["error"] == "forbidden_path"
    if path.startswith((".git/", ".redraft")):
        folder = path.partition("/")[0]
        for tool, arguments in (
            ("read_document", {"path": path}),
            ("read_file", {"file_path": path}),
            ("get_outline", {"path": path}),
            ("search_document", {"path": path, "query": "steps", "match_type": "exact"}),
            ("list_documents", {"folder": folder}),
            ("list_files", {"prefix": folder}),
            ("search_documents", {"query": "steps", "folder": folder}),
            ("create_document", {"path": f"{folder}/new.md"}),
            ("create_folder", {"path": f"{folder}/new"}),
            ("move_document", {"from_path": "plain-beside.md", "to_path": f"{folder}/new.md"}),
        ):
            (shelf / "plain-beside.md").write_text("beside\n", encoding="utf-8")
            assert check_refused(tools, tool, **arguments)["error"] == "forbidden_path", tool
    assert (shelf / path).read_text(encoding="utf-8") == text


@pytest.mark.covers("RD-files-secrets", "ML-sens-env")
@pytest.mark.parametrize(
    "path",
    [
        ".env", ".ENV.local", "deep/.env.production", "id_rsa", ".ssh/config", "server.pem", "key.md", "linked.md",
        "secret.txt", "deep/Credentials.txt", "api_keys.txt", "my passwords.md",
    ],
)  # fmt: skip
def test_an_agent_gets_no_byte_of_a_secret_and_cannot_touch_it(tools: Lines, shelf: Path, path: str):
    (shelf / path).parent.mkdir(parents=True, exist_ok=True)
    text = KEY if path == "key.md" else "TOKEN=hunter2\n"
    if path == "linked.md":
        (shelf / "real.env").write_text(text, encoding="utf-8")
        (shelf / path).symlink_to("real.env")
    else:
        (shelf / path).write_text(text, encoding="utf-8")
    for tool, arguments in (
        ("read_document", {"path": path}),
        ("read_file", {"file_path": path}),
        ("search_document", {"path": path, "query": "hunter2", "match_type": "exact"}),
        ("edit_text", {"path": path, "old_text": "TOKEN", "new_text": "x"}),
        ("move_document", {"from_path": path, "to_path": "free.txt"}),
    ):
        told = check_refused(tools, tool, **arguments)
        assert told["error"] in ("secret", "forbidden_path", *(["outside_folder"] if path == "linked.md" else []))
        assert "hunter2" not in json.dumps(told)
    found = call(tools, "search_documents", query="hunter2")
    assert "TOKEN=" not in json.dumps(found)
    assert (shelf / path).read_text(encoding="utf-8") == text
    os.unlink(shelf / path)


@pytest.mark.covers("RD-files-no-false-secret")
@pytest.mark.parametrize(
    "path",
    [
        "secretary-notes.md", "secret-santa.md", "the-secret-garden.md", "password-policy.md", "tokenizer.md",
        "secrets.md", "reset-password.txt",
    ],
)  # fmt: skip
def test_prose_about_secrets_is_prose(tools: Lines, shelf: Path, path: str):
    (shelf / path).write_text("Ask the secretary.\n", encoding="utf-8")
    assert call(tools, "read_document", path=path)["content"] == "Ask the secretary.\n"


@pytest.mark.covers("ML-sens-system")
@pytest.mark.parametrize("path", [".DS_Store", "thumbs.db", "deep/Thumbs.db"])
def test_files_of_the_system_are_left_alone(tools: Lines, shelf: Path, path: str):
    (shelf / path).parent.mkdir(exist_ok=True)
    (shelf / path).write_text("a text, as it happens\n", encoding="utf-8")
    (shelf / "beside.md").write_text("beside\n", encoding="utf-8")
    for tool, arguments in (
        ("read_document", {"path": path}),
        ("edit_text", {"path": path, "old_text": "text", "new_text": "x"}),
        ("delete_document", {"path": path}),
        ("move_document", {"from_path": path, "to_path": "free.md"}),
        ("move_document", {"from_path": "beside.md", "to_path": f"other/{path}"}),
        ("create_folder", {"path": f"other/{path}"}),
    ):
        told = check_refused(tools, tool, **arguments)
        assert (told["error"], "belongs to the operating system" in told["message"]) == ("forbidden_path", True), tool
    assert (shelf / path).read_text(encoding="utf-8") == "a text, as it happens\n"
    assert not (shelf / "other").exists()


# The log


@pytest.mark.covers("ML-audit-fields", "ML-audit-every")
def test_every_call_is_in_the_log_with_who_when_what_and_how_it_ended(tools: Lines, shelf: Path):
    (shelf / "log.md").write_text("one\n", encoding="utf-8")
    began = time.time()
    call(tools, "read_document", path="log.md")
    check_refused(tools, "read_document", path="none.md")
    check_refused(tools, "read_document", nonsense=1)
    check_refused(tools, "no_such_tool")
    check_refused(tools, "edit_text", path=".git/x", old_text="a", new_text="b")
    turn = call(tools, "edit_text", path="log.md", old_text="one", new_text="two")["turn"]
    lines = Program(shelf).json("audit", "list", "--limit", "6")["entries"]
    assert [(each["tool"], json.loads(each["arguments"]), each["result"], each["turn"]) for each in lines] == [
        ("read_document", {"path": "log.md"}, "success", None),
        ("read_document", {"path": "none.md"}, "error", None),
        ("read_document", {"nonsense": 1}, "error", None),
        ("no_such_tool", {}, "error", None),
        ("edit_text", {"path": ".git/x", "old_text": "a", "new_text": "b"}, "rejected", None),
        ("edit_text", {"path": "log.md", "old_text": "one", "new_text": "two"}, "applied", turn),
    ]
    assert {each["author"] for each in lines} == {"agent:tester"}
    times = [began, *(each["at"] for each in lines), time.time()]
    assert times == sorted(times)


# Bytes


@pytest.mark.covers("RD-files-newlines", "SB-enc-lf-crlf")
@pytest.mark.parametrize(
    "text",
    [
        "one\ntwo\n",
        "one\r\ntwo\r\n",
        "one\rtwo\r",
        "one\r\ntwo\nthree",
        "one\ntwo",
        "\ufeffone\r\ntwo\r\n",
        "one  \ntwo\t\n",
    ],
)
def test_bytes_outside_an_edit_never_change(tools: Lines, shelf: Path, text: str):
    (shelf / "bytes.md").write_bytes(text.encode())
    call(tools, "edit_text", path="bytes.md", old_text="two", new_text="zwei")
    assert (shelf / "bytes.md").read_bytes() == text.replace("two", "zwei").encode()


@pytest.mark.covers("RD-files-newlines", "SB-enc-lf-crlf")
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_new_lines_end_as_the_files_own_do(tools: Lines, shelf: Path, newline: str):
    (shelf / "endings.md").write_bytes(f"one{newline}two{newline}".encode())
    edits = [
        {"file_path": "endings.md", "operation": "insert", "start_line": 2, "new_text": "a\nb\n"},
        {"file_path": "endings.md", "operation": "replace", "start_line": 2, "end_line": 2, "new_text": "c\r\nd\r\n"},
    ]
    for edit in edits:
        call(tools, "read_file", file_path="endings.md")
        call(tools, "propose_edits", edits=[edit])
    assert (shelf / "endings.md").read_bytes() == newline.join(["one", "c", "d", "b", "two", ""]).encode()


@pytest.mark.covers("RD-files-encodings", "SB-rule-write-utf8", "SB-enc-utf8", "SB-enc-binary", "TK-binary-write")
@pytest.mark.parametrize(
    "data", ["caf\xe9 and two\n".encode("latin-1"), b"\x89PNG\r\n\x1a\n\x00\x00", "two\n".encode("utf-16")]
)
def test_what_is_not_utf8_text_is_refused_and_never_altered(tools: Lines, shelf: Path, data: bytes):
    (shelf / "binary.md").write_bytes(data)
    for tool, arguments in (
        ("read_document", {"path": "binary.md"}),
        ("edit_text", {"path": "binary.md", "old_text": "two", "new_text": "x"}),
        ("write_document", {"path": "binary.md", "content": "x", "version": "0"}),
        (
            "propose_edits",
            {"edits": [{"file_path": "binary.md", "operation": "insert", "start_line": 1, "new_text": "x"}]},
        ),
    ):
        assert check_refused(tools, tool, **arguments)["error"] == "unsupported_file_type"
    assert (shelf / "binary.md").read_bytes() == data


@pytest.mark.covers("RD-history-state-outside")
def test_in_the_folder_lies_only_its_id(server: Server, shelf: Path):
    server.tool("create_document", mode="apply", path="state.md", content="x\n")
    assert {name for name in os.listdir(shelf / ".redraft") if name != "settings.toml"} == {"id"}
    assert (server.state / "history.db").is_file()
    assert server.state.is_relative_to(shelf.parent / "state")
