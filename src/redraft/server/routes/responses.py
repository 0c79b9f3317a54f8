"""What every route shares: its desk, its answer in JSON, and the words that describe both to clients.

What a route answers is written out here once and checked by nobody while it runs: that it is what the description
promises is tried on every route by the tests.
"""

from collections.abc import Callable
from typing import Annotated, Any, Literal, NotRequired

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.routing import APIRoute
from starlette.routing import compile_path
from typing_extensions import TypedDict

from redraft.errors import Refused
from redraft.server.folder_state import FolderState, RequestContext
from redraft.server.replies import JSON, encode_json

MAX_NUMBER = 2**53 - 1
Number = Annotated[int, Query(ge=0, le=MAX_NUMBER)]
PathQuery = Annotated[str, Query(min_length=1, max_length=4096, description="A document's path within the folder.")]
Mode = Literal["read", "propose", "apply", "merge"]
Profile = Literal["tabs", "workspace", "project", "editor", "default", "all"]

# Every route may refuse for these reasons; what else it may say, it names itself.
ALWAYS = (401, 403, 422, 429, 500, 503)
WITH_BODY = (409, 413, 415)
REASONS = {
    304: "The client already has this version.",
    401: "No token, or an invalid one.",
    403: "Refused because of the origin, host, role or a rule.",
    404: "Not found.",
    409: "It conflicts with what is there now; nothing was written.",
    413: "Too large.",
    415: "Not JSON, or not text.",
    422: "The request is not valid.",
    429: "Too many requests, or a limit from the settings.",
    500: "The disk failed, or an internal error.",
    502: "The model could not be used.",
    503: "Another process is writing; try again.",
    504: "The model took too long.",
}


class ErrorShape(TypedDict):
    """Every error. `error` is a stable code; a stale edit gets both versions and, if the old text is known, the
    `changed_lines` in `details`."""

    error: str
    message: str
    suggestion: str
    recoverable: bool
    your_version: NotRequired[str]
    current_version: NotRequired[str]
    details: NotRequired[dict[str, Any]]


SHAPE = "shape"  # where a route keeps what it answers, until it is described
# By name: a validator of its own for each refusal of each route would take longer to make than all the rest.
REFUSAL = {"content": {JSON: {"schema": {"$ref": f"#/components/schemas/{ErrorShape.__name__}"}}}}


async def desk_of(request: Request) -> RequestContext:
    served: FolderState = request.app.state.served
    return RequestContext(served, request.scope["state"]["caller"])


async def check_allowed(request: Request) -> None:
    """Who only looks may only read, unless a route says that it is for them too."""
    route = request.scope.get("route")
    if request.method not in ("GET", "HEAD") and not (isinstance(route, APIRoute) and FOR_VIEWERS in route.tags):
        (await desk_of(request)).need("editor")


FOR_VIEWERS = "viewers"


class LazyRoute(APIRoute):
    """A route whose parameters FastAPI analyses when it is first called: to analyse those of all routes takes a sixth
    of the time in which a server starts."""

    def __init__(self, path: str, endpoint: Callable[..., Any], *, methods: list[str], **options: Any) -> None:
        self._options, self._analysed = options, False
        self.path, self.endpoint, self.methods = path, endpoint, set(methods)
        self.path_regex, self.path_format, self.param_convertors = compile_path(path)

    def __getattr__(self, name: str) -> Any:
        """Python asks for what is not set yet: the analysis sets it."""
        if self.__dict__.get("_analysed", True):
            raise AttributeError(name)
        self._analysed = True
        super().__init__(self.path, self.endpoint, methods=self.methods, **self._options)
        return getattr(self, name)

    def describe(self) -> APIRoute:
        """The route with what it answers, which only a description needs and takes as long to analyse again."""
        responses: dict[Any, dict[str, Any]] = {
            status: dict(told) for status, told in self._options["responses"].items()
        }
        for told in responses.values():
            if SHAPE in told:
                told["model"] = told.pop(SHAPE)
        options: dict[str, Any] = {**self._options, "responses": responses}
        return APIRoute(self.path, self.endpoint, methods=self.methods, **options)


def new_router(prefix: str, tag: str) -> APIRouter:
    """A router all of whose routes check the caller."""
    return APIRouter(
        prefix=prefix,
        tags=[tag],
        dependencies=[Depends(check_allowed)],
        route_class=LazyRoute,
        generate_unique_id_function=lambda route: route.name,
    )


Here = Annotated[RequestContext, Depends(desk_of)]


def answer(value: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Response(encode_json(value), status, headers, JSON)


def gives(model: Any, *errors: int, status: int = 200, body: bool = False) -> dict[str, Any]:
    """How a route is described: what it answers, and how it may refuse. A model that is a dict is a JSON schema."""
    if isinstance(model, dict):
        good: dict[str, Any] = {"content": {JSON: {"schema": model}}, "description": "Done."}
    else:
        good = {SHAPE: model, "description": "Done."}
    refusals = {*ALWAYS, *errors, *(WITH_BODY if body else ())}
    responses: dict[int | str, Any] = {status: good}
    for each in sorted(refusals):
        responses[each] = {"description": REASONS[each], **({} if each == 304 else REFUSAL)}
    return {"responses": responses, "response_model": None, "status_code": status}


def is_unchanged(request: Request, tag: str) -> bool:
    """Whether the client has this version already."""
    told = [part.strip().removeprefix("W/") for part in request.headers.get("if-none-match", "").split(",")]
    return tag in told or "*" in told


def answer_with_etag(request: Request, value: Any, tag: str) -> Response:
    """The answer with its version as an `ETag`, or nothing where the client has it."""
    quoted = f'"{tag}"'
    kept = {"etag": quoted, "cache-control": "private, no-cache"}
    return Response(status_code=304, headers=kept) if is_unchanged(request, quoted) else answer(value, headers=kept)


def read_requested_version(request: Request, told: str | None) -> str | None:
    """The version that a write was made for: from the body, or from `If-Match`."""
    header = request.headers.get("if-match")
    if header is None or header.strip() == "*":
        return told
    version = header.strip().removeprefix("W/").strip('"')
    if told is not None and told != version:
        raise Refused("If-Match and the body name different versions.", field="version")
    return version
