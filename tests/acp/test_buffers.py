"""What the editor holds unsaved is what the agent reads, and nothing of it is lost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redraft.acp_server.client_session import match_line_ends
from tests.acp.conftest import STORY
from tests.acp.editor import Editor, scripted, tell
from tests.agent.desk import call, edit, says

if TYPE_CHECKING:
    from tests.cli.running import Program

READ = call("read_document", path="story.md")
DARK = edit("story.md", "was dark", "stood dark")
TYPED = STORY.replace("the keys", "her silver keys")


def prompt(editor: Editor, mode: str = "apply", text: str = "Light the lamp") -> Any:
    async def story() -> Any:
        async with editor.connected("--mode", mode):
            return await editor.ask((await editor.new()).session_id, text)

    return tell(story())


def contents(editor: Editor) -> list[str]:
    """What the model was shown of the document, read by read."""
    return [
        each.raw_output["content"]
        for each in editor.of_kind("tool_call_update")
        if "content" in (each.raw_output or {})
    ]


@pytest.mark.covers("RD-acp-buffers")
def test_the_agent_reads_the_unsaved_buffer_and_writes_around_it(redraft: Program):
    scripted(redraft, says("", READ), says("", DARK), says("I did it."))
    editor = Editor(redraft, buffers={"story.md": TYPED})
    prompt(editor)
    assert contents(editor) == [TYPED]
    assert editor.diffs == [("story.md", TYPED, TYPED.replace("was dark", "stood dark"))]
    # The file has the agent's change alone; what is typed is the person's, unsaved, there and here.
    assert redraft.read("story.md") == STORY.replace("was dark", "stood dark")
    assert "unsaved typing in story.md" in editor.said
    assert editor.buffers == {"story.md": TYPED}
    [document] = redraft.json("diff")["documents"]
    assert [(hunk["author"], hunk["working"]) for hunk in document["hunks"]] == [("user", "her silver")]


def test_once_the_person_saves_in_the_editor_nothing_is_left_unsaved(redraft: Program):
    scripted(redraft, says("", READ), says("", DARK), says("I did it."))
    editor = Editor(redraft, buffers={"story.md": TYPED})
    prompt(editor, mode="propose")
    assert redraft.read("story.md") == STORY
    redraft.write("story.md", TYPED)
    [document] = redraft.json("diff")["documents"]
    assert [hunk["author"] for hunk in document["hunks"]] == ["agent"]
    redraft.ok("accept", "--all")
    assert redraft.read("story.md") == TYPED.replace("was dark", "stood dark")
    assert redraft.json("diff")["documents"] == []


def test_what_is_typed_between_two_calls_is_seen_and_so_is_what_is_taken_back(redraft: Program):
    scripted(redraft, says("", READ), says("", READ), says("", READ), says("Done."))
    editor = Editor(redraft, buffers={"story.md": STORY})
    texts = iter([TYPED, STORY])

    async def type_on(update: Any) -> None:
        if update.session_update == "tool_call_update" and editor.buffers is not None:
            editor.buffers["story.md"] = next(texts, STORY)

    editor.on_update = type_on
    prompt(editor)
    assert contents(editor) == [STORY, TYPED, STORY]
    assert redraft.json("diff")["documents"] == []
    assert redraft.read("story.md") == STORY


def test_an_edit_of_words_that_the_person_changed_meanwhile_is_refused(redraft: Program):
    scripted(redraft, says("", READ), says("", DARK), says("Sorry."))
    editor = Editor(redraft, buffers={"story.md": STORY})
    mine = STORY.replace("was dark", "was gone")

    async def type_on(update: Any) -> None:
        if update.session_update == "tool_call_update" and editor.buffers is not None:
            editor.buffers["story.md"] = mine

    editor.on_update = type_on
    prompt(editor)
    assert [each.status for each in editor.of_kind("tool_call_update")] == ["completed", "failed"]
    assert redraft.read("story.md") == STORY
    [document] = redraft.json("diff")["documents"]
    assert [hunk["author"] for hunk in document["hunks"]] == ["user"]


def test_typing_beside_a_pending_proposal_keeps_both(redraft: Program):
    scripted(redraft, says("", READ), says("", DARK), says("I did it."))
    editor = Editor(redraft, buffers={"story.md": STORY})

    async def story() -> None:
        async with editor.connected("--mode", "propose"):
            session = (await editor.new()).session_id
            await editor.ask(session, "Light the lamp")
            editor.buffers = {"story.md": TYPED}
            scripted(redraft, says("", READ), says("Seen."))
            await editor.ask(session, "And now?")

    tell(story())
    assert contents(editor)[-1] == TYPED.replace("was dark", "stood dark")
    [document] = redraft.json("diff")["documents"]
    assert [hunk["author"] for hunk in document["hunks"]] == ["agent", "user"]
    redraft.ok("reject", "--all")
    redraft.write("story.md", TYPED)
    assert redraft.json("diff")["documents"] == []


def test_a_buffer_that_was_loaded_before_the_file_changed_is_no_typing_until_the_person_types(redraft: Program):
    scripted(redraft, says("", READ), says("", DARK), says("I did it."))
    prompt(Editor(redraft, buffers={"story.md": STORY}))
    lit = STORY.replace("was dark", "stood dark")
    assert redraft.read("story.md") == lit
    editor = Editor(redraft, buffers={"story.md": STORY})  # a new process, and an editor that did not load it again

    async def story() -> None:
        async with editor.connected():
            session = (await editor.new()).session_id
            scripted(redraft, says("", READ), says("Seen."))
            await editor.ask(session, "Read it")
            editor.buffers = {"story.md": TYPED}
            await editor.ask(session, "Read it")

    tell(story())
    assert contents(editor) == [lit, lit.replace("the keys", "her silver keys")]
    [document] = redraft.json("diff")["documents"]
    assert [(hunk["author"], hunk["working"]) for hunk in document["hunks"]] == [("user", "her silver")]


def test_line_ends_are_no_typing_and_typed_lines_take_those_of_the_file(redraft: Program):
    crlf = STORY.replace("\n", "\r\n")
    (redraft.folder / "story.md").write_bytes(crlf.encode())
    scripted(redraft, says("", READ), says("", DARK), says("I did it."))
    editor = Editor(redraft, buffers={"story.md": STORY.removesuffix("\n")})
    prompt(editor)
    assert (redraft.folder / "story.md").read_bytes() == crlf.replace("was dark", "stood dark").encode()
    assert redraft.json("diff")["documents"] == []


def test_an_editor_that_does_not_know_a_document_or_fails_is_not_waited_for(redraft: Program):
    scripted(redraft, says("", READ, call("read_document", path="none.md")), says("", DARK), says("I did it."))
    editor = Editor(redraft, buffers={})

    async def fail(path: str, session_id: str, **_: Any) -> Any:
        raise RuntimeError("broken")

    editor.read_text_file = fail  # type: ignore[method-assign]
    prompt(editor)
    assert redraft.read("story.md") == STORY.replace("was dark", "stood dark")


def test_the_editor_is_never_asked_for_a_secret_nor_for_what_is_elsewhere(redraft: Program):
    redraft.write(".env", "TOKEN=abc\n")
    reads = [call("read_document", path=path) for path in (".env", "../outside.md", "/etc/passwd", "story.md")]
    scripted(redraft, says("", *reads), says("Done."))
    editor = Editor(redraft, buffers={})
    prompt(editor)
    assert set(editor.read) == {str(redraft.folder / "story.md")}


def test_an_editor_that_does_not_offer_its_files_is_not_asked(redraft: Program):
    scripted(redraft, says("", READ), says("Done."))
    editor = Editor(redraft)
    prompt(editor)
    assert (editor.read, contents(editor)) == ([], [STORY])


LINES = st.lists(st.tuples(st.sampled_from(["", "a", "b", "a b"]), st.sampled_from(["\n", "\r\n", "\r"])), max_size=8)


def plain(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


@given(LINES, st.lists(st.sampled_from(["", "a", "b", "c"]), max_size=8))
def test_a_buffer_keeps_its_words_and_the_file_its_line_ends(file: list[tuple[str, str]], held: list[str]):
    before = "".join(line + end for line, end in file)
    assert match_line_ends(plain(before), before) == before
    if not plain(before).endswith("\n\n"):  # else a blank line was taken out
        assert match_line_ends(plain(before).removesuffix("\n"), before) == before
    text = "".join(f"{line}\n" for line in held)
    found = match_line_ends(text, before)
    assert plain(found) in (text, f"{text}\n", text.removesuffix("\n"))
