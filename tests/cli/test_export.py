"""`redraft export`: files of other kinds, never over one that is there, and honest about what they need."""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import zipfile
from dataclasses import replace
from io import BytesIO
from typing import TYPE_CHECKING

import pytest

from tests.formats.pictures import png

if TYPE_CHECKING:
    from tests.cli.running import Program

needs_pandoc = pytest.mark.skipif(shutil.which("pandoc") is None, reason="pandoc is not installed")


def with_programs(redraft: Program, **programs: str) -> Program:
    """The program where nothing else is installed but these."""
    place = redraft.home / "bin"
    place.mkdir(exist_ok=True)
    for name, script in programs.items():
        (place / name).write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        os.chmod(place / name, stat.S_IRWXU)
    return replace(redraft, variables={"PATH": str(place)})


def test_a_page_is_written_here_under_the_documents_name(redraft: Program):
    told = redraft.run("export", "drafts/old.md")
    assert (told.status, told.err) == (0, "")
    assert told.out.startswith("Wrote old.html (")
    page = (redraft.folder / "old.html").read_text(encoding="utf-8")
    assert "<p>An old idea.</p>" in page
    assert list(redraft.folder.glob(".redraft-tmp-*")) == []


def test_a_file_that_is_there_is_replaced_only_with_consent(redraft: Program):
    redraft.write("out.html", "mine")
    refused = redraft.run("export", "story.md", "--out", "out.html")
    assert refused.status == 3
    assert (redraft.folder / "out.html").read_text(encoding="utf-8") == "mine"
    told = redraft.run("export", "story.md", "--out", "out.html", "--yes", "--json")
    assert told.status == 0
    assert (told.json["path"], told.json["to"]) == ("out.html", "html")
    assert "The lighthouse" in (redraft.folder / "out.html").read_text(encoding="utf-8")


def test_the_standard_output_holds_the_page_alone(redraft: Program):
    told = redraft.run("export", "story.md", "--out", "-")
    assert told.status == 0
    assert told.out.startswith("<!doctype html>")
    assert told.out.endswith("</html>\n")
    assert redraft.run("export", "story.md", "--out", "-", "--json").status == 2


def test_a_text_that_is_no_markdown_is_shown_as_it_is(redraft: Program):
    redraft.write("data.yaml", "a: <b>\n")
    assert "<pre>a: &lt;b&gt;\n</pre>" in redraft.run("export", "data.yaml", "--out", "-").out


def test_a_document_that_is_not_there_and_a_place_that_is_not_there_are_refused(redraft: Program):
    assert redraft.run("export", "none.md").status == 4
    assert redraft.run("export", "../story.md").status == 2
    nowhere = redraft.run("export", "story.md", "--out", "none/out.html")
    assert nowhere.status == 5
    assert "none/out.html cannot be written" in nowhere.err


@pytest.mark.covers("ML-future-export")
def test_what_is_missing_for_word_and_pdf_is_said_and_nothing_is_written(redraft: Program):
    bare = with_programs(redraft)
    word = bare.run("export", "story.md", "--to", "docx")
    assert (word.status, "https://pandoc.org" in word.err) == (5, True)
    pdf = with_programs(redraft, pandoc="exit 0").run("export", "story.md", "--to", "pdf")
    assert pdf.status == 5
    assert "weasyprint" in pdf.err
    assert "print from the app" in pdf.err
    assert not list(redraft.folder.glob("story.[!m]*"))


@pytest.mark.covers("ML-future-export")
def test_a_pdf_is_made_by_pandoc_with_a_program_that_is_there(redraft: Program):
    here = with_programs(redraft, pandoc='printf "%s\\n" "$@"', typst="exit 0", xelatex="exit 0")
    assert here.run("export", "story.md", "--to", "pdf").status == 0
    called = (redraft.folder / "story.pdf").read_text(encoding="utf-8").split("\n")
    assert {"--sandbox", "--to=pdf", "--pdf-engine=typst"} <= set(called)


def test_a_pandoc_that_fails_is_told_and_leaves_nothing(redraft: Program):
    broken = with_programs(redraft, pandoc="echo it broke >&2; exit 64")
    told = broken.run("export", "story.md", "--to", "docx", "--json")
    assert told.status == 5
    assert (told.json["error"], told.json["message"]) == ("export_failed", "Pandoc failed: it broke.")
    assert not (redraft.folder / "story.docx").exists()


