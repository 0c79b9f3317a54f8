"""The routes of rich text: markdown to a document and back, over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.server.serving import serving
from tests.speaking.lines import Lines, answer_of

if TYPE_CHECKING:
    from pathlib import Path

    from tests.server.serving import Server

pytestmark = pytest.mark.slow
# Reading this takes a minute or more; nobody waits so long.
ENDLESS = "![" * 300_000
SOURCE = "---\na: b\n---\n\nTitle\n=====\n\n*  one\n*  two 😀\n"


def test_a_document_comes_and_goes_and_what_is_not_changed_keeps_its_bytes(server: Server):
    read = server.request("POST", "/api/rich/parse", {"markdown": SOURCE}).json
    assert read["blocks"] == [{"start": 0, "end": 3}, {"start": 4, "end": 6}, {"start": 7, "end": 9}]
    same = server.request("POST", "/api/rich/serialise", {"doc": read["doc"], "before": SOURCE})
    assert (same.json["markdown"], same.json["blocks"]) == (SOURCE, read["blocks"])
    read["doc"]["content"][1]["content"][0]["text"] = "New"
    changed = server.request("POST", "/api/rich/serialise", {"doc": read["doc"], "before": SOURCE})
    assert (changed.json["markdown"], changed.json["blocks"]) == (SOURCE.replace("Title", "New"), read["blocks"])
    wrong = server.request("POST", "/api/rich/serialise", {"doc": {"type": "doc", "content": [1]}})
    assert (wrong.status, wrong.json["error"]) == (422, "invalid_argument")


@pytest.fixture
def hasty(folder: Path) -> Path:
    """A folder in which rich text may take three seconds, with a document that takes longer."""
    (folder / ".redraft").mkdir()
    (folder / ".redraft" / "settings.toml").write_text("[limits]\neditor_seconds = 3\n", encoding="utf-8")
    (folder / "endless.md").write_text(f"{ENDLESS}\n", encoding="utf-8")
    (folder / "short.md").write_text("One.\n\nTwo.\n\nThree.\n", encoding="utf-8")
    return folder


@pytest.mark.covers("RD-search-aside")
def test_rich_text_that_takes_too_long_is_refused(hasty: Path):
    with serving(hasty) as server:
        change: dict[str, Any] = {"path": "endless.md", "from": 0, "to": 1, "newText": "x"}
        doc = server.post("/api/rich/parse", {"markdown": "One.\n"})["doc"]
        refused = [
            server.refused("POST", "/api/tools/getEditorText", {"path": "endless.md"}, 429),
            server.refused("POST", "/api/rich/parse", {"markdown": ENDLESS}, 429),
            server.refused("POST", "/api/rich/serialise", {"doc": doc, "before": ENDLESS}, 429),
        ]
        said = "Converting the document to rich text takes longer than 3 s. Nothing was changed."
        for each in refused:
            assert (each["error"], each["message"]) == ("limit_exceeded", said)
            assert each["suggestion"] == "Ask for less, or raise that limit in the settings."
        failed = server.tool("replaceText", **change)
        assert (failed["success"], failed["error"]) == (False, said)
        assert server.get("/api/review")["documents"] == []


@pytest.mark.covers("RD-search-aside")
def test_others_edit_while_replace_text_works_and_it_lands_beside_what_they_did(hasty: Path):
    with serving(hasty) as server:
        client = Lines.to(hasty, "--profile", "all")
        client.start()

        def edit(number: int) -> None:
            """Somebody else's, in the moment in which the call has read the document and works on its new text."""
            begun = client.told("notifications/progress")
            assert begun is not None
            assert (begun["params"]["progressToken"], begun["params"]["progress"]) == (number, 1)
            words = {"path": "short.md", "old_text": f"Two{'!' * number}.", "new_text": f"Two{'!' * (number + 1)}."}
            assert server.tool("edit_text", mode="apply", **words)["state"] == "applied"

        def replace(number: int, new: str) -> int:
            given = {"path": "short.md", "from": 0, "to": 3, "newText": new}
            return client.request("tools/call", name="replaceText", arguments=given, _meta={"progressToken": number})

        asked = replace(0, ENDLESS)
        edit(0)
        client.ask("ping")
        assert all(message.get("id") != asked for message in client.heard), "the edit was not kept waiting"
        failed = answer_of(client.response(asked)["result"])
        assert (failed["success"], failed["message"]) == (False, "TipTap command execution failed")
        client.call("getEditorText", path="short.md")
        asked = replace(1, "First")
        edit(1)
        done = answer_of(client.response(asked)["result"])
        assert done["success"], done
        assert server.get("/api/documents", path="short.md")["content"] == "First.\n\nTwo!!.\n\nThree.\n"
        assert client.close() == ""
