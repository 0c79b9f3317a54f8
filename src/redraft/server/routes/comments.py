"""Comments: threads about passages, from the list to their resolution."""

from typing import Annotated

from fastapi import Path, Query, Response
from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

from redraft.errors import Refused
from redraft.server.routes.responses import MAX_NUMBER, Here, answer, gives, new_router
from redraft.text.edits import Span
from redraft.workspace.comments import MAX_COMMENT
from redraft.workspace.shape_types import CommentShape
from redraft.workspace.shapes import comment_shape
from redraft.workspace.workspace import Workspace

router = new_router("/api/comments", "comments")
Thread = Annotated[str, Path(pattern="^[0-9a-f]{12}$")]
Words = Annotated[str, Field(min_length=1, max_length=MAX_COMMENT)]


class CommentsResponse(TypedDict):
    """The threads, by document, in the order of their places; orphaned ones last."""

    comments: list[CommentShape]


@router.get("", **gives(CommentsResponse, 404))
async def comments(desk: Here, path: Annotated[str | None, Query(min_length=1, max_length=4096)] = None) -> Response:
    """Every thread, or those of one document, resolved ones included."""

    def act(workspace: Workspace) -> CommentsResponse:
        return {"comments": [comment_shape(thread) for thread in workspace.comments.threads(path)]}

    return answer(await desk.work(act))


class NewComment(BaseModel):
    """A comment on the passage from `start` to `end`, in code points of the text with this `version`."""

    model_config = ConfigDict(extra="forbid")
    path: str = Field(min_length=1, max_length=4096)
    start: int = Field(ge=0, le=MAX_NUMBER)
    end: int = Field(ge=0, le=MAX_NUMBER)
    version: str | None = Field(default=None, max_length=64)
    says: Words


@router.post("", **gives(CommentShape, 404, 409, body=True))
async def add(desk: Here, given: NewComment) -> Response:
    """Begin a thread."""
    if given.start >= given.end:
        raise Refused("`start` must be smaller than `end`.", field="start")

    def act(workspace: Workspace) -> CommentShape:
        if given.version is not None:
            workspace.read(given.path, confirmed=desk.confirmed).check_version(given.version)
        span = Span(given.start, given.end)
        return comment_shape(workspace.comments.add(given.path, span, given.says, author=desk.author))

    return answer(await desk.work(act))


class CommentReply(BaseModel):
    """What to say in a thread."""

    model_config = ConfigDict(extra="forbid")
    says: Words


@router.post("/{thread}/replies", **gives(CommentShape, 404, body=True))
async def reply(desk: Here, thread: Thread, given: CommentReply) -> Response:
    def act(workspace: Workspace) -> CommentShape:
        return comment_shape(workspace.comments.reply(thread, given.says, author=desk.author))

    return answer(await desk.work(act))


class CommentState(BaseModel):
    """Whether the thread is done with."""

    model_config = ConfigDict(extra="forbid")
    resolved: bool


@router.put("/{thread}/state", **gives(CommentShape, 404, body=True))
async def resolve(desk: Here, thread: Thread, given: CommentState) -> Response:
    """Resolve a thread, or open it again."""

    def act(workspace: Workspace) -> CommentShape:
        return comment_shape(workspace.comments.resolve(thread, author=desk.author, resolved=given.resolved))

    return answer(await desk.work(act))
