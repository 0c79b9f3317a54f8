"""Arguments for any tool: made to fit a document as it is, and then perhaps spoiled in one place.

A call that is wrong all over is refused at the door and shows little. So these begin as what a careful model would send
(paths that exist, the version of now, lines at the edges, passages that stand there) and most of them reach the tool
itself. `NOW`, `HASH` and `LAST` stand for what is known only when the call is made: see `resolved`.
"""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from hypothesis import strategies as st

from redraft.tools.registry import load_registry
from tests.tools.calling import STORY

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.workspace.folder import Folder

    Strategy = st.SearchStrategy[Any]

NOW, HASH, LAST = "<the version now>", "<the hash of line 1>", "<the last turn>"
SECRET = "c2VjcmV0LXRoYXQtbm9ib2R5LXNlZXM"

FILES: dict[str, bytes] = {
    "story.md": STORY.encode(),
    "crlf.txt": b"one\r\ntwo\r\n\r\nthree",
    "bom.md": b"\xef\xbb\xbf# Title\n\nwords\n",
    "empty.md": b"",
    "data.json": b'{"a": [1, 2, {"b": null}]}\n',
    "conf.yaml": b"a: 1\nb:\n  - c\n",
    "bad.json": b"{" * 500,
    "latin.txt": b"caf\xe9\n",
    "pic.png": b"\x89PNG\x00\x01",
    ".env": f"KEY={SECRET}\n".encode(),
    "notes/deep/er.md": "# Ünï\u2028code\n\n\U0001f600 fa\u0301mily \U0001f469\u200d\U0001f467\n".encode(),
    "notes/mixed.md": b"a\nb\r\nc\rd\n\n\n# a\n# a\n",
    "templates/own.md": b"Dear {{title}}\n",
}
OUTSIDE = b"outside of the folder"


class Doc(NamedTuple):
    """A document that calls are made for: its path, passages that stand in it, its headings and how many lines."""

    path: str
    passages: tuple[str, ...]
    headings: tuple[str, ...]
    lines: int


DOCS = (
    Doc("story.md", ("eleven years", "She read the letter twice.\n", "The", "## The keys\n\nThen"), ("The keys",), 11),
    Doc("crlf.txt", ("two", "one\ntwo", "three", "\r\n", "e\n"), ("one",), 4),
    Doc("bom.md", ("words", "# Title\n", "\ufeff#"), ("Title",), 3),
    Doc("notes/deep/er.md", ("\U0001f600", "code", "a\u0301", "\u200d"), ("Ünï\u2028code", "Ünï"), 3),
    Doc("notes/mixed.md", ("b", "c\rd", "a\nb", "# a"), ("a",), 8),
    Doc("conf.yaml", ("b:", "  - c\n"), ("b",), 3),
    Doc("empty.md", ("", "x"), ("x",), 0),
)
HOSTILE_PATHS = (
    "../out.md", "/etc/passwd", "a/../../b", "notes/../story.md", ".git/hooks/pre-commit", ".GIT/config", ".redraft/id",
    ".redraft/settings.toml", "~/.ssh/id_rsa", "C:\\x", "a\\..\\b.md", "a\0b", "", ".", "..", "/", "con.md", "x" * 300,
    "a/" * 600 + "b.md", "notes", "notes/", "./story.md", "story.md/", "story.md/x", "none.md", "\u202egnp.md",
    ".envrc", ".ENV", "id_rsa", "STORY.MD", "notes//mixed.md", "notes/./mixed.md", "%2e%2e/out.md", "story.md\n",
    " story.md", "story.md\u200b", "-rf", "$(touch x).md", "`id`.md", "file:///etc/passwd", "link.md", "linked/out.md",
    "loop/loop/story.md", "pipe.md", ".github/workflows/x.yml", ".vscode/tasks.json", "cafe\u0301.md", "\ud800.md",
)  # fmt: skip
PATTERNS = (
    "(", "[", "a{1,1001}", "(?=a)", "\\1", "(a+)+$", "(a|a)*b", "^", "$", "\\b", ".*", "(?s).*", "(?i)THE", "\\p{L}+",
    "x*", "(\\w+) (\\w+)", "(?P<n>e)", "\\n", "\\r\\n", "\\z", "[[:alpha:]]", "\\Q(", "(?:" * 300, "\u2028",
)  # fmt: skip
CONTENT = (
    "", "x", "new line", "a\nb\n", "a\r\nb", "\r", "\n", "# H\n", "tail without end", "\ufeff", "\u2028", "\0", "```\n",
    "\U0001f600", "$1 \\1 ${n} \\g<0>", "{{title}}", "---\na: 1\n---\n", "x" * 70_000, "<script>", "\x1b[31m",
)  # fmt: skip
NAMES = ("new.md", "new", "a b.txt", "v1.2", "ü.md", "story.md", "x/y", "data.json", ".hidden", "CON", "new.md ", "…")
FOLDERS = ("", "/", "notes", "notes/deep", "fresh", "fresh/er", "none", "story.md", "..", ".git", "linked")
GLOBS = ("**/*", "*.md", "notes/**", "[", "{a,b", "{" * 50, "*" * 100, "!*.md", "\\", "/etc/*", "../*", "")
NUMBERS = st.integers(-3, 14) | st.sampled_from([10**9, 2**53 - 1, 2**53, -(2**63), 10**30, 0, -1, 1])
JSON: Strategy = st.recursive(
    st.none()
    | st.booleans()
    | NUMBERS
    | st.sampled_from([*CONTENT, *PATTERNS, *HOSTILE_PATHS, NOW, "12", "true", "{}", '["a"]', "\ud800"])
    | st.floats()
    | st.text(st.characters(), max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "path", "\ud800"]), inner),
    max_leaves=6,
)


