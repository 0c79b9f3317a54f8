"""What narrows a search down must never lose a match: required words, the dictionary of words, globs."""

from __future__ import annotations

import re
import sqlite3
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from redraft.errors import Refused
from redraft.search.globs import path_filter
from redraft.search.index_database import (
    IndexBatch,
    IndexDatabase,
    IndexInput,
    Segment,
    SegmentBuilder,
    decode_postings,
    fold,
    pieces,
    tokens,
)
from redraft.search.pattern import compile_query
from redraft.search.regex_syntax import find_required_words, strip_boundaries
from redraft.workspace.folder.scan import FileMark
from tests.search.patterns import PATTERNS, TEXTS

if TYPE_CHECKING:
    from pathlib import Path

NO_MARK = FileMark(0, 0, 0, 0)


def holds(text: str, pattern: str) -> bool:
    """Whether a text has one word of every clause, letter case aside."""
    return all(any(fold(word) in fold(text) for word in clause) for clause in find_required_words(pattern, regex=True))


@given(TEXTS, PATTERNS, st.booleans())
@example("aab", "a(?:b|ab)", False)
@example("\u212a", "k", False)  # the Kelvin sign
def test_a_text_that_matches_holds_what_is_required(text: str, pattern: str, case_sensitive: bool):
    if compile_query(pattern, regex=True, case_sensitive=case_sensitive).find(text.encode(), 0) is not None:
        assert holds(text, pattern)


@pytest.mark.parametrize(
    ("pattern", "clauses"),
    [
        ("river", [{"river"}]),
        ("river|lake", [{"river", "lake"}]),
        ("(river|lake) side", [{"river", "lake"}, {" side"}]),
        ("rivers?", [{"river"}]),
        ("river+", [{"river"}]),
        ("(river)*", []),
        ("river|.", []),
        (r"\bville\b", [{"ville"}]),
        (r"a\.b\$", [{"a.b$"}]),
        ("[abc]river[^]x]y", [{"river"}, {"y"}]),
        ("(?i)River", [{"River"}]),
        (r"\Qa+b\E", []),
        (r"\x{41}river\pLlake", [{"river"}, {"lake"}]),
        ("x{0}y{2}z{,3}", [{"y"}, {"z{,3}"}]),
        ("(((deep)))", [{"deep"}]),
    ],
)
def test_words_are_required_where_a_pattern_has_them(pattern: str, clauses: list[set[str]]):
    assert compile_query(pattern, regex=True)
    assert find_required_words(pattern, regex=True) == clauses


def test_parentheses_may_be_nested_as_deeply_as_the_engine_takes():
    pattern = "(" * 900 + "deep" + ")" * 900
    assert compile_query(pattern, regex=True)
    assert find_required_words(pattern, regex=True) == [{"deep"}]


@pytest.mark.parametrize(
    ("pattern", "framed"),
    [
        (r"\bécole\b", ("école", True, True)),
        (r"\bécole", ("école", True, False)),
        (r"\b(?:a|b+)\b", ("(?:a|b+)", True, True)),
        (r"(?i)\ba|\bb", ("(?i)a|b", True, False)),
        (r"\b\w+s?\b", (r"\w+s?\b", True, False)),
        (r"\ba|b", (r"\ba|b", False, False)),
        (r"\b-a", (r"\b-a", False, False)),
        (r"\b[^a]", (r"\b[^a]", False, False)),
        (r"a\\b", (r"a\\b", False, False)),
        (r"\b", (r"\b", False, False)),
        (r"\b(a|-)", (r"\b(a|-)", False, False)),
    ],
)
def test_boundaries_are_taken_off_only_beside_letters(pattern: str, framed: tuple[str, bool, bool]):
    assert compile_query(pattern, regex=True)
    assert strip_boundaries(pattern) == framed


@given(
    st.text(alphabet="ab é-\n", max_size=20), st.sampled_from([r"\bab", r"a\b", r"\b(?:é|b)\b", r"\b\w+\b", r"\ba|\bé"])
)
def test_boundaries_know_all_letters(text: str, pattern: str):
    found = compile_query(pattern, regex=True).find(text.encode(), 0)
    expected = re.search(pattern, text)
    start = None if expected is None else len(text[: expected.start()].encode())
    assert (None if found is None else found[0]) == start


