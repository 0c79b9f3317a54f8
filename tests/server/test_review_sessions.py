"""Recorded sessions over HTTP: a round is proposed at once, and what the person made of it can be reached."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import pytest

from redraft.text.edits import Change, Edit

if TYPE_CHECKING:
    from pathlib import Path

    from tests.server.serving import Server

pytestmark = pytest.mark.slow


def rounds(material: Path) -> list[dict[str, Any]]:
    with gzip.open(material / "accept-reject-sessions" / "dev.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [each for line in lines for each in json.loads(line)["rounds"]]


def propose(server: Server, path: str, recorded: dict[str, Any]) -> str:
    """The text after all the suggestions. They are made before any decision, in one batch, each quoting as much around
    it as tells its place. Those whose quotes would overlap, as two within one word, follow in the next batch."""
    text: str = recorded["before"]
    waiting = [Edit(edit["start"], edit["before"] or "", edit["after"] or "") for edit in recorded["edits"]]
    while waiting:
        calls: list[dict[str, Any]] = []
        taken: list[Edit] = []
        later: list[Edit] = []
        quoted = 0
        for edit in sorted(waiting, key=lambda edit: (edit.at, edit.end)):
            start, end = edit.at, edit.end
            while start == end or text.count(text[start:end]) != 1:
                start, end = max(0, start - 1), min(len(text), end + 1)
            if taken and start <= quoted:
                later.append(edit)
                continue
            quoted = end
            taken.append(edit)
            new = text[start : edit.at] + edit.new + text[edit.end : end]
            calls.append(
                {"tool": "edit_text", "arguments": {"path": path, "old_text": text[start:end], "new_text": new}}
            )
        server.tool("read_document", path=path)
        server.tool("batch", calls=calls)
        change = Change(tuple(taken))
        text = change.apply(text)
        waiting = [Edit(change.map(edit.at), edit.old, edit.new) for edit in later]
    return text


def choose(text: str, hunks: list[dict[str, Any]], wanted: str) -> list[str] | None:
    """The hunks whose acceptance gives the wanted text, if there are such."""
    ways: dict[int, list[str]] = {0: []}  # up to where the wanted text is there, with these hunks
    at = 0
    for hunk in [*hunks, None]:
        kept = text[at:] if hunk is None else text[at : hunk["working_at"]]
        ways = {place + len(kept): ids for place, ids in ways.items() if wanted.startswith(kept, place)}
        if hunk is None:
            break
        at = hunk["working_at"] + len(hunk["working"])
        further: dict[int, list[str]] = {}
        for place, ids in ways.items():
            if wanted.startswith(hunk["base"], place):
                further[place + len(hunk["base"])] = ids
            if wanted.startswith(hunk["working"], place):
                further[place + len(hunk["working"])] = [*ids, hunk["hunk_id"]]
        ways = further
    return ways.get(len(wanted))


@pytest.mark.covers("RD-review-sessions")
def test_in_real_sessions_every_round_can_be_decided_after_one_batch(server: Server, folder: Path, material: Path):
    for number, recorded in enumerate(rounds(material)):
        path = f"round-{number}.md"
        (folder / path).write_text(recorded["before"], encoding="utf-8")
        working = propose(server, path, recorded)
        hunks = server.get("/api/review/document", path=path)["hunks"]
        accepted = choose(working, hunks, recorded["accepted_result"])
        assert accepted is not None, (number, recorded["edits"], hunks)
        if accepted:
            server.post("/api/review/accept", {"hunks": {path: accepted}})
        rejected = [hunk["hunk_id"] for hunk in hunks if hunk["hunk_id"] not in accepted]
        if rejected:
            server.post("/api/review/reject", {"hunks": {path: rejected}})
        assert (folder / path).read_text(encoding="utf-8") == recorded["accepted_result"]
