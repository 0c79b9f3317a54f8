"""Bytes and text: the way there and back, and what is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redraft.errors import Refused
from redraft.files.textfile import BOM, decode, encode, format_of

if TYPE_CHECKING:
    from pathlib import Path


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\0")), st.booleans())
def test_bytes_come_back_as_they_were(text: str, bom: bool) -> None:
    data = BOM * bom + text.encode()
    assert encode(*decode(data)) == data


@given(st.binary(max_size=60))
def test_any_bytes_either_round_trip_or_are_refused_with_the_first_bad_byte(data: bytes) -> None:
    valid = data[: _first_bad_byte(data)]
    assert encode(*decode(valid)) == valid
    if valid != data:
        with pytest.raises(Refused) as caught:
            decode(data)
        assert (caught.value.code, caught.value.details["offset"]) == ("unsupported_file_type", len(valid))


def _first_bad_byte(data: bytes) -> int:
    """The slow twin: the longest beginning that is UTF-8 without NUL, tried character by character."""
    at = 0
    while at < len(data):
        for width in range(1, 5):
            try:
                char = data[at : at + width].decode()
            except UnicodeDecodeError:
                continue
            break
        else:
            return at
        if char in {"", "\0"}:
            return at
        at += width
    return at


@pytest.mark.parametrize("data", [b"a\r\nb\rc\n", b"", b"\n", BOM, BOM + BOM + b"x", "é\u2028\U0001f600".encode()])
def test_awkward_but_valid_files_round_trip(data: bytes) -> None:
    assert encode(*decode(data)) == data


@pytest.mark.parametrize(
    ("data", "offset", "word"),
    [
        (b"caf\xe9!", 3, "Latin-1"),
        (b"ok\0no", 2, "binary"),
        ("hi".encode("utf-16"), 0, "UTF-16"),
        (b"\xed\xa0\x80", 0, ""),
    ],
)
def test_what_is_not_utf8_text_is_refused_with_a_reason(data: bytes, offset: int, word: str) -> None:
    with pytest.raises(Refused) as caught:
        decode(data)
    assert caught.value.details["offset"] == offset
    assert word in caught.value.message


def test_an_unpaired_surrogate_is_never_written() -> None:
    with pytest.raises(Refused) as caught:
        encode("a\ud800")
    assert caught.value.code == "invalid_text"


def test_alice_with_its_mark_and_crlf_round_trips(material: Path) -> None:
    data = (material / "encodings" / "alice-11-0.bom-crlf.txt").read_bytes()
    decoded = decode(data)
    assert decoded.bom
    assert "\r\n" in decoded.text
    assert encode(*decoded) == data


def test_the_carol_in_latin1_is_refused(material: Path) -> None:
    with pytest.raises(Refused) as caught:
        decode((material / "encodings" / "christmas-carol-46-8.latin1-crlf.txt").read_bytes())
    assert caught.value.code == "unsupported_file_type"


def test_a_format_follows_from_the_extension_alone() -> None:
    names = ["a/b.md", "A.MD", "x.txt", "x.json", "x.yml", "x", ".md", "a.b/c", "x.tar.gz"]
    formats = ["markdown", "markdown", "text", "json", "yaml", "unknown", "unknown", "unknown", "unknown"]
    assert [format_of(name) for name in names] == formats
