"""Every quick way to find a match finds what the engine finds by itself."""

from __future__ import annotations

import importlib
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from redraft.search.hits import LinedText, collect_hits, collect_hits_among, find_hits
from redraft.search.index import TextCache
from redraft.search.pattern import Pattern, RequiredWords, compile_query
from tests.search.patterns import LITERALS, PATTERNS, TEXTS

LETTER = r"\pL\pM\p{Nd}\p{Nl}\p{Pc}"
WHOLE = f"(?m)(?:^|[^{LETTER}])(%s)(?:$|[^{LETTER}])"
re2: Any = importlib.import_module("re2")  # it has no types


def spans(pattern: Pattern, data: bytes, *, scan: bool = False) -> list[tuple[int, int]]:
    """All matches, each after the one before."""
    following = (pattern.scan if scan else pattern.on)(data)
    found: list[tuple[int, int]] = []
    at = 0
    while at <= len(data) and (span := following(at)) is not None:
        found.append(span)
        at = max(span[1], span[0] + 1)
    return found


@given(TEXTS, LITERALS, st.booleans(), st.booleans())
@example("Kk\u212a k\u017f", "k", False, False)
@example("\u212a ks \u017fK", "KS", False, True)
@example("aaa a", "a", True, True)
@example("éa a𝒳 a", "a", True, True)
def test_a_literal_is_found_as_the_engine_finds_it(text: str, query: str, case_sensitive: bool, whole_word: bool):
    pattern = compile_query(query, case_sensitive=case_sensitive, whole_word=whole_word, by_line=True)
    options = re2.Options()
    options.case_sensitive = case_sensitive
    escaped = re2.escape(query)
    engine = re2.compile(WHOLE % escaped if whole_word else f"({escaped})", options=options)
    data = text.encode()
    first = engine.search(data)
    assert pattern.find(data, 0) == (None if first is None else first.span(1))


@given(TEXTS, PATTERNS, st.booleans(), st.booleans())
@example("ab\nb a\nab", "a|b", True, False)
def test_line_by_line_a_pattern_finds_what_it_finds_in_the_whole(
    text: str, query: str, case_sensitive: bool, whole_word: bool
):
    pattern = compile_query(query, regex=True, case_sensitive=case_sensitive, whole_word=whole_word, by_line=True)
    data = text.encode()
    assert spans(pattern, data) == spans(pattern, data, scan=True)


@given(TEXTS, st.sampled_from([r"\Aa", r"a\z", r"(?i)\Ak", r"\A\w*\z", r"(?-m)^b", r"\A|1"]))
def test_by_line_the_ends_of_a_text_are_those_of_its_lines(text: str, query: str):
    pattern, one = compile_query(query, regex=True, by_line=True), compile_query(query, regex=True)
    lines = text.encode().split(b"\n")
    hits = find_hits([[("a.md", text.encode())]], pattern, 1000)
    expected = [number for number, line in enumerate(lines) if one.find(line, 0) is not None]
    assert [hit.line for hit in hits] == [number for number in expected if number < len(lines) - (not lines[-1])]


@given(st.lists(TEXTS, max_size=5), PATTERNS | LITERALS.map(lambda text: f"(?i){text}" if text.isalnum() else "a"))
def test_many_files_at_once_give_the_hits_of_each(texts: list[str], query: str):
    pattern = compile_query(query, regex=True, by_line=True)
    files = [(f"{number}.md", text.encode()) for number, text in enumerate(texts)]
    each = find_hits([], pattern, 1000)
    for path, data in files:
        collect_hits(path, data, pattern, each, 1000)
    assert find_hits([files], pattern, 1000) == each
    together = find_hits([], pattern, 1000)
    collect_hits_among([(path, LinedText(data)) for path, data in files], pattern, together, 1000)
    assert together == each


@given(st.text(alphabet="aü\n", max_size=30))
def test_lines_start_after_every_line_break(text: str):
    lined, lines = LinedText(text.encode()), text.split("\n")
    assert lined.lines(0, len(lines)) == tuple(lines)
    assert [str(lined.data[start:], "utf-8").partition("\n")[0] for start in lined.starts[:-1]] == lines
    assert lined.starts[-1] == len(lined.data) + 1


@given(st.text(alphabet="abk\n", max_size=30), st.integers(0, 4))
def test_context_is_the_lines_around_a_hit(text: str, context: int):
    pattern = compile_query("k", by_line=True)
    lines = text.split("\n")[: -1 if text.endswith("\n") else None]
    for hit in find_hits([[("a.md", text.encode())]], pattern, 1000, context):
        assert hit.text == lines[hit.line]
        assert [*hit.before] == lines[max(0, hit.line - context) : hit.line]
        assert [*hit.after] == lines[hit.line + 1 : hit.line + 1 + context]


def test_a_sieve_wants_one_word_of_every_clause():
    sieve = RequiredWords([["river", "Lake"], ["Side"]], folding=True)
    assert sieve.holds(b"the lakeside")
    assert not sieve.holds(b"a lake")
    assert not sieve.holds(b"the seaside")


def test_what_is_remembered_keeps_within_its_bound():
    asked: list[int] = []

    def fetch(numbers: list[int]) -> dict[int, bytes]:
        asked.extend(numbers)
        return {number: b"x" * 10 for number in numbers if number < 50}

    remembered = TextCache(fetch, largest=100)  # pyright: ignore[reportArgumentType]
    assert set(remembered.get([*range(5), 77])) == set(range(5))
    assert set(remembered.get([3, 4, 5])) == {3, 4, 5}
    assert asked == [0, 1, 2, 3, 4, 77, 5]
    assert set(remembered.get([*range(20)])) == set(range(20))
    assert remembered.size == 100
