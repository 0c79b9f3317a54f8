"""What the person's rules ask is asked through the editor, with what would be changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from redraft.agent.memory.permissions import PermissionRule, PermissionRules
from redraft.workspace.turns.modes import Verdict
from tests.acp.conftest import STORY
from tests.acp.editor import Editor, scripted, tell
from tests.agent.desk import call, edit, says

if TYPE_CHECKING:
    from acp.schema import PermissionOption

    from tests.cli.running import Program

DELETE = call("delete_document", path="story.md")


def always(options: list[PermissionOption]) -> str:
    return next(each.option_id for each in options if each.kind == "allow_always")


def deleted(redraft: Program, editor: Editor, times: int = 1) -> Any:
    scripted(redraft, says("", DELETE), says("Gone."))

    async def story() -> Any:
        async with editor.connected("--mode", "apply"):
            session = (await editor.new()).session_id
            for _ in range(times - 1):
                await editor.ask(session, "Delete it")
                redraft.write("story.md", STORY)
            return await editor.ask(session, "Delete it")

    return tell(story())


@pytest.mark.covers("RD-acp-permission")
def test_a_deletion_is_asked_with_its_document_and_done_once_allowed(redraft: Program):
    editor = Editor(redraft, choose=lambda _options: "allow")
    answer = deleted(redraft, editor)
    assert (answer.stop_reason, (redraft.folder / "story.md").exists()) == ("end_turn", False)
    [asked] = editor.asked
    assert asked.title == "The agent wants to move story.md to the trash."
    assert [(each.type, each.old_text, each.new_text) for each in asked.content or ()] == [("diff", STORY, "")]
    assert [each.kind for each in editor.options[0]] == ["allow_once", "allow_always", "reject_once"]
    begun = next(each for each in editor.of_kind("tool_call") if each.tool_call_id == asked.tool_call_id)
    assert (begun.kind, begun.status) == ("delete", "pending")
    assert [each.path for each in begun.locations] == [str(redraft.folder / "story.md")]
    [ended] = [each for each in editor.of_kind("tool_call_update") if each.tool_call_id == asked.tool_call_id]
    assert ended.status == "completed"


def test_what_is_rejected_is_not_done_and_the_prompt_ends(redraft: Program):
    editor = Editor(redraft, choose=lambda _options: "reject")
    answer = deleted(redraft, editor)
    assert (answer.stop_reason, redraft.read("story.md")) == ("end_turn", STORY)
    assert "cancelled the action" in editor.said


def test_an_editor_that_calls_the_question_off_cancels_the_prompt(redraft: Program):
    editor = Editor(redraft, choose=lambda _options: None)
    assert deleted(redraft, editor).stop_reason == "cancelled"
    assert redraft.read("story.md") == STORY


@pytest.mark.covers("RD-acp-always")
def test_what_is_always_allowed_is_a_rule_and_is_not_asked_again(redraft: Program):
    editor = Editor(redraft, choose=always)
    deleted(redraft, editor, times=2)
    assert (len(editor.asked), (redraft.folder / "story.md").exists()) == (1, False)
    [rule] = redraft.json("rules")["rules"]
    assert (rule["tool"], rule["path"], rule["verdict"]) == ("delete_document", "story.md", "allow")


def test_a_rule_that_asks_before_an_edit_shows_the_diff_before_it_is_made(redraft: Program):
    scripted(redraft, says("", edit("story.md", "was dark", "stood dark")), says("Done."))
    editor = Editor(redraft, choose=lambda _options: "allow")
    with redraft.open() as workspace:
        PermissionRules(workspace.state).remember(PermissionRule("modify", "*", Verdict.ASK))

    async def story() -> None:
        async with editor.connected("--mode", "apply"):
            await editor.ask((await editor.new()).session_id, "Light it")

    tell(story())
    lit = STORY.replace("was dark", "stood dark")
    [asked] = editor.asked
    assert [(each.old_text, each.new_text) for each in asked.content or ()] == [(STORY, lit)]
    assert redraft.read("story.md") == lit


def test_cancel_while_the_question_is_open_ends_the_prompt(redraft: Program):
    scripted(redraft, says("", DELETE), says("Gone."))
    editor = Editor(redraft)

    async def story() -> Any:
        async with editor.connected("--mode", "apply"):
            session = (await editor.new()).session_id

            async def cancel_when_asked(update: Any) -> None:
                if update.session_update == "tool_call" and update.status == "pending":
                    await editor.agent.cancel(session_id=session)

            editor.on_update = cancel_when_asked
            editor.choose = lambda _options: None
            return await editor.ask(session, "Delete it")

    assert tell(story()).stop_reason == "cancelled"
    assert redraft.read("story.md") == STORY


def test_a_job_that_would_cost_much_asks_before_it_begins(redraft: Program):
    scripted(redraft, says("Cheap after all."), more="[agent]\nask_above_tokens = 1\n")
    editor = Editor(redraft, choose=lambda _options: "allow")

    async def story() -> Any:
        async with editor.connected():
            return await editor.ask((await editor.new()).session_id, "Think hard")

    assert tell(story()).stop_reason == "end_turn"
    assert (editor.asked[0].title or "").startswith("This will take")
    assert [each.kind for each in editor.options[0]] == ["allow_once", "reject_once"]
    assert editor.said == "Cheap after all."
