"""Promise 2: a turn over several files is whole or not at all, and what was acknowledged is durable.

Clients count upwards, each on a line of its own that stands in five files. A turn adds one in all five at once. The
server is killed at some instant; after the next start all five files must agree, and no acknowledged number is missing.
"""

from __future__ import annotations

import http.client
import re
import threading
import time
from typing import TYPE_CHECKING

import pytest

from tests.promises.doors import Folder, chance, rounds

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow
FILES = tuple(f"part-{number}.md" for number in range(5))
CLIENTS = 3
FILLER = "This line is longer than it needs to be, so that there is something to write.\n" * 40


class Counting:
    """A client that counts: `tried` is the last number it sent, `acknowledged` the last that was confirmed."""

    def __init__(self, name: str, start: int) -> None:
        self.name = name
        self.tried = self.acknowledged = start

    def line(self, number: int) -> str:
        return f"{self.name} counts {number}."

    def count(self, folder: Folder) -> None:
        """Count until the server is gone."""
        while True:
            old, new = self.line(self.acknowledged), self.line(self.acknowledged + 1)
            self.tried = self.acknowledged + 1
            edits = [{"path": name, "old_text": old, "new_text": new} for name in FILES]
            calls = [{"tool": "edit_text", "arguments": arguments} for arguments in edits]
            try:
                done, answer = folder.tool("batch", calls=calls)
            except (OSError, http.client.HTTPException):
                return
            if done:
                assert answer["state"] == "applied", answer
                self.acknowledged = self.tried
            else:
                assert answer["error"] in ("busy", "version_mismatch", "conflict"), answer


@pytest.mark.covers("P2")
def test_a_turn_over_five_files_is_whole_or_absent_and_kept_once_acknowledged_however_the_server_dies(tmp_path: Path):
    folder = Folder.serve(tmp_path)
    counts = {f"client{number}": 0 for number in range(CLIENTS)}
    for name in FILES:
        folder.put(name, "".join(f"{client} counts 0.\n{FILLER}" for client in counts))
    acknowledged = 0
    try:
        for seed in rounds(4):
            dice = chance("kill", seed)
            clients = [Counting(name, number) for name, number in counts.items()]
            threads = [threading.Thread(target=client.count, args=(folder,), daemon=True) for client in clients]
            for thread in threads:
                thread.start()
            time.sleep(dice.uniform(0.05, 1.5))  # the instant of the kill is what is random here
            folder.kill()
            for thread in threads:
                thread.join()
            folder.start()
            turns = {turn["turn"] for turn in folder.turns() if turn["state"] == "applied"}
            for client in clients:
                found = {
                    int(number)
                    for name in FILES
                    for number in re.findall(rf"{client.name} counts (\d+)\.", folder.bytes_of(name).decode())
                }
                told = f"seed {seed}: {client.name} had {client.acknowledged} confirmed and sent {client.tried}"
                assert len(found) == 1, f"{told}; the files have {found}"
                assert found <= {client.acknowledged, client.tried}, f"{told}; the files have {found}"
                acknowledged += client.acknowledged - counts[client.name]
                counts[client.name] = found.pop()
            for name in FILES:
                assert folder.bytes_of(name).decode().count(FILLER) == CLIENTS
            assert len(turns) == sum(counts.values()), "the history has as many turns as the files tell"
    except BaseException:
        folder.kill()
        raise
    folder.stop()
    assert acknowledged > 10
