"""The content of the folder: documents and folders in their working state, including an agent's proposals.

Names that begin with a dot, links and internal files are left out. Nothing is read: a file's kind follows from its
name.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Annotated, Literal, TypedDict

from redraft.errors import Refused
from redraft.search.globs import path_filter
from redraft.tools.context import ToolContext
from redraft.tools.parameters import Field
from redraft.tools.registry import tool
from redraft.tools.target import relative_folder

LIMIT = 1000
MAX_LIMIT = 10_000


def working_view(context: ToolContext, folder: str) -> dict[str, str]:
    """Every path in a folder with its kind, file or folder, as this caller sees it."""
    kinds: dict[str, str] = {
        entry.path: entry.kind for entry in context.workspace.list(folder) if entry.kind in ("file", "folder")
    }
    prefix = f"{folder}/" if folder else ""
    deleted, there = _unwritten_paths(context, prefix)
    for path in deleted:
        kinds.pop(path, None)
    for path in there:
        kinds.update(dict.fromkeys(_folders_between(path, prefix), "folder"))
        kinds[path] = "file"
    return kinds


def working_files(context: ToolContext, folder: str, files: Iterable[str]) -> list[str]:
    """The documents in a folder as this caller sees them, given all files on disk."""
    prefix = f"{folder}/" if folder else ""
    deleted, there = _unwritten_paths(context, prefix)
    found = dict.fromkeys(path for path in files if path.startswith(prefix))
    for path in deleted:
        found.pop(path, None)
    found.update(dict.fromkeys(there))
    return list(found)


def _unwritten_paths(context: ToolContext, prefix: str) -> tuple[list[str], list[str]]:
    """What is on disk but deleted for this caller, and what exists for it but is not on disk yet."""
    drafts = context.workspace.draft_places()
    staged = context.turn.staged if context.turn is not None else {}
    deleted = [base for base, path in drafts if base is not None and base != path]
    deleted += [path for path, each in staged.items() if each.now is None]
    there = [path for _, path in drafts if path is not None]
    there += [path for path, each in staged.items() if each.now is not None]
    return deleted, [path for path in there if path.startswith(prefix) and not _is_hidden(path)]


def _is_hidden(path: str) -> bool:
    return any(name.startswith(".") for name in path.split("/"))


def _folders_between(path: str, prefix: str) -> Iterable[str]:
    at = path.find("/", len(prefix))
    while at >= 0:
        yield path[:at]
        at = path.find("/", at + 1)


def find_existing_folder(raw: str | None, context: ToolContext) -> str:
    """The folder's path, "" for the root; refused if there is none in the working view."""
    folder = relative_folder(raw, context)
    if not folder:
        return ""
    path = context.workspace.path(folder)
    if not context.workspace.is_folder(path) and not working_view(context, path):
        raise Refused(f"There is no folder {path}.", code="not_found", path=path)
    return path


@dataclass(frozen=True, slots=True, kw_only=True)
class ListDocuments:
    """What `list_documents` takes."""

    folder: Annotated[str | None, Field('The folder to list. Default: the root, "/".', ("path", "directory"))] = None
    recursive: Annotated[bool, Field("Whether to include subfolders.")] = False
    limit: Annotated[int, Field("The maximum number of entries.", minimum=1, maximum=MAX_LIMIT)] = LIMIT


class ListedDocument(TypedDict):
    """A document or a folder."""

    name: str
    path: str
    type: Literal["file", "folder"]


class ListDocumentsResult(TypedDict):
    """The answer of `list_documents`."""

    documents: list[ListedDocument]
    count: int
    truncated: bool


@tool("read", "workspace", "default", serves="ML-list")
def list_documents(given: ListDocuments, context: ToolContext) -> ListDocumentsResult:
    """List the documents and folders in a folder, by default the root; with recursive, in its subfolders too. Use this
    to explore the workspace. To find documents by their name or content, use search_documents."""
    folder = find_existing_folder(given.folder, context)
    depth = folder.count("/") + 1 if folder else 0
    kinds = sorted(working_view(context, folder).items(), key=lambda item: item[0].split("/"))
    wanted = [(path, kind) for path, kind in kinds if given.recursive or path.count("/") == depth]
    listed: list[ListedDocument] = [
        {"name": path.rpartition("/")[2], "path": path, "type": "file" if kind == "file" else "folder"}
        for path, kind in wanted[: given.limit]
    ]
    return {"documents": listed, "count": len(listed), "truncated": len(wanted) > len(listed)}


@dataclass(frozen=True, slots=True, kw_only=True)
class ListFiles:
    """What `list_files` takes."""

    prefix: Annotated[str | None, Field("The folder to list. Default: the whole project.", ("folder", "path"))] = None
    glob: Annotated[str, Field("Which files: *.md by name, docs/**/*.md by path.", ("pattern",))] = "**/*"
    limit: Annotated[int, Field("The maximum number of files.", minimum=1, maximum=MAX_LIMIT)] = LIMIT


class ListFilesResult(TypedDict):
    """The answer of `list_files`."""

    files: list[str]
    truncated: bool


@tool("read", "project", serves="SB-tool-list")
def list_files(given: ListFiles, context: ToolContext) -> ListFilesResult:
    """List the files of the project, in a folder (prefix) and by a glob; all of them by default. Paths are relative to
    the project root."""
    folder = find_existing_folder(given.prefix, context)
    wanted = path_filter(given.glob)
    kinds = working_view(context, folder)
    found = (path for path in sorted(kinds, key=lambda path: path.split("/")) if kinds[path] == "file" and wanted(path))
    files = list(islice(found, given.limit + 1))
    return {"files": files[: given.limit], "truncated": len(files) > given.limit}
