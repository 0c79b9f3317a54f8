"""Export a document: as one HTML page, and from that, with pandoc, as a Word document or a PDF.

An export contains what is accepted: the document with everything that its people wrote, and without what agents
propose. The caller learns how many proposals were left out, and may include them, marked.

Pandoc is a program of the person's own and may be missing; then the refusal says how to get it. It is started without a
shell, reads only the page on its standard input (its sandbox enforces that, and the page contains its pictures), and is
stopped if it takes too long. Nothing here writes a file.

Some systems (Debian among them) build pandoc without the files that it needs for Word documents, and then its own
sandbox keeps it from reading them. Such a pandoc runs without its sandbox, on a page that contains nothing that could
be loaded.
"""

from __future__ import annotations

import re
import shutil
from base64 import b64encode
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from redraft.errors import RedraftError, Refused
from redraft.files.secret_detection import secret_error
from redraft.files.textfile import format_of
from redraft.text.text import Text
from redraft.workspace.document import Document
from redraft.workspace.pictures import MAX_PICTURE, picture_path, read_picture
from redraft.workspace.secret_gate import is_secret_draft

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from redraft.workspace.engine import Engine

MAX_CHARACTERS = 2_000_000
MAX_OUTPUT = 200 * 1024 * 1024
SECONDS = 60.0
WITHOUT_ITS_FILES = "Could not find data file"
_BOX = re.compile(r"<input\b[^>]*>")
# Whatever a program that reads HTML might fetch. The page has been cleaned of all this; here it is not taken on trust.
_LOADED = re.compile(
    r"<(?:iframe|embed|object|link|script|source|video|audio|base)\b|<img\b[^<>]*?(?:\bsrc\s*=\s*(?![\"\']?data:)|\bsrcset\b)",
    re.IGNORECASE,
)
# In the order of how well they set a page like ours.
ENGINES = ("weasyprint", "wkhtmltopdf", "typst", "tectonic", "xelatex", "lualatex", "pdflatex")


@dataclass(frozen=True, slots=True)
class ExportedPage:
    """A document as HTML, and a file name for it without an extension."""

    name: str
    html: str


@dataclass(frozen=True, slots=True)
class AcceptedDocument:
    """A document with what is accepted, how many proposals are undecided, and what they would change."""

    document: Document
    proposals: int = 0
    proposed: str | None = None
    is_there: bool = True  # False where all of it is only proposed


def read_accepted_document(engine: Engine, raw: str) -> AcceptedDocument:
    """Read what a document says without what agents propose."""
    documents = engine.documents
    path = documents.path(raw)
    draft = documents.draft(engine.reviews.working_path(path) or path)
    if draft is None:
        return AcceptedDocument(documents.read(path))
    if is_secret_draft(engine.root, draft):
        raise secret_error(path)
    document = Document(path, Text(draft.review.to_save), draft.bom, draft.mode)
    if draft.path is not None:
        documents.read(documents.path(draft.path))  # which refuses what is for nobody
    waiting = len(draft.hunk_ids(of_agents=True)) if draft.pending else 0
    proposed = "" if draft.path is None else draft.review.working
    is_there = draft.base_path is not None or not waiting or bool(draft.review.to_save)
    return AcceptedDocument(document, waiting, proposed if waiting else None, is_there)


def page_of(engine: Engine, found: AcceptedDocument, *, proposals: bool = False) -> ExportedPage:
    """Make the page of a document. It may take seconds, and needs no guard."""
    # Every command imports this module; what makes pages and runs programs takes a quarter of the time of a short one.
    from redraft.formats.html_page import markdown_page, plain_page

    document = found.document
    if not found.is_there and not proposals:
        message = f"{document.path} is only proposed: accept it first, or export it with its proposals."
        raise Refused(message, code="not_found", path=document.path)
    if len(document.text) > MAX_CHARACTERS:
        message = f"{document.path} has more than {MAX_CHARACTERS} characters, too many for a page."
        raise Refused(message, code="too_large", limit=MAX_CHARACTERS)
    name = document.path.rpartition("/")[2]
    stem = name.rpartition(".")[0] or name
    text = str(document.text)
    proposed = found.proposed if proposals else None
    if format_of(document.path) != "markdown":
        return ExportedPage(stem, plain_page(text, name, proposed))
    return ExportedPage(stem, markdown_page(text, stem, _picture_embedder(engine, document.path), proposed))


