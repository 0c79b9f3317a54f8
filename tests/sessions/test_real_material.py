"""Real documents and real merges: what people wrote is neither lost, nor doubled, nor taken for a marker."""

from __future__ import annotations

import gzip
import json
import re
import tarfile
from typing import TYPE_CHECKING

from redraft.formats.components import FillOptions, component, components, escape_markers, fill_component
from redraft.formats.frontmatter import fields, remove_field, set_field
from redraft.sessions.answers.fills import AppliedAnswer, ComponentEdit
from redraft.sessions.answers.merge import merge_answer
from redraft.text.frontmatter_block import frontmatter_end

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

OPEN, CLOSE = "# Title\n\n<!-- agent:text -->\n", "<!-- /agent:text -->\n\nLast words.\n"
GITS_MARKERS = ("<<<<<<<", "|||||||", ">>>>>>>")


def real_merges(material: Path) -> Iterator[tuple[str, str, str]]:
    """Base and both sides, as the content of a component: without text that would mark something."""
    with gzip.open(material / "real-merges" / "dev.jsonl.gz", "rt", encoding="utf-8", newline="") as lines:
        for line in lines:
            case = json.loads(line)
            base, ours, theirs = (escape_markers(case[name]) for name in ("base", "ours", "theirs"))
            if not any(sign in base + ours + theirs for sign in GITS_MARKERS):
                yield base, ours, theirs


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text))


def test_of_real_merges_no_new_word_of_either_side_is_lost(material: Path):
    tried = 0
    for base, ours, theirs in real_merges(material):
        was, now, made = (f"{OPEN}{text}\n{CLOSE}" for text in (base, ours, theirs))
        fill = ComponentEdit("text", theirs, FillOptions())
        merged = merge_answer(was, now, AppliedAnswer(made, (fill,)), "crdt").text
        place = component(merged, "text")
        assert place is not None
        assert (merged[: place.inner_start + 1], merged[place.inner_end :]) == (OPEN, CLOSE)
        new = (words(ours) | words(theirs)) - words(base)
        assert new <= words(merged)
        assert not any(sign in merged for sign in GITS_MARKERS)
        tried += 1
    assert tried >= 30


def real_documents(material: Path) -> list[str]:
    with tarfile.open(material / "workspace-tree" / "rust-book-src-md.tar.gz") as tree:
        files = [file for member in tree if member.isfile() and (file := tree.extractfile(member)) is not None]
        return [file.read().decode() for file in files]


def test_real_documents_take_a_component_and_a_field_and_give_both_back(material: Path):
    documents = real_documents(material)
    assert len(documents) > 100
    for text in documents:
        tame = escape_markers(text)
        room = f"{tame}\n\n<!-- agent:log -->\n<!-- /agent:log -->\n"
        place = component(room, "log")
        assert place is not None
        done = fill_component(room, place, text, FillOptions("append"))
        assert done.startswith(room[: place.inner_start])
        assert [each.name for each in components(done)] == ["log"]
        named = set_field(text, "agent_doc_session", "d-1")
        assert fields(named)["agent_doc_session"] == "d-1"
        if frontmatter_end(text):
            assert remove_field(named, "agent_doc_session") == text
        else:
            assert named.endswith(text)
