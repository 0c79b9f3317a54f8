"""Rich text: markdown as the document that the rich editor holds, and back. The browser needs no parser of its own.

Nothing is read from the folder or written to it: what comes in is turned around and given back.
"""

from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Response
from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

from redraft.server.routes.answering import FOR_VIEWERS, Here, answer, gives

if TYPE_CHECKING:
    from redraft.formats.rich.reading import Parsed

router = APIRouter(prefix="/api/rich", tags=["rich text"])
# Reading takes about 2 s for a million characters.
MAX_CHARACTERS = 2_000_000


class Markdown(BaseModel):
    """A text to be read."""

    model_config = ConfigDict(extra="forbid")
    markdown: str = Field(max_length=MAX_CHARACTERS)


class BlockLines(TypedDict):
    """The lines that a block came from, from 0, half-open."""

    start: int
    end: int


class RichDocument(TypedDict):
    """A ProseMirror document; `blocks` has the lines of each of its blocks, in order, none for an empty text."""

    doc: dict[str, Any]
    blocks: list[BlockLines]


@router.post("/parse", tags=[FOR_VIEWERS], **gives(RichDocument, body=True))
async def parse_rich(desk: Here, given: Markdown) -> Response:
    """Markdown as the rich editor's document."""

    def act() -> Any:
        from redraft.formats.rich.model import model

        parsed = model(_sound(given.markdown)).parsed
        return {"doc": parsed.doc, "blocks": _lines(parsed)}

    return answer(await desk.served.aside(act))


class Changed(BaseModel):
    """A document, and the markdown that it was made from: `before` is kept byte for byte where nothing changed."""

    model_config = ConfigDict(extra="forbid")
    doc: dict[str, Any]
    before: str = Field(default="", max_length=MAX_CHARACTERS)


class Serialised(TypedDict):
    """The text, and the lines of each of its blocks."""

    markdown: str
    blocks: list[BlockLines]


@router.post("/serialise", tags=[FOR_VIEWERS], **gives(Serialised, body=True))
async def serialise_rich(desk: Here, given: Changed) -> Response:
    """A changed document back into its markdown. Only what changed is written anew, in the style around it."""

    def act() -> Any:
        from redraft.formats.rich.foreign import check_document
        from redraft.formats.rich.model import model
        from redraft.formats.rich.saving import save

        doc = check_document(given.doc, strict=True)
        markdown = save(doc, model(_sound(given.before)).parsed)
        # Reading it costs nothing more: an editor's next question is about this very text.
        return {"markdown": markdown, "blocks": _lines(model(markdown).parsed)}

    return answer(await desk.served.aside(act))


def _lines(parsed: "Parsed") -> list[BlockLines]:
    return [{"start": each.start, "end": each.end} for each in parsed.blocks]


def _sound(text: str) -> str:
    from redraft.tools.arguments import check_plain

    check_plain(text)
    return text
