"""Several edits as one change, the question to the person, and the history as agents see it."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Any

import pytest

from redraft.text.text import Text
from redraft.workspace.document import version_of
from tests.tools.calling import STORY, Caller
from tests.workspace.folder import Folder, person_writes, type_over

if TYPE_CHECKING:
    from redraft.workspace.events import Event

LINES = STORY.splitlines(keepends=True)


def hash_of(text: str) -> str:
    return "sha256:" + sha256(text.encode()).hexdigest()


def edit(operation: str, start: int, end: int | None = None, new_text: str = "", **more: Any) -> dict[str, Any]:
    lines = {"start_line": start} if end is None else {"start_line": start, "end_line": end}
    return {"file_path": "story.md", "operation": operation, "new_text": new_text, **lines, **more}


# propose_edits


@pytest.mark.covers("SB-edit-fields", "SB-edit-replace", "SB-edit-insert", "SB-edit-delete", "SB-dec-operations")
@pytest.mark.covers("SB-guard-hash")
def test_edits_replace_insert_and_delete_by_the_lines_that_were_read(agent: Caller):
    told = agent.refused("propose_edits", edits=[edit("replace", 3, 3, "by a guess")])
    assert (told["error"], "You have not read story.md" in told["message"]) == ("version_mismatch", True)
    agent.call("read_file", file_path="story.md")
    answer = agent.call(
        "propose_edits",
        edits=[
            edit("replace", 3, 3, "Dark, for years.", edit_id="e_1"),
            edit("insert", 5, None, "before the letter", edit_id="e_2"),
            edit("delete", 9, 10, edit_id="e_3"),
        ],
    )
    assert agent.text("story.md") == "".join(
        [*LINES[:2], "Dark, for years.\n", LINES[3], "before the letter\n", *LINES[4:8], *LINES[10:]]
    )
    ranges = [(each["edit_id"], each["operation"], each["start_line"], each["end_line"]) for each in answer["edits"]]
    assert ranges == [("e_1", "replace", 3, 3), ("e_2", "insert", 5, 4), ("e_3", "delete", 9, 10)]
    assert answer["files"] == [
        {"file_path": "story.md", "version": agent.version("story.md"), "base_file_hash": hash_of(STORY)}
    ]
    assert agent.refused("propose_edits", edits=[edit("delete", 1, 2, "x")])["error"] == "invalid_argument"
    assert agent.refused("propose_edits", edits=[edit("rewrite", 1, 2, "x")])["error"] == "invalid_argument"


@pytest.mark.covers("SB-edit-hash-rationale", "SB-safe-expected-hash", "SB-safe-conflict", "SB-conflict-hash")
def test_an_edit_whose_lines_changed_is_refused_and_so_are_the_others(agent: Caller):
    good = edit("replace", 3, 3, "x", expected_hash=hash_of(LINES[2]), rationale="Shorter.")
    bad = edit("replace", 7, 7, "y", expected_hash=hash_of("something else\n"))
    told = agent.refused("propose_edits", edits=[good, bad])
    assert (told["error"], told["details"]["current_hash"]) == ("conflict", hash_of(LINES[6]))
    assert agent.call("propose_edits", edits=[good])["status"] == "success"


@pytest.mark.covers("SB-safe-expected-hash")
def test_an_edit_holds_while_its_lines_do_whatever_changed_elsewhere(agent: Caller):
    found = agent.call("read_file", file_path="story.md", start_line=3, end_line=3)
    person_writes(agent.workspace, {"story.md": STORY + "mine\n"})
    agent.call("propose_edits", edits=[edit("replace", 3, 3, "x", expected_hash=found["content_hash"])])
    assert agent.text("story.md") == STORY.replace(LINES[2], "x\n") + "mine\n"


@pytest.mark.parametrize("named", [True, False])
def test_an_edit_with_neither_hash_nor_anchor_is_about_the_lines_that_were_read(agent: Caller, named: bool):
    version = agent.call("read_file", file_path="story.md")["version"]
    person_writes(agent.workspace, {"story.md": "mine\n" + STORY})
    more = {"version": version} if named else {}
    answer = agent.call("propose_edits", edits=[edit("replace", 3, 3, "x", **more)])
    assert agent.text("story.md") == "mine\n" + STORY.replace(LINES[2], "x\n")
    assert [(each["start_line"], each["end_line"]) for each in answer["edits"]] == [(4, 4)]


@pytest.mark.covers("SB-guard-hash")
def test_an_edit_with_neither_hash_nor_anchor_is_refused_where_its_lines_changed(agent: Caller):
    agent.call("read_file", file_path="story.md")
    person_writes(agent.workspace, {"story.md": STORY.replace("eleven", "twelve")})
    assert agent.refused("propose_edits", edits=[edit("replace", 3, 3, "x")])["error"] == "version_mismatch"


@pytest.mark.parametrize(("operation", "code"), [("insert", "version_mismatch"), ("delete", "conflict")])
def test_the_hash_of_nothing_is_no_warrant_for_a_place(agent: Caller, operation: str, code: str):
    agent.call("read_file", file_path="story.md")
    person_writes(agent.workspace, {"story.md": STORY.replace("eleven", "twelve")})
    text = "x" if operation == "insert" else ""
    stale = edit(operation, 3, None, text, expected_hash=hash_of(""))
    assert agent.refused("propose_edits", edits=[stale])["error"] == code


def test_edits_that_are_done_are_told_as_done_though_the_file_is_no_text_by_then(agent: Caller):
    def spoil(event: Event) -> None:
        if event.type == "document.changed":
            agent.folder.put("story.md", b"\xff\xfe\x00")

    with_hash = edit("replace", 3, 3, "x", expected_hash=hash_of(LINES[2]))
    agent.workspace.subscribe(spoil)
    answer = agent.call("propose_edits", edits=[with_hash])
    assert (answer["status"], answer["state"]) == ("success", "applied")
    assert answer["files"][0]["version"] == version_of(Text(STORY.replace(LINES[2], "x\n")))


@pytest.mark.covers("SB-edit-anchor")
def test_an_edit_may_name_an_anchor_in_place_of_lines(agent: Caller):
    def named(operation: str, anchor: str, new_text: str = "") -> dict[str, Any]:
        return {"file_path": "story.md", "operation": operation, "anchor": anchor, "new_text": new_text}

    agent.call(
        "propose_edits",
        edits=[
            named("delete", "She read the letter twice."),
            named("replace", "# The Lamp\n", "# The Light\n"),
            named("insert", "## The keys", "A line before.\n"),
        ],
    )
    assert agent.text("story.md") == STORY.replace("She read the letter twice.\n", "").replace(
        "# The Lamp", "# The Light"
    ).replace("## The keys", "A line before.\n## The keys")
    assert agent.refused("propose_edits", edits=[named("delete", "She read")])["error"] == "anchor_not_found"


@pytest.mark.parametrize(
    ("edits", "code"),
    [
        ([edit("delete", 1, 1, "x")], "invalid_argument"),
        ([edit("insert", 1)], "content_required"),
        ([edit("replace", 12, 12, "x")], "invalid_line_range"),
        ([edit("replace", 3, 2, "x")], "invalid_line_range"),
        ([edit("replace", 1, 3, "x"), edit("delete", 3, 4)], "invalid_argument"),
        ([edit("replace", 1, 3, "x"), edit("insert", 2, None, "y")], "invalid_argument"),
        ([{"file_path": "story.md", "operation": "delete"}], "invalid_argument"),
        ([], "content_required"),
    ],
)
def test_an_edit_that_makes_no_sense_is_refused(agent: Caller, edits: list[dict[str, Any]], code: str):
    agent.call("read_file", file_path="story.md")
    assert agent.refused("propose_edits", edits=edits)["error"] == code


# clarify_user


@pytest.mark.covers("SB-tool-clarify-input")
def test_a_question_is_put_to_the_person(agent: Caller):
    assert agent.call("clarify_user", question="Terse or detailed?") == {
        "question": "Terse or detailed?",
        "answer": "as you like",
    }
    assert agent.questions == ["Terse or detailed?"]


def test_a_question_that_nobody_can_answer_is_refused_in_words(agent: Caller):
    agent.context.ask = None
    told = agent.refused("clarify_user", question="Terse or detailed?")
    assert (told["error"], told["details"]["question"]) == ("cannot_ask", "Terse or detailed?")


# batch


def insert(version: str, content: str) -> dict[str, Any]:
    arguments = {"path": "story.md", "version": version, "after_line": -1, "content": content}
    return {"tool": "insert_lines", "arguments": arguments}


def test_a_batch_is_one_turn_and_the_version_from_before_it_stays_good(agent: Caller):
    version = agent.version("story.md")
    calls = [
        insert(version, "one"),
        insert(version, "two"),
        {"tool": "create_document", "arguments": {"title": "b.md", "content": "b\n"}},
        {"tool": "insert_lines", "arguments": {"path": "b.md", "version": "?", "after_line": 0, "content": "c"}},
        {"tool": "read_document", "arguments": {"path": "story.md", "end_line": 1}},
    ]
    answer = agent.call("batch", calls=calls, title="Two files")
    assert agent.folder.tree() == {"story.md": f"one\ntwo\n{STORY}".encode(), "b.md": b"b\nc\n"}
    assert answer["results"][4]["content"] == "one\ntwo\n"
    assert answer["versions"] == {path: agent.version(path) for path in ("story.md", "b.md")}
    assert [turn.title for turn in agent.workspace.turns()] == ["Two files"]


def test_a_batch_with_one_bad_call_does_nothing_and_names_it(agent: Caller):
    version = agent.version("story.md")
    told = agent.refused("batch", calls=[insert(version, "one"), insert("0" * 16, "two")])
    assert (told["error"], told["details"]["call"], told["details"]["tool"]) == ("version_mismatch", 1, "insert_lines")
    assert agent.workspace.turns() == []
    assert agent.call("insert_lines", **insert(version, "still good")["arguments"])["status"] == "success"


def test_a_dry_call_within_a_batch_tells_and_changes_nothing(agent: Caller):
    done, dry = (insert(agent.version("story.md"), words) for words in ("one", "two"))
    dry["arguments"]["dry_run"] = True
    answer = agent.call("batch", calls=[done, dry])
    assert (answer["results"][0], answer["results"][1]["state"]) == ("ok", "dry_run")
    assert agent.text("story.md") == "one\n" + STORY


def test_a_dry_call_in_a_batch_spares_no_edit_its_place_among_the_actions_of_a_turn(agent: Caller):
    limit = agent.context.limits.actions
    calls: list[dict[str, Any]] = []
    for number in range(limit + 1):
        agent.folder.put(f"{number}.md", STORY)
        edit = {"path": f"{number}.md", "version": agent.version(f"{number}.md"), "after_line": -1, "content": "one"}
        calls += [{"tool": "insert_lines", "arguments": {**edit, "dry_run": dry}} for dry in (True, False)]
    assert agent.refused("batch", calls=calls)["error"] == "limit_exceeded"
    agent.call("batch", calls=calls[:-2])


def test_a_batch_can_be_run_dry(agent: Caller):
    answer = agent.call("batch", calls=[insert(agent.version("story.md"), "one")], dry_run=True)
    assert (answer["state"], agent.text("story.md")) == ("dry_run", STORY)


@pytest.mark.parametrize("tool", ["batch", "undo_turn"])
def test_what_acts_at_once_has_no_place_in_a_batch(agent: Caller, tool: str):
    assert agent.refused("batch", calls=[{"tool": tool}])["details"]["tool"] == tool


# The history


@pytest.mark.covers("ML-future-history")
def test_turns_are_listed_shown_and_undone(agent: Caller):
    first = agent.version("story.md")
    agent.call("edit_text", path="story.md", old_text="eleven", new_text="twelve")
    agent.call("create_document", title="b.md")
    listed = agent.call("list_turns", path="story.md")
    assert [(turn["turn"], turn["by_agent"], turn["state"]) for turn in listed["turns"]] == [(1, True, "applied")]
    [shown] = agent.call("show_turn", turn="1")["documents"]
    assert "-The lighthouse had been dark for eleven years." in shown["patch"]
    assert (shown["version_before"], shown["version_after"]) == (first, agent.version("story.md"))
    assert agent.call("undo_turn", turn=1)["undone"] == 1
    assert agent.text("story.md") == STORY
    assert agent.call("list_turns", limit=1)["has_more"] is True


def test_without_a_number_the_agents_own_last_turn_is_undone(agent: Caller):
    agent.call("edit_text", path="story.md", old_text="eleven", new_text="twelve")
    person_writes(agent.workspace, {"story.md": agent.text("story.md") + "mine\n"})
    assert agent.call("undo_turn")["undone"] == 1
    assert agent.text("story.md") == STORY + "mine\n"
    assert agent.refused("undo_turn")["error"] == "nothing_to_undo"


def test_an_agent_does_not_undo_what_a_person_did(agent: Caller):
    turn = person_writes(agent.workspace, {"story.md": STORY + "mine\n"})
    assert agent.refused("undo_turn", turn=turn.id)["error"] == "mode_refuses"


def test_an_undo_that_meets_later_changes_is_refused_with_the_places(agent: Caller):
    agent.call("edit_text", path="story.md", old_text="eleven years", new_text="twelve years")
    person_writes(agent.workspace, {"story.md": STORY.replace("eleven years", "a hundred winters")})
    told = agent.refused("undo_turn", turn=1)
    assert (told["error"], told["details"]["places"][0]["path"]) == ("conflict", "story.md")


def test_while_the_person_decides_an_agent_takes_back_its_proposals_only(folder: Folder):
    Caller.at(folder, "apply").call("edit_text", path="story.md", old_text="eleven", new_text="twelve")
    proposer = Caller.at(folder, "propose")
    assert proposer.refused("undo_turn", turn=1)["error"] == "mode_refuses"
    proposer.call("edit_text", path="story.md", old_text="twice", new_text="once")
    assert proposer.call("undo_turn")["undone"] == 2
    assert proposer.workspace.drafts() == []


def test_what_the_person_changed_since_the_last_reading_is_told(agent: Caller):
    assert agent.refused("get_changes_since", path="story.md")["details"]["field"] == "version"
    version = agent.version("story.md")
    assert agent.call("get_changes_since", path="story.md")["changed"] is False
    type_over(agent.workspace, "story.md", "eleven", "twelve")
    answer = agent.call("get_changes_since", path="story.md")
    assert (answer["since_version"], answer["changed"], answer["total_changes"]) == (version, True, 1)
    assert answer["changes"] == [
        {
            "start_line": 2,
            "end_line": 2,
            "old_start_line": 2,
            "old_end_line": 2,
            "old": LINES[2],
            "new": LINES[2].replace("eleven", "twelve"),
        }
    ]
    assert agent.call("get_changes_since", path="story.md")["changed"] is False


def test_an_old_version_is_remembered_by_the_history_too(folder: Folder):
    version = Caller.at(folder).version("story.md")
    person_writes(Caller.at(folder).workspace, {"story.md": STORY + "mine\n"})
    another = Caller.at(folder)
    assert another.call("get_changes_since", path="story.md", version=version)["changes"][0]["new"] == "mine\n"
    assert another.refused("get_changes_since", path="story.md", version="0" * 16)["error"] == "not_found"


def test_a_version_gives_no_key_to_another_document(agent: Caller):
    agent.folder.put("b.md", "other words\n")
    version = agent.version("b.md")
    person_writes(agent.workspace, {"b.md": "changed\n"})
    assert agent.refused("get_changes_since", path="story.md", version=version)["error"] == "not_found"


def test_what_was_proposed_and_replaced_is_remembered_too(proposer: Caller):
    first = proposer.call("edit_text", path="story.md", old_text="eleven", new_text="twelve")
    proposer.call("edit_text", path="story.md", old_text="twelve", new_text="ten")
    answer = proposer.call("get_changes_since", path="story.md", version=first["version"])
    assert [change["new"] for change in answer["changes"]] == [LINES[2].replace("eleven", "ten")]
