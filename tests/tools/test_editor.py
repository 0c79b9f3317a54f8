"""`replaceText` and `getEditorText`: the specification's edge cases, where no browser shows the document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from redraft.errors import Refused
from redraft.tools.edits.rich_editor import EditorUpdate
from redraft.tools.registry import load_registry
from tests.tools.calling import Caller
from tests.workspace.folder import person_writes

if TYPE_CHECKING:
    from tests.workspace.folder import Folder

NOTE = "note.md"


@pytest.fixture
def note(agent: Caller) -> Caller:
    """An agent with a document that says "Hello world"."""
    agent.folder.put(NOTE, "Hello world\n")
    return agent


def replace(caller: Caller, start: Any, end: Any, new: Any, **more: Any) -> dict[str, Any]:
    return caller.call("replaceText", path=NOTE, **{"from": start, "to": end, "newText": new}, **more)


def text_of(caller: Caller) -> str:
    return caller.call("getEditorText", path=NOTE)["text"]


def check_failed(caller: Caller, said: str, *arguments: Any, **more: Any) -> dict[str, Any]:
    """The call fails as the specification has it, and not a byte is written."""
    before = caller.folder.tree()
    answer = replace(caller, *arguments, **more)
    assert (answer["success"], answer["message"]) == (False, "Parameter validation failed")
    assert answer["error"] == said if said.endswith(".") else said in answer["error"]
    assert "updatedText" not in answer
    assert caller.folder.tree() == before
    return answer


@pytest.mark.covers("RT-edge-replace", "RT-test-hello", "RT-result-success", "RT-result-text", "RT-exec-message",
                    "RT-param-from", "RT-param-to")  # fmt: skip
def test_a_range_is_replaced(note: Caller):
    answer = replace(note, 0, 5, "Hi")
    assert (answer["success"], answer["updatedText"]) == (True, "Hi world")
    assert answer["message"] == "Replaced text from position 0 to 5"
    assert note.text(NOTE) == "Hi world\n"


@pytest.mark.covers("RT-edge-insert", "RT-test-beautiful")
def test_an_empty_range_is_an_insertion(note: Caller):
    assert replace(note, 6, 6, "beautiful ")["updatedText"] == "Hello beautiful world"
    assert replace(note, 5, 5, "NEW")["updatedText"] == "HelloNEW beautiful world"
    assert note.text(NOTE) == "HelloNEW beautiful world\n"


@pytest.mark.covers("RT-edge-delete", "RT-test-delete-world", "RT-param-new-text")
def test_an_empty_text_is_a_deletion(note: Caller):
    assert replace(note, 6, 11, "")["updatedText"] == "Hello "
    assert note.text(NOTE) == "Hello\n"
    note.folder.put(NOTE, "Hello world\n")
    text_of(note)
    assert replace(note, 0, 5, "")["updatedText"] == " world"


@pytest.mark.covers("RT-edge-no-op")
def test_an_empty_range_and_an_empty_text_change_nothing_and_succeed(note: Caller):
    answer = replace(note, 5, 5, "")
    assert (answer["success"], answer["updatedText"], answer["state"]) == (True, "Hello world", "unchanged")
    assert (note.text(NOTE), note.workspace.turns()) == ("Hello world\n", [])


@pytest.mark.covers("RT-edge-from-after-to", "RT-val-order", "RT-param-to", "RT-result-error", "RT-goal-validated")
def test_an_end_before_the_start_fails(note: Caller):
    check_failed(note, "Invalid range: from=10, to=5. 'to' must be >= 'from'.", 10, 5, "X")


@pytest.mark.covers("RT-edge-from-below-zero", "RT-val-from-negative", "RT-param-from")
def test_a_negative_start_fails(note: Caller):
    check_failed(note, "Invalid 'from' position: -1. Must be >= 0.", -1, 5, "X")


@pytest.mark.covers("RT-edge-to-above-length", "RT-val-to-bound")
def test_an_end_beyond_the_text_fails(note: Caller):
    check_failed(note, "'to' position 9999 exceeds document length 11.", 0, 9999, "X")


@pytest.mark.covers("RT-val-from-bound")
def test_a_start_beyond_the_text_fails(note: Caller):
    check_failed(note, "'from' position 12 exceeds document length 11.", 12, 12, "X")


@pytest.mark.covers("RT-val-string", "RT-val-integers")
def test_arguments_of_another_kind_are_refused(note: Caller):
    for start, end, new, said in (
        (0, 5, 1, "`newText` must be text, not 1."),
        (0, 5, ["x"], "`newText` must be text, not ['x']."),
        (0.5, 5, "x", "`from` must be a whole number, not 0.5."),
        (0, "five", "x", "`to` must be a whole number, not 'five'."),
        (True, 5, "x", "`from` must be a whole number, not True."),
    ):
        told = note.refused("replaceText", path=NOTE, **{"from": start, "to": end, "newText": new})
        assert (told["error"], told["message"]) == ("invalid_argument", said)


@pytest.mark.covers("RT-edge-script")
def test_a_script_ends_as_text(note: Caller):
    hostile = "<script>alert(1)</script>"
    assert replace(note, 6, 11, hostile)["updatedText"] == f"Hello {hostile}"
    assert note.text(NOTE) == "Hello \\<script>alert(1)\\</script>\n"
    assert text_of(note) == f"Hello {hostile}"


@pytest.mark.covers("RT-edge-html", "RT-param-html")
def test_html_arrives_as_formatting(note: Caller):
    assert replace(note, 6, 11, "<strong>Bold</strong>")["updatedText"] == "Hello Bold"
    assert note.text(NOTE) == "Hello **Bold**\n"


@pytest.mark.covers("RT-edge-emoji")
def test_an_emoji_arrives_whole_and_is_one_character(note: Caller):
    assert replace(note, 6, 11, "👋")["updatedText"] == "Hello 👋"
    assert replace(note, 7, 7, "!")["updatedText"] == "Hello 👋!"
    assert replace(note, 6, 7, "x", expected="👋")["updatedText"] == "Hello x!"


@pytest.mark.covers("RT-edge-newlines")
def test_a_newline_breaks_the_paragraph(note: Caller):
    assert replace(note, 0, 11, "Line1\nLine2")["updatedText"] == "Line1\n\nLine2"
    assert note.text(NOTE) == "Line1\n\nLine2\n"


@pytest.mark.covers("RT-edge-whole")
def test_the_whole_document_is_replaced(agent: Caller):
    agent.folder.put(NOTE, "# A\n\n- b\n- c\n\n> d\n")
    length = agent.call("getEditorText", path=NOTE)["length"]
    assert replace(agent, 0, length, "X")["updatedText"] == "X"
    assert agent.text(NOTE) == "X\n"


@pytest.mark.covers("RT-edge-undo", "RT-edge-redo", "RT-goal-atomic", "RT-exec-transaction")
def test_one_undo_takes_it_back_and_another_brings_it_again(note: Caller):
    turn = replace(note, 0, 5, "Hi")["turn"]
    undone = note.call("undo_turn", turn=turn)["turn"]
    assert note.text(NOTE) == "Hello world\n"
    note.call("undo_turn", turn=undone)
    assert note.text(NOTE) == "Hi world\n"


@pytest.mark.covers("RT-adv-batch")
def test_several_ranges_are_one_turn(note: Caller):
    more = [{"from": 6, "to": 11, "newText": "earth", "expected": "world"}]
    answer = replace(note, 0, 5, "Hi", more=more)
    assert (answer["updatedText"], answer["turn"]) == ("Hi earth", 1)
    note.call("undo_turn", turn=1)
    assert note.text(NOTE) == "Hello world\n"


def test_of_several_ranges_one_that_is_wrong_lets_none_through(note: Caller):
    check_failed(note, "99", 0, 5, "Hi", more=[{"from": 6, "to": 99, "newText": "x"}])
    check_failed(note, "overlap", 0, 5, "Hi", more=[{"from": 4, "to": 6, "newText": "x"}])


def test_a_text_that_is_not_the_expected_one_lets_nothing_through(note: Caller):
    check_failed(note, "not what was expected", 0, 5, "Hi", expected="Hallo")


@pytest.mark.covers("RT-adv-validate-typing")
def test_offsets_of_a_text_that_the_person_has_changed_since_are_refused(note: Caller):
    text_of(note)
    person_writes(note.workspace, {NOTE: "Well, hello world\n"})
    check_failed(note, "changed since it was read", 0, 5, "Hi")


@pytest.mark.covers("RT-mcp-get-text")
def test_the_text_is_the_documents_own_where_no_editor_is_open(agent: Caller):
    agent.folder.put(NOTE, "# A\n\n- *b*\n- c 😀\n")
    answer = agent.call("getEditorText", path=NOTE)
    assert answer["text"] == "A\n\n\n\n\n\nb\n\n\n\nc 😀"
    assert answer["length"] == len(answer["text"])
    assert answer["version"] == agent.version(NOTE)


@pytest.mark.covers("RT-mcp-workflow", "RT-app-no-search")
def test_reading_counting_and_replacing_works_as_the_description_says(agent: Caller):
    agent.folder.put(NOTE, "world of **world**s\n\nHello world\n")
    at = text_of(agent).rindex("world")
    assert replace(agent, at, at + 5, "universe")["success"] is True
    assert agent.text(NOTE) == "world of **world**s\n\nHello universe\n"


@pytest.mark.covers("RT-bridge-not-ready")
def test_with_no_document_named_and_none_open_the_editor_is_not_ready(note: Caller):
    answer = note.call("replaceText", **{"from": 0, "to": 1, "newText": "x"})
    assert (answer["success"], answer["message"]) == (False, "Editor not ready")
    assert answer["error"] == "No tab is open. Name a `path` or a `tab_id`."
    assert note.text(NOTE) == "Hello world\n"


def test_a_document_that_is_no_markdown_is_refused_and_left(agent: Caller):
    agent.folder.put("data.json", '{"a": 1}\n')
    answer = agent.call("replaceText", path="data.json", **{"from": 0, "to": 1, "newText": "x"})
    assert answer["success"] is False
    assert agent.text("data.json") == '{"a": 1}\n'
    assert agent.refused("getEditorText", path="data.json")["error"] == "unsupported_file_type"


def test_in_a_batch_a_replacement_that_fails_fails_the_batch(note: Caller):
    good = {"tool": "replaceText", "arguments": {"path": NOTE, "from": 0, "to": 5, "newText": "Hi"}}
    bad = {"tool": "replaceText", "arguments": {"path": NOTE, "from": 0, "to": 99, "newText": "x"}}
    assert "exceeds" in note.refused("batch", calls=[good, bad])["message"]
    assert note.call("batch", calls=[good])["status"] == "success"
    assert note.text(NOTE) == "Hi world\n"


def test_a_proposal_waits_for_the_person_and_the_answer_says_so(folder: Folder):
    proposer = Caller.at(folder, "propose")
    folder.put(NOTE, "Hello world\n")
    answer = replace(proposer, 0, 5, "Hi")
    assert (answer["state"], answer["updatedText"], proposer.text(NOTE)) == ("proposed", "Hi world", "Hello world\n")
    assert text_of(proposer) == "Hi world"


@pytest.mark.covers("RT-tool-name", "RT-mcp-registered", "RT-mcp-required", "RT-mcp-minimum")
def test_the_schema_is_the_specifications():
    [tool, read] = load_registry().profile("editor").tools
    assert (tool.name, read.name) == ("replaceText", "getEditorText")
    assert tool.input_schema["required"] == ["from", "to", "newText"]
    assert {tool.input_schema["properties"][name]["minimum"] for name in ("from", "to")} == {0}


@pytest.mark.covers("RT-desc-examples", "RT-desc-read-first", "RT-desc-positions")
def test_the_description_shows_how_to_use_it():
    said = load_registry().get("replaceText").description
    for part in ("call getEditorText()", "position 0 is the start", "from 0, to 11", 'delete "world"', "from 6, to 6"):
        assert part in said


class OneEditor:
    """A rich editor that is open on one document, as the seam sees it: what it hands in, and what it is told."""

    def __init__(self, caller: Caller, path: str = NOTE, typed: str = "") -> None:
        self.caller = caller
        self.path = path
        self.typed = typed
        self.told: list[EditorUpdate] = []

    def ready(self, path: str) -> OneEditor | None:
        if path != self.path:
            return None
        if self.typed:
            typed, self.typed = self.typed, ""
            person_writes(self.caller.workspace, {self.path: typed})
        return self

    def show(self, after: EditorUpdate) -> None:
        self.told.append(after)


class SilentEditor:
    """One that never answers."""

    def ready(self, path: str) -> OneEditor | None:
        raise Refused(f"The rich editor that shows {path} did not answer.", code="editor_unavailable")


@pytest.mark.engine
@pytest.mark.covers("RT-adv-validate-typing")
def test_what_was_typed_into_an_open_editor_is_read_and_counted(note: Caller):
    note.context.editors = OneEditor(note, typed="Oh, hello world\n")
    assert text_of(note) == "Oh, hello world"
    answer = replace(note, 4, 9, "good")
    assert (answer["updatedText"], note.text(NOTE)) == ("Oh, good world", "Oh, good world\n")


def test_an_open_editor_is_told_what_was_done_as_the_answer_tells_it(note: Caller):
    note.folder.put("other.md", "Hello\n")
    editor = note.context.editors = OneEditor(note)
    answer = replace(note, 0, 5, "Hi \U0001f44b")
    assert editor.told == [EditorUpdate("Hi \U0001f44b world", 4, answer["turn"])]
    note.call("replaceText", path="other.md", **{"from": 0, "to": 5, "newText": "Hi"})
    assert note.text("other.md") == "Hi\n"
    assert len(editor.told) == 1


@pytest.mark.engine
@pytest.mark.covers("RT-edge-cursor")
@pytest.mark.parametrize(
    ("start", "end", "new", "before"),
    [
        (0, 5, "Hi", "Hi"),
        (5, 5, "NEW", "HelloNEW"),
        (0, 5, "", ""),
        (5, 5, "", "Hello"),
        (0, 11, "X", "X"),
        (5, 6, "One\nTwo", "HelloOne\n\nTwo"),
        (11, 11, "\n", "Hello world"),
        (5, 5, "<strong>Bold</strong>", "HelloBold"),
        (6, 6, "1. one\n2. two\n", None),
    ],
)
def test_the_cursor_goes_to_the_end_of_what_was_put_in(
    note: Caller, start: int, end: int, new: str, before: str | None
):
    editor = note.context.editors = OneEditor(note)
    replace(note, start, end, new)
    [told] = editor.told
    if before is not None:
        assert told.text[: told.cursor] == before
    rest = "Hello world"[end:]
    # A blank at the start of a paragraph is none in markdown.
    assert told.text[told.cursor :].endswith(rest if told.text[: told.cursor] else rest.lstrip())


def test_of_several_ranges_the_last_one_takes_the_cursor(note: Caller):
    editor = note.context.editors = OneEditor(note)
    replace(note, 6, 11, "planet", more=[{"from": 0, "to": 5, "newText": "Hi"}])
    [told] = editor.told
    assert (told.text, told.cursor) == ("Hi planet", 9)


@pytest.mark.engine
@pytest.mark.covers("RT-bridge-not-ready")
def test_an_editor_that_does_not_answer_is_told_as_the_specification_has_it_and_nothing_is_written(note: Caller):
    note.context.editors = SilentEditor()
    answer = replace(note, 0, 5, "Hi")
    assert (answer["success"], answer["message"]) == (False, "Editor not ready")
    assert "did not answer" in answer["error"]
    assert note.text(NOTE) == "Hello world\n"
    with pytest.raises(Refused, match="did not answer"):
        text_of(note)


def test_a_batch_waits_for_no_editor(note: Caller):
    note.context.editors = SilentEditor()
    call = {"tool": "replaceText", "arguments": {"path": NOTE, "from": 0, "to": 5, "newText": "Hi"}}
    note.call("batch", calls=[call])
    assert note.text(NOTE) == "Hi world\n"
