"""Which document a call is about: a tab by its id, a path, or the tab that is active."""

import os
from dataclasses import dataclass
from typing import Annotated, NamedTuple

from redraft.errors import Refused
from redraft.tools.context import ToolContext
from redraft.tools.schema import Says
from redraft.workspace import tabs

OF_THE_MACHINE = frozenset({"Users", "etc", "home", "media", "mnt", "opt", "private", "root", "tmp", "usr", "var"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The two ways to name a document; with neither, the active tab is meant."""

    tab_id: Annotated[
        str | None, Says("The open tab to work on, as list_tabs names it. Default: the active tab.", ("tab",))
    ] = None
    path: Annotated[
        str | None,
        Says("The document's path relative to the folder, instead of a tab.", ("file_path", "file", "document")),
    ] = None


class Place(NamedTuple):
    """A document, and the tab in which it is open, if it is."""

    path: str
    tab_id: str | None


def place_of(target: Target, context: ToolContext) -> Place:
    """Find the document that is meant; refuse rather than guess."""
    engine = context.workspace.engine
    if not target.path:
        found = tabs.tab(engine, target.tab_id or _active(context))
        return Place(found.path, found.tab_id)
    path = engine.documents.path(plain_path(target.path, context))
    if target.tab_id and tabs.tab(engine, target.tab_id).path != path:
        raise Refused(f"`path` names {path}, and the tab {target.tab_id} shows another document.", field="path")
    return Place(path, tab_of(path, context))


def tab_of(path: str, context: ToolContext) -> str | None:
    """The id of the tab in which a document is open."""
    engine = context.workspace.engine
    for number, lies_at in engine.reviews.tabs():
        if (engine.reviews.standing_for(lies_at) or lies_at) == path:
            return f"tab_{number}"
    return None


def _active(context: ToolContext) -> str:
    if context.active_tab is not None:
        return context.active_tab
    known = [f"tab_{number}" for number, _ in context.workspace.engine.reviews.tabs()]
    if len(known) == 1:
        return known[0]
    message = "No tab is open." if not known else f"{len(known)} tabs are open and none is active."
    raise Refused(f"{message} Name a `path` or a `tab_id`.", code="invalid_tab_id", open_tabs=known)


def plain_path(raw: str, context: ToolContext) -> str:
    """A path as models write it: with `./` before it, or absolute where it leads into this very folder."""
    root = os.path.abspath(context.workspace.folder)
    inside = raw.removeprefix(root)
    if inside != raw and inside[:1] in ("", "/"):
        raw = inside.lstrip("/")
    return raw.removeprefix("./")


def folder_path(raw: str | None, context: ToolContext) -> str:
    """A folder as the workspace tools write it: "/" is the root, and slashes around it mean nothing. What looks like a
    path of the machine's is refused: it would become a tower of new folders in here."""
    path = plain_path(raw or "", context)
    folder = path.strip("/")
    first, _, beneath = folder.partition("/")
    engine = context.workspace.engine
    if (
        path.startswith("/")
        and beneath
        and first in OF_THE_MACHINE
        and not engine.root.is_folder(engine.documents.path(first))
    ):
        message = f"There is no folder {first[:100]!a} here. If it is to be made here, leave out the first slash."
        raise Refused(message, code="invalid_path", path=path[:500])
    return folder if folder != "." else ""
