"""The frontmatter fields of a session document, including old names and old modes. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal
from uuid import uuid4

from redraft.errors import Refused
from redraft.formats.components import components
from redraft.formats.frontmatter import entries, fields, items, set_entry, set_field
from redraft.text.frontmatter_block import frontmatter_end
from redraft.text.lines import adopt_newlines

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Format = Literal["inline", "template"]
Strategy = Literal["merge", "crdt"]

SESSION, RESUME, LINKS = "agent_doc_session", "resume", "links"
_MODEL = "_model"
_FORMATS: dict[str, Format] = {"inline": "inline", "append": "inline", "template": "template"}
# What the one old field meant: a format, and for `stream` how it is written.
_OLD_MODES: dict[str, tuple[Format, Strategy | None]] = {
    "append": ("inline", None),
    "template": ("template", None),
    "stream": ("template", "crdt"),
}


@dataclass(frozen=True, slots=True)
class SessionFields:
    """The fields of a session document. `session` is the document's id; `resume` is the conversation to continue, or
    one for each agent."""

    session: str | None = None
    resume: str | Mapping[str, str] | None = None
    agent: str | None = None
    model: str | None = None
    models: Mapping[str, str] = field(default_factory=dict[str, str])
    branch: str | None = None
    format: Format = "template"
    write: Strategy = "crdt"
    links: tuple[str, ...] = ()

    def resume_of(self, agent: str) -> str | None:
        """The conversation of this agent."""
        return self.resume if self.resume is None or isinstance(self.resume, str) else self.resume.get(agent)

    def model_of(self, agent: str) -> str | None:
        """The model for this agent: its own, `claude_model`, or the one for all, `model`."""
        return self.models.get(agent) or self.model


def session_fields(text: str) -> SessionFields:
    """The fields of a document; raises `conflict` if one has an invalid value."""
    found = fields(text)
    old_mode = next((found[name] for name in ("agent_doc_mode", "mode", "response_mode") if found.get(name)), None)
    form, write = _OLD_MODES.get(old_mode or "", ("template", None))
    named = found.get("agent_doc_format")
    if named is not None and named not in _FORMATS:
        raise _unknown("agent_doc_format", named, _FORMATS)
    wanted = found.get("agent_doc_write")
    if wanted not in (None, "merge", "crdt"):
        raise _unknown("agent_doc_write", wanted, ("merge", "crdt"))
    links = items(text, LINKS) if LINKS in found else []
    if links is None:
        raise Refused(f"{LINKS} in the document's frontmatter must be a list of paths.", code="conflict")
    return SessionFields(
        session=found.get(SESSION) or found.get("session"),
        resume=found.get(RESUME) or entries(text, RESUME),
        agent=found.get("agent"),
        model=found.get("model"),
        models={name.removesuffix(_MODEL): value for name, value in found.items() if value and name.endswith(_MODEL)},
        branch=found.get("branch"),
        format=form if named is None else _FORMATS[named],
        write=wanted or write or "crdt",
        links=tuple(links),
    )


def set_resume(text: str, agent: str, conversation: str) -> str:
    """The text with this agent's conversation: where there is one for each agent, the others' stay."""
    if session_fields(text).resume_of(agent) == conversation:
        return text
    return set_entry(text, RESUME, agent, conversation)


def _unknown(name: str, value: str, known: Iterable[str]) -> Refused:
    choices = ", ".join(known)
    return Refused(f"{name} is {value!r} in the document's frontmatter; it must be {choices}.", code="conflict")


# What a document needs for a conversation: a session id, and if it is new, components. Pure except for the id, which
# is random.


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
