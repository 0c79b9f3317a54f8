"""Snapshots: every content comes back byte for byte, is stored once, and is never given back wrong."""

from __future__ import annotations

import random
import tempfile
import zlib
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from redraft.errors import Damaged
from redraft.history.database import Database, Store
from redraft.text.text import Text
from tests.conftest import TORTURE

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Generator[Database]:
    made = Database(str(tmp_path_factory.mktemp("state")))
    yield made
    made.close()


def size(database: Database) -> int:
    row = database.row("SELECT coalesce(sum(length(data)), 0) FROM blocks")
    manifests = database.row("SELECT coalesce(sum(length(manifest)), 0) FROM snapshots")
    assert row is not None
    assert manifests is not None
    return int(row[0]) + int(manifests[0])


def long_text(megabytes: float, seed: int = 7) -> str:
    """Words in lines: about as repetitive as prose."""
    choose = random.Random(seed)
    words = ["".join(choose.choices("abcdefghijklmnopqrstuvwxyzäé", k=choose.randint(2, 9))) for _ in range(4000)]
    lines: list[str] = []
    total = 0
    while total < megabytes * 1_000_000:
        line = " ".join(choose.choices(words, k=12)) + "\n"
        lines.append(line)
        total += len(line)
    return "".join(lines)


@given(st.text(st.characters(exclude_categories=["Cs"])), st.booleans())
@pytest.mark.slow
def test_every_text_comes_back_byte_for_byte(database: Database, text: str, bom: bool) -> None:
    store = Store(database)
    snapshot = store.put_text(Text(text), bom=bom)
    assert store.get(snapshot) == b"\xef\xbb\xbf" * bom + text.encode()
    assert store.put_text(Text(text), bom=bom) == snapshot


@given(st.binary(max_size=200_000))
@pytest.mark.slow
def test_every_file_comes_back_byte_for_byte(database: Database, data: bytes) -> None:
    store = Store(database)
    assert store.get(store.put_bytes(data)) == data


@given(st.lists(st.tuples(st.text(max_size=20), st.booleans()), min_size=2, max_size=8, unique=True))
@pytest.mark.slow
def test_different_contents_have_different_snapshots(database: Database, contents: list[tuple[str, bool]]) -> None:
    store = Store(database)
    found = {(text, bom): store.put_text(Text(text), bom=bom) for text, bom in contents}
    by_snapshot: dict[bytes, bytes] = {}
    for (text, bom), snapshot in found.items():
        data = b"\xef\xbb\xbf" * bom + text.encode()
        assert by_snapshot.setdefault(snapshot, data) == data


@given(st.text(min_size=1), st.data())
@pytest.mark.slow
def test_a_text_stored_beside_the_one_it_came_from_is_whole(database: Database, text: str, data: st.DataObject) -> None:
    store = Store(database)
    old = Text(text)
    store.put_text(old)
    start = data.draw(st.integers(0, len(text)))
    new = old.replace(start, data.draw(st.integers(start, len(text))), data.draw(st.text(max_size=20)))
    assert store.get(store.put_text(new, like=old)) == str(new).encode()


@pytest.mark.slow
def test_a_small_edit_of_a_large_text_stores_little(tmp_path: Path) -> None:
    database = Database(str(tmp_path))
    store = Store(database)
    text = Text(long_text(10))
    with database.transaction():
        store.put_text(text)
    middle = len(text) // 2
    for edited in (text.replace(middle, middle + 3, "a few other words"), text.replace(0, 0, "at the very start\n")):
        before = size(database)
        assert before > 1_000_000
        with database.transaction():
            store.put_text(edited, like=text)
        assert size(database) - before < 100_000
    database.close()


def test_a_content_is_stored_once(database: Database) -> None:
    store = Store(database)
    text = long_text(0.1, seed=1)
    store.put_text(Text(text))
    before = size(database)
    for _ in range(3):
        store.put_text(Text(text))
    assert size(database) == before


@pytest.mark.parametrize("how", ["other data", "garbage", "truncated", "emptied", "deleted"])
@pytest.mark.parametrize("kind", ["text", "bytes"])
def test_a_damaged_block_is_an_error_and_never_wrong_text(
    tmp_path_factory: pytest.TempPathFactory, how: str, kind: str
) -> None:
    database = Database(str(tmp_path_factory.mktemp("damage")))
    store = Store(database)
    text = long_text(0.05, seed=2)
    snapshot = store.put_text(Text(text)) if kind == "text" else store.put_bytes(text.encode())
    digest, packed = database.rows("SELECT digest, data FROM blocks ORDER BY digest")[0]
    if how == "deleted":
        database.execute("DELETE FROM blocks WHERE digest = ?", (digest,))
    else:
        data = {
            "other data": zlib.compress(b"other"),
            "garbage": b"\x00" * len(packed),
            "truncated": packed[:-4],
            "emptied": b"",
        }[how]
        database.execute("UPDATE blocks SET data = ? WHERE digest = ?", (data, digest))
    with pytest.raises(Damaged):
        store.get(snapshot)
    database.close()


@pytest.mark.parametrize("how", ["shortened", "ragged", "reordered", "deleted"])
def test_a_damaged_manifest_is_an_error(tmp_path_factory: pytest.TempPathFactory, how: str) -> None:
    database = Database(str(tmp_path_factory.mktemp("damage")))
    store = Store(database)
    snapshot = store.put_text(Text(long_text(0.05, seed=3)))
    row = database.row("SELECT manifest FROM snapshots WHERE id = ?", (snapshot,))
    assert row is not None
    manifest: bytes = row[0]
    if how == "deleted":
        database.execute("DELETE FROM snapshots")
    else:
        changed = {
            "shortened": manifest[:-32],
            "ragged": manifest[:-5],
            "reordered": manifest[32:64] + manifest[:32] + manifest[64:],
        }[how]
        assert changed != manifest
        database.execute("UPDATE snapshots SET manifest = ?", (changed,))
    with pytest.raises(Damaged):
        store.get(snapshot)
    database.close()


@given(st.lists(st.text(max_size=30), min_size=1, max_size=6), st.data())
@settings(max_examples=500 if TORTURE else 20)
@pytest.mark.slow
def test_dropping_keeps_just_what_is_wanted(contents: list[str], data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as place:
        database = Database(place)
        store = Store(database)
        snapshots = {store.put_text(Text(text)): text for text in contents}
        wanted = data.draw(st.sets(st.sampled_from(sorted(snapshots))))
        dropped, _ = store.drop_all_but(wanted)
        assert dropped == len(snapshots) - len(wanted)
        for snapshot, text in snapshots.items():
            if snapshot in wanted:
                assert store.get(snapshot) == text.encode()
            else:
                with pytest.raises(Damaged):
                    store.get(snapshot)
        used = {digest for snapshot in wanted for digest in store.manifest(snapshot)}
        assert {row[0] for row in database.rows("SELECT digest FROM blocks")} == used
        database.close()