@needs_pandoc
@pytest.mark.slow
@pytest.mark.covers("ML-future-export")
def test_a_word_document_of_the_real_pandoc_has_words_pictures_and_tasks(redraft: Program):
    tasks = "- [x] lit\n- [ ] cleaned\n"
    words = 'Of `<img src="far.png">` and url(y).\n'
    redraft.write("note.md", f"# Lamp\n\n![A lamp](lamp.png) without srcset\n\n{tasks}\n{words}")
    (redraft.folder / "lamp.png").write_bytes(png())
    assert redraft.run("export", "note.md", "--to", "docx").status == 0
    with zipfile.ZipFile(BytesIO((redraft.folder / "note.docx").read_bytes())) as made:
        words = made.read("word/document.xml").decode()
        pictures = [made.read(name) for name in made.namelist() if name.startswith("word/media/")]
    assert pictures == [png()]
    for each in ("Lamp", "A lamp", "☑", "lit", "☐", "cleaned", "far.png", "url(y)", "srcset"):
        assert each in words


def propose(redraft: Program, path: str, *edits: tuple[str, str]) -> None:
    for old, new in edits:
        given = json.dumps({"path": path, "old_text": old, "new_text": new})
        redraft.ok("tool", "edit_text", "--json", given, "--mode", "propose")


@pytest.mark.covers("RD-export-accepted")
def test_a_page_holds_what_is_accepted_and_the_program_says_so(redraft: Program):
    propose(redraft, "story.md", ("eleven", "ninety"))
    told = redraft.ok("export", "story.md")
    assert "the accepted text, without 1 proposal (--proposals marks them)" in told
    page = (redraft.folder / "story.html").read_text(encoding="utf-8")
    assert "dark for eleven years" in page
    assert "ninety" not in page
    redraft.ok("accept", "--all")
    assert "proposal" not in redraft.ok("export", "story.md", "--yes")
    assert "dark for ninety years" in (redraft.folder / "story.html").read_text(encoding="utf-8")


@pytest.mark.covers("RD-export-proposals")
def test_proposals_are_marked_where_they_are_asked_for(redraft: Program):
    table = "| name | age |\n| --- | --- |\n| Ines | 40 |\n"
    redraft.write(
        "doc.md", f"---\ntitle: T\n---\n# One title\n\n- first item\n- second *item*\n\n{table}\nLast words.\n"
    )
    propose(
        redraft,
        "doc.md",
        ("# One title", "# Another title"),
        ("- second *item*\n", "- second *thing*\n- third item\n"),
        ("| Ines | 40 |\n", "| Ines | 41 |\n| Paul | 12 |\n"),
        ("Last words.\n", ""),
    )
    answer = redraft.json("export", "doc.md", "--proposals")
    assert (answer["holds"], answer["proposals"] >= 4) == ("proposals", True)
    page = (redraft.folder / "doc.html").read_text(encoding="utf-8")
    assert "<title>T</title>" in page
    assert "Proposed changes are marked" in page
    assert re.search(r"<h1[^>]*><del>One</del><ins>Another</ins> title</h1>", page)
    assert "<em><del>item</del><ins>thing</ins></em>" in page
    assert "<li><ins>third item</ins></li>" in page
    assert "<td><del>40</del><ins>41</ins></td>" in page
    assert re.search(r"<td><ins>Paul ?</ins></td>", page)
    assert "<p><del>Last words.</del></p>" in page
    plain = redraft.run("export", "doc.md", "--out", "-").out
    assert "<ins>" not in plain.partition("</style>")[2]
    assert "Another" not in plain


@pytest.mark.covers("RD-export-accepted")
@pytest.mark.parametrize(
    ("option", "said"),
    [
        ((), "Wrote the accepted text, without 1 proposal (--proposals marks them).\n"),
        (("--proposals",), "Wrote the document with 1 proposal marked as such.\n"),
    ],
)
def test_beside_the_standard_output_the_program_says_what_became_of_proposals(
    redraft: Program, option: tuple[str, ...], said: str
):
    propose(redraft, "story.md", ("eleven", "ninety"))
    told = redraft.run("export", "story.md", "--out", "-", *option)
    assert (told.status, told.err) == (0, said)
    assert told.out.startswith("<!doctype html>")
    assert told.out.endswith("</html>\n")
    assert ("ninety" in told.out) == bool(option)
    redraft.ok("accept", "--all")
    assert "ninety" in redraft.ok("export", "story.md", "--out", "-")


@pytest.mark.covers("RD-export-accepted")
def test_a_document_that_is_only_proposed_is_exported_with_its_proposals_alone(redraft: Program):
    given = json.dumps({"path": "new.md", "content": "All of it is new.\n"})
    redraft.ok("tool", "create_document", "--json", given, "--mode", "propose")
    assert "only proposed" in redraft.run("export", "new.md").err
    redraft.ok("export", "new.md", "--proposals")
    assert "<p><ins>All of it is new.</ins></p>" in (redraft.folder / "new.html").read_text(encoding="utf-8")
