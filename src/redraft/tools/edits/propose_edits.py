"""agent-sidebar's structured edits, and its question to the person.

The edits of one call are one turn. Their line numbers, from 1 and inclusive, are those of the files as they were read,
regardless of other edits in the same call or changes since; an `expected_hash` or an `anchor` verifies that they are
the intended lines.
"""

from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Annotated, Any, Literal, NamedTuple, NotRequired, TypedDict

from redraft.errors import Refused, Stale
from redraft.text.edits import Change, Edit, Span
from redraft.tools.context import ChangeResult, Proposal, ToolContext, carry_out, read_after_commit, review_edit
from redraft.tools.edits.lines import insertion, replacement
from redraft.tools.parameters import Field
from redraft.tools.registry import tool
from redraft.tools.target import (
    EditBasis,
    basis_of,
    carry,
    check_lines_known,
    find_once,
    match_newlines,
    relative_path,
    stale_error,
)
from redraft.workspace.document import Document, content_hash
from redraft.workspace.turns.turn import Turn

MAX_QUESTION = 10_000
BOM = "\ufeff"
NOTHING = content_hash(b"")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedEdit:
    """One edit."""

    file_path: Annotated[str, Field("The file to edit.", ("path", "file"))]
    operation: Annotated[
        Literal["replace", "insert", "delete"],
        Field("replace or delete the lines from start_line to end_line, or insert new_text before start_line."),
    ]
    start_line: Annotated[int | None, Field("First line, counted from 1.", minimum=1)] = None
    end_line: Annotated[int | None, Field("Last line, counted from 1, inclusive.", minimum=1)] = None
    new_text: Annotated[str, Field("The new lines; must be empty for delete.", ("content",))] = ""
    expected_hash: Annotated[
        str | None, Field('The hash of the target lines as read_file returned it ("sha256:...").')
    ] = None
    anchor: Annotated[
        str | None, Field("Instead of line numbers: the lines' exact text, which must occur once.", ("match_text",))
    ] = None
    version: Annotated[
        str | None, Field("The version that read_file returned, which the lines refer to. Default: what you last read.")
    ] = None
    edit_id: Annotated[str | None, Field("Your id for the edit.")] = None
    rationale: Annotated[str | None, Field("Why.")] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposeEdits:
    """What `propose_edits` takes."""

    edits: Annotated[tuple[ProposedEdit, ...], Field("The edits; in one file they must not overlap.", ("changes",))]
    title: Annotated[str | None, Field("What the edits are for, in a few words.", ("summary", "description"))] = None


class ProposedEditInfo(TypedDict):
    """One edit, with its lines in the file just before the call, counted from 1. `end_line` is before `start_line` for
    an insertion."""

    edit_id: str
    file_path: str
    operation: str
    start_line: int
    end_line: int


class EditedFile(TypedDict):
    """A file after the edits."""

    file_path: str
    version: str
    base_file_hash: str
    labels: NotRequired[
        Annotated[dict[str, int], Field("How many changes the reviewer is told to look at first, by kind.")]
    ]


class ProposeEditsResult(ChangeResult):
    """The answer of `propose_edits`."""

    status: Literal["success"]
    edits: list[ProposedEditInfo]
    files: list[EditedFile]


class _ResolvedEdit(NamedTuple):
    """An edit with its lines, half-open, from 0, in the version that it was made for."""

    edit: ProposedEdit
    edit_id: str
    lines: Span
    basis: EditBasis


@tool("modify", "project", serves="SB-edit SB-dec-operations")
def propose_edits(given: ProposeEdits, context: ToolContext) -> ProposeEditsResult:
    """Propose edits to any number of files as one change. Each edit replaces, inserts before, or deletes lines, which
    are counted from 1 as read_file returned them; all line numbers are those before the call. Give the version or the
    expected_hash of the lines, so that nothing that changed since you read it is overwritten. If one edit does not
    apply, none is made."""
    if not given.edits:
        raise Refused("There are no edits.", code="content_required", field="edits")
    title = given.title or f"Propose {len(given.edits)} edits"
    before: dict[str, Document] = {}
    staged: dict[str, Document] = {}
    infos: list[ProposedEditInfo] = []
    written: list[str] = []

    def act(turn: Turn) -> None:
        for path, edits in _group_by_file(given.edits, context).items():
            before[path] = turn.read(path)
            staged[path], done = _edit_file(turn, before[path], edits, context)
            infos.extend(each for each, _ in done)
            written.extend(new for _, new in done)

    done = carry_out(context, title, act)
    if context.turn is not None:
        for edit, new in zip(infos, written, strict=True):
            context.proposals.append(_proposal(edit, new, before[edit["file_path"]], given.edits))
    files: list[dict[str, Any]] = [
        {
            "file_path": path,
            "version": read_after_commit(context, staged[path]).version,
            "base_file_hash": content_hash((BOM * document.bom + str(document.text)).encode()),
        }
        for path, document in before.items()
    ]
    for file, path in zip(files, before, strict=True):  # the versions come first: others use the workspace meanwhile
        file.update(_labels(context, before[path], staged[path]))
    answer: Any = {"status": "success", "edits": infos, "files": files, **done.changed}
    return answer


