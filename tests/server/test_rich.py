"""The routes of rich text: markdown to a document and back, over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from server.serving import Server

pytestmark = pytest.mark.slow
SOURCE = "---\na: b\n---\n\nTitle\n=====\n\n*  one\n*  two 😀\n"


def test_a_document_comes_and_goes_and_what_is_not_changed_keeps_its_bytes(server: Server):
    read = server.request("POST", "/api/rich/parse", {"markdown": SOURCE}).json
    assert read["blocks"] == [{"start": 0, "end": 3}, {"start": 4, "end": 6}, {"start": 7, "end": 9}]
    same = server.request("POST", "/api/rich/serialise", {"doc": read["doc"], "before": SOURCE})
    assert same.json == {"markdown": SOURCE, "blocks": read["blocks"]}
    read["doc"]["content"][1]["content"][0]["text"] = "New"
    changed = server.request("POST", "/api/rich/serialise", {"doc": read["doc"], "before": SOURCE})
    assert changed.json == {"markdown": SOURCE.replace("Title", "New"), "blocks": read["blocks"]}
    wrong = server.request("POST", "/api/rich/serialise", {"doc": {"type": "doc", "content": [1]}})
    assert (wrong.status, wrong.json["error"]) == (422, "invalid_argument")
