"""The rich editor's tools: the plain text that a person sees of a markdown document, and replacing passages of it.

A rich editor that shows the document first hands in what was typed into it, and afterwards shows what was done (see
`LiveEditors`); the edit is the same with and without one. An answer is the specification's `ToolResult`: bad
positions, or a change that would break the document, are reported in it rather than raised, except in a batch, which
has to fail as a whole.
"""

import time
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Annotated, Any, NamedTuple, NotRequired, Protocol, TypedDict

from redraft.config import Limits
from redraft.errors import VERSIONS, RedraftError, Refused, Stale
from redraft.formats.interrupt import interrupt_by
from redraft.formats.rich.editor_document import EditorDocument, ReplacedDocument, editor_document
from redraft.formats.rich.inserted_content import Form
from redraft.formats.rich.replacements import Replacement, check_replacements
from redraft.text.diff.line_diff import diff_lines
from redraft.text.edits import Change, Edit
from redraft.text.rebase import rebase_over_difference
from redraft.tools.context import ToolContext, carry_out
from redraft.tools.parameters import Field
from redraft.tools.registry import tool
from redraft.tools.target import (
    EditBasis,
    Target,
    TargetDocument,
    basis_of,
    carry,
    explain_stale,
    refresh,
    resolve_target,
)
from redraft.workspace.document import Document

# The interface to rich editors that are open in browsers: what a tool asks of them, and what it tells them.
#
# An editor is asked to hand in what was typed into it, and is told what was done. It never makes the change itself:
# that would count as typing by the person in front of it. Whoever has the connections implements this and passes it in
# the context. Nothing here waits or knows about a browser.


@dataclass(frozen=True, slots=True)
class EditorUpdate:
    """What an editor is to show: the document's plain text after a change, and where its cursor goes.

    `cursor` is an offset in the text, in code points; `turn` is what undo in that editor reverts.
    """

    text: str
    cursor: int
    turn: int | None


class OpenEditor(Protocol):
    """The one editor that a call applies to."""

    def show(self, after: EditorUpdate) -> None:
        """Tell it what was done, and wait a moment until it shows it. The change is valid whether or not it does."""
        ...


class LiveEditors(Protocol):
    """The open rich editors of one folder. The caller holds the workspace's guard, which is released meanwhile:
    afterwards everything known about a document has to be checked again."""

    def ready(self, path: str) -> OpenEditor | None:
        """Have one editor, the last one used, hand in what was typed into it; None if no rich editor shows the
        document. Raises `Refused` if one does but does not answer: then nothing may be changed."""
        ...


# A deadline for computations outside the guard: nobody waits forever, and no thread is busy for longer than that.


def editor_deadline(limits: Limits) -> AbstractContextManager[None]:
    """Refuse rich text that takes longer to read or write than the settings allow."""
    seconds = limits.editor_seconds
    until = time.monotonic() + seconds

    def check() -> None:
        if time.monotonic() > until:
            raise Refused(
                f"Converting the document to rich text takes longer than {seconds} s. Nothing was changed.",
                code="limit_exceeded",
                budget="editor_seconds",
            )

    return interrupt_by(check)


MAX_RANGES = 100
NOT_VALID = "Parameter validation failed"
NOT_READY = "Editor not ready"
NOT_DONE = "TipTap command execution failed"
STEPS = 3
UNREADY = ("invalid_tab_id", "editor_unavailable")
FROM = Field(
    "Start position (inclusive) in plain text, in characters (code points).", ("start",), 0, name="from", checked=False
)
TO = Field("End position (exclusive) in plain text, in characters (code points).", ("end",), 0, checked=False)
NEW_TEXT = Field("New text to insert: plain text, markdown or simple HTML; empty to delete.", ("text",), name="newText")
EXPECTED = Field("The text there now, as getEditorText returned it. If it has changed, nothing is replaced.")
FORM = Field("newText's format. auto: HTML if it has such tags, markdown if it has markup, else plain text.")


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
        Field("More ranges to replace in the same step. All positions refer to the text before it.", ("ranges",)),
    ] = ()
    format: Annotated[Form, FORM] = "auto"
    version: Annotated[str | None, Field("The version that getEditorText returned. Default: what you last read.")] = (
        None
    )


