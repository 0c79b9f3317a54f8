"""The settings over HTTP: an admin changes the person's own, which hold at once; a folder's are never written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.server.serving import serving

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow
OWN = 'mode = "propose"  # usually\n\n[models.big]\nkind = "claude"\n'
EDIT = {"path": "story.md", "old_text": "eleven", "new_text": "twelve"}


@pytest.fixture
def own_file(folder: Path) -> Path:
    """The person's own settings."""
    file = folder.parent / "config" / "redraft" / "settings.toml"
    file.parent.mkdir(parents=True)
    file.write_text(OWN, encoding="utf-8")
    file.chmod(0o640)
    return file


def test_a_change_is_written_to_the_persons_file_and_holds_at_once(folder: Path, own_file: Path):
    (folder / ".redraft").mkdir()
    narrower = "[agent]\ncents = 40\n"
    (folder / ".redraft" / "settings.toml").write_text(narrower, encoding="utf-8")
    with serving(folder) as server:
        changed = server.post("/api/settings", {"mode": "read", "agent": {"cents": 50, "tokens": 9}}, method="PUT")
        assert (changed["mode"], changed["agent"]["cents"], changed["agent"]["tokens"]) == ("read", 40, 9)
        assert server.get("/api/settings") == changed
        assert server.get("/api/workspace")["mode"] == "read"
        assert server.request("POST", "/api/tools/edit_text", EDIT).json["error"] == "mode_refuses"
        wanted = OWN.replace('"propose"', '"read"') + "\n[agent]\ncents = 50\ntokens = 9\n"
        assert own_file.read_text(encoding="utf-8") == wanted
        assert own_file.stat().st_mode & 0o777 == 0o640
        assert (folder / ".redraft" / "settings.toml").read_text(encoding="utf-8") == narrower
        lines = server.get("/api/audit")["entries"]
        assert ("person:you", "settings", "success") in [
            (line["author"], line["tool"], line["result"]) for line in lines
        ]


def test_a_value_that_a_setting_cannot_have_changes_nothing(folder: Path, own_file: Path):
    with serving(folder) as server:
        for wrong in ({"mode": "free"}, {"agent": {"money": 1}}, {"limits": {"files": 1}}, {"confirm_files": 0}):
            assert server.request("PUT", "/api/settings", wrong).status == 422
    assert own_file.read_text(encoding="utf-8") == OWN


def test_a_file_that_was_broken_by_hand_is_left_for_the_person_to_mend(folder: Path, own_file: Path):
    with serving(folder) as server:
        own_file.write_text("mode = [", encoding="utf-8")
        assert server.refused("PUT", "/api/settings", {"mode": "read"}, 422)["error"] == "invalid_settings"
    assert own_file.read_text(encoding="utf-8") == "mode = ["
