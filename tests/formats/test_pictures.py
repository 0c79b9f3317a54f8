"""What a picture is, and which file of the folder a document means by its address."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redraft.workspace.pictures import picture_kind, picture_path
from tests.formats.pictures import GIF, IMPOSTORS, JPEG, WEBP, png

VECTORS = json.loads(
    (Path(__file__).resolve().parents[1] / "vectors" / "rich" / "image-paths.json").read_text(encoding="utf-8")
)


@pytest.mark.parametrize(("data", "media"), [(png(), "png"), (JPEG, "jpeg"), (GIF, "gif"), (WEBP, "webp")])
def test_a_picture_is_known_by_its_content(data: bytes, media: str):
    kind = picture_kind(data)
    assert kind is not None
    assert kind.media == f"image/{media}"


@pytest.mark.parametrize("name", IMPOSTORS)
def test_what_only_calls_itself_a_picture_is_none(name: str):
    assert picture_kind(IMPOSTORS[name]) is None


@pytest.mark.parametrize("vector", VECTORS, ids=lambda each: each["src"] or "(empty)")
def test_an_address_means_the_file_that_the_browser_means(vector: dict[str, str | None]):
    assert picture_path(str(vector["document"]), str(vector["src"])) == vector["path"]


@given(document=st.sampled_from(["a.md", "x/y/a.md"]), src=st.text("./ab%25e\\:?#é", max_size=12))
def test_no_address_leads_out_of_the_folder(document: str, src: str):
    found = picture_path(document, src)
    assert found is None or not {"", ".", ".."}.intersection(found.split("/"))
