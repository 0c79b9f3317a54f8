"""A `Text` is what a plain string is, however it came about, and costs little to edit."""

from __future__ import annotations

import gzip
import hashlib
import json
import random
import tracemalloc
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from redraft.errors import Refused
from redraft.text import text as text_module
from redraft.text.lines import split_lines
from redraft.text.text import Text
from tests.conftest import TORTURE
from tests.text.laws import ALPHABET, TINY_PAGE, check_lines, check_text_laws, contents, tiny_blocks
from tests.text.naive_text import naive_cut

if TYPE_CHECKING:
    from pathlib import Path

long_contents = st.lists(contents, max_size=8).map("".join)


@given(long_contents)
def test_a_text_is_its_content(content: str) -> None:
    with tiny_blocks():
        check_text_laws(Text(content), content)


@pytest.mark.slow
@given(st.data(), long_contents)
def test_edits_of_a_text_are_edits_of_its_content(data: st.DataObject, content: str) -> None:
    with tiny_blocks():
        text = Text(content)
        for _ in range(data.draw(st.integers(1, 6))):
            start = data.draw(st.integers(0, len(content)))
            end = data.draw(st.integers(start, min(start + data.draw(st.sampled_from((0, 3, 500))), len(content))))
            new = data.draw(contents)
            text = text.replace(start, end, new)
            content = content[:start] + new + content[end:]
            check_text_laws(text, content)


@given(st.data(), long_contents, long_contents)
def test_what_two_texts_share_is_neither_encoded_nor_stored_again(
    data: st.DataObject, content: str, other: str
) -> None:
    with tiny_blocks():
        text = Text(content)
        edited = text
        for _ in range(data.draw(st.integers(0, 4))):
            start = data.draw(st.integers(0, len(edited)))
            edited = edited.replace(start, data.draw(st.integers(start, len(edited))), data.draw(contents))
        for old, new in ((text, edited), (edited, text), (Text(other), text)):
            assert new.encode(old, str(old).encode()) == new.encode() == str(new).encode()
            stored = {block.digest for block in (*old.blocks, *new.new_blocks(old))}
            assert {block.digest for block in new.blocks} <= stored


@pytest.mark.covers("RD-text-code-points")
@given(st.data(), long_contents)
def test_a_slice_is_a_slice_of_the_content(data: st.DataObject, content: str) -> None:
    with tiny_blocks():
        start = data.draw(st.integers(0, len(content)))
        end = data.draw(st.integers(start, len(content)))
        assert Text(content).slice(start, end) == content[start:end]


@given(long_contents)
def test_no_block_is_empty_or_parts_a_crlf(content: str) -> None:
    with tiny_blocks():
        pieces = [block.content for block in Text(content).blocks]
    assert all(pieces)
    assert not any(a[-1] + b[0] == "\r\n" for a, b in pairwise(pieces))


def test_an_edit_at_every_seam_of_a_crlf_text_is_right() -> None:
    content = "ab\r\n\r\rc\n\r\n\n" * 6
    with tiny_blocks():
        text = Text(content)
        for offset in range(len(content) + 1):
            for new in ("\r", "\n", "\r\n", "x", ""):
                end = min(offset + (not new), len(content))
                check_text_laws(text.replace(offset, end, new), content[:offset] + new + content[end:])


def _invented(seed: int) -> str:
    """A text of many real-sized blocks, of one of several kinds: short lines, long paragraphs, one line, repetition."""
    chance = random.Random(seed)
    alphabet = chance.choice(["abcdefgh ,.", ALPHABET.replace("\r", "").replace("\n", "") + "abcdef"])
    longest = chance.choice([3, 80, 900, 9_000, 60_000])
    newlines = chance.choice([["\n"], ["\r\n"], ["\r"], ["\n", "\r\n", "\r"]])
    lines: list[str] = []
    while sum(map(len, lines[-500:])) < 40_000 and len(lines) < 500:
        lines.append("".join(chance.choices(alphabet, k=chance.randrange(longest))) + chance.choice(newlines))
    return "".join(lines * chance.choice([1, 3]))[:60_000]