class ReplaceTextResult(TypedDict):
    """The outcome in the specification's form, and where the change is."""

    success: bool
    message: str
    error: NotRequired[Annotated[str, Field("What was wrong; nothing was changed.")]]
    updatedText: NotRequired[Annotated[str, Field("The document's plain text after the edit.")]]
    path: NotRequired[str]
    version: NotRequired[Annotated[str, Field("The version for the next edit.")]]
    state: NotRequired[Annotated[str, Field("applied: on disk. proposed: the person decides. staged: in a batch.")]]
    turn: NotRequired[int | None]
    landed: NotRequired[
        Annotated[list[dict[str, int]], Field("The ranges (from, to) in the plain text just before the edit.")]
    ]
    your_version: NotRequired[Annotated[str, Field("If the text changed at this place: what the call was made for.")]]
    current_version: NotRequired[str]
    changed_lines: NotRequired[Annotated[list[dict[str, Any]], Field("What changed since, by lines of the markdown.")]]


@tool("modify", "editor", serves="RT-tool RT-param RT-result RT-exec RT-edge RT-adv", needs="editors")
def replaceText(given: ReplaceText, context: ToolContext) -> ReplaceTextResult:  # noqa: N802 - the specification's name
    """Replace text in the editor between two positions. How to use: 1. First, call getEditorText() to get the current
    document text. 2. Calculate positions in that plain text: position 0 is the start of the document, positions are
    character offsets. 3. Call replaceText(from, to, newText). Examples, with the text "Hello world": to replace "Hello
    world" with "Hi there": from 0, to 11, newText "Hi there". To delete "world": from 6, to 11, newText "". To insert
    "beautiful " before "world": from 6, to 6, newText "beautiful ". from must be <= to, and both within the document. A
    newline in newText breaks the paragraph; markdown and simple HTML become formatting. Give expected to confirm the
    range, and more to replace several ranges in one step. If somebody typed elsewhere since, the range is moved; landed
    says where to."""
    try:
        place = resolve_target(given, context)
        editor = _prepare_editor(place.path, context)
    except Refused as error:
        return _failure_result(error, context, NOT_READY if error.code in UNREADY else NOT_VALID)
    try:
        basis = basis_of(context.peek(place.path), given.version, context)
        with context.release_guard(), editor_deadline(context.limits):
            made = _apply_passages(_passages(given), basis.then, context)
        return _write(made, place, refresh(basis, context), context, editor)
    except _NotDone as error:
        return _failure_result(error.reason, context, NOT_DONE)
    except Refused as error:
        # A refusal by the mode or the person is not about positions: every surface handles those itself.
        if type(error) not in (Refused, Stale):
            raise
        return _failure_result(error, context, NOT_VALID)


def _prepare_editor(path: str, context: ToolContext) -> OpenEditor | None:
    """If a rich editor shows the document, wait until it has handed in all that was typed. A batch waits for nothing:
    its calls belong together."""
    return None if context.editors is None or context.turn is not None else context.editors.ready(path)


class _NotDone(Exception):
    """The positions are valid, but the document does not allow the change there."""

    def __init__(self, reason: Refused) -> None:
        super().__init__(reason.message)
        self.reason = reason


class _Made(NamedTuple):
    """A computed replacement: its passages, its text, and the edits of the markdown."""

    passages: list[Replacement]
    text: str
    after: ReplacedDocument
    edits: list[Edit]


def _apply_passages(passages: list[Replacement], document: Document, context: ToolContext) -> _Made:
    known = _model(document)
    check_replacements(passages, known.text)
    context.tell_progress(1, STEPS)
    try:
        after = known.replace(passages)
    except Refused as error:
        raise _NotDone(error) from error
    made = _Made(passages, known.text, after, _edits(str(document.text), after.markdown))
    context.tell_progress(2, STEPS)
    return made


def _write(
    made: _Made, place: TargetDocument, basis: EditBasis, context: ToolContext, editor: OpenEditor | None
) -> ReplaceTextResult:
    carried = carry(basis, made.edits, context)
    done = carry_out(context, f"Replace text in {place.path}", carried.edit)
    context.tell_progress(STEPS, STEPS)
    after = basis.now if done.document is None else done.document
    with context.release_guard():  # the change is made: reporting it has no deadline
        before, landed = made.text, made.passages
        if not basis.is_current:
            before = _model(basis.now).text
            landed = _shift_passages(
                landed, made.text, before, editor_document(carried.change.apply(str(basis.now.text))).text
            )
        # An editor shows the document as parsed from the markdown, which cannot express everything that an edit may
        # leave, such as a space at the end.
        shown = None if editor is None else editor_document(str(after.text)).text
        updated = _text_after(made.after, after)
    first = landed[0]
    answer: ReplaceTextResult = {
        "success": True,
        "message": f"Replaced text from position {first.start} to {first.end}"
        + (f", and {len(landed) - 1} more" if len(landed) > 1 else ""),
        "path": place.path,
        "landed": [{"from": each.start, "to": each.end} for each in landed],
    }
    if editor is not None and shown is not None:
        editor.show(EditorUpdate(shown, _cursor(before, shown, landed), done.changed["turn"]))
    if context.turn is None:
        context.mark_seen(after)
    changed: Any = {**answer, "updatedText": updated, "version": after.version, **done.changed}
    return changed


