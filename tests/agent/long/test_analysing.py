"""`analyze_document`: long documents by many readers, short ones by one, and what needs no reader at all."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from redraft.tools.registry import load_registry
from tests.agent.long.writing import Writing, chapter

if TYPE_CHECKING:
    from pathlib import Path

    from tests.agent.long.model import Asked
    from tests.workspace.folder import Folder

NOVEL = "".join(chapter(at, f"Captain Ines Havel met Mr Orlo Pike on day {at}.", "Ines laughed.") for at in range(1, 9))
SHORT = "# A note\n\nInes wrote to Orlo. Orlo did not answer.\n"


def people(asked: Asked) -> dict[str, Any] | None:
    """Names the people of the passage, and one who is not in it."""
    if asked.what != "characters":
        return None
    known: list[tuple[str, list[str], str]] = [
        ("Ines Havel", ["Ines", "the Captain"], "a captain"),
        ("Orlo Pike", [], "her friend"),
    ]
    named = [{"name": name, "aliases": aliases, "role": role} for name, aliases, role in known]
    return {"characters": [*named, {"name": "Ghost", "aliases": ["Ines"], "role": "invented"}]}


@pytest.mark.covers("TK-analyze-characters", "TK-analyze-fields", "TK-analyze-tasks", "TK-analyze-params")
def test_characters_are_named_by_readers_and_counted_by_us(writing: Writing):
    writing.caller.folder.put("novel.md", NOVEL)
    writing.with_model(people)
    answer = writing.analyse("novel.md", "characters")
    assert answer["status"] == "complete"
    ines, orlo = answer["details"]["characters"]
    assert (ines["name"], ines["mentions"], ines["first_appearance"]) == (
        "Ines Havel",
        len(re.findall("Ines", NOVEL)),
        2,
    )
    assert (orlo["name"], orlo["mentions"], orlo["first_appearance"]) == ("Orlo Pike", 8, 2)
    assert "Found 2 characters" in answer["summary"]
    assert "| Ines Havel | 16 | 3 |" in writing.caller.text("novel.md - characters.md")


@pytest.mark.covers("TK-analyze-chunks", "TK-sub-threshold", "TK-sub-analyzer", "TK-sub-multi-pass")
def test_a_long_document_is_read_in_chunks_at_the_same_time_and_put_together(writing: Writing):
    writing.caller.folder.put("novel.md", NOVEL)
    model = writing.with_model(concurrency=4)
    model.seconds = 0.02
    answer = writing.analyse("novel.md", "summary")
    passages = [asked.passage for asked in model.asked if asked.what == "summary"]
    assert "".join(sorted(passages, key=NOVEL.index)) == NOVEL
    assert 2 <= model.most_at_once <= 4
    assert model.roles()[-1] == "together"
    assert answer["summary"] == "It goes on and on."
    assert answer["effort"]["chunks"] == len(passages) > 4
    assert max(progress.active for progress in writing.progress) <= 4
    assert [p.done for p in writing.progress if p.role == "analyser"] == list(range(len(passages) + 1))


@pytest.mark.covers("TK-sub-simple-direct")
def test_a_short_document_is_read_once_and_whole(writing: Writing):
    writing.caller.folder.put("note.md", SHORT)
    model = writing.with_model(lambda asked: {"summary": "A letter without an answer."})
    answer = writing.analyse("note.md", "summary")
    assert [asked.passage for asked in model.asked] == [SHORT]
    assert (answer["summary"], answer["effort"]["chunks"]) == ("A letter without an answer.", 1)


def test_a_document_is_long_above_20_000_characters(writing: Writing):
    model = writing.with_model()
    for length, whole in ((20_000, True), (20_001, False)):
        writing.caller.folder.put("edge.md", ("word " * 5000)[: length - 1] + "\n")
        model.asked.clear()
        writing.analyse("edge.md", "summary")
        assert (len(model.asked) == 1) is whole


def test_a_model_with_a_small_context_gets_smaller_chunks(writing: Writing):
    writing.caller.folder.put("note.md", chapter(1))
    model = writing.with_model()
    model.context_tokens = 3000
    writing.analyse("note.md", "summary")
    assert model.roles().count("summary") > 1
    assert all(len(asked.passage.encode()) <= 4 * 500 for asked in model.asked)


@pytest.mark.covers("TK-sub-cache")
def test_a_second_run_asks_only_about_what_changed(writing: Writing):
    folder = writing.caller.folder
    folder.put("novel.md", NOVEL)
    writing.with_model(people)
    first = writing.analyse("novel.md", "characters")
    again = writing.analyse("novel.md", "characters")
    assert again["effort"] == {
        "chunks": first["effort"]["chunks"],
        "asked": 0,
        "known_already": first["effort"]["asked"],
    }
    folder.put("novel.md", NOVEL.replace("Orlo Pike on day 5", "Orlo Pike, late, on day 5"))
    model = writing.with_model(people)
    changed = writing.analyse("novel.md", "characters")
    assert changed["effort"]["asked"] == len(model.asked) == 1
    assert "late, on day 5" in model.asked[0].passage


def test_another_task_or_model_is_another_question(writing: Writing):
    writing.caller.folder.put("note.md", SHORT)
    model = writing.with_model()
    for task in ("summary", "style", "summary"):
        writing.analyse("note.md", task)
    assert model.roles() == ["summary", "style"]
    model.model = "another"
    writing.analyse("note.md", "summary")
    assert model.roles() == ["summary", "style", "summary"]


def test_plot_and_findings_stand_on_quotations_that_are_really_there(writing: Writing):
    def says(asked: Asked) -> dict[str, Any] | None:
        if asked.what == "plot":
            true = {"what": "She laughs.", "who": ["Ines"], "quote": "Ines laughed."}
            return {"events": [true, {"what": "A war.", "who": [], "quote": "War broke out."}], "summary": "They meet."}
        return None

    writing.caller.folder.put("novel.md", NOVEL)
    writing.with_model(says)
    details = writing.analyse("novel.md", "plot")["details"]
    assert [NOVEL.splitlines()[event["line"]] for event in details["events"]] == ["Ines laughed."] * len(
        details["events"]
    )
    assert len(details["events"]) == details["not_in_the_text"] > 1


@pytest.mark.covers("TK-analyze-custom")
def test_a_custom_analysis_answers_the_persons_question(writing: Writing):
    writing.caller.folder.put("note.md", SHORT)
    model = writing.with_model(
        lambda asked: {"findings": [{"finding": "He is silent.", "quote": "Orlo did not answer."}], "summary": "Orlo."}
    )
    answer = writing.analyse("note.md", "custom", custom_prompt="Who is silent?")
    assert "Who is silent?" in model.asked[0].instructions
    assert answer["details"]["findings"][0]["line"] == 2
    assert "> Who is silent?" in writing.caller.text(answer["path"])
    assert writing.caller.refused("analyze_document", path="note.md", task="custom")["error"] == "content_required"


@pytest.mark.covers("TK-flow-summary-tab")
def test_the_result_goes_to_a_new_tab_named_after_source_and_task(writing: Writing):
    writing.caller.folder.put("note.md", SHORT)
    writing.with_model()
    answer = writing.analyse("note.md", "summary")
    titles = {tab["tab_id"]: tab["title"] for tab in writing.caller.call("list_tabs")["tabs"]}
    assert titles[answer["result_tab_id"]] == "note.md - summary.md"
    assert writing.analyse("note.md", "summary")["path"] == "note.md - summary 2.md"


@pytest.mark.covers("TK-analyze-overwrite", "TK-analyze-bad-tab")
def test_an_output_tab_is_overwritten_through_the_review_and_must_exist(folder: Folder):
    writing = Writing.at(folder, "propose")
    folder.put("note.md", SHORT)
    folder.put("result.md", "Old words.\n")
    model = writing.with_model()
    tab = writing.caller.workspace.open_tab("result.md").tab_id
    answer = writing.analyse("note.md", "summary", output_tab=tab)
    assert (answer["state"], answer["result_tab_id"], answer["path"]) == ("proposed", tab, "result.md")
    assert folder.text("result.md") == "Old words.\n"
    model.asked.clear()
    refused = writing.caller.refused("analyze_document", path="note.md", task="plot", output_tab="tab_77")
    assert (refused["error"], model.asked) == ("invalid_tab_id", [])
    writing.close()


def test_without_a_model_names_and_figures_are_counted_and_the_rest_says_what_to_do(writing: Writing):
    writing.caller.folder.put("novel.md", NOVEL)
    found = writing.analyse("novel.md", "characters")["details"]["characters"]
    counted = {each["name"]: each["mentions"] for each in found}
    assert counted["Ines Havel"] == counted["Orlo Pike"] == 8
    figures = writing.analyse("novel.md", "style")["details"]["figures"]
    assert figures["sentences"] == len([line for line in NOVEL.splitlines() if line])
    for task in ("plot", "summary", "custom"):
        refused = writing.caller.refused("analyze_document", path="novel.md", task=task, custom_prompt="Why?")
        assert refused["error"] == "model_unavailable"
        assert "docs/models.md" in refused["suggestion"]


def test_style_is_counted_and_described(writing: Writing):
    def says(asked: Asked) -> dict[str, Any] | None:
        note = {"note": "Repeats itself.", "quote": "nobody spoke a word"}
        return {"person": "third", "tense": "past", "tone": ["Dry", "calm"], "observations": [note]}

    writing.caller.folder.put("novel.md", NOVEL)
    writing.with_model(says)
    details = writing.analyse("novel.md", "style")["details"]
    assert (details["person"], details["tense"], details["tone"]) == ("third", "past", ["dry", "calm"])
    assert details["figures"]["words"] > 4000
    assert "nobody spoke a word" in NOVEL.splitlines()[details["observations"][0]["line"]]


def test_a_report_makes_nothing_but_words_of_what_a_model_said(writing: Writing):
    writing.caller.folder.put("note.md", SHORT)
    writing.with_model(lambda asked: {"summary": "# Not a heading\n\n[click](http://example.org) <b>\n\n| a |"})
    text = writing.caller.text(writing.analyse("note.md", "summary")["path"])
    assert text.splitlines()[0] == "# Summary of note.md"
    assert re.findall(r"(?<!\\)[#\[<|]", text.partition("\n")[2]) == []


def test_two_people_with_one_name_are_not_made_one(writing: Writing):
    def says(asked: Asked) -> dict[str, Any] | None:
        pairs = [("Ann Marsh", "Miss Marsh"), ("Bea Marsh", "Miss Marsh")]
        return {"characters": [{"name": name, "aliases": [alias], "role": ""} for name, alias in pairs]}

    writing.caller.folder.put("note.md", "Ann Marsh and Bea Marsh came in. Miss Marsh sat down.\n")
    writing.with_model(says)
    details = writing.analyse("note.md", "characters")["details"]
    assert [each["name"] for each in details["characters"]] == ["Ann Marsh", "Bea Marsh"]
    assert details["shared_names"] == [{"name": "Miss Marsh", "people": ["Ann Marsh", "Bea Marsh"]}]


def test_the_mentions_of_a_real_novel_are_exact(writing: Writing, material: Path):
    text = (material / "novel-outlines-dev" / "alice-s-adventures-in-wonderland-11.txt").read_text(encoding="utf-8")
    writing.caller.folder.put("alice.txt", text)
    one = {"name": "Alice", "aliases": ["the child"], "role": "dreamer"}
    model = writing.with_model(lambda asked: {"characters": [one]}, chunk_tokens=4000)
    (alice,) = writing.analyse("alice.txt", "characters")["details"]["characters"]
    aliases = "|".join(["Alice", *alice["aliases"]])
    assert alice["mentions"] == len(re.findall(rf"\b(?:{aliases})\b", text))
    assert len(model.asked) == 12


def test_a_real_novel_with_one_changed_chapter_is_asked_about_there_and_above_it_only(writing: Writing, material: Path):
    text = (material / "novel-outlines-dev" / "pride-and-prejudice-1342.txt").read_text(encoding="utf-8")
    writing.caller.folder.put("novel.txt", text)

    def says(asked: Asked) -> dict[str, Any] | None:
        return {"summary": f"{asked.passage.strip()[:30]} {len(asked.passage + asked.known)}"}

    model = writing.with_model(says, chunk_tokens=4000)
    first = writing.analyse("novel.txt", "summary")["effort"]
    assert first["asked"] == len(model.asked) > first["chunks"] > 60
    at = text.index("\n\n", len(text) // 2)
    writing.caller.folder.put("novel.txt", f"{text[:at]}\n\nIt is a truth that was not acknowledged before.{text[at:]}")
    model.asked.clear()
    writing.analyse("novel.txt", "summary")
    assert model.roles().count("summary") == 1
    assert 1 <= model.roles().count("together") <= 2


def test_the_tools_are_of_the_tabs_profile():
    names = {tool.name for tool in load_registry().profile("tabs").tools}
    assert {"analyze_document", "transform_document"} <= names
