"""Rich text: markdown as the document that the rich editor holds, and back. The browser needs no parser of its own.

Nothing is read from the folder or written to it: what comes in is turned around and given back.
"""

from typing import TYPE_CHECKING, Any

from fastapi import Response
from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

from redraft.server.routes.responses import FOR_VIEWERS, Here, answer, gives, new_router
from redraft.tools.edits.rich_editor import editor_deadline

if TYPE_CHECKING:
    from redraft.formats.rich.parser import ParsedDocument

router = new_router("/api/rich", "rich text")
# Reading takes about 2 s for a million characters.
MAX_CHARACTERS = 2_000_000


class DocumentPart(BaseModel):
    """Says that a request is about whole blocks in a row of a longer text: `context` is what parsing that text gave,
    `first` whether they begin it."""

    model_config = ConfigDict(extra="forbid")
    context: str = Field(max_length=MAX_CHARACTERS)
    first: bool


class ParseRequest(BaseModel):
    """A text to parse, or a part of one."""

    model_config = ConfigDict(extra="forbid")
    markdown: str = Field(max_length=MAX_CHARACTERS)
    part: DocumentPart | None = None


class BlockLines(TypedDict):
    """The lines that a block came from, from 0, half-open."""

    start: int
    end: int


class ParseResponse(TypedDict):
    """A ProseMirror document; `blocks` has the lines of each block, in order, none for an empty text. `context` goes
    along with requests about a part of this text."""

    doc: dict[str, Any]
    blocks: list[BlockLines]
    context: str


@router.post("/parse", tags=[FOR_VIEWERS], **gives(ParseResponse, body=True))
async def parse_rich(desk: Here, given: ParseRequest) -> Response:
    """Parse markdown into the rich editor's document."""

    def act() -> Any:
        from redraft.formats.rich.document_part import context_of

        with editor_deadline(desk.limits):
            parsed = _parsed(given.markdown, given.part)
            context = given.part.context if given.part else context_of(parsed)
        return {"doc": parsed.doc, "blocks": _lines(parsed), "context": context}

    return answer(await desk.served.rich(act))


class SerialiseRequest(BaseModel):
    """A document, and the markdown it was parsed from: unchanged parts of `before` are kept byte for byte."""

    model_config = ConfigDict(extra="forbid")
    doc: dict[str, Any]
    before: str = Field(default="", max_length=MAX_CHARACTERS)
    part: DocumentPart | None = None


class SerialiseResponse(TypedDict):
    """The text, the document that it gives when it is parsed, and the lines of each of its blocks."""

    markdown: str
    doc: dict[str, Any]
    blocks: list[BlockLines]
    context: str


@router.post("/serialise", tags=[FOR_VIEWERS], **gives(SerialiseResponse, body=True))
async def serialise_rich(desk: Here, given: SerialiseRequest) -> Response:
    """Serialise a changed document to markdown. Only what changed is rewritten, in the style around it."""

    def act() -> Any:
        from redraft.formats.rich.document_part import context_of
        from redraft.formats.rich.foreign_schema import check_document
        from redraft.formats.rich.save import save

        with editor_deadline(desk.limits):
            doc = check_document(given.doc, strict=True)
            markdown = save(doc, _parsed(given.before, given.part))
            # Parsing it costs nothing more: an editor's next question is about this very text.
            parsed = _parsed(markdown, given.part)
            context = given.part.context if given.part else context_of(parsed)
            return {"markdown": markdown, "doc": parsed.doc, "blocks": _lines(parsed), "context": context}

    return answer(await desk.served.rich(act))


def _parsed(markdown: str, part: DocumentPart | None) -> "ParsedDocument":
    from redraft.formats.rich.document_part import parse_part
    from redraft.formats.rich.editor_document import editor_document

    if part is None:
        return editor_document(_sound(markdown)).parsed
    return parse_part(_sound(markdown), _sound(part.context), first=part.first)


def _lines(parsed: "ParsedDocument") -> list[BlockLines]:
    return [{"start": each.start, "end": each.end} for each in parsed.blocks]


def _sound(text: str) -> str:
    from redraft.tools.parameters import check_plain

    check_plain(text)
    return text