def prepare(folder: Folder) -> None:
    """The folder: documents of every kind, and traps around them."""
    for path, data in FILES.items():
        folder.put(path, data)
    outside = folder.path.parent / "out.md"
    outside.write_bytes(OUTSIDE)
    (folder.path / "link.md").symlink_to("../out.md")
    (folder.path / "linked").symlink_to("..")
    (folder.path / "loop").symlink_to(".")
    os.mkfifo(folder.path / "pipe.md")


def everything(folder: Folder) -> dict[str, bytes | str]:
    """All that is in the folder and beside it: bytes of files, kinds of everything else, empty folders too."""
    found: dict[str, bytes | str] = {"../out.md": (folder.path.parent / "out.md").read_bytes()}
    waiting = [""]
    while waiting:
        place = waiting.pop()
        for entry in os.scandir(folder.path / place):
            path = f"{place}{entry.name}"
            if path == ".redraft":
                continue
            if entry.is_dir(follow_symlinks=False):
                found[path] = "folder"
                waiting.append(f"{path}/")
            elif entry.is_file(follow_symlinks=False):
                with open(entry.path, "rb") as file:
                    found[path] = file.read()
            else:
                found[path] = "link or pipe"
    return found


def restore(folder: Folder, before: dict[str, bytes | str]) -> None:
    """Bring back what a call that succeeded has changed, so that later ones meet the same folder."""
    now = everything(folder)
    for path in sorted(now.keys() - before.keys(), reverse=True):
        (os.rmdir if now[path] == "folder" else os.unlink)(folder.path / path)
    for path, data in before.items():
        if now.get(path) != data and isinstance(data, bytes):
            folder.put(path, data)


# Arguments


def sampled(*options: Any) -> Strategy:
    return st.sampled_from(options)


def near(doc: Doc) -> Strategy:
    """Line numbers: mostly in the document, and around its end."""
    inside = st.integers(0, max(doc.lines - 1, 0))
    return inside | inside | inside | st.integers(doc.lines - 2, doc.lines + 2) | NUMBERS


def words(doc: Doc) -> Strategy:
    return sampled(*doc.passages) | sampled(*doc.passages) | sampled(*PATTERNS, *CONTENT)


BY_NAME: dict[str, Callable[[Doc], Strategy]] = {
    "version": lambda doc: st.just(NOW) | st.just(NOW) | sampled("0" * 16, "", "zz", NOW[:5]),
    "restore_version": lambda doc: sampled(NOW, "0" * 16, ""),
    "path": lambda doc: st.just(doc.path) | st.just(doc.path) | sampled(*FILES, *HOSTILE_PATHS),
    "tab_id": lambda doc: sampled("tab_1", "tab_2", "tab_99", ""),
    "to_path": lambda doc: sampled("moved.md", "notes/", "fresh/x.md", "fresh/er/", *HOSTILE_PATHS, *NAMES),
    "title": lambda doc: sampled(*NAMES, *HOSTILE_PATHS),
    "folder": lambda doc: sampled(*FOLDERS, *HOSTILE_PATHS),
    "line": near,
    "content": lambda doc: sampled(*CONTENT),
    "words": words,
    "heading": lambda doc: sampled(*([each] for each in doc.headings)) | st.lists(sampled(*doc.headings, "", "none")),
    "after_heading": lambda doc: sampled(*doc.headings, "", "none"),
    "expected_hash": lambda doc: sampled(HASH, "sha256:0", ""),
    "template": lambda doc: sampled("own", "journal", "todo-list", "blank", "../story", "none", "deep/x", ""),
    "turn": lambda doc: sampled(LAST) | NUMBERS,
    "glob": lambda doc: sampled(*GLOBS),
    "question": lambda doc: sampled("Which?", "", " ", "x" * 20_000),
    "tool": lambda doc: sampled(*(entry.name for entry in load_registry().tools)),
}
SAME_AS = {
    "file_path": "path", "from_path": "path", "name": "title", "prefix": "folder", "start_line": "line",
    "end_line": "line", "after_line": "line", "line_number": "line", "new_text": "content", "replace": "content",
    "old_text": "words", "match_text": "words", "anchor": "words", "find": "words", "query": "words", "before": "turn",
}  # fmt: skip


