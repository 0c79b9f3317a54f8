"""What a document needs for a conversation: a session id, and if it is new, components. Pure except for the id, which
is random."""

from __future__ import annotations

from uuid import uuid4

from redraft.formats.components import components
from redraft.formats.frontmatter import fields, set_field
from redraft.sessions.session_fields import SESSION, session_fields
from redraft.text.frontmatter_block import frontmatter_end
from redraft.text.lines import adopt_newlines

SCAFFOLD = """\
<!-- agent:status mode=replace -->
<!-- /agent:status -->

<!-- agent:exchange mode=append -->
<!-- /agent:exchange -->
"""


def add_session_id(text: str) -> str:
    """The text with an id for routing; an existing one, under whichever name, stays."""
    return text if session_fields(text).session else set_field(text, SESSION, str(uuid4()))


def add_scaffold(text: str) -> str:
    """A new template document with the usual components. A document is new if it has only frontmatter; one with text
    but without components was not started as a template, unless it says so."""
    body = text[frontmatter_end(text) :]
    says_so = fields(text).get("agent_doc_format") == "template"
    if session_fields(text).format != "template" or components(text) or (body.strip() and not says_so):
        return text
    gap = "" if not text or text.endswith(("\n\n", "\r\n\r\n")) else "\n" if text.endswith(("\n", "\r")) else "\n\n"
    return text + adopt_newlines(gap + SCAFFOLD, text)