def _labels(context: ToolContext, before: Document, after: Document) -> dict[str, Any]:
    review = review_edit(context, str(before.text), str(after.text))
    found = None if review is None else review.label_counts()
    return {"labels": found} if found else {}


def _proposal(info: ProposedEditInfo, new: str, document: Document, edits: tuple[ProposedEdit, ...]) -> Proposal:
    """An edit as a proposal, for reports about what a turn proposes."""
    names = [edit.edit_id or f"e_{number}" for number, edit in enumerate(edits, start=1)]
    edit = edits[names.index(info["edit_id"])]
    lines = info["start_line"] - 1, info["end_line"]
    return Proposal(document.path, document.text, info["edit_id"], edit.operation, *lines, new, edit.rationale or "")


def _group_by_file(edits: tuple[ProposedEdit, ...], context: ToolContext) -> dict[str, list[tuple[str, ProposedEdit]]]:
    found: dict[str, list[tuple[str, ProposedEdit]]] = {}
    for number, edit in enumerate(edits, start=1):
        path = context.workspace.path(relative_path(edit.file_path, context))
        found.setdefault(path, []).append((edit.edit_id or f"e_{number}", edit))
    return found


def _edit_file(
    turn: Turn, document: Document, edits: list[tuple[str, ProposedEdit]], context: ToolContext
) -> tuple[Document, list[tuple[ProposedEditInfo, str]]]:
    """Stage the edits of one file; returns the new document, and how each edit was understood, with the text that it
    inserts."""
    aimed = [_resolve_edit(name, edit, document, context) for name, edit in edits]
    carried = [(each, carry(each.basis, [_make_edit(each.edit, each.basis.then)], context)) for each in aimed]
    carried.sort(key=lambda each: (each[1].change.edits[0].at, each[1].change.edits[0].end))
    placed = [(each, done.change.edits[0]) for each, done in carried]
    for (first, before), (second, after) in pairwise(placed):
        if before.end > after.at or before.span == after.span:
            raise Refused(f"The edits {first.edit_id} and {second.edit_id} of {document.path} overlap.", field="edits")
    change = Change(tuple(edit for _, edit in placed))
    versions = {each.basis.version for each in aimed}
    if len(versions) == 1:  # other calls for the same version then use the requested edits
        asked = Change(tuple(done.asked.edits[0] for _, done in carried))
        now = turn.edit(document.path, change, document.version, asked=asked, made_for=versions.pop())
    else:
        now = turn.edit(document.path, change, document.version)
    return now, [(_edit_info(each, edit, document), edit.new) for each, edit in placed]


def _edit_info(aimed: _ResolvedEdit, edit: Edit, document: Document) -> ProposedEditInfo:
    """Where the edit lands in the file as it is now."""
    start = document.text.line_at(edit.at) if edit.at < len(document.text) else document.text.line_count
    return {
        "edit_id": aimed.edit_id,
        "file_path": document.path,
        "operation": aimed.edit.operation,
        "start_line": start + 1,
        "end_line": start + len(aimed.lines),
    }


