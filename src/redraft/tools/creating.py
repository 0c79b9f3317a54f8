"""New documents and folders."""

import re
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypedDict

from redraft.errors import RedraftError, Refused
from redraft.tools.context import ToolContext
from redraft.tools.editing import Changed, carry_out
from redraft.tools.registry import tool
from redraft.tools.schema import Says
from redraft.tools.target import folder_path, plain_path
from redraft.tools.templates import filled
from redraft.workspace.folders import make_folder

_EXTENSION = re.compile(r"\.(?=[A-Za-z0-9]*[A-Za-z])[A-Za-z0-9]{1,10}\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateDocument:
    """What `create_document` takes."""

    title: Annotated[
        str | None, Says("The new document's file name; without an extension it gets one.", ("filename", "file_name"))
    ] = None
    name: Annotated[str | None, Says("The same as title.")] = None
    folder: Annotated[str | None, Says('The folder to create it in; "/" is the root.', ("directory",))] = None
    path: Annotated[str | None, Says("Folder and file name in one, instead of the others.", ("file_path",))] = None
    content: Annotated[str, Says("The initial text, after that of the template if there is one.", ("text",))] = ""
    template: Annotated[
        str | None,
        Says("blank (default), meeting-notes, todo-list, journal, or a document of the folder templates/."),
    ] = None
    file_type: Annotated[
        Literal["md", "txt", "json", "yaml"] | None, Says("The extension for a title that has none.")
    ] = None


class DocumentCreated(Changed):
    """The answer of `create_document`."""

    tab_id: str | None
    title: str
    path: str
    version: str
    status: Literal["created"]
    created: bool


@tool("create", "tabs", "workspace", "default", serves="TK-create ML-create")
def create_document(given: CreateDocument, context: ToolContext) -> DocumentCreated:
    """Create a new document, optionally with content or from a template, and open it in a tab. Give a title (or name)
    and, if it belongs into one, a folder. Nothing is ever overwritten: a name that is taken is refused. Returns the
    version for the first edit."""
    path = context.workspace.engine.documents.path(_new_path(given, context))
    title = path.rpartition("/")[2]
    if given.title is not None:
        _check_title(title, context)
    done = carry_out(context, f"Create {path}", lambda turn: turn.create(path, _content(given, title, context)))
    answer: Any = {
        "tab_id": _opened(path, context),
        "title": title,
        "path": path,
        "version": "" if done.document is None else done.document.version,
        "status": "created",
        "created": True,
        **done.changed,
    }
    return answer


def _new_path(given: CreateDocument, context: ToolContext) -> str:
    names = [name for name in (given.title, given.name, given.path) if name]
    if len(set(names)) != 1:
        what = "Give the new document a `title`." if not names else "Give one of `title`, `name` and `path`."
        raise Refused(what, field="title")
    name = plain_path(names[0].strip(), context)
    if not _EXTENSION.search(name):
        name += f".{given.file_type or 'md'}"
    if given.path:
        return name
    folder = context.folder if given.folder is None else folder_path(given.folder, context)
    return f"{folder}/{name}" if folder else name


def _check_title(title: str, context: ToolContext) -> None:
    for tab in context.workspace.tabs():
        if tab.path.rpartition("/")[2] == title:
            raise Refused(
                f"A tab with the title {title} is open.", code="title_exists", tab_id=tab.tab_id, path=tab.path
            )


def _content(given: CreateDocument, title: str, context: ToolContext) -> str:
    start = filled(given.template, title.rpartition(".")[0], context) if given.template else ""
    between = "\n" if start and given.content else ""
    return start + between + given.content


def _opened(path: str, context: ToolContext) -> str | None:
    """The tab of the new document; none while it is only staged."""
    if context.turn is not None:
        return None
    try:
        tab = context.workspace.open_tab(path).tab_id
    except RedraftError:
        return None  # somebody was quicker to take it away; it was created all the same
    if context.active_tab is None:
        context.active_tab = tab
    return tab


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateFolder:
    """What `create_folder` takes."""

    path: Annotated[str, Says("The folder's path; those above it are made too.", ("folder", "name", "directory"))]


class FolderCreated(TypedDict):
    """The answer of `create_folder`."""

    path: str
    created: Annotated[bool, Says("False where it was there, or will only be made with the first document in it.")]
    made: Annotated[list[str], Says("Every folder that had to be made.")]
    note: str


@tool("create", "workspace", serves="ML-folder", idempotent=True, alone=True)
def create_folder(given: CreateFolder, context: ToolContext) -> FolderCreated:
    """Create a folder, and those above it. Not needed before creating or moving a document: its folder is made with it.
    While the person reviews every change, an empty folder is not made; it comes with the first document in it."""
    engine = context.workspace.engine
    path = folder_path(given.path, context)
    before = engine.root.is_folder(engine.documents.path(path))
    made = make_folder(
        engine, path, author=context.author, mode=context.rules, confirm=context.confirm, called=context.call
    )
    context.logged = bool(made)
    note = "It was there already." if before else "" if made else "It will be made with the first document in it."
    return {"path": path, "created": bool(made), "made": list(made), "note": note}
