"""Pictures of the folder: shown to the app, and put beside a document where somebody pasted or dropped one.

What is shown is a picture by its content and is told as that and nothing else; a page that opened it alone would find
nothing in it that may run or load.
"""

from base64 import b64decode
from hashlib import sha256
from typing import Any

from fastapi import Request, Response
from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

from redraft.errors import Refused
from redraft.server.routes.responses import Here, PathQuery, answer, gives, is_unchanged, new_router
from redraft.server.routes.shapes import TurnResponse, turn_response
from redraft.workspace.pictures import KINDS, MAX_PICTURE
from redraft.workspace.workspace import Workspace

router = new_router("/api/images", "rich text")
POLICY = "default-src 'none'; sandbox"


def sends(*media: str, errors: tuple[int, ...]) -> dict[str, Any]:
    """Describe a route that answers with bytes of one of these media types."""
    content = {each: {"schema": {"type": "string", "format": "binary"}} for each in media}
    described = gives({"type": "string"}, *errors)
    described["responses"][200] = {"content": content, "description": "Done."}
    return {**described, "response_class": Response}


@router.get("", **sends(*(kind.media for kind in KINDS), errors=(304, 404, 413, 415)))
async def read_image(desk: Here, request: Request, path: PathQuery) -> Response:
    """A PNG, JPEG, GIF or WebP picture. No other file is ever sent, whatever its name."""
    picture = await desk.work(lambda workspace: workspace.read_picture(path))
    tag = f'"{sha256(picture.data).hexdigest()[:32]}"'
    headers = {"etag": tag, "cache-control": "private, no-cache", "content-security-policy": POLICY}
    if is_unchanged(request, tag):
        return Response(status_code=304, headers=headers)
    return Response(picture.data, headers=headers, media_type=picture.kind.media)


class NewImageRequest(BaseModel):
    """A picture to store beside `document`; `content` is base64."""

    model_config = ConfigDict(extra="forbid")
    document: str = Field(min_length=1, max_length=4096)
    name: str = Field(max_length=1000)
    content: str = Field(min_length=1, max_length=MAX_PICTURE * 4 // 3 + 8)


class NewImageResponse(TypedDict):
    """The picture's path, the link to use in the document, and the turn that added it: null if it already existed."""

    path: str
    source: str
    turn: TurnResponse | None


@router.post("", **gives(NewImageResponse, 404, status=201, body=True))
async def add_image(desk: Here, given: NewImageRequest) -> Response:
    """Store a picture as a turn, which can be undone. Never replaces another file."""
    try:
        data = b64decode(given.content, validate=True)
    except ValueError as error:
        raise Refused("The content is not base64.", field="content") from error

    def act(workspace: Workspace) -> Any:
        desk.served.agent.store.leases.check()
        added = workspace.add_picture(given.document, given.name, data, author=desk.author)
        turn = None if added.turn is None else turn_response(added.turn)
        return {"path": added.path, "source": added.source, "turn": turn}

    return answer(await desk.work(act), 201)
