"""New documents and folders, and templates for documents: a few built-in ones, and the person's own in the folder
`templates`. A template is plain text: nothing in it is executed."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal

from redraft.errors import RedraftError, Refused
from redraft.tools.context import ChangeResult, ToolContext, carry_out
from redraft.tools.parameters import Field
from redraft.tools.registry import tool
from redraft.tools.target import front_document, relative_folder, relative_path
from redraft.workspace.turns.turn import Turn

if TYPE_CHECKING:
    from redraft.files.paths import DocPath

TEMPLATES = "templates"

BUILT_IN_TEMPLATES: dict[str, str] = {
    "blank": "",
    "meeting-notes": (
        "# {{title}}\n\n**Date:** {{date}}\n**Attendees:**\n\n## Agenda\n\n- \n\n## Notes\n\n\n"
        "## Decisions\n\n- \n\n## Action items\n\n- [ ] \n"
    ),
    "todo-list": "# {{title}}\n\n- [ ] \n- [ ] \n- [ ] \n",
    "journal": "# {{title}}\n\n*{{date}}*\n\n## Today\n\n\n## Grateful for\n\n- \n\n## Tomorrow\n\n- \n",
}

_EXTENSION = re.compile(r"\.(?=[A-Za-z0-9]*[A-Za-z])[A-Za-z0-9]{1,10}\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateDocument:
    """What `create_document` takes."""

    title: Annotated[
        str | None, Field("The new document's file name; an extension is added if missing.", ("filename", "file_name"))
    ] = None
    name: Annotated[str | None, Field("The same as title.")] = None
    folder: Annotated[
        str | None,
        Field('The folder to create it in; "/" is the root. Default: that of the active document.', ("directory",)),
    ] = None
    path: Annotated[str | None, Field("Folder and file name, instead of the others.", ("file_path",))] = None
    content: Annotated[str, Field("The initial text, after the template's if one is used.", ("text",))] = ""
    template: Annotated[
        str | None,
        Field("blank (default), meeting-notes, todo-list, journal, or a document of the folder templates/."),
    ] = None
    file_type: Annotated[
        Literal["md", "txt", "json", "yaml"] | None, Field("The extension for a title that has none.")
    ] = None


class CreateDocumentResult(ChangeResult):
    """The answer of `create_document`."""

    tab_id: str | None
    title: str
    path: str
    version: str
    status: Literal["created"]
    created: bool


@tool("create", "tabs", "workspace", "default", serves="TK-create ML-create")
def create_document(given: CreateDocument, context: ToolContext) -> CreateDocumentResult:
    """Create a new document, optionally with content or from a template, and open it in a tab. Give a title (or name)
    and, if needed, a folder. Nothing is ever overwritten: a taken name is refused. Returns the version for the first
    edit."""
    path = context.workspace.path(_new_path(given, context))
    title = path.rpartition("/")[2]
    if given.title is not None:
        _check_title(title, context)
    done = carry_out(context, f"Create {path}", lambda turn: turn.create(path, _content(given, title, context)))
    answer: Any = {
        "tab_id": _open_tab(path, context),
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
    name = relative_path(names[0].strip(), context)
    if not _EXTENSION.search(name):
        name += f".{given.file_type or 'md'}"
    if given.path or (given.folder is None and "/" in name):
        return name
    folder = _folder_in_front(context) if given.folder is None else relative_folder(given.folder, context)
    return f"{folder}/{name}" if folder else name


def _folder_in_front(context: ToolContext) -> str:
    front = front_document(context)
    return "" if front is None else front.path.rpartition("/")[0]


def _check_title(title: str, context: ToolContext) -> None:
    for tab in context.workspace.tabs():
        if tab.path.rpartition("/")[2] == title and not tab.is_gone:
            raise Refused(
                f"A tab with the title {title} is open.", code="title_exists", tab_id=tab.tab_id, path=tab.path
            )


def _content(given: CreateDocument, title: str, context: ToolContext) -> str:
    start = fill_template(given.template, title.rpartition(".")[0], context) if given.template else ""
    between = "\n" if start and given.content else ""
    return start + between + given.content


def _open_tab(path: str, context: ToolContext) -> str | None:
    """The tab of the new document; None while it is only staged."""
    if context.turn is not None:
        return None
    try:
        return context.workspace.open_tab(path).tab_id
    except RedraftError:
        return None  # somebody has already removed it; it was created all the same


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateFolder:
    """What `create_folder` takes."""

    path: Annotated[str, Field("The folder's path; missing parents are created.", ("folder", "name", "directory"))]


class CreateFolderResult(ChangeResult):
    """The answer of `create_folder`."""

    path: str
    created: Annotated[bool, Field("False if it existed, or will only be created with its first document.")]
    made: Annotated[list[str], Field("Every folder that was created.")]
    note: str


@tool("create", "workspace", serves="ML-folder", idempotent=True)
def create_folder(given: CreateFolder, context: ToolContext) -> CreateFolderResult:
    """Create a folder, with its parents. Not needed before creating or moving a document: that creates its folder.
    While the person reviews every change, an empty folder is not created until its first document is."""
    path = relative_folder(given.path, context)
    before = context.workspace.is_folder(path)
    made: list[DocPath] = []

    def make(turn: Turn) -> None:
        made.extend(turn.make_folder(path))

    done = carry_out(context, f"Create the folder {path}", make)
    note = "It already existed." if before else "" if made else "It will be created with the first document in it."
    answer: Any = {"path": path, "created": bool(made), "made": list(made), "note": note, **done.changed}
    return answer


def fill_template(name: str, title: str, context: ToolContext) -> str:
    """The template's text for a document of that title: `{{title}}`, `{{date}}` and `{{time}}` are filled in."""
    now = datetime.fromtimestamp(context.workspace.now(), UTC).astimezone()
    text = _template_text(name.strip(), context)
    values = {"{{title}}": title, "{{date}}": f"{now:%Y-%m-%d}", "{{time}}": f"{now:%H:%M}"}
    for mark, value in values.items():
        text = text.replace(mark, value)
    return text


def _template_text(name: str, context: ToolContext) -> str:
    own = name if name.endswith(".md") else f"{name}.md"
    try:
        return str(context.peek(f"{TEMPLATES}/{own}").text)
    except Refused as error:
        if name in BUILT_IN_TEMPLATES and error.code == "not_found":
            return BUILT_IN_TEMPLATES[name]
        if error.code not in ("not_found", "invalid_path"):
            raise
    known = ", ".join(BUILT_IN_TEMPLATES)
    raise Refused(
        f"There is no template {name[:100]!a}: known are {known} and those in {TEMPLATES}/.", field="template"
    )