def _edits(old: str, new: str) -> list[Edit]:
    """The differences within changed lines: neither the text between two passages nor the rest of a line is touched."""
    return [
        edit.shift(lines.at)
        for lines in diff_lines(old, new)
        for edit in Change.between(old[lines.at : lines.until], new[lines.new_at : lines.new_until]).edits
    ]


def _shift_passages(passages: list[Replacement], then: str, now: str, after: str) -> list[Replacement]:
    """The passages with their positions in the text just before the edit."""
    edits = [Edit(each.start, then[each.start : each.end], each.new) for each in passages]
    ordered = sorted(range(len(edits)), key=lambda number: (edits[number].at, edits[number].end))
    places = rebase_over_difference([edits[number] for number in ordered], then, now)
    if places is None:  # the passages are where the edit is
        change = Change.between(now, after)
        at = change.edits[0].at if change.edits else 0
        return [replace(each, start=at, end=max(at, change.edits[0].end if change.edits else 0)) for each in passages]
    found = dict(zip(ordered, places, strict=True))
    return [
        replace(each, start=found[number], end=found[number] + each.end - each.start)
        for number, each in enumerate(passages)
    ]


def _cursor(before: str, after: str, passages: list[Replacement]) -> int:
    """The end of the last inserted text; if a new block begins there, the position before that block."""
    last = max(passages, key=lambda passage: (passage.start, passage.end))
    end = max(0, len(after) - (len(before) - last.end))
    if last.new.rstrip("\r\n") != last.new or not last.new:
        return end
    return len(after[:end].rstrip("\n"))


def _text_after(made: ReplacedDocument, after: Document) -> str:
    """The text after the edit; if a merge added to it, the text of the document."""
    return made.text if str(after.text) == made.markdown else editor_document(str(after.text)).text


def _passages(given: ReplaceText) -> list[Replacement]:
    ranges: list[Range | ReplaceText] = [given, *given.more]
    if len(ranges) > MAX_RANGES:
        raise Refused(f"At most {MAX_RANGES} ranges at a time.", code="limit_exceeded", field="more", limit=MAX_RANGES)
    return [Replacement(each.start, each.to, each.new_text, each.expected, given.format) for each in ranges]


def _failure_result(error: RedraftError, context: ToolContext, message: str) -> ReplaceTextResult:
    """The specification's failed result. In a batch it is raised, so that the other calls are not made."""
    if context.together:
        raise error
    failed: Any = {"success": False, "message": message, "error": error.message}
    if isinstance(error, Stale):
        details = explain_stale(error, context).details
        failed |= {name: details[name] for name in (*VERSIONS, "changed_lines") if details.get(name) is not None}
    return failed


def _model(document: Document) -> EditorDocument:
    if document.format != "markdown":
        message = f"{document.path} is not markdown: the rich editor shows only markdown."
        raise Refused(message, code="unsupported_file_type", path=document.path)
    return editor_document(str(document.text))


class GetEditorTextResult(TypedDict):
    """The answer of `getEditorText`."""

    text: str
    length: Annotated[int, Field("How many characters (code points) the text has.")]
    path: str
    version: str


@tool("read", "editor", serves="RT-mcp-get-text", needs="editors")
def getEditorText(given: Target, context: ToolContext) -> GetEditorTextResult:  # noqa: N802 - the specification's name
    """Get the plain text of the document that is open in the rich editor, as replaceText counts it: paragraphs,
    headings and items are separated by blank lines, without formatting. Call it before replaceText, and count positions
    in the returned text."""
    place = resolve_target(given, context)
    _prepare_editor(place.path, context)
    document = context.read(place.path)
    with context.release_guard(), editor_deadline(context.limits):
        text = _model(document).text
    return {"text": text, "length": len(text), "path": place.path, "version": document.version}


# A surface that knows the open editors passes them in the context of these calls.
