"""One round of a conversation: what changed since the agent last looked goes out, and its answer comes in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from redraft.formats.components import components
from redraft.sessions.answers.writer import WrittenAnswer, write_answer
from redraft.sessions.session_fields import RESUME, session_fields
from redraft.text.patch.unified_diff import format_patch

if TYPE_CHECKING:
    from redraft.sessions.answers.writer import SessionContext
    from redraft.sessions.backends import Backend

SIDES = ("snapshot", "document")


@dataclass(frozen=True, slots=True)
class ConversationPrompt:
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


def build_prompt(desk: SessionContext) -> ConversationPrompt | None:
    """The prompt for the document as it is; None where nothing changed since the snapshot."""
    text = desk.store.read(desk.project.path).text
    snapshot = desk.agent_files.snapshot(desk.project)
    changed = difference(snapshot, text)
    if not changed:
        return None
    document = f"<document>\n{_end_with_newline(text)}</document>"
    if snapshot is None:
        said = f"The person has begun this conversation:\n\n{document}\n"
    else:
        said = f"The person has changed the document:\n\n<diff>\n{_end_with_newline(changed)}</diff>\n\n{document}\n"
    return ConversationPrompt(_links(desk, text) + said, text)


def _links(desk: SessionContext, text: str) -> str:
    """What the document links to, as the prompt shows it."""
    links = session_fields(text).links
    if not links:
        return ""
    from redraft.sessions.links import format_links  # it loads our own agent's prompts, which few conversations need

    return format_links(links, desk.project.path, desk.store.read_as_agent)


def converse(
    desk: SessionContext, prompt: ConversationPrompt, backend: Backend, *, model: str | None = None
) -> WrittenAnswer:
    """Send the prompt, and write the answer into the document, with the session to go on with. Nothing is sent for a
    document that could not take the answer."""
    said = session_fields(prompt.base)
    components(prompt.base)
    desk.store.check()
    reply = backend.send(prompt.text, said.resume, fork=said.resume is None, model=model or said.model)
    stored = {RESUME: reply.session} if reply.session else {}
    return write_answer(desk, reply.text, baseline=prompt.base, set_fields=stored)


def _end_with_newline(text: str) -> str:
    return text if text.endswith("\n") else text + "\n"
