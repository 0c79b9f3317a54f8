"""What is let into a room: all that typing makes, and nothing that a replica could stumble over."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pycrdt import Array, Doc, Map, Text, merge_updates

from redraft.server.live.admission import RoomClock, read_update
from redraft.server.live.wire import NOTHING, Garbled, Reader, blob, number, read_frame
from tests.conftest import TORTURE

EXAMPLES = 5000 if TORTURE else 60
LETTERS = st.lists(st.sampled_from(["a", "é", "e\u0301", "漢", "😀", "\r\n", "🇩🇪"]), max_size=6).map("".join)
ACTS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 10**6), st.integers(0, 4), LETTERS), max_size=25)


def begun(text: str = "a😀b", client: int = 1) -> tuple[Doc[Any], Text]:
    doc: Doc[Any] = Doc(client_id=client)
    shared: Text = doc.get("text", type=Text)
    if text:
        shared.insert(0, text)
    return doc, shared


def clocks(doc: Doc[Any]) -> dict[int, int]:
    reader = Reader(doc.get_state())
    return {reader.number(): reader.number() for _ in range(reader.number())}


@settings(max_examples=EXAMPLES)
@given(LETTERS, ACTS)
def test_all_that_people_type_is_let_in(first: str, acts: list[tuple[int, int, int, str]]):
    """Three people type and tell each other everything at once or never; the ledger always knows what there is."""
    server, _ = begun(first)
    ledger = RoomClock(server.get_update())
    people = [begun("", client) for client in (2, 3, 4)]
    for doc, _ in people[:2]:
        doc.apply_update(server.get_update())
    for who, place, taken, new in acts:
        doc, text = people[who]
        now = str(text)
        at = place % (len(now) + 1)
        before = doc.get_state()
        with doc.transaction():
            if now[at : at + taken]:
                del text[len(now[:at].encode()) : len(now[: at + taken].encode())]
            if new:
                text.insert(len(now[:at].encode()), new)
        for data in (doc.get_update(before), doc.get_update(server.get_state())):
            update = ledger.judge(data)
            assert not ledger.is_early(update)
            server.apply_update(data)
            ledger.note(update)
            assert ledger.clocks == {client: clock for client, clock in clocks(server).items() if clock}
        doc.apply_update(server.get_update(doc.get_state()))


def item(origin: tuple[int, int] | None, right: tuple[int, int] | None, content: bytes, kind: int = 4) -> bytes:
    """An update of client 2 with one item."""
    info = kind | (0x80 if origin else 0) | (0x40 if right else 0)
    data = bytes((1, 1, 2, 0, info))
    for place in (origin, right):
        data += b"" if place is None else number(place[0]) + number(place[1])
    return data + (blob(b"text").join((b"\1", b"")) if not (origin or right) else b"") + content + b"\0"


def deletion(clock: int, length: int, client: int = 1) -> bytes:
    return bytes((0, 1, client, 1, clock, length))


@pytest.mark.parametrize(
    "data",
    [
        deletion(1, 1),
        deletion(2, 1),
        deletion(0, 2),
        item((1, 1), (1, 2), blob(b"x")),
        item((1, 1), None, blob(b"x")),
        item(None, (1, 2), blob(b"x")),
    ],
)
def test_no_character_is_cut_in_two(data: bytes):
    doc, _ = begun()
    with pytest.raises(Garbled, match="splits a character"):
        RoomClock(doc.get_update()).judge(data)


def test_nor_is_one_that_comes_with_the_same_update():
    """Clocks 0 to 3 of client 2 are `x😀y`; an item of client 3 is hung between the halves."""
    doc, _ = begun("")
    text = bytes((1, 2, 0, 4, 1)) + blob(b"text") + blob("x😀y".encode())
    between = bytes((1, 3, 0, 0x84, 2, 1)) + blob(b"!")
    with pytest.raises(Garbled, match="splits a character"):
        RoomClock(doc.get_update()).judge(b"\2" + between + text + b"\0")


def test_a_text_that_begins_within_what_is_known_is_not_cut_in_two():
    doc, _ = begun("ab")
    with pytest.raises(Garbled, match="splits a character"):
        RoomClock(doc.get_update()).judge(bytes((1, 1, 1, 1, 4, 1)) + blob(b"text") + blob("😀".encode()) + b"\0")


@pytest.mark.parametrize(
    "data",
    [
        item(None, None, blob(b"a\0b")),
        item(None, None, blob(b"\xed\xa0\x80")),
        item((1, 0), None, b"\1" + blob(b"bold") + blob(b"true"), 6),
        item((1, 0), None, blob(b"{}"), 5),
        item((1, 0), None, b"\0", 7),
        item((1, 0), None, b"\1\x7f", 8),
        bytes((1, 1, 2, 0, 4, 0, 1, 0)) + blob(b"x") + b"\0",
        bytes((1, 1, 2, 0, 4, 1)) + blob(b"about") + blob(b"x") + b"\0",
        bytes((1, 1, 2, 0, 0x24, 1)) + blob(b"text") + blob(b"key") + blob(b"x") + b"\0",
        bytes((1, 1, 2, 0, 10, 5, 0)),
        b"\2" + bytes((1, 2, 0, 1, 1)) * 2 + b"\0",
        NOTHING + b"\0",
        b"\xff" * 9,
        b"",
    ],
)
def test_what_typing_does_not_make_is_refused(data: bytes):
    doc, _ = begun()
    with pytest.raises(Garbled):
        RoomClock(doc.get_update()).judge(data)


def test_other_shared_types_are_refused():
    doc, _ = begun()
    for name, kind in (("other", Text), ("about", Map), ("list", Array)):
        stranger: Doc[Any] = Doc()
        made: Any = stranger.get(name, type=kind)
        if kind is Text:
            made += "x"
        elif kind is Map:
            made["version"] = "mine"
        else:
            made.append(1)
        with pytest.raises(Garbled):
            RoomClock(doc.get_update()).judge(stranger.get_update())


@pytest.mark.parametrize(
    "data",
    [
        bytes((1, 1, 2, 5, 0x84, 1, 0)) + blob(b"x") + b"\0",
        item((7, 3), None, blob(b"x")),
        item((1, 4), None, blob(b"x")),
        deletion(3, 2),
        deletion(0, 1, 9),
    ],
)
def test_what_builds_on_the_unknown_is_told_apart(data: bytes):
    doc, _ = begun()
    ledger = RoomClock(doc.get_update())
    assert ledger.is_early(ledger.judge(data))


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(data: bytes):
    for read in (read_update, read_frame, RoomClock(begun()[0].get_update()).judge):
        with contextlib.suppress(Garbled):
            assert read(data) is not None


@settings(max_examples=EXAMPLES)
@given(LETTERS, st.lists(st.tuples(st.integers(0, 200), st.integers(0, 255)), max_size=3))
def test_what_is_let_in_of_a_damaged_update_harms_no_replica(new: str, damage: list[tuple[int, int]]):
    """Bytes of a real update are changed. An item that is hung between two places in the wrong order is put here by one
    replica and there by another; but no replica fails, and every one holds the same characters."""
    doc, text = begun("a😀b and more")
    ledger = RoomClock(doc.get_update())
    other, theirs = begun("", 2)
    other.apply_update(doc.get_update())
    before = other.get_state()
    with other.transaction():
        theirs.insert(5, new + "x")
        del theirs[0:1]
    data = bytearray(other.get_update(before))
    for place, value in damage:
        data[place % len(data)] = value
    try:
        update = ledger.judge(bytes(data))
    except Garbled:
        return
    if ledger.is_early(update):
        return
    doc.apply_update(bytes(data))
    copy, same = begun("", 9)
    copy.apply_update(merge_updates(doc.get_update()))
    assert sorted(str(same)) == sorted(str(text))
    assert len(text) == len(str(text).encode())
