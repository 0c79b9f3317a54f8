"""Whole documents by the person's own model, over HTTP: others work on meanwhile, and the mode of the call holds."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any

import pytest

from tests.server.serving import begun, ended

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow
LETTER = "# The letter\n\nFog lay on London.\n"
MOVED = {"edits": [{"old": "on London", "new": "on Tokyo"}], "doubts": []}
WISH = {
    "path": "story.md",
    "transformation": "setting_change",
    "params": {"old_setting": "London", "new_setting": "Tokyo"},
}


def test_a_model_is_asked_while_others_go_on_and_what_it_makes_waits_for_the_person(folder: Path):
    (folder / "story.md").write_text(LETTER, encoding="utf-8")
    script = folder.parent / "script.jsonl"
    steps = [{"text": json.dumps(MOVED), "delay_ms": 2000}, {"text": json.dumps({"issues": []})}]
    script.write_text("\n".join(map(json.dumps, steps)), encoding="utf-8")
    settings = folder.parent / "config" / "redraft" / "settings.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text(
        f'[routing]\nagent_mode = "local"\nlocal = "played"\n[models.played]\nkind = "scripted"\nfile = "{script}"\n',
        encoding="utf-8",
    )
    server = begun(folder)
    made: list[dict[str, Any]] = []
    working = threading.Thread(
        target=lambda: made.append(server.post("/api/tools/transform_document", WISH, mode="propose"))
    )
    working.start()
    # The same caller's other call, in a mode of its own, is answered before the model is.
    server.tool("create_document", mode="apply", title="other.md", content="Meanwhile.\n")
    assert made == []
    working.join()
    assert made[0]["state"] == "proposed"
    assert sorted(path.name for path in folder.glob("*.md")) == ["other.md", "story.md"]
    [draft] = server.get("/api/review")["documents"]
    assert draft["hunks"][0]["working"] == LETTER.replace("London", "Tokyo")
    assert [spent["name"] for spent in server.get("/api/usage", by="document")["usage"]] == ["story.md"]
    assert ended(server) == ""
