"""Sessions, modes and models: what an editor finds when it comes back, and what it can choose."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, Any

import pytest
from acp.exceptions import RequestError
from acp.schema import EnvVariable, HttpHeader, HttpMcpServer, McpServerStdio

from tests.acp.conftest import STORY
from tests.acp.editor import Editor, scripted, tell
from tests.agent.desk import call, edit, says

if TYPE_CHECKING:
    from tests.cli.running import Program

DARK = edit("story.md", "was dark", "stood dark")
LIT = STORY.replace("was dark", "stood dark")
LONG = "word " * 1000


@pytest.mark.covers("RD-acp-initialize")
def test_the_newest_common_version_is_agreed_and_what_the_agent_can_do_is_told(redraft: Program):
    editor = Editor(redraft)

    async def story() -> list[Any]:
        async with editor.connected(initialize=False):
            return [await editor.agent.initialize(protocol_version=version) for version in (1, 7)]

    first, later = tell(story())
    assert (first.protocol_version, later.protocol_version, first.agent_info.name) == (1, 1, "redraft")
    can = first.agent_capabilities
    assert (can.load_session, can.prompt_capabilities.embedded_context, can.prompt_capabilities.image) == (
        True,
        True,
        False,
    )
    assert can.session_capabilities.list is not None


def test_mcp_servers_of_the_editor_are_accepted(redraft: Program):
    editor = Editor(redraft)
    servers: list[Any] = [
        McpServerStdio(name="docs", command="/bin/false", args=["-x"], env=[EnvVariable(name="A", value="b")]),
        HttpMcpServer(type="http", name="far", url="http://127.0.0.1:9/mcp", headers=[HttpHeader(name="A", value="b")]),
    ]

    async def story() -> Any:
        async with editor.connected():
            return await editor.agent.new_session(cwd=str(redraft.folder), mcp_servers=servers)

    assert tell(story()).session_id


@pytest.mark.covers("RD-acp-load")
def test_a_session_loaded_in_a_new_process_is_told_whole(redraft: Program):
    scripted(
        redraft,
        says(LONG, call("read_document", path="story.md")),
        says("", DARK),
        says("", call("clarify_user", question="Which colour?")),
        says("I did it."),
    )
    first, second = Editor(redraft, answer="blue"), Editor(redraft)

    async def begin() -> str:
        async with first.connected("--mode", "propose"):
            session = (await first.new()).session_id
            await first.ask(session, "Light the lamp")
            return session

    async def load(session: str) -> Any:
        async with second.connected():
            loaded = await second.agent.load_session(cwd=str(redraft.folder), session_id=session, mcp_servers=[])
            before_answer = list(second.updates)
            assert before_answer[-1].session_update != "available_commands_update"
            scripted(redraft, says("And more."))
            await second.ask(session, "More")
            second.updates = before_answer
            return loaded

    loaded = tell(load(tell(begin())))
    assert loaded.modes.current_mode_id == "propose"
    said = [each.content.text for each in second.of_kind("user_message_chunk")]
    assert said == ["Light the lamp", "blue"]
    assert second.said == first.said
    shown = [(each.tool_call_id, each.title, each.kind) for each in first.of_kind("tool_call")]
    assert [(each.tool_call_id, each.title, each.kind) for each in second.of_kind("tool_call")] == shown
    assert second.diffs == first.diffs == [("story.md", STORY, LIT)]


def test_the_chat_is_told_where_a_jobs_record_is_gone(redraft: Program):
    scripted(redraft, says("", DARK), says("I did it."), more="[agent]\nmax_jobs_per_session = 1\n")
    first, second = Editor(redraft), Editor(redraft)

    async def begin() -> str:
        async with first.connected("--mode", "apply"):
            session = (await first.new()).session_id
            await first.ask(session, "Light the lamp")
            scripted(redraft, says("Nothing to do."), more="[agent]\nmax_jobs_per_session = 1\n")
            await first.ask(session, "Again")
            return session

    async def load(session: str) -> None:
        async with second.connected():
            await second.agent.load_session(cwd=str(redraft.folder), session_id=session, mcp_servers=[])

    tell(load(tell(begin())))
    shown = ["user_message_chunk", "tool_call", "agent_message_chunk", "user_message_chunk", "agent_message_chunk"]
    assert second.kinds[:5] == shown
    assert second.said == "I did it.Nothing to do."


@pytest.mark.covers("RD-acp-list")
def test_sessions_are_listed_by_folder_newest_first_and_page_by_page(redraft: Program):
    scripted(redraft, says("Yes."))
    editor = Editor(redraft)
    elsewhere = redraft.home / "elsewhere"
    elsewhere.mkdir()

    async def story() -> Any:
        async with editor.connected():
            for number in range(2):
                await editor.ask((await editor.new()).session_id, f"Request {number}")
            unused = await editor.new()
            listed = await editor.agent.list_sessions(cwd=str(redraft.folder))
            none = await editor.agent.list_sessions(cwd=str(elsewhere))
            with pytest.raises(RequestError):
                await editor.agent.list_sessions(cwd=str(redraft.folder), cursor="nonsense")
            last = await editor.agent.list_sessions(cwd=str(redraft.folder), cursor="50")
            return unused.session_id, listed, none, last

    unused, listed, none, last = tell(story())
    assert [each.title for each in listed.sessions] == ["Request 1", "Request 0"]
    assert {each.cwd for each in listed.sessions} == {str(redraft.folder)}
    assert (listed.next_cursor, none.sessions, last.sessions) == (None, [], [])
    assert unused not in {session["session_id"] for session in redraft.json("jobs")["jobs"]}


def test_a_session_is_resumed_without_being_told_again_and_can_be_closed(redraft: Program):
    scripted(redraft, says("Yes."))
    first, second = Editor(redraft), Editor(redraft)

    async def begin() -> str:
        async with first.connected():
            session = (await first.new()).session_id
            await first.ask(session, "Are you there?")
            await first.agent.close_session(session_id=session)
            with pytest.raises(RequestError, match="no open session"):
                await first.ask(session, "And now?")
            return session

    async def resume(session: str) -> Any:
        async with second.connected():
            await second.agent.resume_session(session_id=session, cwd=str(redraft.folder), mcp_servers=[])
            return await second.ask(session, "And now?")

    assert tell(resume(tell(begin()))).stop_reason == "end_turn"
    assert second.of_kind("user_message_chunk") == []


@pytest.mark.covers("RD-acp-unknown-session")
def test_an_unknown_session_or_folder_is_an_error(redraft: Program):
    editor = Editor(redraft)

    async def story() -> list[int]:
        async with editor.connected():
            here, codes = str(redraft.folder), list[int]()
            for act in (
                lambda: editor.ask("sess_none", "Hello"),
                lambda: editor.agent.load_session(cwd=here, session_id="sess_none", mcp_servers=[]),
                lambda: editor.agent.set_session_mode(session_id="sess_none", mode_id="read"),
                lambda: editor.agent.new_session(cwd="relative", mcp_servers=[]),
                lambda: editor.agent.new_session(cwd=f"{here}/none", mcp_servers=[]),
            ):
                with pytest.raises(RequestError) as refused:
                    await act()
                codes.append(refused.value.code)
            await editor.agent.cancel(session_id="sess_none")  # a notification: nothing comes back
            return codes

    assert tell(story()) == [-32002, -32002, -32002, -32602, -32602]


@pytest.mark.covers("RD-acp-modes")
def test_a_mode_is_chosen_either_way_and_the_next_prompt_keeps_to_it(redraft: Program):
    scripted(redraft, says("", DARK), says("I did it."))
    editor = Editor(redraft)

    async def story() -> Any:
        async with editor.connected():
            session = await editor.new()
            await editor.agent.set_session_mode(session_id=session.session_id, mode_id="read")
            await editor.ask(session.session_id, "Light the lamp")
            assert redraft.read("story.md") == STORY
            options = await editor.agent.set_config_option(
                config_id="mode", session_id=session.session_id, value="apply"
            )
            await editor.ask(session.session_id, "Light the lamp")
            with pytest.raises(RequestError) as refused:
                await editor.agent.set_session_mode(session_id=session.session_id, mode_id="wild")
            assert refused.value.code == -32602
            return session, options

    session, options = tell(story())
    assert [each.id for each in session.modes.available_modes] == ["read", "propose", "apply"]
    assert session.modes.current_mode_id == "propose"
    assert [each.current_mode_id for each in editor.of_kind("current_mode_update")] == ["read", "apply"]
    assert {each.id: each.current_value for each in options.config_options}["mode"] == "apply"
    assert redraft.read("story.md") == LIT


def test_a_folder_that_allows_less_offers_less(redraft: Program):
    redraft.settings('mode = "propose"\n', of_folder=True)
    editor = Editor(redraft)

    async def story() -> Any:
        async with editor.connected("--mode", "apply"):
            return await editor.new()

    modes = tell(story()).modes
    assert ([each.id for each in modes.available_modes], modes.current_mode_id) == (["read", "propose"], "propose")


def test_what_the_person_should_know_of_the_folder_is_told_at_the_first_prompt(redraft: Program):
    redraft.settings("mode = nonsense\n", of_folder=True)
    scripted(redraft, says("Yes."))
    editor = Editor(redraft)

    async def story() -> Any:
        async with editor.connected():
            session = await editor.new()
            for _ in range(2):
                await editor.ask(session.session_id, "Are you there?")
            return session

    assert [each.id for each in tell(story()).modes.available_modes] == ["read"]
    assert editor.thought.count("Until it is fixed, agents can only read here.") == 1


@pytest.mark.covers("RD-acp-models")
def test_a_model_is_chosen_among_those_that_are_set_up(redraft: Program):
    scripted(redraft, says("The script answers."))
    editor = Editor(redraft)

    async def story() -> Any:
        async with editor.connected():
            session = await editor.new()
            await editor.agent.set_config_option(config_id="model", session_id=session.session_id, value="offline")
            await editor.ask(session.session_id, 'Replace "dark" with "lit" in story.md')
            assert "The script" not in editor.said
            await editor.agent.set_config_option(config_id="model", session_id=session.session_id, value="play")
            await editor.ask(session.session_id, "Who answers?")
            with pytest.raises(RequestError) as refused:
                await editor.agent.set_config_option(config_id="model", session_id=session.session_id, value="x")
            assert refused.value.code == -32602
            return session

    session = tell(story())
    option = next(each for each in session.config_options if each.id == "model")
    assert [each.value for each in option.options] == ["default", "play", "offline"]
    assert editor.said.endswith("The script answers.")


def test_a_model_that_does_not_exist_fails_with_those_that_do(redraft: Program):
    scripted(redraft, says("Yes."))
    editor = Editor(redraft)

    async def story() -> Any:
        async with editor.connected("--model", "nonsense"):
            session = await editor.new()
            with pytest.raises(RequestError, match="nonsense"):
                await editor.ask(session.session_id, "Are you there?")
            await editor.agent.set_config_option(config_id="model", session_id=session.session_id, value="default")
            return await editor.ask(session.session_id, "Are you there?")

    assert tell(story()).stop_reason == "end_turn"


def test_a_prompt_after_the_program_was_killed_goes_on_in_the_session(redraft: Program):
    scripted(redraft, says("", DARK), says("Never.", delay_ms=60_000))
    first, second = Editor(redraft), Editor(redraft)

    async def killed() -> str:
        async with first.connected("--mode", "apply", status=-signal.SIGKILL):
            session = (await first.new()).session_id

            async def kill(update: Any) -> None:
                if update.session_update == "tool_call_update":
                    first.process.kill()

            first.on_update = kill
            with pytest.raises(ConnectionError):
                await first.ask(session, "Light the lamp")
            return session

    async def go_on(session: str) -> Any:
        async with second.connected():
            await second.agent.load_session(cwd=str(redraft.folder), session_id=session, mcp_servers=[])
            scripted(redraft, says("Here I am."))
            return await second.ask(session, "And now?")

    assert tell(go_on(tell(killed()))).stop_reason == "end_turn"
    assert second.said.endswith("Here I am.")
    assert redraft.read("story.md") == STORY
