"""One round of a conversation: what changed since the agent last looked goes out, and its answer comes in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from redraft.formats.components import components
from redraft.sessions.fields import RESUME, session_fields
from redraft.sessions.writing import Written, write
from redraft.text.patch import format_patch

if TYPE_CHECKING:
    from redraft.sessions.backends import Backend
    from redraft.sessions.writing import Desk

SIDES = ("snapshot", "document")


@dataclass(frozen=True, slots=True)
class Prompt:
    """What an agent is to be sent, and the text that it is about, which is the base of its answer."""

    text: str
    base: str


def difference(old: str | None, new: str, sides: tuple[str, str] = SIDES) -> str:
    """The unified difference between a snapshot and a document, or what they are called; "" where there is none."""
    patch = format_patch("document", old or "", new)
    if not patch:
        return ""
    sections = patch[patch.index("@@") :]
    return f"--- {sides[0]}\n+++ {sides[1]}\n{sections}"


def prompt_for(desk: Desk) -> Prompt | None:
    """The prompt for the document as it is; None where nothing changed since the snapshot."""
    text = desk.door.read(desk.project.path).text
    snapshot = desk.shelf.snapshot(desk.project)
    changed = difference(snapshot, text)
    if not changed:
        return None
    document = f"<document>\n{_ended(text)}</document>"
    if snapshot is None:
        said = f"The person has begun this conversation:\n\n{document}\n"
    else:
        said = f"The person has changed the document:\n\n<diff>\n{_ended(changed)}</diff>\n\n{document}\n"
    return Prompt(_links(desk, text) + said, text)


def _links(desk: Desk, text: str) -> str:
    """What the document links to, as the prompt shows it."""
    links = session_fields(text).links
    if not links:
        return ""
    from redraft.sessions.linking import linked  # it loads our own agent's prompts, which few conversations need

    return linked(links, desk.project.path, desk.door.shown)


def converse(desk: Desk, prompt: Prompt, backend: Backend, *, model: str | None = None) -> Written:
    """Send the prompt, and write the answer into the document, with the session to go on with. Nothing is sent for a
    document that could not take the answer."""
    said = session_fields(prompt.base)
    components(prompt.base)
    desk.door.check()
    reply = backend.send(prompt.text, said.resume, fork=said.resume is None, model=model or said.model)
    stored = {RESUME: reply.session} if reply.session else {}
    return write(desk, reply.text, baseline=prompt.base, set_fields=stored)


def _ended(text: str) -> str:
    return text if text.endswith("\n") else text + "\n"
