"""Other documents as context of a conversation: those that `links:` in a document's frontmatter names.

A link is a path from the document's own folder to a text of the same workspace that an agent may read: nothing outside
it, nothing internal, no secret, whatever the link says. A broken link stops the run, since an agent that answers
without the promised context guesses. Of long documents only the beginning is shown, in whole lines, with a note that
says so. They are data: each is between markers that its text cannot contain, like documents in the prompts of our own
agent.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from redraft.agent.run.prompts import document_blocks
from redraft.agent.store.sessions import ContextRow
from redraft.errors import RedraftError, Refused
from redraft.text.lines import count_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

MAX_LINKS = 20
# Code points of one document, and of all together.
WINDOW, WINDOWS = 24_000, 120_000


def format_links(links: Sequence[str], path: str, read: Callable[[str], str]) -> str:
    """The part of a prompt with the documents that `path` links to; "" if it has no links.

    `read` returns the text of a document by its path in the workspace, as an agent may see it.
    """
    if not links:
        return ""
    if len(links) > MAX_LINKS:
        raise Refused(f"The document links to {len(links)} others; at most {MAX_LINKS} are shown to an agent.")
    rows: list[ContextRow] = []
    remarks: list[str] = []
    room = WINDOWS
    for link in dict.fromkeys(links):
        name = _resolve_link(link, path)
        text = _read_link(link, name, read)
        window = _window(text, min(WINDOW, room))
        room -= len(window)
        ends = count_lines(window)
        rows.append(ContextRow(name, "linked", name, 1 if ends else None, ends, window.rstrip("\r\n")))
        if window != text:
            remarks.append(f"{name} is longer: {ends} of its {count_lines(text)} lines are shown.")
    intro = " ".join(["The document links to these documents, for context.", *remarks])
    return f"{intro}\n\n{document_blocks(rows)}"


def _resolve_link(link: str, path: str) -> str:
    if "://" in link:
        raise Refused(f"The document links to {link}; only documents in the same folder can be linked.", link=link)
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), link))


def _read_link(link: str, name: str, read: Callable[[str], str]) -> str:
    try:
        return read(name)
    except RedraftError as error:
        error.message = f"The document links to {link}: {error.message} Nothing was sent."
        raise


def _window(text: str, room: int) -> str:
    """As much of a text's beginning as fits, in whole lines if it has any."""
    if len(text) <= room:
        return text
    end = max(text.rfind("\n", 0, room), text.rfind("\r", 0, room)) + 1
    return text[: end or room]
