"""One round of a conversation: send what changed since the agent last looked, and write its answer."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from redraft.agent.run.prompts import document_blocks
from redraft.agent.store.sessions import ContextRow
from redraft.errors import RedraftError, Refused
from redraft.formats.components import components
from redraft.sessions.answers.writer import WrittenAnswer, write_answer
from redraft.sessions.session_fields import session_fields, set_resume
from redraft.text.lines import count_lines
from redraft.text.patch.unified_diff import format_patch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from redraft.sessions.answers.writer import SessionContext
    from redraft.sessions.backends import Backend

# Other documents as context of a conversation: those that `links:` in a document's frontmatter names.
#
# A link is a path from the document's own folder to a text of the same workspace that an agent may read: nothing
# outside it, nothing internal, no secret, whatever the link says. A broken link stops the run, since an agent that
# answers without the promised context guesses. Of long documents only the beginning is shown, in whole lines, with a
# note that says so. They are data: each is between markers that its text cannot contain, like documents in the prompts
# of our own agent.


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
    from redraft.sessions.conversation import (
        format_links,  # it loads our own agent's prompts, which few conversations need
    )

    return format_links(links, context.project.path, context.store.read_as_agent)


def converse(
    context: SessionContext, prompt: ConversationPrompt, backend: Backend, *, model: str | None = None
) -> WrittenAnswer:
    """Send the prompt, and write the answer into the document, with the conversation to continue. Nothing is sent for a
    document that could not take the answer, and an answer that is none leaves the question as it is."""
    fields, agent = session_fields(prompt.base), context.author
    components(prompt.base)
    context.store.check()
    wanted, remarks = model or fields.model_of(agent), ()
    if wanted and not backend.takes_model:
        if model:
            raise Refused(f"{agent} takes no model; name it in the agent's own settings.", code="invalid_argument")
        remarks = (f"{agent} takes no model, so {wanted!r} in the document was not passed on.",)
        wanted = None
    known = fields.resume_of(agent)
    reply = backend.send(prompt.text, known, fork=known is None, model=wanted)

    def set_conversation(text: str) -> str:
        return set_resume(text, agent, reply.session) if reply.session else text

    written = write_answer(context, reply.text, baseline=prompt.base, set_fields=set_conversation)
    return replace(written, remarks=(*remarks, *written.remarks))


def _end_with_newline(text: str) -> str:
    return text if text.endswith("\n") else text + "\n"
