"""Move, rename and delete documents. Nothing is overwritten, and deleted documents stay in the trash."""

from dataclasses import dataclass
from typing import Annotated, Any, TypedDict

from redraft.tools.context import ChangeResult, State, ToolContext, carry_out
from redraft.tools.parameters import Field
from redraft.tools.registry import tool
from redraft.tools.target import relative_path
from redraft.workspace.turns.turn import Turn

VERSION = Field("Refuse the call unless the document still has this version. Default: what you last read.")


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveDocument:
    """What `move_document` takes."""

    from_path: Annotated[str, Field("The document's current path.", ("path", "source", "from", "old_path"))]
    to_path: Annotated[
        str,
        Field("Its new path; given a folder, it keeps its name.", ("destination", "to", "new_path", "target")),
    ]
    version: Annotated[str | None, VERSION] = None


# `from` is a keyword in Python, so this cannot be written as a class.
MoveDocumentResult = TypedDict(
    "MoveDocumentResult",
    {"from": str, "to": str, "moved": bool, "version": str, "state": State, "turn": int | None},
)


@tool("modify", "workspace", "default", serves="ML-move")
def move_document(given: MoveDocument, context: ToolContext) -> MoveDocumentResult:
    """Move a document to another folder or rename it. Missing folders are created. A move never overwrites: it is
    refused if the new path exists."""
    workspace = context.workspace
    source = workspace.path(relative_path(given.from_path, context))
    target = workspace.path(_destination(source, given.to_path, context))
    document = context.peek(source)
    version = context.check_version(document, given.version)
    done = carry_out(context, f"Move {source} to {target}", lambda turn: turn.move(source, target, version))
    found = "" if done.document is None else done.document.version
    answer: Any = {"from": source, "to": target, "moved": True, "version": found, **done.changed}
    return answer


def _destination(source: str, raw: str, context: ToolContext) -> str:
    """The new path; if it is a folder, the document keeps its name."""
    path = relative_path(raw, context)
    folder = path.rstrip("/")
    name = source.rpartition("/")[2]
    if path in ("/", ".", ""):
        return name
    workspace = context.workspace
    if path.endswith("/") or (folder != source and workspace.is_folder(folder)):
        return f"{folder}/{name}"
    return path


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteDocument:
    """What `delete_document` takes."""

    path: Annotated[str, Field("The document to delete.", ("file_path", "file", "document"))]
    version: Annotated[str | None, VERSION] = None


class DeleteDocumentResult(ChangeResult):
    """The answer of `delete_document`."""

    path: str
    deleted: bool
    recoverable: bool


@tool("destroy", "workspace", "default", serves="ML-delete ML-risk-destroy")
def delete_document(given: DeleteDocument, context: ToolContext) -> DeleteDocumentResult:
    """Delete a document. It goes to the trash, and the person can restore it. Depending on the mode, the person is
    asked first or decides afterwards."""
    path = context.workspace.path(relative_path(given.path, context))
    version = context.check_version(context.peek(path), given.version)

    def delete(turn: Turn) -> None:
        turn.delete(path, version)

    done = carry_out(context, f"Delete {path}", delete)
    answer: Any = {"path": path, "deleted": True, "recoverable": True, **done.changed}
    return answer