@pytest.mark.slow
@settings(max_examples=25 * (50 if TORTURE else 1))
@given(st.integers(0, 1 << 32))
def test_texts_of_real_size_are_cut_by_their_content_alone(seed: int) -> None:
    chance = random.Random(~seed)
    content = _invented(seed)
    text = Text(content)
    for _ in range(12):
        start = chance.randrange(len(content) + 1)
        end = min(start + chance.choice([0, 1, 5, 9_000]), len(content))
        new = chance.choice(["", "x", "\r", "\n", "word\n", _invented(seed + 1)[:20_000]])
        text = text.replace(start, end, new)
        content = content[:start] + new + content[end:]
        assert [block.content for block in text.blocks] == [block.content for block in Text(content).blocks]
    assert [block.content for block in text.blocks] == naive_cut(content)


@pytest.mark.parametrize("seed", range(4))
def test_many_edits_leave_the_pages_balanced(seed: int) -> None:
    chance = random.Random(seed)
    content = "".join(chance.choices(ALPHABET, k=1500))
    with tiny_blocks():
        text = Text(content)
        for _ in range(600):
            start = chance.randrange(len(content) + 1)
            end = min(start + chance.choice([0, 0, 10, 40]), len(content))
            new = "".join(chance.choices(ALPHABET, k=chance.choice([0, 5, 50])))
            text = text.replace(start, end, new)
            content = content[:start] + new + content[end:]
        check_text_laws(text, content)
        sizes = _page_sizes(text)
        assert len(sizes) > 3
        assert all(TINY_PAGE // 4 <= size <= 2 * TINY_PAGE for size in sizes)


def test_a_text_deleted_from_its_end_keeps_no_tiny_page() -> None:
    with tiny_blocks():
        text = Text("".join(f"line {number}\n" for number in range(200)))
        while len(_page_sizes(text)) > 1:
            text = text.replace(len(text) - 5, len(text), "")
            assert min(_page_sizes(text)) >= TINY_PAGE // 4


def _page_sizes(text: Text) -> list[int]:
    return [len(page.blocks) for page in text._pages]  # pyright: ignore[reportPrivateUsage]


def test_an_edit_shares_every_block_that_it_does_not_touch(novel: str) -> None:
    text = Text(novel)
    edited = text.replace(len(novel) // 2, len(novel) // 2, "a word")
    fresh = {id(block) for block in edited.blocks} - {id(block) for block in text.blocks}
    assert len(text.blocks) > 100
    assert len(fresh) <= 4


def test_blocks_are_of_moderate_size_whatever_the_lines_are_like(novel: str) -> None:
    for content in (
        novel,
        novel.replace("\n\n", "\0").replace("\n", " ").replace("\0", "\n"),
        novel.replace("\n", " "),
    ):
        sizes = [len(block.content) for block in Text(content).blocks]
        assert max(sizes) <= text_module.MAX + 1
        assert min(sizes[:-1]) >= text_module.MIN
        assert 3_000 < sum(sizes) / len(sizes) < 9_000


def test_a_block_is_stored_as_utf8_under_its_digest() -> None:
    (block,) = Text("é😀\r\n").blocks
    assert block.data == "é😀\r\n".encode()
    assert block.digest == hashlib.sha256(block.data).digest()


def test_the_digest_of_a_text_never_changes_between_releases() -> None:
    # Stored history and version tokens rest on it. If this fails, the cut has changed: do not adapt the value.
    content = "".join(f"Line {number}, which is like every other.\r\n" for number in range(2_000))
    assert Text(content).digest.hex() == "ae74f600f659f3f02c519780383fdb971422a3791738d52cb71a1b352faf4aea"


@pytest.mark.parametrize("content", ["\ud800", "a\udfffb", "é\udc80"])
def test_an_unpaired_surrogate_is_refused(content: str) -> None:
    for make in (lambda: Text(content), lambda: Text("abc").replace(1, 1, content)):
        with pytest.raises(Refused) as caught:
            make()
        assert caught.value.code == "invalid_text"


@pytest.mark.parametrize(("start", "end"), [(-1, 0), (2, 1), (0, 4), (4, 4)])
def test_a_passage_that_is_not_there_is_an_error(start: int, end: int) -> None:
    text = Text("abc")
    for act in (lambda: text.replace(start, end, "x"), lambda: text.slice(start, end)):
        with pytest.raises(ValueError, match="no passage"):
            act()


def test_a_line_that_is_not_there_is_an_error() -> None:
    text = Text("a\nb")
    for act in (lambda: text.line(2), lambda: text.line(-1), lambda: text.line_start(3), lambda: text.line_start(-1)):
        with pytest.raises(IndexError):
            act()
    with pytest.raises(ValueError, match="no lines"):
        text.lines(1, 3)


@pytest.mark.parametrize(("content", "count"), [("", 0), ("a", 1), ("a\n", 1), ("a\nb", 2), ("\r\n\r", 2)])
def test_lines_are_counted_as_they_are_read(content: str, count: int) -> None:
    assert Text(content).line_count == count


def test_texts_compare_by_content_and_with_nothing_else() -> None:
    assert Text("ab") == Text("b").replace(0, 0, "a")
    assert Text("ab") != Text("ba")
    assert Text("ab") != "ab"
    assert len({Text("ab"), Text("a").replace(1, 1, "b")}) == 1


def test_an_edit_that_does_nothing_gives_the_same_text() -> None:
    text = Text("abc")
    assert text.replace(1, 1, "") is text


def test_a_long_text_says_what_it_is_in_one_line(novel: str) -> None:
    assert len(repr(Text(novel))) < 150


@pytest.fixture
def novel(material: Path) -> str:
    path = material / "novel-outlines-dev" / "pride-and-prejudice-1342.txt"
    return path.read_bytes().decode("utf-8")


def test_the_lines_of_a_novel_are_all_found(novel: str) -> None:
    text = Text(novel)
    lines = split_lines(novel)
    assert text.line_count == len(lines)
    offset = 0
    for number, line in enumerate(lines):
        assert text.line_start(number) == offset
        if number % 97 == 0:
            assert text.line(number) == line
            assert text.line_at(offset) == number
        offset += len(line)


def test_a_file_with_bom_and_crlf_is_kept_as_it_is(material: Path) -> None:
    content = (material / "encodings" / "alice-11-0.bom-crlf.txt").read_bytes().decode("utf-8")
    text = Text(content)
    edited = text.replace(70_000, 70_000, "x").replace(70_000, 70_001, "")
    assert str(text) == content
    assert edited == text
    assert b"".join(block.data for block in edited.blocks) == content.encode()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sveltecomponent", "friendsforever_flat", "clownschool_flat"])
def test_a_real_writing_session_ends_as_recorded(material: Path, name: str) -> None:
    trace = json.loads(gzip.decompress((material / "editing-traces" / f"{name}.json.gz").read_bytes()))
    content: str = trace["startContent"]
    text = Text(content)
    patches: list[tuple[int, int, str]] = [tuple(patch) for step in trace["txns"] for patch in step["patches"]]
    for number, (at, removed, new) in enumerate(patches):
        text = text.replace(at, at + removed, new)
        content = content[:at] + new + content[at + removed :]
        if number % 500 == 0:
            assert str(text) == content
            assert text == Text(content)
    assert str(text) == trace["endContent"]
    assert text.digest == Text(trace["endContent"]).digest
    with_lines = str(text)[:2_000]
    check_lines(Text(with_lines), with_lines)


@pytest.mark.slow
@pytest.mark.parametrize("character", ["x", "é", "語"])
def test_a_text_takes_little_more_memory_than_its_content(character: str) -> None:
    line = "A line of words, and a number: {number}. " + character + "\n"
    content = "".join(line.format(number=number) for number in range(40_000))
    size = len(content.encode())
    tracemalloc.start()
    try:
        text = Text(content)
        assert text.digest
        kept, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 3 * size
    assert peak < 6 * size
