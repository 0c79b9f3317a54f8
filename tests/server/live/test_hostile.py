"""Clients that mean no good, or are broken: their connection ends, the document and everybody else's do not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from redraft.server.live import wire
from redraft.server.live.admission import MAX_PIECES, read_update
from redraft.server.live.rooms import MAX_CLIENTS
from tests.server.live.people import Person, expect_same, story, until
from tests.tools.calling import STORY

if TYPE_CHECKING:
    from tests.server.serving import Server

pytestmark = pytest.mark.slow


def test_what_a_client_writes_about_a_document_does_not_stand(standing: Server, page: str):
    async def told() -> None:
        anna, bert = await Person(standing, page).join(), await Person(standing, page).join()
        before = anna.doc.get_state()
        anna.about["version"] = "mine"
        await anna.send(wire.update_message(anna.doc.get_update(before)))
        assert (await anna.ended())[0] == 4400
        assert bert.told["version"] != "mine"
        before = bert.doc.get_state()
        del bert.about["saved"]  # a deletion says nothing of what it takes out, so it is let in, and made good
        await bert.send(wire.update_message(bert.doc.get_update(before)))
        bert.type(0, "x")
        await until(lambda: bert.told.get("saved") is False)
        await bert.leave()

    story(told())


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x05",
        b"\0\7\0",
        b"\0\2\5abc",
        b"\0\2\2\0\0!",
        b"\0\0\3\xff\xff\xff",
        b"\0\2" + wire.blob(b"\xff" * 400),
        b"\1" + wire.blob(b"\1\1\1" + wire.blob(b"{" * 2000)),
        b"\1" + wire.blob(b"\1\1\1" + wire.blob(b'{"a":"' + b"x" * 5000 + b'"}')),
        "text",
    ],
)
def test_a_frame_that_is_none_ends_its_connection_and_nothing_else(standing: Server, page: str, data: bytes | str):
    async def told() -> None:
        anna, mallory = await Person(standing, page).join(), await Person(standing, page).join()
        await mallory.send(data)
        assert (await mallory.ended())[0] in (4400, 1003)
        anna.type(0, "Still here. ")
        await expect_same(anna, on="Still here. " + STORY)
        await anna.leave()

    story(told())


def test_a_frame_that_is_too_large_ends_its_connection(standing: Server, page: str):
    async def told() -> None:
        anna, mallory = await Person(standing, page).join(), await Person(standing, page).join()
        await mallory.send(b"\0" * (8 * 1024 * 1024 + 1))
        assert (await mallory.ended())[0] == 1009
        await expect_same(anna, on=STORY)
        await anna.leave()

    story(told())


def test_a_room_holds_so_many_and_no_more(standing: Server, page: str):
    async def told() -> None:
        people = [await Person(standing, page).join() for _ in range(MAX_CLIENTS)]
        late = Person(standing, page)
        late.epoch = people[0].epoch
        await late.dial()
        assert (await late.ended())[0] == 4429
        await people.pop().leave()
        await until(lambda: not people[0].others)
        await late.join()
        for person in people:
            await person.leave()
        await late.leave()

    story(told())


def test_an_update_of_too_many_pieces_is_refused():
    many = wire.number(MAX_PIECES + 1)
    for data in (b"\1" + many + b"\2\0", b"\0\1\2" + many):
        with pytest.raises(wire.Garbled, match="too much"):
            read_update(data)


def test_who_takes_everything_out_and_types_it_again_changes_nothing(standing: Server, page: str):
    async def told() -> None:
        anna, bert = await Person(standing, page).join(), await Person(standing, page).join()
        for _ in range(20):
            now = str(bert)
            bert.type(0, now, len(now))
            await bert.sent()
        anna.type(0, "Anna. ")
        assert await expect_same(anna, bert) == "Anna. " + STORY
        await anna.leave()
        await bert.leave()

    story(told())
