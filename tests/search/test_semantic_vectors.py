"""Kept vectors: given back as they were, shared by processes, and never missed when they are gone."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from redraft.search.passages.vector_cache import KEPT_DAYS, VectorCache, vector_key
from tests.conftest import TORTURE

DAY = 86_400.0
ROOT = Path(__file__).resolve().parents[2]


@settings(max_examples=200 if TORTURE else 20)
@given(st.dictionaries(st.binary(min_size=16, max_size=16), st.binary(max_size=64), max_size=20))
def test_what_was_kept_comes_back_and_nothing_else(tmp_path_factory: pytest.TempPathFactory, kept: dict[bytes, bytes]):
    folder = str(tmp_path_factory.mktemp("state"))
    with VectorCache(folder, DAY) as cache:
        cache.put(kept)
    with VectorCache(folder, DAY) as cache:
        assert cache.get([*kept, b"another"]) == kept


@given(st.text(), st.text(), st.sampled_from(["a", "b"]), st.sampled_from(["a", "b"]))
def test_a_key_is_the_model_and_the_text(one: str, other: str, model: str, another: str):
    assert (vector_key(model, one) == vector_key(another, other)) == ((model, one) == (another, other))


def test_many_keys_are_asked_for_at_once(tmp_path: Path):
    kept = {number.to_bytes(16, "big"): b"x" for number in range(1200)}
    with VectorCache(str(tmp_path), DAY) as cache:
        cache.put(kept)
        assert len(cache.get(kept)) == 1200


def test_what_nobody_asked_for_in_a_month_goes(tmp_path: Path):
    with VectorCache(str(tmp_path), DAY) as cache:
        cache.put({b"asked": b"1", b"not": b"2"})
    with VectorCache(str(tmp_path), 20 * DAY) as cache:
        assert cache.get([b"asked"]) == {b"asked": b"1"}
    with VectorCache(str(tmp_path), (KEPT_DAYS + 2) * DAY) as cache:
        cache.prune()
        assert cache.get([b"asked", b"not"]) == {b"asked": b"1"}


def test_the_oldest_half_goes_when_there_is_too_much(tmp_path: Path):
    for day in range(1, 5):
        with VectorCache(str(tmp_path), day * DAY, most_bytes=300) as cache:
            cache.put({bytes([day]): b"x" * 100})
            cache.prune()
    with VectorCache(str(tmp_path), 5 * DAY) as cache:
        assert set(cache.get([bytes([day]) for day in range(1, 5)])) == {b"\3", b"\4"}


@pytest.mark.parametrize("damage", ["garbage", "version", "table", "gone", "cut"])
def test_a_damaged_file_is_begun_anew(tmp_path: Path, damage: str):
    with VectorCache(str(tmp_path), DAY) as cache:
        cache.put({bytes([number]): os.urandom(3000) for number in range(50)})
    path = tmp_path / "vectors.db"
    if damage == "garbage":
        path.write_bytes(b"no database at all" * 1000)
    elif damage == "cut":
        path.write_bytes(path.read_bytes()[:9000])
    elif damage == "gone":
        path.unlink()
    else:
        with sqlite3.connect(path) as connection:
            connection.execute("PRAGMA user_version=99" if damage == "version" else "DROP TABLE vectors")
        connection.close()
    for _ in range(2):
        with VectorCache(str(tmp_path), DAY) as cache:
            cache.get([bytes([number]) for number in range(50)])
            cache.put({b"new": b"2"})
    with VectorCache(str(tmp_path), DAY) as cache:
        assert cache.get([b"new"]) == {b"new": b"2"}


def test_where_nothing_can_be_written_nothing_is_kept_and_nobody_is_told(tmp_path: Path):
    with VectorCache(str(tmp_path / "no" / "such" / "folder"), DAY) as cache:
        cache.put({b"a": b"1"})
        assert cache.get([b"a"]) == {b"a": b"1"}
        cache.prune()


def test_the_file_is_for_its_owner_alone(tmp_path: Path):
    with VectorCache(str(tmp_path), DAY):
        assert (tmp_path / "vectors.db").stat().st_mode & 0o777 == 0o600


@pytest.mark.slow
def test_several_processes_keep_theirs_together(tmp_path: Path):
    script = (
        "import sys\nfrom redraft.search.passages.vector_cache import VectorCache\n"
        "for turn in range(20):\n"
        "    with VectorCache(sys.argv[1], 86400.0) as cache:\n"
        "        cache.put({f'{sys.argv[2]}-{turn}'.encode(): b'x' * 1000})\n"
        "        assert cache.get([f'{sys.argv[2]}-0'.encode()])\n"
        "        cache.prune()\n"
    )
    running = [
        subprocess.Popen([sys.executable, "-c", script, str(tmp_path), str(number)], cwd=ROOT) for number in range(4)
    ]
    assert [process.wait() for process in running] == [0] * 4
    with VectorCache(str(tmp_path), DAY) as cache:
        assert len(cache.get([f"{number}-{turn}".encode() for number in range(4) for turn in range(20)])) == 80
