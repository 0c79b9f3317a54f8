"""`transform_document`: planned for the whole, made chunk by chunk, checked, and all of it or nothing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from redraft.errors import RedraftError
from tests.agent.long.writing import Writing, chapter
from tests.workspace.folder import hunks, person_writes

if TYPE_CHECKING:
    from tests.agent.long.model import Asked
    from tests.workspace.folder import Folder

NAMED = "John came in. He sat down, and Ann gave him tea."
NOVEL = "".join(chapter(at, NAMED if at % 2 else "Ann was alone.") for at in range(1, 9))
RENAME = {"old_name": "John", "new_name": "Jane", "update_pronouns": True, "gender": "female"}


def pronouns(asked: Asked) -> dict[str, Any] | None:
    if asked.what != "change" or "He sat down" not in asked.passage:
        return None
    edit = {"old": "He sat down, and Ann gave him tea", "new": "She sat down, and Ann gave her tea"}
    return {"edits": [edit], "doubts": []}


@pytest.mark.covers("TK-transform-rename", "TK-transform-fields", "TK-flow-rename-long", "TK-transform-kinds")
def test_a_rename_changes_name_and_pronouns_in_a_long_text_and_nothing_else(writing: Writing):
    writing.caller.folder.put("novel.md", NOVEL)
    writing.with_model(pronouns)
    answer = writing.transform("novel.md", "character_rename", params=RENAME)
    assert answer["status"] == "complete"
    assert writing.caller.text(answer["path"]) == NOVEL.replace("John", "Jane").replace("He sat", "She sat").replace(
        "gave him", "gave her"
    )
    assert answer["changes_made"] == 12
    assert answer["summary"].startswith("Renamed 'John' to 'Jane' in 12 locations across")
    assert writing.caller.text("novel.md") == NOVEL


@pytest.mark.covers("TK-transform-passes", "TK-sub-flow", "TK-sub-transformer")
def test_targets_come_first_then_the_plan_the_changes_and_the_check(writing: Writing):
    def says(asked: Asked) -> dict[str, Any] | None:
        if asked.what == "targets":
            return {"terms": [{"text": "milestone", "what": "a thing"}, {"text": "pagoda", "what": "?"}], "doubts": []}
        if asked.what == "plan":
            new = [{"old": "milestone", "new": "stone lantern"}, {"old": "pagoda", "new": "tower"}]
            return {"replacements": new, "guidance": "Keep it quiet."}
        return None

    writing.caller.folder.put("novel.md", NOVEL)
    model = writing.with_model(says)
    params = {"old_setting": "London", "new_setting": "Tokyo", "adapt_details": True}
    writing.transform("novel.md", "setting_change", params=params)
    assert list(dict.fromkeys(model.roles())) == ["targets", "plan", "change"]
    (plan,) = [asked for asked in model.asked if asked.what == "plan"]
    assert "- milestone (320 times)" in plan.known
    assert "pagoda" not in plan.known
    changes = [asked for asked in model.asked if asked.what == "change"]
    assert all("- milestone -> stone lantern" in asked.known and "Keep it quiet." in asked.known for asked in changes)
    assert not any("tower" in asked.known for asked in changes)


@pytest.mark.covers("TK-transform-setting", "TK-flow-change-setting", "TK-sub-consistency")
def test_a_change_of_setting_edits_places_and_flags_what_is_left_of_the_old(writing: Writing):
    def says(asked: Asked) -> dict[str, Any] | None:
        if asked.what == "change" and "Fog lay on London on day" in asked.passage:
            (day,) = re.findall(r"on day (\d)", asked.passage)
            old = f"Fog lay on London on day {day}"
            return {"edits": [{"old": old, "new": f"Rain fell on Tokyo on day {day}"}], "doubts": []}
        if asked.what == "check":
            return {"issues": [{"quote": "Rain fell on Tokyo", "problem": "It was dry before."}, _unfounded()]}
        return None

    def _unfounded() -> dict[str, str]:
        return {"quote": "nothing of the kind", "problem": "invented"}

    text = "".join(chapter(at, f"Fog lay on London on day {at}.") for at in range(1, 9))
    text = text.replace("on day 8", "on the last day, as the Londoners say")
    writing.caller.folder.put("novel.md", text)
    writing.with_model(says)
    params = {"old_setting": "London", "new_setting": "Tokyo"}
    answer = writing.transform("novel.md", "setting_change", params=params)
    new: str = writing.caller.text(answer["path"])
    assert new.count("Tokyo") == 7
    lines = new.splitlines()
    flags: list[tuple[str, str]] = [(flag["kind"], lines[flag["line"]]) for flag in answer["flags"]]
    assert ("leftover", "Fog lay on London on the last day, as the Londoners say.") in flags
    assert ("contradiction", "Rain fell on Tokyo on day 1.") in flags
    assert len([kind for kind, _ in flags if kind == "contradiction"]) == 1


@pytest.mark.covers("TK-transform-new-tab", "TK-transform-params")
def test_the_result_is_a_new_tab_unless_told_otherwise(writing: Writing):
    writing.caller.folder.put("notes/story.md", f"# Story\n\n{NAMED}\n")
    writing.with_model(lambda asked: {"edits": [{"old": "sat down", "new": "sank down"}], "doubts": []})
    answer = writing.transform("notes/story.md", "style_rewrite", params={"style": "grave"})
    titles = {tab["tab_id"]: tab["title"] for tab in writing.caller.call("list_tabs")["tabs"]}
    assert titles[answer["result_tab_id"]] == "story - style_rewrite.md"
    assert "sank down" in writing.caller.text("notes/story - style_rewrite.md")
    again = writing.transform("notes/story.md", "custom", custom_prompt="Sink.", output_mode="new_tab")
    assert again["path"] == "notes/story - custom.md"


@pytest.mark.covers("ML-future-translate")
def test_a_document_is_translated_chapter_by_chapter_beside_the_original(writing: Writing):
    """A model that knows one sentence of German, and how the road goes on."""
    german = (
        (
            r"The road of chapter (\d+) went on past milestone (\d+), and nobody spoke a word\.",
            r"Der Weg in Kapitel \1 ging an Meilenstein \2 vorbei, und niemand sprach ein Wort.",
        ),
        (r"^# Chapter (\d+)$", r"# Kapitel \1"),
    )

    def says(asked: Asked) -> dict[str, Any] | None:
        if asked.what != "change":
            return None
        lines = [line for line in asked.passage.splitlines() if any(re.search(old, line) for old, _ in german)]
        translated = lines
        for old, new in german:
            translated = [re.sub(old, new, line) for line in translated]
        edits = [{"old": old, "new": new} for old, new in zip(lines, translated, strict=True)]
        return {"edits": edits, "doubts": []}

    text = "".join(chapter(at, "```\nkept as it is\n```") for at in range(1, 9))
    writing.caller.folder.put("novel.md", text)
    model = writing.with_model(says)
    answer = writing.transform("novel.md", "custom", custom_prompt="Translate into German.")
    new: str = writing.caller.text(answer["path"])
    assert (new.count("Meilenstein"), new.count("milestone"), new.count("# Kapitel")) == (320, 0, 8)
    assert new.count("```\nkept as it is\n```") == 8
    assert writing.caller.text("novel.md") == text
    assert len([asked for asked in model.asked if asked.what == "change"]) > 1


@pytest.mark.covers("TK-transform-in-place", "TK-transform-version")
def test_in_place_is_proposed_for_review_and_demands_the_current_version(folder: Folder):
    writing = Writing.at(folder, "propose")
    folder.put("novel.md", NOVEL)
    model = writing.with_model(pronouns)
    place = {"transformation": "character_rename", "path": "novel.md", "params": RENAME, "output_mode": "in_place"}
    missing = writing.caller.refused("transform_document", **place)
    assert (missing["error"], missing["details"]["field"]) == ("invalid_argument", "version")
    stale = writing.caller.refused("transform_document", **place, version="1-0000")
    assert (stale["error"], model.asked) == ("version_mismatch", [])
    answer = writing.caller.call("transform_document", **place, version=writing.caller.version("novel.md"))
    assert (answer["state"], answer["path"]) == ("proposed", "novel.md")
    assert folder.text("novel.md") == NOVEL
    assert {hunk.author for hunk in hunks(writing.caller.workspace, "novel.md")} == {"agent"}
    writing.close()


def test_what_the_person_types_while_subagents_work_is_kept(writing: Writing):
    folder = writing.caller.folder
    folder.put("novel.md", NOVEL)
    typed: list[str] = []

    def says(asked: Asked) -> dict[str, Any] | None:
        if asked.what == "change" and not typed:
            typed.append("Chapter 8 was typed into.")
            other = folder.open()
            new = folder.text("novel.md").replace("Chapter 8\n", f"Chapter 8\n\n{typed[0]}\n")
            person_writes(other, {"novel.md": new})
        return pronouns(asked)

    version = writing.caller.version("novel.md")
    writing.with_model(says)
    writing.caller.context.mode = "merge"
    writing.transform("novel.md", "character_rename", params=RENAME, output_mode="in_place", version=version)
    new = folder.text("novel.md")
    assert typed[0] in new
    assert (new.count("John"), new.count("Jane")) == (0, 4)


@pytest.mark.covers("TK-transform-atomic", "TK-error-subagent", "TK-turn-chunk-failure")
def test_where_one_chunk_fails_the_document_stays_and_the_others_are_not_asked_again(writing: Writing):
    def fails(asked: Asked) -> dict[str, Any] | None:
        if asked.what == "change" and "Chapter 5" in asked.passage:
            return {"step": {"error": "unavailable", "message": "The model is on fire."}}
        return pronouns(asked)

    writing.caller.folder.put("novel.md", NOVEL)
    version = writing.caller.version("novel.md")
    place = {"transformation": "character_rename", "path": "novel.md", "params": RENAME, "output_mode": "in_place"}
    writing.with_model(fails, concurrency=1)
    refused = writing.caller.refused("transform_document", **place, version=version)
    assert refused["error"] == "subagent_failed"
    assert "on fire" in refused["message"]
    assert refused["details"]["role"] == "transformer"
    model = writing.with_model(pronouns)
    writing.caller.call("transform_document", **place, version=version)
    assert not any("Chapter 1\n" in asked.passage for asked in model.asked if asked.what == "change")
    assert "John" not in writing.caller.text("novel.md")


def test_output_that_is_cut_off_is_asked_for_again_with_more_room_and_never_used(writing: Writing):
    def says(asked: Asked) -> dict[str, Any] | None:
        if asked.what == "change" and asked.attempt < 2:
            return {"step": {"text": '{"edits": [{"old": "Ann", "new": "Ann was', "finish": "cut_off"}}
        return pronouns(asked)

    text = f"{NAMED}\n"
    writing.caller.folder.put("story.md", text)
    model = writing.with_model(says)
    answer = writing.transform("story.md", "character_rename", params=RENAME)
    assert writing.caller.text(answer["path"]) == "Jane came in. She sat down, and Ann gave her tea.\n"
    assert [asked.request.max_output_tokens for asked in model.asked] == [2000, 4000, 8000]
    assert len(writing.bought) == 3

    writing.with_model(lambda asked: {"step": {"text": "{", "finish": "cut_off"}})
    writing.caller.folder.put("story.md", text + "More.\n")
    assert (
        writing.caller.refused("transform_document", path="story.md", transformation="character_rename", params=RENAME)[
            "error"
        ]
        == "subagent_failed"
    )


def test_an_edit_that_cannot_be_placed_is_told_back(writing: Writing):
    def says(asked: Asked) -> dict[str, Any] | None:
        wrong = ["Nobody says this", "a", NAMED[:4]]
        old = "tea" if asked.attempt == 2 else wrong[asked.attempt]
        return {"edits": [{"old": old, "new": "coffee"}], "doubts": []}

    writing.caller.folder.put("story.md", f"{NAMED}\n")
    model = writing.with_model(says)
    answer = writing.transform("story.md", "custom", custom_prompt="Make it coffee.")
    assert "gave him coffee." in writing.caller.text(answer["path"])
    assert "is not in the passage" in model.asked[1].told_back
    assert "more than once" in model.asked[2].told_back


def test_a_subagent_cannot_change_what_it_was_only_shown(writing: Writing):
    """The end of the passage before is shown to be understood; a quotation from it has no place."""

    def says(asked: Asked) -> dict[str, Any] | None:
        if asked.what != "change" or "milestone 39" not in asked.before:
            return None
        old = next(line for line in asked.before.splitlines() if "milestone 39" in line)
        return {"edits": [{"old": old, "new": "Gone."}], "doubts": []}

    writing.caller.folder.put("novel.md", NOVEL)
    writing.with_model(says)
    refused = writing.caller.refused(
        "transform_document", path="novel.md", transformation="custom", custom_prompt="Go."
    )
    assert refused["error"] == "subagent_failed"


def test_a_rename_that_rewrites_is_not_made_but_flagged(writing: Writing):
    edits = [
        {"old": "He sat down", "new": "She sat down"},
        {"old": "Ann gave him tea", "new": "Ann gave her poison and laughed"},
    ]
    writing.caller.folder.put("story.md", f"{NAMED}\n")
    writing.with_model(lambda asked: {"edits": edits, "doubts": []})
    answer = writing.transform("story.md", "character_rename", params=RENAME)
    assert writing.caller.text(answer["path"]) == "Jane came in. She sat down, and Ann gave him tea.\n"
    assert [flag["kind"] for flag in answer["flags"]] == ["refused"]


@pytest.mark.covers("TK-sub-ambiguous")
def test_a_doubtful_place_is_asked_about_and_flagged_where_nobody_answers(writing: Writing):
    doubt = {"quote": "gave him tea", "new": "gave her tea", "why": "It may be another guest."}
    writing.caller.folder.put("story.md", f"{NAMED}\n")
    writing.with_model(lambda asked: {"edits": [], "doubts": [doubt]})
    asked: list[str] = []

    def yes(question: str) -> str:
        asked.append(question)
        return "Yes."

    writing.caller.context.ask = yes
    agreed = writing.transform("story.md", "character_rename", params=RENAME)
    assert "gave her tea" in writing.caller.text(agreed["path"])
    assert asked == ["“gave him tea” on line 1: It may be another guest. Change it to “gave her tea”? (yes or no)"]
    writing.caller.context.ask = None
    left = writing.transform("story.md", "character_rename", params=RENAME)
    assert "gave him tea" in writing.caller.text(left["path"])
    assert [(flag["kind"], flag["line"]) for flag in left["flags"] if flag["kind"] == "ambiguous"] == [("ambiguous", 0)]


def test_a_rename_without_pronouns_needs_no_model(writing: Writing):
    writing.caller.folder.put("novel.md", NOVEL)
    params = {"old_name": "John", "new_name": "James"}
    answer = writing.transform("novel.md", "character_rename", params=params)
    assert writing.caller.text(answer["path"]) == NOVEL.replace("John", "James")
    assert (answer["changes_made"], answer["effort"]["asked"]) == (4, 0)
    for kind in ("setting_change", "style_rewrite", "custom"):
        refused = writing.caller.refused("transform_document", path="novel.md", transformation=kind, custom_prompt="x")
        assert refused["error"] == "model_unavailable"


def test_a_plan_cannot_have_other_words_replaced_throughout_a_document(writing: Writing):
    def says(asked: Asked) -> dict[str, Any] | None:
        if asked.what == "targets":
            return {"terms": [{"text": "road", "what": "?"}], "doubts": []}
        if asked.what == "plan":
            new = [("road", "ruin"), ("The", "A"), ("Ann", "Eve"), ("Johnny", "Janey"), ("Johan", "X")]
            return {"replacements": [{"old": old, "new": to} for old, to in new], "guidance": ""}
        return pronouns(asked)

    text = NOVEL.replace("Ann was alone.", "Ann was alone. Nobody called Johnny.")
    writing.caller.folder.put("novel.md", text)
    writing.with_model(says)
    answer = writing.transform("novel.md", "character_rename", params=RENAME)
    wanted = text.replace("Johnny", "Janey").replace("John", "Jane").replace("He sat", "She sat")
    assert writing.caller.text(answer["path"]) == wanted.replace("gave him", "gave her")
    assert [flag["problem"] for flag in answer["flags"] if flag["kind"] == "other_form"] == [
        "“Johnny” was taken for John: now “Janey”."
    ]


def test_a_name_that_is_not_there_is_refused(writing: Writing):
    writing.caller.folder.put("story.md", "Johnny came in.\n")
    refused = writing.caller.refused(
        "transform_document",
        path="story.md",
        transformation="character_rename",
        params={"old_name": "John", "new_name": "James"},
    )
    assert refused["error"] == "anchor_not_found"


def test_a_data_file_that_is_broken_by_a_change_is_flagged(writing: Writing):
    writing.caller.folder.put("data.json", '{"city": "London"}\n')
    writing.with_model(lambda asked: {"edits": [{"old": '"London"', "new": "Tokyo"}], "doubts": []})
    params = {"old_setting": "London", "new_setting": "Tokyo"}
    answer = writing.transform("data.json", "setting_change", params=params)
    assert [flag["kind"] for flag in answer["flags"]] == ["syntax"]


def test_only_chunks_with_the_name_and_those_after_them_are_asked_about(writing: Writing):
    text = "".join(chapter(at, NAMED if at == 2 else "Ann was alone.") for at in range(1, 13))
    writing.caller.folder.put("novel.md", text)
    model = writing.with_model(pronouns, chunk_tokens=1000)
    answer = writing.transform("novel.md", "character_rename", params=RENAME)
    passages = [asked.passage for asked in model.asked if asked.what == "change"]
    assert len(passages) == 2 < answer["effort"]["chunks"]
    assert "Chapter 2" in passages[0]


@pytest.mark.parametrize(
    ("transformation", "params", "field"),
    [
        ("character_rename", {"old_name": "John"}, "params.new_name"),
        ("character_rename", {**RENAME, "gender": "loud"}, "params.gender"),
        ("character_rename", {**RENAME, "update_pronouns": "maybe"}, "params.update_pronouns"),
        ("setting_change", {"old_setting": "London"}, "params.new_setting"),
        ("setting_change", {"old_seting": "London"}, "params"),
        ("style_rewrite", {}, "params.style"),
        ("custom", {}, "custom_prompt"),
    ],
)
def test_a_wish_that_is_not_clear_is_refused_before_anybody_is_asked(
    writing: Writing, transformation: str, params: dict[str, Any], field: str
):
    writing.caller.folder.put("story.md", f"{NAMED}\n")
    model = writing.with_model()
    refused = writing.caller.refused(
        "transform_document", path="story.md", transformation=transformation, params=params
    )
    assert (refused["error"], refused["details"]["field"], model.asked) == ("invalid_argument", field, [])


def test_line_ends_and_everything_outside_the_edits_stay(writing: Writing):
    text = "\ufeffJohn slept.  \r\n\r\nHe dreamt\r\nof Ann.\r\n\tNo end"
    writing.caller.folder.put("story.md", text)
    says = {"edits": [{"old": "He dreamt\nof", "new": "She dreamt\nof"}], "doubts": []}
    writing.with_model(lambda asked: says)
    version = writing.caller.version("story.md")
    writing.transform("story.md", "character_rename", params=RENAME, output_mode="in_place", version=version)
    data = (writing.caller.folder.path / "story.md").read_bytes().decode()
    assert data == text.replace("John", "Jane").replace("He", "She")


def test_the_guard_is_let_go_while_a_model_is_waited_for_and_held_again_after(writing: Writing):
    import threading

    guard = threading.Lock()
    free: list[bool] = []

    def says(asked: Asked) -> None:
        free.append(not guard.locked())

    writing.caller.folder.put("story.md", f"{NAMED}\n")
    writing.with_model(says, guard=guard)
    with guard:
        writing.analyse("story.md", "summary")
        assert guard.locked()
    assert free == [True]


def test_a_cancelled_job_leaves_nothing(writing: Writing):
    from redraft.agent.subagents.long_documents import LongDocuments
    from redraft.agent.subagents.pool import AnswerCache, PoolOptions
    from redraft.providers.contract import CancelToken

    cancel = CancelToken()
    model = writing.with_model(lambda asked: cancel.set() if len(writing.model.asked) == 3 else None)
    answers = AnswerCache(writing.database, writing.caller.folder.clock)
    worker = LongDocuments(PoolOptions(model, answers, cancel=cancel), chunk_tokens=1000, concurrency=1)
    writing.caller.context.find_worker = lambda _path: worker
    writing.caller.folder.put("novel.md", NOVEL)
    before = writing.caller.folder.tree()
    with pytest.raises(RedraftError) as caught:
        writing.transform("novel.md", "custom", custom_prompt="Go on.")
    assert (caught.value.code, writing.caller.folder.tree()) == ("cancelled", before)
    assert len(model.asked) <= 3
