"""Which document a call is about: a tab by its id, a path, or the active tab."""

import os
from dataclasses import dataclass
from typing import Annotated, NamedTuple

from redraft.errors import Refused
from redraft.tools.context import ToolContext
from redraft.tools.parameters import Field

OF_THE_MACHINE = frozenset({"Users", "etc", "home", "media", "mnt", "opt", "private", "root", "tmp", "usr", "var"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The two ways to name a document; with neither, the active tab is meant."""

    tab_id: Annotated[str | None, Field("From list_tabs. Default: the active tab.", ("tab",))] = None
    path: Annotated[
        str | None,
        Field("The path in the folder, instead of a tab.", ("file_path", "file", "document")),
    ] = None


class TargetDocument(NamedTuple):
    """A document, and the tab in which it is open, if it is."""

    path: str
    tab_id: str | None


def resolve_target(target: Target, context: ToolContext) -> TargetDocument:
    """Find the document that is meant; refuse rather than guess."""
    workspace = context.workspace
    if not target.path:
        found = _tab_document(target.tab_id, context) if target.tab_id else _active_document(context)
        context.log_path(found.path)
        return found
    path = workspace.path(relative_path(target.path, context))
    if target.tab_id and workspace.tab(target.tab_id).path != path:
        raise Refused(f"`path` names {path}, and the tab {target.tab_id} shows another document.", field="path")
    return TargetDocument(path, workspace.tab_of(path))


def front_document(context: ToolContext) -> TargetDocument | None:
    """The default document of a call: what the surface has set, else what the person is looking at."""
    workspace = context.workspace
    if context.active_tab is not None:
        return _tab_document(context.active_tab, context)
    if context.document:
        moved = {} if context.turn is None else {origin: target for target, origin in context.turn.moved.items()}
        path = workspace.path(context.document)
        return TargetDocument(moved.get(path, path), workspace.tab_of(path))
    front = context.workspace.front(context.person)
    return None if front is None else TargetDocument(front.path, front.tab_id)


def _tab_document(tab_id: str, context: ToolContext) -> TargetDocument:
    found = context.workspace.tab(tab_id)
    return TargetDocument(found.path, found.tab_id)


def _active_document(context: ToolContext) -> TargetDocument:
    found = front_document(context)
    if found is not None:
        return found
    known = list(context.workspace.tab_paths())
    if len(known) == 1:
        return _tab_document(known[0], context)
    message = "No tab is open." if not known else f"{len(known)} tabs are open and none is active."
    raise Refused(f"{message} Name a `path` or a `tab_id`.", code="invalid_tab_id", open_tabs=known)


def relative_path(raw: str, context: ToolContext) -> str:
    """A path as models write it: with `./` before it, or absolute if it leads into this folder."""
    root = os.path.abspath(context.workspace.folder)
    inside = raw.removeprefix(root)
    if inside != raw and inside[:1] in ("", "/"):
        raw = inside.lstrip("/")
    return raw.removeprefix("./")


def relative_folder(raw: str | None, context: ToolContext) -> str:
    """A folder as the workspace tools write it: "/" is the root, and slashes around it are ignored. What looks like an
    absolute path of the machine is refused: it would create a chain of new folders here."""
    path = relative_path(raw or "", context)
    folder = path.strip("/")
    first, _, rest = folder.partition("/")
    workspace = context.workspace
    if path.startswith("/") and rest and first in OF_THE_MACHINE and not workspace.is_folder(first):
        message = f"There is no folder {first[:100]!a} here. To create it here, leave out the leading slash."
        raise Refused(message, code="invalid_path", path=path[:500])
    return folder if folder != "." else ""
