"""Subscribers hear of every change of what they follow, whoever made it, and of nothing else."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redraft.errors import RedraftError
from redraft.mcp_server.call import PAGE, address_of, page_of, path_of
from redraft.mcp_server.protocol import ProtocolError
from tests.cli.running import Program
from tests.speaking.lines import Lines, envelope

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

STORY = "redraft://documents/story.md"
UPDATED, LISTED = "notifications/resources/updated", "notifications/resources/list_changed"
SILENCE = 1.0


def by_the_agent(client: Lines, _: Path) -> None:
    client.call("edit_text", path="story.md", old_text="John", new_text="James")


def by_an_editor(_: Lines, folder: Path) -> None:
    (folder / "story.md").write_text("new\n", encoding="utf-8")


def by_replacing_the_file(_: Lines, folder: Path) -> None:
    (folder / ".new").write_text("newer\n", encoding="utf-8")
    os.replace(folder / ".new", folder / "story.md")


def by_deleting_it(_: Lines, folder: Path) -> None:
    (folder / "story.md").unlink()


def by_a_proposal_of_another_process(_: Lines, folder: Path) -> None:
    """Which writes nothing into the folder."""
    call = '{"path": "story.md", "old_text": "John", "new_text": "James"}'
    Program(folder).ok("tool", "edit_text", call, "--mode", "propose")


CHANGES = [by_the_agent, by_an_editor, by_replacing_the_file, by_deleting_it, by_a_proposal_of_another_process]


@pytest.mark.slow
@pytest.mark.covers("RD-files-watch")
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_a_subscriber_is_told_once_of_a_change(
    client: Lines, folder: Path, change: Callable[[Lines, Path], None]
) -> None:
    client.start()
    assert client.ask("resources/subscribe", uri=STORY)["result"] == {}
    change(client, folder)
    told = client.told(UPDATED)
    assert told is not None
    assert told["params"] == {"uri": STORY}
    assert client.told(UPDATED, SILENCE) is None
    if change is by_replacing_the_file:
        by_an_editor(client, folder)
        assert client.told(UPDATED) is not None, "the new file is watched as the old one was"


@pytest.mark.slow
def test_nobody_is_told_of_what_they_do_not_follow(client: Lines, folder: Path) -> None:
    client.start()
    client.ask("resources/subscribe", uri=STORY)
    client.ask("resources/subscribe", uri="redraft://documents/other.md")
    client.ask("resources/unsubscribe", uri=STORY)
    by_an_editor(client, folder)
    (folder / "third.md").write_text("x", encoding="utf-8")
    os.utime(folder / "story.md")
    assert client.told(UPDATED, SILENCE) is None
    (folder / "other.md").write_text("x", encoding="utf-8")
    told = client.told(UPDATED)
    assert told is not None
    assert told["params"] == {"uri": "redraft://documents/other.md"}


@pytest.mark.slow
def test_touching_a_file_is_no_change(client: Lines, folder: Path) -> None:
    client.start()
    client.ask("resources/subscribe", uri=STORY)
    os.utime(folder / "story.md")
    assert client.told(UPDATED, SILENCE) is None


@pytest.mark.slow
def test_whoever_has_asked_for_the_list_is_told_when_it_changes(client: Lines, folder: Path) -> None:
    client.start()
    client.ask("resources/list")
    by_an_editor(client, folder)
    assert client.told(LISTED, SILENCE) is None
    (folder / "sub").mkdir()
    (folder / "sub" / "new.md").write_text("x", encoding="utf-8")
    assert client.told(LISTED) is not None
    listed = [entry["name"] for entry in client.ask("resources/list")["result"]["resources"]]
    assert listed == ["story.md", "sub/new.md"]
    client.call("create_document", title="made.md", content="x")
    assert client.told(LISTED) is not None


def test_a_secret_is_not_followed_and_a_bad_address_is_refused(client: Lines, folder: Path) -> None:
    client.start()
    for uri in ("file:///etc/passwd", "redraft://documents/../x", "redraft://documents/.git/config", 7):
        assert client.ask("resources/subscribe", uri=uri)["error"]["code"] == -32002
    client.ask("resources/subscribe", uri="redraft://documents/prod.env")
    (folder / "prod.env").write_text("KEY=1", encoding="utf-8")
    assert client.told(UPDATED, SILENCE) is None


@pytest.mark.slow
def test_in_the_newer_era_a_stream_tells_until_it_is_called_off(client: Lines, folder: Path) -> None:
    client.meta = envelope()
    wanted: dict[str, Any] = {"resourceSubscriptions": [STORY], "resourcesListChanged": True, "toolsListChanged": True}
    number = client.request("subscriptions/listen", notifications=wanted)
    told = client.told("notifications/subscriptions/acknowledged")
    assert told is not None
    del wanted["toolsListChanged"]
    assert told["params"]["notifications"] == wanted
    by_an_editor(client, folder)
    told = client.told(UPDATED)
    assert told is not None
    stamp = {"io.modelcontextprotocol/subscriptionId": number}
    assert told["params"] == {"uri": STORY, "_meta": stamp}
    (folder / "new.md").write_text("x", encoding="utf-8")
    told = client.told(LISTED)
    assert told is not None
    assert told["params"] == {"_meta": stamp}
    client.send({"method": "notifications/cancelled", "params": {"requestId": number}})
    client.ask("tools/list")
    by_replacing_the_file(client, folder)
    assert client.told(UPDATED, SILENCE) is None


# The list, page by page


@pytest.mark.slow
def test_a_large_folder_is_listed_page_by_page(folder: Path) -> None:
    names = [f"n{number:04}.md" for number in range(2 * PAGE + 10)]
    for name in names:
        (folder / name).write_text("x", encoding="utf-8")
    client = Lines.to(folder)
    client.start()
    found: list[str] = []
    sizes: list[int] = []
    cursor: dict[str, str] = {}
    while True:
        page = client.ask("resources/list", **cursor)["result"]
        found += [entry["name"] for entry in page["resources"]]
        sizes.append(len(page["resources"]))
        if "nextCursor" not in page:
            break
        cursor = {"cursor": page["nextCursor"]}
    assert found == sorted([*names, "story.md"])
    assert sizes == [PAGE, PAGE, 11]
    assert client.ask("resources/list", cursor="?")["error"]["code"] == -32602
    client.close()


NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=4)


@given(st.sets(NAMES, max_size=40), st.sets(NAMES, max_size=5), st.integers(1, 7))
def test_pages_give_every_document_once_whatever_comes_and_goes(names: set[str], others: set[str], size: int) -> None:
    """Those that stay are all seen, once; those that come or go meanwhile are seen at most once."""
    before, after = sorted(names), sorted(names ^ others)
    found: list[str] = []
    cursor: str | None = None
    documents = before
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("redraft.mcp_server.call.PAGE", size)
        while True:
            page = page_of(documents, cursor)
            found += [entry["name"] for entry in page["resources"]]
            cursor = page.get("nextCursor")
            documents = after
            if cursor is None:
                break
    assert len(set(found)) == len(found)
    assert set(before) & set(after) <= set(found)
    assert found == sorted(found)


@given(st.text(max_size=20))
def test_a_cursor_of_somebody_elses_is_a_fault_or_a_place(cursor: str) -> None:
    try:
        page = page_of(["a", "b"], cursor)
    except ProtocolError:
        return
    assert {entry["name"] for entry in page["resources"]} <= {"a", "b"}


@given(NAMES)
def test_an_address_names_its_document(name: str) -> None:
    assert path_of(address_of(name)) == name
    assert path_of("redraft://documents/" + quote(name, safe="")) == name
    with pytest.raises(RedraftError):
        path_of("other:" + name)
