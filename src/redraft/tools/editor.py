"""The rich editor's tools: the plain text that a person sees of a markdown document, and replacing passages of it.

A rich editor that shows the document hands in first what was typed into it, and shows afterwards what was done (see
`live`); the edit is the same with and without one. An answer is the specification's `ToolResult`: what is wrong with
the positions is told in it rather than raised, but for a call in a batch, which has to fail as a whole.
"""

from dataclasses import dataclass
from typing import Annotated, Any, NotRequired, TypedDict

from redraft.errors import RedraftError, Refused, Stale
from redraft.formats.rich.model import Model, Replaced, model
from redraft.formats.rich.new_text import Form
from redraft.formats.rich.replacing import Passage, check
from redraft.tools.context import ToolContext
from redraft.tools.editing import carry_out
from redraft.tools.live import OpenEditor, Shown
from redraft.tools.registry import tool
from redraft.tools.schema import Says
from redraft.tools.target import Place, Target, place_of
from redraft.workspace.document import Document

MAX_RANGES = 100
NOT_VALID = "Parameter validation failed"
NOT_READY = "Editor not ready"
UNREADY = ("invalid_tab_id", "editor_unavailable")
FROM = Says(
    "Start position (inclusive) in plain text, in characters (code points).", ("start",), 0, name="from", checked=False
)
TO = Says("End position (exclusive) in plain text, in characters (code points).", ("end",), 0, checked=False)
NEW_TEXT = Says("New text to insert: plain text, markdown or simple HTML; empty to delete.", ("text",), name="newText")
EXPECTED = Says(
    "The text that stands there now, as getEditorText told it. Where it is another by now, nothing is changed."
)
FORM = Says("How newText is meant. auto: HTML if it has such tags, markdown if it has markup, else plain text.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """One more range of `replaceText`."""

    start: Annotated[int, FROM]
    to: Annotated[int, TO]
    new_text: Annotated[str, NEW_TEXT]
    expected: Annotated[str | None, EXPECTED] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplaceText(Target):
    """What `replaceText` takes."""

    start: Annotated[int, FROM]
    to: Annotated[int, TO]
    new_text: Annotated[str, NEW_TEXT]
    expected: Annotated[str | None, EXPECTED] = None
    more: Annotated[
        tuple[Range, ...],
        Says("Further ranges to replace in the same step. All positions are those of the text before.", ("ranges",)),
    ] = ()
    format: Annotated[Form, FORM] = "auto"
    version: Annotated[str | None, Says("The version that getEditorText returned. Default: what you last read.")] = None


class ToolResult(TypedDict):
    """What became of it, as the specification has it, and where the change is."""

    success: bool
    message: str
    error: NotRequired[Annotated[str, Says("What was wrong; nothing was changed then.")]]
    updatedText: NotRequired[Annotated[str, Says("The plain text of the document afterwards.")]]
    path: NotRequired[str]
    version: NotRequired[Annotated[str, Says("The version to give to the next edit.")]]
    state: NotRequired[Annotated[str, Says("applied: on disk. proposed: the person decides. staged: in a batch.")]]
    turn: NotRequired[int | None]


@tool("modify", "editor", serves="RT-tool RT-param RT-result RT-exec RT-edge RT-adv")
def replaceText(given: ReplaceText, context: ToolContext) -> ToolResult:  # noqa: N802 - the specification's name
    """Replace text in the editor between two positions. How to use: 1. First, call getEditorText() to get the current
    document text. 2. Calculate positions in that plain text: position 0 is the start of the document, positions are
    character offsets. 3. Call replaceText(from, to, newText). Examples, with the text "Hello world": to replace "Hello
    world" with "Hi there": from 0, to 11, newText "Hi there". To delete "world": from 6, to 11, newText "". To insert
    "beautiful " before "world": from 6, to 6, newText "beautiful ". from must be <= to, and both within the document. A
    newline in newText breaks the paragraph; markdown and simple HTML become formatting. Give expected to be sure that
    the range is still what you mean, and more to replace several ranges in one step."""
    try:
        place = place_of(given, context)
        editor = _ready(place.path, context)
    except Refused as error:
        return _failed(error, context, NOT_READY if error.code in UNREADY else NOT_VALID)
    document = context.look(place.path)
    try:
        return _replaced(_passages(given), place, document, given.version, context, editor)
    except Refused as error:
        # A mode or a person that says no is no matter of the positions: every surface has its own way with those.
        if type(error) not in (Refused, Stale):
            raise
        return _failed(error, context, NOT_VALID)


def _ready(path: str, context: ToolContext) -> OpenEditor | None:
    """Where a rich editor shows the document, all that was typed into it is here by now. In a batch nothing is waited
    for: its calls belong together."""
    return None if context.editors is None or context.turn is not None else context.editors.ready(path)


def _replaced(
    passages: list[Passage],
    place: Place,
    document: Document,
    version: str | None,
    context: ToolContext,
    editor: OpenEditor | None,
) -> ToolResult:
    known = _model(document)
    for passage in passages:
        check(passage, known.text)
    now = context.checked(document, version)
    first = passages[0]
    answer: ToolResult = {
        "success": True,
        "message": f"Replaced text from position {first.start} to {first.end}"
        + (f", and {len(passages) - 1} more" if len(passages) > 1 else ""),
        "path": place.path,
    }
    made = known.replaced(passages)
    done = carry_out(context, f"Replace text in {place.path}", lambda turn: turn.write(place.path, made.markdown, now))
    after = document if done.document is None else done.document
    if editor is not None:
        _show(editor, known.text, passages, after, done.changed["turn"])
    changed: Any = {**answer, "updatedText": _text_after(made, after), "version": after.version, **done.changed}
    return changed


def _show(editor: OpenEditor, before: str, passages: list[Passage], after: Document, turn: int | None) -> None:
    # As it is read from the markdown, which cannot say all that an edit left there, such as a blank at the end.
    text = model(str(after.text)).text
    editor.show(Shown(text, _cursor(before, text, passages), turn))


def _cursor(before: str, after: str, passages: list[Passage]) -> int:
    """The end of what was put in, the last of it; where that begins a block anew, it still ends before that block."""
    last = max(passages, key=lambda passage: (passage.start, passage.end))
    end = max(0, len(after) - (len(before) - last.end))
    if last.new.rstrip("\r\n") != last.new or not last.new:
        return end
    return len(after[:end].rstrip("\n"))


def _text_after(made: Replaced, after: Document) -> str:
    """The text of the edit itself; of what is there, where a merge made more of it."""
    return made.text if str(after.text) == made.markdown else model(str(after.text)).text


def _passages(given: ReplaceText) -> list[Passage]:
    ranges: list[Range | ReplaceText] = [given, *given.more]
    if len(ranges) > MAX_RANGES:
        raise Refused(f"At most {MAX_RANGES} ranges at a time.", code="limit_exceeded", field="more", limit=MAX_RANGES)
    return [Passage(each.start, each.to, each.new_text, each.expected, given.format) for each in ranges]


def _failed(error: RedraftError, context: ToolContext, message: str) -> ToolResult:
    """The specification's failed result. In a batch it is raised: its other calls must not be done then."""
    if context.together:
        raise error
    return {"success": False, "message": message, "error": error.message}


def _model(document: Document) -> Model:
    if document.format != "markdown":
        message = f"{document.path} is no markdown: the rich editor shows no other documents."
        raise Refused(message, code="unsupported_file_type", path=document.path)
    return model(str(document.text))


class EditorText(TypedDict):
    """The answer of `getEditorText`."""

    text: str
    length: Annotated[int, Says("How many characters (code points) the text has.")]
    path: str
    version: str


@tool("read", "editor", serves="RT-mcp-get-text RT-bridge-empty-text")
def getEditorText(given: Target, context: ToolContext) -> EditorText:  # noqa: N802 - the specification's name
    """Get the plain text of the document that is open in the rich editor, as replaceText counts it: paragraphs,
    headings and items are parted by blank lines, and formatting is left out. Call it before replaceText, and count
    positions in the text that it returns."""
    place = place_of(given, context)
    _ready(place.path, context)
    document = context.read(place.path)
    text = _model(document).text
    return {"text": text, "length": len(text), "path": place.path, "version": document.version}


# A surface that knows of open editors calls these with a context that knows them, too.
IN_EDITORS = (replaceText.name, getEditorText.name)
