"""Opening the history of a folder that is new, while another program opens it too."""

from __future__ import annotations

import sqlite3
import threading
from typing import TYPE_CHECKING

import pytest

from redraft.agent.store.database import AgentDatabase
from redraft.history.database import Database

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(("kind", "name"), [(Database, "history.db"), (AgentDatabase, "agent.db")])
def test_who_opens_a_new_file_waits_for_another_that_does_the_same(
    tmp_path: Path, kind: type[Database | AgentDatabase], name: str
):
    other = sqlite3.connect(tmp_path / name, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")  # as one does that makes the tables
    leaving = threading.Timer(0.1, other.close)
    leaving.start()
    opened = kind(str(tmp_path))
    leaving.join()
    assert opened.rows("PRAGMA journal_mode") == [("wal",)]
    opened.close()