def _resolve_edit(name: str, edit: ProposedEdit, document: Document, context: ToolContext) -> _ResolvedEdit:
    """Which lines an edit is about, and in which version."""
    if edit.operation == "delete" and edit.new_text:
        raise Refused(f"The edit {name} deletes: its `new_text` must be empty.", field="new_text")
    if edit.operation == "insert" and not edit.new_text:
        raise Refused(f"The edit {name} inserts nothing.", code="content_required", field="new_text")
    if not edit.anchor and edit.start_line is None:
        raise Refused(f"The edit {name} needs `start_line` or `anchor`.", field="start_line")
    by_number = not edit.anchor and _find_expected_hash(edit) is None
    if by_number and not edit.version and context.last_seen(document.path) is None:
        message = (
            f"You have not read {document.path}: read it first, or identify by `expected_hash`, `version` or "
            f"`anchor` which lines the edit {name} is about."
        )
        raise stale_error(document, "", message)
    bases = _bases(edit, document, context)
    for basis in bases:
        lines = _target_lines(edit, basis.then)
        if lines is not None and _has_expected_hash(edit, lines, basis.then):
            if by_number:
                check_lines_known(basis, partial(_make_edit, edit), edit.version, context)
            return _ResolvedEdit(edit, name, lines, basis)
    then = bases[0].then
    lines = _target_lines(edit, then)
    if lines is None:
        start = (edit.start_line or 1) - 1
        end = start + 1 if edit.end_line is None else edit.end_line
        raise Refused(
            f"The edit {name} is about lines {start + 1} to {end}; {then.path} has {then.text.line_count}.",
            code="invalid_line_range",
            requested_start=start + 1,
            requested_end=end,
            document_lines=then.text.line_count,
        )
    raise Stale(
        f"Lines {lines.start + 1} to {lines.end} of {then.path} have changed.",
        code="conflict",
        path=then.path,
        current_hash=content_hash("".join(then.text.lines(lines.start, lines.end)).encode()),
    )


def _bases(edit: ProposedEdit, document: Document, context: ToolContext) -> list[EditBasis]:
    """The texts that the lines may have been counted in: the named version, else what the caller last read. A hash
    verifies itself, so with one the current file is accepted as well."""
    now = EditBasis(document, document, document.version)
    if edit.anchor and not edit.version:
        return [now]
    try:
        basis = basis_of(document, edit.version, context)
    except Stale:
        if edit.version or _find_expected_hash(edit) is None:
            raise
        return [now]
    return [basis] if edit.version or _find_expected_hash(edit) is None else [basis, now]


def _target_lines(edit: ProposedEdit, document: Document) -> Span | None:
    """The lines, half-open, from 0; None if the document does not contain them."""
    text = document.text
    if edit.anchor:
        at = find_once(document, edit.anchor)
        length = len(match_newlines(edit.anchor, document).rstrip("\r\n"))
        start, end = text.line_at(at), text.line_at(at + max(length - 1, 0)) + 1
    else:
        start = (edit.start_line or 1) - 1
        end = start + 1 if edit.end_line is None else edit.end_line
    end = start if edit.operation == "insert" else end
    if not start <= end <= text.line_count or (edit.operation != "insert" and start == end):
        return None
    return Span(start, end)


def _has_expected_hash(edit: ProposedEdit, lines: Span, document: Document) -> bool:
    """Whether the lines have the hash that the caller expects. An insertion may give that of the line it goes
    before."""
    expected, text = _find_expected_hash(edit), document.text
    if expected is None:
        return True
    end = lines.end
    if edit.operation == "insert":
        if lines.start == text.line_count:
            return False
        end = lines.start + 1
    return content_hash("".join(text.lines(lines.start, end)).encode()) == expected


def _make_edit(edit: ProposedEdit, document: Document) -> Edit:
    lines = _target_lines(edit, document)
    if lines is None:
        raise Refused(f"{document.path} does not contain these lines.", code="invalid_line_range")
    if edit.operation == "insert":
        return insertion(document, lines.start, edit.new_text)
    return replacement(document, lines.start, lines.end, edit.new_text)


def _find_expected_hash(edit: ProposedEdit) -> str | None:
    """The hash that the caller gives. For an insertion the hash of no lines is ignored: it matches anywhere."""
    given = edit.expected_hash
    return None if edit.operation == "insert" and given == NOTHING else given


@dataclass(frozen=True, slots=True, kw_only=True)
class ClarifyUser:
    """What `clarify_user` takes."""

    question: Annotated[str, Field("The question, in full.", ("message", "prompt"))]


class ClarifyUserResult(TypedDict):
    """The answer of `clarify_user`."""

    question: str
    answer: str


@tool("read", "project", "default", serves="SB-tool-clarify", idempotent=False)
def clarify_user(given: ClarifyUser, context: ToolContext) -> ClarifyUserResult:
    """Ask the person a question and wait for the answer. Use it when the request can be read in several ways and a
    wrong guess would cost work; not for what you can find out by reading."""
    if not given.question.strip():
        raise Refused("The question is empty.", code="content_required", field="question")
    answer = None if context.ask is None else context.ask(given.question[:MAX_QUESTION])
    if answer is None:
        raise Refused("Nobody can answer here.", code="cannot_ask", question=given.question[:MAX_QUESTION])
    return {"question": given.question, "answer": answer}
