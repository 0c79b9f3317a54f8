"""A prompt as the protocol has it, and the request to the agent that it stands for.

A link to a document of the folder becomes a context row; in the request stands the document's path, if the link is
part of a sentence, and not only attached to the words without a blank. An embedded text is shown to the agent as it
came, since the editor may hold more than the disk, unless the editor is asked for that anyway.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from acp.exceptions import RequestError
from acp.schema import EmbeddedResourceContentBlock, ResourceContentBlock, TextContentBlock, TextResourceContents

from redraft.errors import RedraftError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from redraft.workspace.workspace import Workspace

LINES = re.compile(r"L(\d{1,9})(?:[-:,]L?(\d{1,9}))?")


@dataclass(slots=True)
class PromptInput:
    """What a prompt asks for. The first of its documents is the one in front of the person."""

    words: list[str] = field(default_factory=list[str])
    rows: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    links: set[int] = field(default_factory=set[int])  # which of the words are names of linked documents

    @property
    def instruction(self) -> str:
        """The words, with the names of the documents among them that belong to a sentence."""
        said = [word for at, word in enumerate(self.words) if not self._is_attached(at)]
        return "".join(said).strip() or " ".join(self.words)

    def _is_attached(self, at: int) -> bool:
        if at not in self.links:
            return False
        before = self.words[at - 1] if at > 0 and at - 1 not in self.links else ""
        after = self.words[at + 1] if at + 1 < len(self.words) and at + 1 not in self.links else ""
        return not before.endswith((" ", "\t", "(")) if before else not after.startswith((" ", "\t"))

    @property
    def documents(self) -> list[str]:
        return list(dict.fromkeys(row["file_path"] for row in self.rows if row["file_path"]))


@dataclass(frozen=True, slots=True)
class LinkTarget:
    """A document of the folder, or some lines of it."""

    path: str
    lines: tuple[int, int] | None = None

    def __str__(self) -> str:
        if self.lines is None:
            return f"`{self.path}`"
        first, last = self.lines
        return f"`{self.path}` (line {first})" if first == last else f"`{self.path}` (lines {first}-{last})"

    def as_row(self, content: str = "") -> dict[str, Any]:
        row = {"kind": "file", "file_path": self.path, "content": content, "pinned": False}
        return row if self.lines is None else {**row, "start_line": self.lines[0], "end_line": self.lines[1]}


def read_prompt(blocks: Sequence[object], workspace: Workspace, *, asks_editor: bool = False) -> PromptInput:
    """The request that the blocks of a prompt make together."""
    found = PromptInput()
    for block in blocks:
        if isinstance(block, TextContentBlock):
            found.words.append(block.text)
        elif isinstance(block, ResourceContentBlock):
            _add_link(found, workspace, block.uri, f"[{block.name}]({block.uri})")
        elif isinstance(block, EmbeddedResourceContentBlock):
            _add_resource(found, workspace, block, asks_editor=asks_editor)
        else:
            raise RequestError(-32602, "Redraft takes text, links and embedded texts; no images and no audio.")
    return found


def _add_link(found: PromptInput, workspace: Workspace, uri: str, name: str) -> None:
    target = find_target(workspace, uri)
    if target is not None and not workspace.is_folder(target.path):
        found.links.add(len(found.words))
        found.rows.append(target.as_row())
    found.words.append(name if target is None else str(target))


def _add_resource(
    found: PromptInput, workspace: Workspace, block: EmbeddedResourceContentBlock, *, asks_editor: bool
) -> None:
    resource = block.resource
    if not isinstance(resource, TextResourceContents):
        raise RequestError(-32602, f"{resource.uri} is not text.")
    target = find_target(workspace, resource.uri)
    found.words.append(f"[{resource.uri}]" if target is None else str(target))
    if target is None:
        found.rows.append({"kind": "attachment", "file_path": "", "content": resource.text, "pinned": False})
    else:
        found.rows.append(target.as_row("" if asks_editor else resource.text))


def find_target(workspace: Workspace, uri: str) -> LinkTarget | None:
    """The document of the folder that an address names; None if it names something else."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return None
    if parts.scheme not in ("file", "") or parts.netloc not in ("", "localhost"):
        return None
    path = path_in(workspace, unquote(parts.path))
    if path is None:
        return None
    lines = LINES.match(unquote(parts.fragment))
    if lines is None:
        return LinkTarget(path)
    first = int(lines[1])
    return LinkTarget(path, (first, max(first, int(lines[2] or first))))


def path_in(workspace: Workspace, name: str) -> str | None:
    """A file's path in the folder, under whichever name the folder was opened; None if it is elsewhere."""
    for top in dict.fromkeys((os.path.abspath(workspace.folder), os.path.realpath(workspace.folder))):
        inside = os.path.relpath(name, top) if os.path.isabs(name) else name
        if inside == "." or inside.split(os.sep)[0] == os.pardir:
            continue
        try:
            return str(workspace.path(inside))
        except RedraftError:
            return None
    return None
