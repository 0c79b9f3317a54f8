"""Without an index ripgrep may rule files out: the answers are the same, and it reads nothing outside the folder."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from redraft.search import ripgrep as ripgrep_module
from redraft.search.index import Index
from redraft.search.pattern import compile_query
from redraft.search.ripgrep import Ripgrep, build_required_expression, start_in_sandbox
from redraft.workspace.folder.scan import can_be_searched
from tests.search.patterns import LITERALS, PATTERNS, TEXTS
from tests.search.ripgrep import ripgrep
from tests.workspace.folder import AGENT, Folder

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def many(folder: Folder) -> Folder:
    """More files than are read before ripgrep is asked; a few of them hold a lantern, and there are places to avoid."""
    ripgrep()
    for number in range(300):
        folder.put(f"d{number % 7}/note{number}.md", f"# Note {number}\n\nThe house of {number}x.\n")
    for path in ("d0/note0.md", "d6/zz.md", "d6/a/b.md", "é/ö.md", "top.md"):
        folder.put(path, "one\r\nthe Lantern and the lantern\r\n")
    for path in (".hidden.md", "d6/.git/config", "GIT~1/config", "d6/prod.env", "d6/id_rsa"):
        folder.put(path, "a lantern")
    folder.put("d6/binary.bin", b"lantern\0")
    folder.put("d6/latin.txt", "lantern é".encode("latin-1"))
    (folder.path / os.fsdecode(b"d6/bad\xff.md")).write_bytes(b"lantern")
    outside = folder.path.parent / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("a lantern outside\n", encoding="utf-8")
    (folder.path / "d6/link.md").symlink_to(outside / "secret.md")
    (folder.path / "d6/linked").symlink_to(outside)
    return folder


def confining(folder: Path) -> int:
    """A descriptor of a folder, on a machine whose kernel can confine."""
    fd = os.open(folder, os.O_RDONLY)
    process = start_in_sandbox(ripgrep(), ["--version"], fd)
    if process is None:
        os.close(fd)
        pytest.skip("this kernel has no Landlock")
    with process:
        process.communicate()
    return fd


@pytest.mark.parametrize(
    ("query", "options"),
    [
        ("lantern", {}),
        ("LANTERN", {"case_sensitive": False}),
        ("the Lantern", {"limit": 3}),
        ("lantern", {"glob": "d6/**"}),
        ("lantern", {"whole_word": True, "context": 1}),
        (r"(lantern|oar)\b.*\bLANTERN$", {"regex": True, "case_sensitive": False}),
        (r"^the \w+tern", {"regex": True}),
        ("no such word", {}),
    ],
)
def test_ripgrep_changes_no_answer(many: Folder, query: str, options: dict[str, Any]):
    with Index.open(many.open()) as asking, Index.open(many.open()) as alone:
        alone.ripgrep.program = None
        assert asking.search(query, **options) == alone.search(query, **options)


def test_ripgrep_names_the_files_that_are_to_be_read_and_no_others(many: Folder):
    os.close(confining(many.path))
    found = Ripgrep().may_match(many.open().reader, compile_query("lantern", by_line=True))
    assert found is not None
    assert {"d0/note0.md", "d6/zz.md", "d6/a/b.md", "é/ö.md", "top.md"} <= set(found)
    assert {path for path in found if "note" in path} == {"d0/note0.md"}
    assert not any(part in path for path in found for part in ("link", ".hidden", ".git", "GIT~1", "bad"))


def test_a_proposal_is_searched_as_it_would_read(many: Folder):
    workspace = many.open()
    with workspace.turn(AGENT, "Oars", mode="propose") as turn:
        turn.write("d6/zz.md", "an oar\n", turn.read("d6/zz.md").version)
    with Index.open(workspace) as index:
        assert "d6/zz.md" not in {hit.path for hit in index.search("lantern")}
        assert [hit.path for hit in index.search("an oar")] == ["d6/zz.md"]


def test_a_confined_program_reads_nothing_outside_its_folder(many: Folder):
    """Told to follow links, it does what it would do by itself if one were swapped in as it opens a file."""
    fd = confining(many.path)
    process = start_in_sandbox(
        ripgrep(), ["--no-config", "--follow", "--no-ignore", "--no-filename", "lantern", "./d6"], fd
    )
    os.close(fd)
    assert process is not None
    with process:
        output, _ = process.communicate()
    assert b"the lantern" in output
    assert b"outside" not in output


def test_a_small_folder_is_read_without_ripgrep(folder: Folder):
    """It cannot be started here: whoever tries to asks it no more."""
    missing = str(folder.path / "rg")
    for number in range(150):
        folder.put(f"note{number}.md", f"lantern {number}")
    with Index.open(folder.open()) as index:
        index.ripgrep.program = missing
        assert len(index.search("lantern 77")) == 1
        assert index.ripgrep.program == missing
        for number in range(150):
            folder.put(f"more/note{number}.md", f"lantern {number}")
        assert len(index.search("lantern 77")) == 2
        assert index.ripgrep.program is None


@pytest.mark.parametrize("trouble", ["missing", "slow", "failing"])
def test_where_ripgrep_has_no_answer_everything_is_read(many: Folder, monkeypatch: pytest.MonkeyPatch, trouble: str):
    with Index.open(many.open()) as index:
        expected = index.search("lantern")
        if trouble == "missing":
            index.ripgrep.program = str(many.path / "rg")
        elif trouble == "slow":
            monkeypatch.setattr(ripgrep_module, "LONGEST_SECONDS", 0.0)
        else:
            monkeypatch.setattr(ripgrep_module, "_FLAGS", ("--no-such-flag",))
        assert index.search("lantern") == expected
        assert index.ripgrep.program is None
        assert len(expected) == 5


@given(TEXTS, PATTERNS | LITERALS.map(re.escape), st.booleans(), st.booleans())
@example("Kelvin \u212a abba", "(?:abb|k)a", False, False)
@example("x aab b", "a(?:b|ab) b", True, False)
def test_a_line_that_matches_holds_what_ripgrep_is_asked_for(
    text: str, query: str, case_sensitive: bool, whole_word: bool
):
    pattern = compile_query(query, regex=True, case_sensitive=case_sensitive, whole_word=whole_word, by_line=True)
    asked = build_required_expression(pattern)
    if asked is not None and pattern.find(text.encode(), 0) is not None:
        assert re.search(asked, text, re.IGNORECASE if pattern.folding else 0)


@pytest.mark.parametrize(
    ("query", "case_sensitive", "asked"),
    [
        ("marker(12|34) ends", True, "(?:marker).*(?:12|34).*(?: ends)"),
        ("École", False, "(?:cole)"),
        ("École", True, "(?:École)"),
        (r"a\.b\+c\|", True, r"(?:a\.b\+c\|)"),
        (r"\d+-\d+", True, None),
        ("éàü", False, None),
        ("two\nlines", True, None),
    ],
)
def test_ripgrep_is_asked_for_words_alone(query: str, case_sensitive: bool, asked: str | None):
    assert (
        build_required_expression(compile_query(query, regex=True, case_sensitive=case_sensitive, by_line=True))
        == asked
    )


@pytest.mark.parametrize("path", ["a.md", "a/b/c.md", "é/ö.md"])
def test_what_lies_in_the_open_may_be_read(path: str):
    assert can_be_searched(path)


@pytest.mark.parametrize("path", [".a.md", "a/.b/c.md", "GIT~1/config", "a\udcff/b.md", "a/b\udcff.md", "a /b.md"])
def test_what_a_walk_would_not_come_to_may_not_be_read(path: str):
    assert not can_be_searched(path)


def test_many_matches_are_read_without_asking(many: Folder):
    missing = str(many.path / "rg")
    with Index.open(many.open()) as index:
        index.ripgrep.program = missing
        assert len(index.search("The house of")) == 299
        assert len(index.search("The house of", limit=5)) == 5
        assert index.ripgrep.program == missing
