"""Prompts: what the person asks, what they see while the agent works, and what becomes of their documents."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from acp import embedded_text_resource, image_block, resource_block, resource_link_block
from acp.exceptions import RequestError

from tests.acp.conftest import STORY
from tests.acp.editor import Editor, scripted, tell
from tests.agent.desk import call, edit, says
from tests.providers.endpoint import Endpoint, stream

if TYPE_CHECKING:
    from tests.cli.running import Program

PAID: dict[str, Any] = {"usage": {"input_tokens": 900, "output_tokens": 20}, "price_usd": "0.003"}
DARK = edit("story.md", "was dark", "stood dark")
LIT = STORY.replace("was dark", "stood dark")


def link(program: Program, name: str, fragment: str = "") -> Any:
    return resource_link_block(name, f"file://{program.folder / name}{fragment}")


def prompt(editor: Editor, *blocks: Any, arguments: tuple[str, ...] = ()) -> Any:
    """One prompt in a new session; the answer."""

    async def story() -> Any:
        async with editor.connected(*arguments):
            return await editor.ask((await editor.new()).session_id, *blocks)

    return tell(story())


def anthropic_events(text: str, thinking: str = "") -> list[dict[str, Any]]:
    """A streamed answer of a remote model."""
    usage = {"input_tokens": 40, "output_tokens": 7}
    message: dict[str, Any] = {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [],
        "usage": usage,
    }
    found: list[dict[str, Any]] = [{"type": "message_start", "message": {**message, "stop_reason": None}}]
    blocks = [("thinking", "thinking_delta", thinking)] if thinking else []
    for number, (kind, delta, words) in enumerate([*blocks, ("text", "text_delta", text)]):
        start = {"type": kind, kind: "", **({"signature": ""} if kind == "thinking" else {})}
        found += [
            {"type": "content_block_start", "index": number, "content_block": start},
            {"type": "content_block_delta", "index": number, "delta": {"type": delta, kind: words}},
            {"type": "content_block_stop", "index": number},
        ]
    end = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 7}}
    return [*found, end, {"type": "message_stop"}]


@pytest.mark.covers("RD-acp-prompt")
def test_a_whole_prompt_streams_its_words_shows_its_diff_and_writes_the_file(redraft: Program):
    look = call("read_document", path="story.md", start_line=2)
    scripted(redraft, says("I look. ", look), says("", DARK, **PAID), says("I did it."))
    editor = Editor(redraft)
    answer = prompt(editor, "Light the lamp in ", link(redraft, "story.md"), arguments=("--mode", "apply"))
    assert (answer.stop_reason, answer.usage.total_tokens) == ("end_turn", 920)
    assert editor.kinds == [
        "available_commands_update",
        "agent_message_chunk",
        "tool_call",
        "tool_call_update",
        "tool_call",
        "tool_call_update",
        "agent_message_chunk",
        "session_info_update",
    ]
    place = str(redraft.folder / "story.md")
    read, changed = editor.of_kind("tool_call")
    assert (read.title, read.kind, read.status) == ("Read story.md", "read", "in_progress")
    assert [(each.path, each.line) for each in read.locations] == [(place, 3)]
    assert (changed.title, changed.kind) == ("Edit story.md", "edit")
    seen, done = editor.of_kind("tool_call_update")
    assert (seen.tool_call_id, seen.status, seen.content) == (read.tool_call_id, "completed", None)
    assert (done.tool_call_id, done.status) == (changed.tool_call_id, "completed")
    assert [(each.path, each.line) for each in done.locations] == [(place, 3)]
    assert editor.diffs == [("story.md", STORY, LIT)]
    assert len(editor.of_kind("agent_message_chunk")) > 4  # word by word
    assert editor.said.startswith("I look. I did it.\n\nTurn 1 is written.")
    assert redraft.read("story.md") == LIT
    redraft.ok("undo", "1")
    assert redraft.read("story.md") == STORY


@pytest.mark.covers("RD-acp-propose")
def test_in_propose_mode_the_changes_wait_for_review_and_the_answer_says_how(redraft: Program):
    scripted(redraft, says("", DARK), says("I did it."))
    editor = Editor(redraft)
    prompt(editor, "Light the lamp", arguments=("--mode", "propose"))
    assert editor.diffs == [("story.md", STORY, LIT)]
    assert all(
        words in editor.said for words in ("waits for your review", "`redraft accept --turn 1`", "`redraft open`")
    )
    assert redraft.read("story.md") == STORY
    redraft.ok("accept", "--all")
    assert redraft.read("story.md") == LIT


def test_the_commands_that_are_told_work_where_the_editor_has_another_folder_open(redraft: Program):
    scripted(redraft, says("", DARK), says("I did it."))
    editor = Editor(redraft)

    async def story() -> None:
        async with editor.connected(str(redraft.folder)):
            session = await editor.agent.new_session(cwd=str(redraft.home), mcp_servers=[])
            await editor.ask(session.session_id, "Light the lamp")

    tell(story())
    assert f"`redraft accept --turn 1 --folder {redraft.folder}`" in editor.said
    assert editor.diffs == [("story.md", STORY, LIT)]


def test_creations_moves_deletions_and_searches_are_told_as_such(redraft: Program):
    calls = [
        call("create_document", path="new.md", content="New.\n"),
        call("move_document", from_path="other.md", to_path="moved.md"),
        call("delete_document", path="story.md"),
        call("search_documents", query="lamp"),
    ]
    scripted(redraft, says("", *calls), says("Done."))
    editor = Editor(redraft)
    prompt(editor, "Tidy up", arguments=("--mode", "propose"))
    assert [(each.kind, each.title) for each in editor.of_kind("tool_call")] == [
        ("edit", "Create new.md"),
        ("move", "Move other.md to moved.md"),
        ("delete", "Delete story.md"),
        ("search", "Search for 'lamp'"),
    ]
    assert ("new.md", None, "New.\n") in editor.diffs
    assert ("story.md", STORY, "") in editor.diffs


def test_a_call_that_fails_says_why(redraft: Program):
    scripted(redraft, says("", edit("story.md", "no such words", "others")), says("Sorry."))
    editor = Editor(redraft)
    prompt(editor, "Try")
    [done] = editor.of_kind("tool_call_update")
    assert done.status == "failed"
    assert "story.md" in done.content[0].content.text


@pytest.mark.covers("RD-acp-links")
def test_links_and_embedded_texts_reach_the_model_and_what_is_elsewhere_is_only_named(redraft: Program):
    blocks = [
        "Compare ",
        link(redraft, "story.md", "#L3-5"),
        " with ",
        resource_block(embedded_text_resource(f"file://{redraft.folder}/other.md", "One line, unsaved.\n")),
        " and ",
        resource_link_block("passwd", "file:///etc/passwd"),
    ]
    with Endpoint() as model:
        model.answers = [stream(*anthropic_events("Both."), names=True)]
        redraft.settings(f'[models.far]\nkind = "anthropic"\nmodel = "m"\nbase_url = "{model.url}"\n')
        redraft.variables["ANTHROPIC_API_KEY"] = "key"
        editor = Editor(redraft)
        prompt(editor, *blocks, arguments=("--model", "far"))
        asked = str(model.asked[0].body["messages"])
    assert "Compare `story.md` (lines 3-5) with `other.md` and [passwd](file:///etc/passwd)" in asked
    assert "One line, unsaved." in asked
    assert "root:" not in asked
    assert editor.said == "Both."


@pytest.mark.covers("RD-acp-streamed")
def test_what_a_model_thinks_is_shown_as_its_thoughts_and_its_usage_is_told(redraft: Program):
    with Endpoint() as model:
        model.answers = [stream(*anthropic_events("Four.", "Two and two."), names=True)]
        settings = f'[models.far]\nkind = "anthropic"\nmodel = "m"\nbase_url = "{model.url}"\ncontext_tokens = 1000\n'
        redraft.settings(settings)
        redraft.variables["ANTHROPIC_API_KEY"] = "key"
        editor = Editor(redraft)
        answer = prompt(editor, "How much is it?", arguments=("--model", "far"))
    assert (editor.thought, editor.said) == ("Two and two.", "Four.")
    assert editor.kinds.index("agent_thought_chunk") < editor.kinds.index("agent_message_chunk")
    [usage] = editor.of_kind("usage_update")
    assert (usage.used, usage.size, answer.usage.input_tokens) == (47, 1000, 40)


@pytest.mark.covers("RD-acp-offline")
def test_without_a_model_the_offline_assistant_answers_and_says_so_once(redraft: Program):
    editor = Editor(redraft)

    async def story() -> None:
        async with editor.connected("--mode", "apply"):
            session = (await editor.new()).session_id
            await editor.ask(session, 'Replace "dark" with "lit" in story.md')
            await editor.ask(session, 'Replace "lit" with "bright" in story.md')

    tell(story())
    assert editor.said.count("No model is set up") == 1
    assert redraft.read("story.md") == STORY.replace("dark", "bright")


@pytest.mark.parametrize("first", [True, False])
def test_this_document_is_the_one_whose_link_is_attached_to_the_words(redraft: Program, first: bool):
    editor = Editor(redraft)
    words = 'Replace "dark" with "bright" in this document'
    blocks = [link(redraft, "story.md"), words] if first else [words, link(redraft, "story.md")]
    prompt(editor, *blocks, arguments=("--mode", "propose"))
    assert [each["path"] for each in redraft.json("diff")["documents"]] == ["story.md"]


@pytest.mark.covers("RD-acp-cancel")
def test_cancel_in_the_middle_ends_the_prompt_as_cancelled_and_leaves_nothing(redraft: Program):
    scripted(redraft, says("I begin. ", DARK), says("Never.", delay_ms=60_000))
    editor = Editor(redraft)

    async def story() -> Any:
        async with editor.connected("--mode", "apply"):
            session = (await editor.new()).session_id

            async def cancel_after_edit(update: Any) -> None:
                if update.session_update == "tool_call_update":
                    await editor.agent.cancel(session_id=session)

            editor.on_update = cancel_after_edit
            stopped = await editor.ask(session, "Light the lamp")
            editor.on_update = None
            scripted(redraft, says("Again."))
            await editor.ask(session, "And now?")
            return stopped

    assert tell(story()).stop_reason == "cancelled"
    assert redraft.read("story.md") == STORY
    assert "Again." in editor.said


def test_a_model_that_fails_is_an_error_with_its_reason(redraft: Program):
    scripted(redraft, {"error": "unavailable", "message": "The model is asleep."})
    editor = Editor(redraft)
    with pytest.raises(RequestError, match="asleep") as failed:
        prompt(editor, "Wake up")
    assert failed.value.code == -32603


def test_a_job_that_reaches_its_limit_says_so_and_what_it_did_waits(redraft: Program):
    scripted(redraft, *(says("", DARK) for _ in range(3)), more="[agent]\ntool_calls = 1\n")
    editor = Editor(redraft)
    answer = prompt(editor, "Light the lamp", arguments=("--mode", "apply"))
    assert answer.stop_reason == "max_turn_requests"
    assert "used up its tool calls" in editor.said
    assert "waits for your review" in editor.said
    assert redraft.read("story.md") == STORY


@pytest.mark.covers("RD-acp-commands")
def test_slash_commands_are_offered_and_work(redraft: Program):
    editor = Editor(redraft)
    prompt(editor, "/remember Use British spelling.")
    [offered] = editor.of_kind("available_commands_update")
    assert [each.name for each in offered.available_commands] == ["remember", "forget"]
    assert editor.said == "I will remember that."


@pytest.mark.covers("RD-acp-busy")
def test_a_second_prompt_in_a_busy_session_is_refused_and_the_first_goes_on(redraft: Program):
    scripted(redraft, says("One. ", call("list_documents")), says("Two.", delay_ms=1500))
    editor = Editor(redraft)

    async def story() -> Any:
        async with editor.connected():
            session = (await editor.new()).session_id
            begun = asyncio.Event()

            async def note(update: Any) -> None:
                begun.set() if update.session_update == "tool_call_update" else None

            editor.on_update = note
            first = asyncio.create_task(editor.ask(session, "First"))
            await begun.wait()
            with pytest.raises(RequestError, match="already running") as refused:
                await editor.ask(session, "Second")
            assert refused.value.code == -32600
            return await first

    assert tell(story()).stop_reason == "end_turn"
    assert editor.said == "One. Two."


def test_what_was_not_offered_is_refused(redraft: Program):
    editor = Editor(redraft)
    with pytest.raises(RequestError, match="no images") as refused:
        prompt(editor, image_block("aGk=", "image/png"))
    assert refused.value.code == -32602
    with pytest.raises(RequestError, match="instruction") as refused:
        prompt(editor, "   ")
    assert refused.value.code == -32602


@pytest.mark.covers("RD-acp-questions")
def test_a_question_is_asked_in_a_form_where_the_editor_has_forms(redraft: Program):
    scripted(
        redraft,
        says("", call("clarify_user", question="Which colour?")),
        says("", edit("other.md", "One", "$answer")),
        says("Done."),
    )
    editor = Editor(redraft, answer="blue")
    answer = prompt(editor, "Paint it")
    assert (answer.stop_reason, editor.questions) == ("end_turn", ["Which colour?"])
    [asked, *_] = [each for each in editor.of_kind("tool_call_update") if "answer" in (each.raw_output or {})]
    assert asked.raw_output["answer"] == "blue"


def test_where_it_has_none_the_question_is_the_answer_and_the_next_prompt_answers_it(redraft: Program):
    scripted(redraft, says("", call("clarify_user", question="Which colour?")), says("Painted."))
    editor = Editor(redraft)

    async def story() -> tuple[Any, Any]:
        async with editor.connected():
            session = (await editor.new()).session_id
            first = await editor.ask(session, "Paint it")
            assert editor.said == "Which colour?"
            return first, await editor.ask(session, "blue")

    first, second = tell(story())
    assert (first.stop_reason, second.stop_reason, editor.said) == ("end_turn", "end_turn", "Which colour?Painted.")
    [asked] = [each for each in editor.of_kind("tool_call_update") if "answer" in (each.raw_output or {})]
    assert asked.raw_output["answer"] == "blue"


def test_a_job_that_runs_again_because_a_file_changed_is_shown_to_its_end(redraft: Program):
    scripted(redraft, says("", DARK), says("I did it.", delay_ms=1500))
    editor = Editor(redraft)

    async def write_over(update: Any) -> None:
        if update.session_update == "tool_call_update" and "was dark" in redraft.read("story.md"):
            redraft.write("story.md", STORY.replace("was dark", "burned bright"))

    editor.on_update = write_over
    answer = prompt(editor, "Light the lamp", arguments=("--mode", "apply"))
    assert answer.stop_reason == "end_turn"
    assert [each.status for each in editor.of_kind("tool_call_update")] == ["completed", "failed"]
    assert "Changed in the meantime: story.md" in editor.thought
    assert redraft.read("story.md") == STORY.replace("was dark", "burned bright")
