"""The editor and the app on one folder: both type, the agent works for the editor, and everybody sees the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.acp.conftest import STORY
from tests.acp.editor import Editor, scripted, tell
from tests.agent.desk import call, edit, says
from tests.server.live.people import Person, until
from tests.server.serving import serving

if TYPE_CHECKING:
    from tests.cli.running import Program

TYPED = STORY.replace("the keys", "her silver keys")


def test_what_is_typed_in_the_editor_and_in_the_app_is_all_there_and_the_agent_reads_both(redraft: Program):
    scripted(
        redraft,
        says("", call("read_document", path="story.md")),
        says("", edit("story.md", "was dark", "stood dark")),
        says("I did it."),
    )
    editor = Editor(redraft, buffers={"story.md": TYPED})

    async def story(server: Any) -> str:
        person = await Person(server).join()
        person.type(0, "In the app. ")
        await person.sent()
        async with editor.connected("--mode", "propose"):
            await editor.ask((await editor.new()).session_id, "Light the lamp")
            whole = "In the app. " + TYPED.replace("was dark", "stood dark")
            await until(lambda: str(person) == whole, lambda: str(person))
        await person.leave()
        return str(person)

    with serving(redraft.folder) as server:
        tell(story(server))
    [read] = [
        each.raw_output["content"]
        for each in editor.of_kind("tool_call_update")
        if "lines" in each.raw_output and "content" in each.raw_output
    ]
    assert read == "In the app. " + TYPED
    [document] = redraft.json("diff")["documents"]
    assert [hunk["author"] for hunk in document["hunks"]] == ["user", "agent", "user"]
    assert redraft.read("story.md") == STORY