WRITING = st.text(alphabet="abcAß \n-*_é日本ſK.", max_size=60) | st.text(alphabet="ab ", min_size=50, max_size=200)


def found_in_dictionary(text: str, passage: str) -> bool:
    builder = SegmentBuilder()
    builder.add(7, text)
    builder.add(8, "something else")
    segment, postings = Segment(1, 0, builder.words()), list(builder.postings())
    for piece in pieces(passage):
        ordinals = segment.ordinals(piece)
        if ordinals is not None and not any(7 in decode_postings(postings[ordinal]) for ordinal in ordinals):
            return False
    return True


@given(WRITING, st.data())
def test_every_passage_of_a_text_is_found_by_its_pieces(text: str, data: st.DataObject):
    start = data.draw(st.integers(0, len(text)))
    passage = text[start : data.draw(st.integers(start, len(text)))]
    assert found_in_dictionary(text, passage)
    assert found_in_dictionary(text, passage.swapcase()) or fold(passage.swapcase()) != fold(passage)


@given(WRITING)
def test_words_have_no_line_breaks_and_no_end(text: str):
    found = tokens(text)
    assert all(0 < len(token) <= 40 and not token.isspace() and "\n" not in token for token in found)


def test_a_dictionary_is_asked_for_parts_of_words_at_both_ends():
    builder = SegmentBuilder()
    builder.add(1, "the village lamps")
    builder.add(2, "village clamp")
    assert pieces("a village lam") == [("village", True, True), ("lam", True, False), ("a", False, True)]
    segment, words = Segment(1, 0, builder.words()), builder.words().decode().split()
    [_, lam] = pieces("village lam")
    assert [words[ordinal] for ordinal in segment.ordinals(lam) or []] == ["lamps"]


def test_the_catalogue_narrows_to_the_texts_that_hold_all_clauses(tmp_path: Path):
    catalogue = IndexDatabase(str(tmp_path))
    texts = {"a.md": "river and lake", "b.md": "river and sea", "c.md": "the sea"}
    batch = IndexBatch()
    for path, text in texts.items():
        batch.add(IndexInput(path, NO_MARK, text, text.encode()))
    rows = catalogue.put(batch)
    paths = {row.number: row.path for row in rows}
    found = catalogue.candidates([frozenset({"river"}), frozenset({"lake", "sea"})])
    catalogue.close()
    assert found is not None
    assert {paths[number] for number in found} == {"a.md", "b.md"}


def test_a_catalogue_of_another_version_is_begun_anew(tmp_path: Path):
    connection = sqlite3.connect(tmp_path / "search.db")
    connection.execute("CREATE TABLE files (something INTEGER)")
    connection.execute("PRAGMA user_version=99")
    connection.close()
    catalogue = IndexDatabase(str(tmp_path))
    assert catalogue.load() == []
    catalogue.close()


@pytest.mark.parametrize(
    ("glob", "inside", "outside"),
    [
        (None, ["a.md", "x/.y"], []),
        ("*.md", ["a.md", "x/y/a.md"], ["a.txt", "amd"]),
        ("**/*.md", ["a.md", "x/y/a.md"], ["a.txt"]),
        ("x/*.md", ["x/a.md"], ["a.md", "x/y/a.md", "y/x/a.md"]),
        ("x/**", ["x/a.md", "x/y/z"], ["x", "y/a.md"]),
        ("x/", ["x/a.md", "x/y/z"], ["x", "xx/a"]),
        ("**/y/*", ["y/a", "x/y/a"], ["y/a/b"]),
        ("{a,b}.md", ["a.md", "x/b.md"], ["c.md"]),
        ("[!a]?.md", ["bc.md"], ["ac.md", "b.md"]),
        ("!*.md", ["a.txt"], ["a.md"]),
        ("/a.md", ["a.md"], ["x/a.md"]),
        ("a+(b).md", ["a+(b).md"], ["aab.md"]),
    ],
)
def test_globs_choose_paths(glob: str | None, inside: list[str], outside: list[str]):
    wanted = path_filter(glob)
    assert [path for path in inside if not wanted(path)] == []
    assert [path for path in outside if wanted(path)] == []


def test_a_glob_that_cannot_be_read_is_refused():
    with pytest.raises(Refused, match="glob"):
        path_filter("{a")
