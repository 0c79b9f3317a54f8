"""How documents, tabs and the folder are told as JSON; documents in windows, for one may be of any length."""

from typing import Any, Literal

from typing_extensions import TypedDict

from redraft.agent.events import iso
from redraft.files.listing import Entry
from redraft.workspace.document import Document
from redraft.workspace.tabs import Tab


class TabShape(TypedDict):
    """An open document. `version` is null where the file cannot be read just now."""

    tab_id: str
    title: str
    path: str
    file_type: str
    version: str | None
    is_dirty: bool
    size_chars: int
    line_count: int


def tab_shape(tab: Tab) -> TabShape:
    shape: Any = tab.as_json()
    return shape


class EntryShape(TypedDict):
    """One thing in the folder. A link is named, and never followed."""

    path: str
    kind: Literal["file", "folder", "link", "other"]
    size: int
    modified: str


def entry_shape(entry: Entry) -> EntryShape:
    return {"path": entry.path, "kind": entry.kind, "size": entry.size, "modified": iso(entry.mtime_ns / 1e9)}


class DocumentShape(TypedDict):
    """A window of a document. Offsets are in characters (code points); `next_offset` is null at the end."""

    path: str
    version: str
    format: str
    newline: str
    bom: bool
    size_chars: int
    line_count: int
    offset: int
    start_line: int
    content: str
    next_offset: int | None


def document_shape(document: Document, offset: int, limit: int) -> DocumentShape:
    """Lines count from 1."""
    text = document.text
    start = min(offset, len(text))
    end = min(start + limit, len(text))
    return {
        "path": document.path,
        "version": document.version,
        "format": document.format,
        "newline": document.newline,
        "bom": document.bom,
        "size_chars": len(text),
        "line_count": text.line_count,
        "offset": start,
        "start_line": text.line_at(start) + 1,
        "content": text.slice(start, end),
        "next_offset": end if end < len(text) else None,
    }
