"""Random and hostile arguments for every tool: failures are typed, and leave every byte of the folder as it was."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from conftest import TORTURE
from redraft.errors import RedraftError
from redraft.tools.catalogue import registry
from tools.calling import STORY, Caller
from workspace.folder import Folder, fresh_folder

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
    ".env": b"KEY=c2VjcmV0\n",
    "notes/deep/er.md": "# Ünï\u2028code\n\n\U0001f600\n".encode(),
    "templates/own.md": b"Dear {{title}}\n",
}
HOSTILE_PATHS = [
    "../out.md", "/etc/passwd", "a/../../b", ".git/hooks/x", ".redraft/id", "~/.ssh/id_rsa", "C:\\x", "a\0b", "",
    ".", "..", "con.md", "x" * 300, "notes", "notes/", "./story.md", "story.md/", "none.md", "\u202egnp.md", ".envrc",
]  # fmt: skip
PATHS = st.sampled_from([*FILES, *HOSTILE_PATHS])
WORDS = st.sampled_from([
    "", "x", "letter", "the keys", "The", "\n", "\r\n", "a\nb", "# H", "(", "a+", "^", "\\", "\0", "\ud800", "sha256:0",
    "x" * 5000, "{}", "[]", "12", "-1", "true", "The keys", "\u2028", "semantic", "exact", "regex", "append", "own",
])  # fmt: skip
NUMBERS = st.integers(-3, 14) | st.sampled_from([10**9, 2**53, -(2**63), 10**30])
LEAVES = st.none() | st.booleans() | NUMBERS | WORDS | PATHS | st.floats() | st.text(st.characters(), max_size=5)
JSON = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3), max_leaves=6
)


def values(name: str, field: dict[str, Any], versions: list[str]) -> st.SearchStrategy[Any]:
    """Mostly what the schema asks for, so that calls get past the door; now and then anything."""
    if "path" in name or name in ("folder", "prefix"):
        return PATHS | WORDS
    if "version" in name:
        return st.sampled_from([*versions, "0" * 16, "", "zz"])
    if "enum" in field:
        return st.sampled_from(field["enum"])
    kind = field.get("type")
    if kind == "object" and "properties" in field:
        return objects(field, versions)
    if kind == "array":
        inner: dict[str, Any] = field["items"]
        return st.lists(values("", inner, versions), max_size=3)
    return {"integer": NUMBERS, "boolean": st.booleans(), "string": WORDS}.get(str(kind), JSON)


def objects(schema: dict[str, Any], versions: list[str]) -> st.SearchStrategy[dict[str, Any]]:
    fields = {name: values(name, field, versions) | JSON for name, field in schema["properties"].items()}
    likely = {name: values(name, field, versions) for name, field in schema["properties"].items()}
    required = set(schema.get("required", ()))
    wanted = {name: field for name, field in likely.items() if name in required}
    rest = {name: field for name, field in likely.items() if name not in required}
    sensible = st.fixed_dictionaries(wanted, optional=rest)
    return sensible | sensible | st.fixed_dictionaries({}, optional=fields)


GOOD = ("story.md", "crlf.txt", "bom.md", "notes/deep/er.md", "conf.yaml")
GOOD_WORDS = st.sampled_from(["x", "letter", "The keys", "two", "a\nb", "# H\n", "words", "exact"])


def fitting(schema: dict[str, Any], path: str, version: str) -> st.SearchStrategy[dict[str, Any]]:
    """Arguments that fit one document as it is, so that most of these calls get as far as writing."""
    kinds: dict[str, st.SearchStrategy[Any]] = {
        "integer": st.integers(0, 3),
        "boolean": st.booleans(),
        "string": GOOD_WORDS,
        "object": st.just({"start_line": 1}),
    }
    wanted: dict[str, st.SearchStrategy[Any]] = {}
    rest: dict[str, st.SearchStrategy[Any]] = {}
    every: dict[str, Any] = schema["properties"]
    for name, field in every.items():
        if name in ("tab_id", "expected_hash", "anchor", "template") or (name == "path" and "title" in every):
            continue
        if name in ("path", "file_path", "from_path", "version"):
            wanted[name] = st.just(version if name == "version" else path)
        elif field.get("type") == "array":
            inner: dict[str, Any] = field["items"]
            wanted[name] = st.lists(fitting(inner, path, version) if "properties" in inner else GOOD_WORDS, max_size=2)
        else:
            kind = st.sampled_from(field["enum"]) if "enum" in field else kinds.get(field.get("type", ""), JSON)
            (wanted if name in schema.get("required", ()) else rest)[name] = kind
    return st.fixed_dictionaries(wanted, optional=rest)


def calls(agent: Caller) -> st.SearchStrategy[tuple[str, dict[str, Any]]]:
    versions = [agent.version(path) for path in ("story.md", "crlf.txt", "bom.md", "empty.md")]
    options: list[st.SearchStrategy[tuple[str, dict[str, Any]]]] = []
    for entry in registry().tools:
        good = [fitting(entry.input_schema, path, agent.version(path)) for path in GOOD]
        arguments = objects(entry.input_schema, versions) | st.one_of(good)
        if entry.name == "batch":
            names = st.sampled_from([each.name for each in registry().tools])
            inner = st.fixed_dictionaries({"tool": names}, optional={"arguments": JSON | st.just({"path": "story.md"})})
            arguments = st.fixed_dictionaries({"calls": st.lists(inner, max_size=3)})
        options.append(st.tuples(st.just(entry.name), arguments))
    return st.one_of(options)


def answer_or_failure(name: str, arguments: dict[str, Any], agent: Caller) -> tuple[dict[str, Any], bool]:
    """What a surface would tell. Any exception but our own ends the test."""
    try:
        return registry().call(name, arguments, agent.context), False
    except RedraftError as error:
        return error.as_dict(), True


def restore(folder: Folder) -> None:
    """Bring back what a call that succeeded has changed, so that later ones meet the same documents."""
    now = folder.tree()
    for path, data in FILES.items():
        if now.get(path) != data:
            folder.put(path, data)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["apply", "propose", "read"])
def test_whatever_is_asked_failures_are_typed_and_change_no_byte(mode: str):
    with fresh_folder() as folder:
        for path, data in FILES.items():
            folder.put(path, data)
        agent = Caller.at(folder, mode)
        agent.workspace.open_tab("story.md")

        @settings(
            max_examples=5000 if TORTURE else 250,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
            database=None,
        )
        @given(calls(agent), st.booleans())
        def attempt(call: tuple[str, dict[str, Any]], agrees: bool) -> None:
            name, arguments = call
            note(f"{name} {arguments!a}")
            agent.context.confirm = lambda what, paths: agrees
            agent.context.active_tab = None
            before = folder.tree()
            told, failed = answer_or_failure(name, arguments, agent)
            assert "c2VjcmV0" not in str(told)
            if failed or mode != "apply":
                assert folder.tree() == before
            elif folder.tree() != before:
                restore(folder)

        attempt()
        assert agent.workspace.verify_audit().intact


@pytest.mark.parametrize("entry", [each.name for each in registry().tools])
def test_no_tool_leads_out_of_the_folder(folder: Folder, entry: str):
    (folder.path.parent / "outside.md").write_text("outside", encoding="utf-8")
    (folder.path / "link.md").symlink_to("../outside.md")
    (folder.path / "linked").symlink_to("..")
    agent = Caller.at(folder)
    schema = registry().get(entry).input_schema
    fields = [name for name in schema["properties"] if "path" in name or name in ("folder", "prefix", "name", "title")]
    samples: dict[str, Any] = {
        "version": "0" * 16, "content": "x", "operation": "append", "old_text": "out", "new_text": "in", "find": "o",
        "replace": "x", "query": "out", "heading": "x", "after_line": 0, "start_line": 0, "end_line": 0,
        "from_path": "story.md", "to_path": "moved.md",
    }  # fmt: skip
    for field in fields:
        for path in ("../outside.md", "link.md", "linked/outside.md", str(folder.path.parent / "outside.md")):
            arguments = {name: samples[name] for name in schema.get("required", []) if name in samples}
            try:
                answer = agent.call(entry, **{**arguments, field: path})
            except RedraftError as error:
                told = str({key: value for key, value in error.as_dict().items() if key != "message"})
                assert "'outside'" not in told
            else:
                assert "outside'" not in str(answer.get("content", ""))
            assert (folder.path.parent / "outside.md").read_text(encoding="utf-8") == "outside"
