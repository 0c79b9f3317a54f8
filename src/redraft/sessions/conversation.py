"""One round of a conversation: send what changed since the agent last looked, and write its answer."""

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
    """What is sent to an agent, and the text that it is about, which is the base of its answer."""

    text: str
    base: str


def difference(old: str | None, new: str, sides: tuple[str, str] = SIDES) -> str:
    """The unified diff between a snapshot and a document, or other named sides; "" if there is none."""
    patch = format_patch("document", old or "", new)
    if not patch:
        return ""
    sections = patch[patch.index("@@") :]
    return f"--- {sides[0]}\n+++ {sides[1]}\n{sections}"


def build_prompt(context: SessionContext) -> ConversationPrompt | None:
    """The prompt for the document as it is; None if nothing changed since the snapshot."""
    text = context.store.read(context.project.path).text
    snapshot = context.agent_files.snapshot(context.project)
    changed = difference(snapshot, text)
    if not changed:
        return None
    document = f"<document>\n{_end_with_newline(text)}</document>"
    if snapshot is None:
        message = f"The person has begun this conversation:\n\n{document}\n"
    else:
        message = f"The person has changed the document:\n\n<diff>\n{_end_with_newline(changed)}</diff>\n\n{document}\n"
    return ConversationPrompt(_links(context, text) + message, text)


def _links(context: SessionContext, text: str) -> str:
    """The documents that this one links to, as the prompt shows them."""
    links = session_fields(text).links
    if not links:
        return ""
    from redraft.sessions.links import format_links  # it loads our own agent's prompts, which few conversations need

    return format_links(links, context.project.path, context.store.read_as_agent)


def converse(
    context: SessionContext, prompt: ConversationPrompt, backend: Backend, *, model: str | None = None
) -> WrittenAnswer:
    """Send the prompt, and write the answer into the document, with the session to continue. Nothing is sent for a
    document that could not take the answer."""
    fields = session_fields(prompt.base)
    components(prompt.base)
    context.store.check()
    reply = backend.send(prompt.text, fields.resume, fork=fields.resume is None, model=model or fields.model)
    stored = {RESUME: reply.session} if reply.session else {}
    return write_answer(context, reply.text, baseline=prompt.base, set_fields=stored)


def _end_with_newline(text: str) -> str:
    return text if text.endswith("\n") else text + "\n"
