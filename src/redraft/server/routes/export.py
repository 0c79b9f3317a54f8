"""A document taken out of the folder: as one HTML page, or as a Word document where pandoc is installed.

A PDF is printed by the browser; there is no route for it.
"""

import asyncio
from functools import partial
from typing import Annotated, Literal
from urllib.parse import quote

from fastapi import Query, Response

from redraft.errors import Busy
from redraft.runtime import export_environment
from redraft.server.replies import HTML
from redraft.server.routes.images import POLICY, sends
from redraft.server.routes.responses import Here, PathQuery, new_router
from redraft.workspace.export import convert_page

router = new_router("/api/export", "rich text")
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
# Each may take a processor for a minute and a gigabyte.
AT_ONCE = asyncio.Semaphore(2)


@router.get("", **sends(HTML, DOCX, errors=(404, 409, 413, 415)))
async def export(
    desk: Here,
    path: PathQuery,
    to: Annotated[Literal["html", "docx"], Query(description="`docx` needs pandoc on the server's machine.")] = "html",
    proposals: Annotated[bool, Query(description="Include pending proposals, marked as such.")] = False,
) -> Response:
    """The accepted text of the document as a file. `Redraft-Proposals` says how many proposals are pending; they are
    left out unless `proposals` is true."""
    found = await desk.work(lambda workspace: workspace.read_accepted_document(path))
    if AT_ONCE.locked():
        raise Busy("Two documents are already being exported; try again in a moment.")
    async with AT_ONCE:
        page = await desk.run_aside(partial(desk.served.workspace.export, proposals=proposals), found)
        data = page.html.encode() if to == "html" else await convert_page(page, to, export_environment())
    named = f"attachment; filename*=UTF-8''{quote(page.name)}.{to}"
    headers = {
        "content-disposition": named,
        "content-security-policy": POLICY,
        "redraft-proposals": str(found.proposals),
    }
    return Response(data, headers=headers, media_type=HTML if to == "html" else DOCX)