def valued(name: str, schema: dict[str, Any], doc: Doc) -> Strategy:
    """Values for one argument."""
    known = BY_NAME.get(SAME_AS.get(name, name))
    if known is not None:
        return known(doc)
    if "enum" in schema:
        return sampled(*schema["enum"])
    if "properties" in schema:
        return fitting(schema, doc)
    if schema.get("type") == "array":
        inner: dict[str, Any] = schema["items"]
        return st.lists(valued("", inner, doc), min_size=1, max_size=3)
    return {"integer": NUMBERS, "boolean": st.booleans(), "string": sampled(*CONTENT, *NAMES)}.get(
        str(schema.get("type")), JSON
    )


def fitting(schema: dict[str, Any], doc: Doc) -> Strategy:
    """Arguments that fit the schema and mostly the document: all that is required, one or two more."""
    every: dict[str, Any] = schema["properties"]
    required = set(schema.get("required", ())) | ({"match_type", "content", "start_line"} & set(every))
    if "tab_id" in every:
        required.add("path")
    elif "title" in every and "template" in every:
        required.add("title")
    wanted = {name: valued(name, every[name], doc) for name in every if name in required}
    rest = [st.tuples(st.just(name), valued(name, every[name], doc)) for name in every if name not in required]
    if not rest:
        return st.fixed_dictionaries(wanted)
    more = st.lists(st.one_of(rest), max_size=2).map(dict[str, Any])
    return st.builds(joined, st.fixed_dictionaries(wanted), more)


def joined(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    return {**first, **second}


def inner_call(doc: Doc) -> Strategy:
    """A call for a batch."""
    return st.one_of(
        [
            st.fixed_dictionaries({"tool": st.just(entry.name), "arguments": fitting(entry.input_schema, doc)})
            for entry in load_registry().tools
            if entry.name != "batch"
        ]
    )


def proposed_edit(doc: Doc) -> Strategy:
    """An edit as a careful model proposes it: lines from 1 in their order, and text where text belongs."""

    def made(operation: str, lines: tuple[int, int], text: str) -> dict[str, Any]:
        first, last = sorted(lines)
        rest = {} if operation == "delete" else {"new_text": text}
        return {"file_path": doc.path, "operation": operation, "start_line": first, "end_line": last, **rest}

    line = st.integers(1, max(doc.lines, 1))
    return st.builds(made, sampled("replace", "insert", "delete"), st.tuples(line, line), sampled(*CONTENT))


def spoiled(arguments: dict[str, Any], how: int, which: int, junk: Any) -> dict[str, Any]:
    """The arguments with one thing wrong, or only written as models write them."""
    if not arguments or how > 7:
        return arguments
    name = sorted(arguments)[which % len(arguments)]
    rest = {key: value for key, value in arguments.items() if key != name}
    value = arguments[name]
    camel = re.sub(r"_(\w)", lambda found: found[1].upper(), name)
    return [
        {**arguments, name: junk},
        rest,
        {**arguments, "surprise": junk},
        {**rest, camel: value},
        {**arguments, name: [value]},
        {**arguments, name: {name: value}},
        {**arguments, name: str(value)},
        {**arguments, name: json.dumps(value) if isinstance(value, list | dict) else value},
    ][how]


def arguments_for(tool: str) -> Strategy:
    """Argument sets for one tool; a third of them spoiled in one place."""
    schema = load_registry().get(tool).input_schema
    options: list[Strategy] = []
    for doc in DOCS:
        if tool == "batch":
            some = st.lists(inner_call(doc), min_size=1, max_size=3)
            options.append(st.fixed_dictionaries({"calls": some}, optional={"dry_run": st.booleans()}))
        elif tool == "create_folder":
            options.append(st.fixed_dictionaries({"path": BY_NAME["folder"](doc)}))
        else:
            options.append(fitting(schema, doc))
        if tool == "propose_edits":
            options.append(st.fixed_dictionaries({"edits": st.lists(proposed_edit(doc), min_size=1, max_size=2)}))
    return st.builds(spoiled, st.one_of(options), st.sampled_from(range(24)), st.integers(0, 9), JSON)


def resolved(value: Any, known: dict[str, Any]) -> Any:
    """The arguments with the marks replaced by what they stand for now."""
    if isinstance(value, dict):
        return {key: resolved(inner, known) for key, inner in value.items()}  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, list):
        return [resolved(inner, known) for inner in value]  # pyright: ignore[reportUnknownVariableType]
    return known.get(value, value) if isinstance(value, str) else value
