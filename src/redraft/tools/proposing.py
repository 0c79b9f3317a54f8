"""agent-sidebar's structured edits, and its question to the person.

The edits of one call are one turn. Their line numbers, from 1 and inclusive, are those of the files as they were read,
whatever other edits of the same call do; an `expected_hash` or an `anchor` makes sure that the lines are still there.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Any, Literal, NamedTuple, TypedDict

from redraft.errors import Refused
from redraft.text.edits import Span
from redraft.tools.anchors import find_once
from redraft.tools.context import ToolContext
from redraft.tools.editing import Changed, after_commit, carry_out, ends_its_lines, in_style, newline_of, whole_lines
from redraft.tools.registry import tool
from redraft.tools.schema import Says
from redraft.tools.target import plain_path
from redraft.workspace.document import Document, content_hash
from redraft.workspace.turn import Turn

MAX_QUESTION = 10_000
BOM = "\ufeff"
NOTHING = content_hash(b"")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedEdit:
    """One edit."""

    file_path: Annotated[str, Says("The file to edit.", ("path", "file"))]
    operation: Annotated[
        Literal["replace", "insert", "delete"],
        Says("replace or delete the lines from start_line to end_line, or insert new_text before start_line."),
    ]
    start_line: Annotated[int | None, Says("First line, counted from 1.", minimum=1)] = None
    end_line: Annotated[int | None, Says("Last line, counted from 1, inclusive.", minimum=1)] = None
    new_text: Annotated[str, Says("The new lines; must be empty for delete.", ("content",))] = ""
    expected_hash: Annotated[
        str | None, Says('The hash of the target lines as read_file returned it ("sha256:...").')
    ] = None
    anchor: Annotated[
        str | None, Says("Instead of lines: the exact text of the lines meant, which occurs once.", ("match_text",))
    ] = None
    edit_id: Annotated[str | None, Says("Your name for the edit.")] = None
    rationale: Annotated[str | None, Says("Why.")] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposeEdits:
    """What `propose_edits` takes."""

    edits: Annotated[tuple[ProposedEdit, ...], Says("The edits; in one file they must not overlap.", ("changes",))]
    title: Annotated[str | None, Says("What the edits are for, in a few words.", ("summary", "description"))] = None


class EditTaken(TypedDict):
    """One edit as it was understood. Lines count from 1; `end_line` is before `start_line` for an insertion."""

    edit_id: str
    file_path: str
    operation: str
    start_line: int
    end_line: int


class FileEdited(TypedDict):
    """A file after the edits."""

    file_path: str
    version: str
    base_file_hash: str


class EditsProposed(Changed):
    """The answer of `propose_edits`."""

    status: Literal["success"]
    edits: list[EditTaken]
    files: list[FileEdited]


class _Aimed(NamedTuple):
    """An edit with its lines, half-open, from 0."""

    edit: ProposedEdit
    edit_id: str
    lines: Span


@tool("modify", "project", serves="SB-edit SB-dec-operations")
def propose_edits(given: ProposeEdits, context: ToolContext) -> EditsProposed:
    """Propose edits to any number of files as one change. Each edit replaces, inserts before, or deletes lines, which
    are counted from 1 as read_file returned them; all line numbers are those before the call. Give the expected_hash of
    the lines, so that nothing is overwritten that changed since you read it. If one edit does not fit, none is made."""
    if not given.edits:
        raise Refused("There are no edits.", code="content_required", field="edits")
    title = given.title or f"Propose {len(given.edits)} edits"
    before: dict[str, Document] = {}
    staged: dict[str, Document] = {}
    taken: list[EditTaken] = []

    def act(turn: Turn) -> None:
        for path, edits in _by_file(given.edits, context).items():
            before[path] = turn.read(path)
            staged[path], done = _edit_file(turn, before[path], edits, context)
            taken.extend(done)

    done = carry_out(context, title, act)
    files: list[FileEdited] = [
        {
            "file_path": path,
            "version": after_commit(context, staged[path]).version,
            "base_file_hash": content_hash((BOM * document.bom + str(document.text)).encode()),
        }
        for path, document in before.items()
    ]
    answer: Any = {"status": "success", "edits": taken, "files": files, **done.changed}
    return answer


def _by_file(edits: tuple[ProposedEdit, ...], context: ToolContext) -> dict[str, list[tuple[str, ProposedEdit]]]:
    found: dict[str, list[tuple[str, ProposedEdit]]] = {}
    for number, edit in enumerate(edits, start=1):
        path = context.workspace.engine.documents.path(plain_path(edit.file_path, context))
        found.setdefault(path, []).append((edit.edit_id or f"e_{number}", edit))
    return found


def _edit_file(
    turn: Turn, document: Document, edits: list[tuple[str, ProposedEdit]], context: ToolContext
) -> tuple[Document, list[EditTaken]]:
    """Stage the edits of one file; gives it as they leave it, and how they were understood."""
    aimed = sorted((_aim(name, edit, document) for name, edit in edits), key=lambda each: each.lines)
    for first, second in pairwise(aimed):
        if first.lines.overlaps(second.lines) or first.lines == second.lines:
            raise Refused(f"The edits {first.edit_id} and {second.edit_id} of {document.path} overlap.", field="edits")
    if any(_hash_of(each) is None and each.edit.anchor is None for each in aimed):
        context.checked(document, None)
    now = document
    for each in reversed(aimed):  # from the end, so that the lines before are still where they were
        now = turn.replace_lines(document.path, each.lines, _new_text(each, document), _expected(each, document))
    return now, [
        {
            "edit_id": each.edit_id,
            "file_path": document.path,
            "operation": each.edit.operation,
            "start_line": each.lines.start + 1,
            "end_line": each.lines.end,
        }
        for each in aimed
    ]


def _aim(name: str, edit: ProposedEdit, document: Document) -> _Aimed:
    """Which lines an edit is about."""
    if edit.operation == "delete" and edit.new_text:
        raise Refused(f"The edit {name} deletes: its `new_text` must be empty.", field="new_text")
    if edit.operation == "insert" and not edit.new_text:
        raise Refused(f"The edit {name} inserts nothing.", code="content_required", field="new_text")
    text = document.text
    if edit.anchor:
        at = find_once(document, edit.anchor)
        length = len(in_style(edit.anchor, document).rstrip("\r\n"))
        start, end = text.line_at(at), text.line_at(at + max(length - 1, 0)) + 1
    elif edit.start_line is None:
        raise Refused(f"The edit {name} needs `start_line` or `anchor`.", field="start_line")
    else:
        start = edit.start_line - 1
        end = start + 1 if edit.end_line is None else edit.end_line
    end = start if edit.operation == "insert" else end
    if not start <= end <= text.line_count or (edit.operation != "insert" and start == end):
        raise Refused(
            f"The edit {name} is about lines {start + 1} to {end}; {document.path} has {text.line_count}.",
            code="invalid_line_range",
            requested_start=start + 1,
            requested_end=end,
            document_lines=text.line_count,
        )
    return _Aimed(edit, name, Span(start, end))


def _new_text(aimed: _Aimed, document: Document) -> str:
    at_end = aimed.lines.end == document.text.line_count
    new = whole_lines(aimed.edit.new_text, document, at_end=at_end)
    if aimed.edit.operation == "insert" and at_end and aimed.lines.end and not ends_its_lines(document):
        new = newline_of(document) + new
    return new


def _expected(aimed: _Aimed, document: Document) -> str:
    """The hash for the engine to check. An insertion may name that of the line before which it goes."""
    text, lines = document.text, aimed.lines
    given = _hash_of(aimed)
    if given is None:
        return content_hash("".join(text.lines(lines.start, lines.end)).encode())
    following = lines.start < text.line_count and content_hash(text.line(lines.start).encode()) == given
    return NOTHING if aimed.edit.operation == "insert" and following else given


def _hash_of(aimed: _Aimed) -> str | None:
    """What the caller says that it read. Of an insertion the hash of no lines at all says nothing: it fits anywhere."""
    given = aimed.edit.expected_hash
    return None if aimed.edit.operation == "insert" and given == NOTHING else given


@dataclass(frozen=True, slots=True, kw_only=True)
class ClarifyUser:
    """What `clarify_user` takes."""

    question: Annotated[str, Says("The question, in full.", ("message", "prompt"))]


class Clarified(TypedDict):
    """The answer of `clarify_user`."""

    question: str
    answer: str


@tool("read", "project", "default", serves="SB-tool-clarify", idempotent=False)
def clarify_user(given: ClarifyUser, context: ToolContext) -> Clarified:
    """Ask the person a question and wait for the answer. Use it when the request can be read in several ways and a
    wrong guess would cost work; not for what you can find out by reading."""
    if not given.question.strip():
        raise Refused("There is no question.", code="content_required", field="question")
    answer = None if context.ask is None else context.ask(given.question[:MAX_QUESTION])
    if answer is None:
        raise Refused("Nobody is there to answer.", code="cannot_ask", question=given.question[:MAX_QUESTION])
    return {"question": given.question, "answer": answer}
