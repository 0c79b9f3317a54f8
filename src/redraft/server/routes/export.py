"""A document taken out of the folder: as one HTML page, or as a Word document where pandoc is installed.

A PDF is printed by the browser; there is no route for it.
"""

import asyncio
from typing import Annotated, Literal
from urllib.parse import quote

from fastapi import APIRouter, Query, Response

from redraft.errors import Busy
from redraft.server.replies import HTML
from redraft.server.routes.answering import Here, PathQuery
from redraft.server.routes.images import POLICY, sends
from redraft.server.served import Desk
from redraft.workspace.exporting import Page, converted, exported_page

router = APIRouter(prefix="/api/export", tags=["rich text"])
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
# Each takes a processor and up to a gigabyte.
AT_ONCE = asyncio.Semaphore(2)


@router.get("", **sends(HTML, DOCX, errors=(404, 409, 413, 415)))
async def export(
    desk: Here,
    path: PathQuery,
    to: Annotated[Literal["html", "docx"], Query(description="`docx` needs pandoc on the server's machine.")] = "html",
) -> Response:
    """The document as it is being worked on, to be kept as a file."""
    page = await desk.work(lambda workspace: exported_page(workspace, path))
    data = page.html.encode() if to == "html" else await _docx(desk, page)
    named = f"attachment; filename*=UTF-8''{quote(page.name)}.{to}"
    headers = {"content-disposition": named, "content-security-policy": POLICY}
    return Response(data, headers=headers, media_type=HTML if to == "html" else DOCX)


async def _docx(desk: Desk, page: Page) -> bytes:
    if AT_ONCE.locked():
        raise Busy("Two documents are being converted already; try again in a moment.")
    async with AT_ONCE:
        return await converted(page, "docx", desk.served.models.environ)