def _picture_embedder(engine: Engine, document: str) -> Callable[[str], str | None]:
    """A function that turns a picture of the folder into a data: address, as long as the page has room for it."""
    from redraft.formats.html_page import MAX_PICTURES

    known: dict[str, str | None] = {}
    left = MAX_PICTURES

    def embed(source: str) -> str | None:
        nonlocal left
        path = picture_path(document, source)
        if path is None:
            return None
        if path not in known:
            known[path] = found = _data_address(engine, path, left)
            left -= len(found or "")
        return known[path]

    return embed


def _data_address(engine: Engine, path: str, room: int) -> str | None:
    try:
        picture = read_picture(engine, path, limit=min(MAX_PICTURE, room * 3 // 4))
    except RedraftError:
        return None  # not there, not a picture, too large, or not for anybody: its words stand for it
    return f"data:{picture.kind.media};base64,{b64encode(picture.data).decode()}"


async def convert_page(page: ExportedPage, to: Literal["docx", "pdf"], environ: Mapping[str, str]) -> bytes:
    """Convert the page with pandoc; `program_missing` if it, or something that it needs, is not installed."""
    from redraft.providers.child_process import ProcessOptions, TooMuchOutput, run_program

    path = environ.get("PATH", "")
    pandoc = shutil.which("pandoc", path=path)
    if pandoc is None:
        raise _missing_program(
            to, "pandoc is not installed. Get it from https://pandoc.org or with `apt install pandoc`"
        )
    words = ["--from=html", "--output=-", "+RTS", "-M1G", "-RTS"]
    if to == "pdf":
        engine = next((name for name in ENGINES if shutil.which(name, path=path)), None)
        if engine is None:
            raise _missing_program(to, f"pandoc needs one of {', '.join(ENGINES)} to make a PDF, and none is installed")
        words += ["--to=pdf", f"--pdf-engine={engine}"]
    else:
        words += ["--to=docx"]
    bounds = ProcessOptions("/", {"PATH": path, "HOME": "/nonexistent", "LC_ALL": "C.UTF-8"}, SECONDS, MAX_OUTPUT)
    html = _BOX.sub(_box, page.html)
    try:
        ended = await run_program([pandoc, "--sandbox", *words], html, bounds)
        if ended.status != 0 and WITHOUT_ITS_FILES in ended.complaint and not _LOADED.search(html):
            ended = await run_program([pandoc, *words], html, bounds)
    except TimeoutError as error:
        raise _export_error(f"pandoc took more than {SECONDS:.0f} seconds") from error
    except TooMuchOutput as error:
        raise _export_error("pandoc's output is too large") from error
    except OSError as error:
        raise _export_error(f"pandoc could not be started: {error.strerror}") from error
    if ended.status != 0 or not ended.output:
        raise _export_error(f"pandoc failed: {ended.complaint[:300] or f'status {ended.status}'}")
    return ended.output


def _box(found: re.Match[str]) -> str:
    """A task's checkbox as a character: pandoc does not recognise a list with real checkboxes as a list."""
    return "\N{BALLOT BOX WITH CHECK}" if "checked=" in found[0] else "\N{BALLOT BOX}"


def _missing_program(to: str, reason: str) -> Refused:
    otherwise = "print from the app" if to == "pdf" else "export as HTML"
    return Refused(f"{reason}; or {otherwise}.", code="program_missing", to=to)


def _export_error(reason: str) -> RedraftError:
    return RedraftError(f"{reason[:1].upper()}{reason[1:]}.", code="export_failed")
