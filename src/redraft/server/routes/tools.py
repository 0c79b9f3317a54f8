"""The tools, over HTTP: the one registry, with the answers that every other surface gives."""

from collections.abc import Callable
from typing import Annotated, Any, Literal

from fastapi import Path, Query, Response
from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

from redraft.errors import ConfirmationRequired, Refused
from redraft.history.turns import Author
from redraft.server.folder_state import RequestContext
from redraft.server.routes.responses import FOR_VIEWERS, Here, Mode, Profile, answer, gives, new_router
from redraft.tools.context import ToolContext
from redraft.tools.registry import Tool, ToolCallRequest, execute
from redraft.workspace.turns.modes import describe_action

router = new_router("/api/tools", "tools")
ToolName = Annotated[str, Path(min_length=1, max_length=100)]
AuthorName = Annotated[
    str,
    Query(min_length=1, max_length=64, description="The agent that calls; in a team the caller's own name is added."),
]
Agreed = Annotated[bool, Query(description="The person has agreed to what the call asks about.")]
By = Annotated[
    Literal["agent", "person"],
    Query(
        description="On whose behalf; a person's own actions are done at once, and only their browser can act for them."
    ),
]
TabName = Annotated[str | None, Query(max_length=40, description="The tab to use when a call names none.")]
MAX_CALLS = 100


class ToolShape(TypedDict):
    """A tool's description for clients. Its input and output are JSON schemas."""

    name: str
    description: str
    risk: Literal["read", "create", "modify", "destroy"]
    read_only: bool
    destructive: bool
    profiles: list[str]
    idempotent: bool
    input_schema: dict[str, Any]
    output_schema: dict[str, Any]


def tool_shape(tool: Tool) -> ToolShape:
    shape: Any = {**tool.as_json(), "read_only": tool.risk == "read", "destructive": tool.risk == "destroy"}
    return shape


class ToolsResponse(TypedDict):
    """The tools of a profile."""

    profile: str
    tools: list[ToolShape]


@router.post("/{name}", tags=[FOR_VIEWERS], **gives({"type": "object"}, 404, body=True))
async def call_tool(
    desk: Here,
    name: ToolName,
    arguments: dict[str, Any],
    mode: Mode | None = None,
    author: AuthorName = "agent",
    tab: TabName = None,
    agree: Agreed = False,
    by: By = "agent",
) -> Response:
    """Call a tool as an agent does: the body is its arguments, the response is its answer. The mode may differ from the
    settings', but never allows more than the folder's own settings do."""
    _check_role(desk, name)
    who = _author(desk, by, author)

    def act(_: Any) -> dict[str, Any]:
        with _CallContext(desk, mode, who, tab, agree) as context:
            return desk.served.tools.call(name, arguments, context)

    return answer(await desk.work(act, slow=_is_slow(desk, [name])))


@router.get("", **gives(ToolsResponse))
async def list_tools(desk: Here, profile: Profile = "all") -> Response:
    found = desk.served.tools.profile(profile).tools
    return answer({"profile": profile, "tools": [tool_shape(tool) for tool in found]})


@router.get("/{name}", **gives(ToolShape, 404))
async def show_tool(desk: Here, name: ToolName) -> Response:
    return answer(tool_shape(desk.served.tools.get(name)))


class CallRequest(BaseModel):
    """A call made by a model."""

    model_config = ConfigDict(extra="forbid")
    id: str = Field(max_length=200)
    name: str = Field(max_length=100)
    arguments: dict[str, Any] = Field(default_factory=dict)


class CallsRequest(BaseModel):
    """Calls, in order."""

    model_config = ConfigDict(extra="forbid")
    calls: list[CallRequest] = Field(max_length=MAX_CALLS)


class CallResult(TypedDict, total=False):
    """The outcome of one call: `result`, or `error`."""

    toolCallId: str
    success: bool
    action: str
    path: Any
    result: dict[str, Any]
    error: dict[str, Any]


class CallResults(TypedDict):
    """One result for each call, in order."""

    results: list[CallResult]


@router.post("", tags=[FOR_VIEWERS], **gives(CallResults, 404, body=True))
async def execute_tools(
    desk: Here,
    given: CallsRequest,
    mode: Mode | None = None,
    author: AuthorName = "agent",
    tab: TabName = None,
    agree: Agreed = False,
) -> Response:
    """Run a model's calls one after the other. A failed call is reported as a result and does not stop the others."""
    for call in given.calls:
        _check_role(desk, call.name)
    who = desk.caller.agent(author)
    calls = [ToolCallRequest(call.id, call.name, call.arguments) for call in given.calls]

    def act(_: Any) -> list[dict[str, Any]]:
        with _CallContext(desk, mode, who, tab, agree) as context:
            return execute(calls, desk.served.tools, context)

    return answer({"results": await desk.work(act, slow=_is_slow(desk, [call.name for call in calls]))})


class _CallContext:
    """The caller's context for one call. For those who hold the guard.

    A call may let go of the guard, while a model or an open editor is asked or a search takes its time, and must not
    find its context changed by another one of the same caller's: each gets one of its own.
    """

    def __init__(self, desk: RequestContext, mode: str | None, author: Author, tab: str | None, agree: bool) -> None:
        served = desk.served
        self._context = served.context_of(desk.caller, author).copy_for_call(served.editors, served.find_worker)
        self._mode = desk.served.mode(mode)
        self._tab = tab
        self._agree = agree

    def __enter__(self) -> ToolContext:
        context = self._context
        context.mode, context.active_tab, context.confirm = self._mode, self._tab, consent(self._agree)
        return context

    def __exit__(self, *_: object) -> None:
        self._context.mode = self._context.active_tab = self._context.confirm = None


def consent(agree: bool) -> Callable[[str, list[str]], bool]:
    """How a call over HTTP asks the person: it is refused, and repeated with `agree` when they have agreed."""

    def confirm(what: str, paths: list[str]) -> bool:
        if not agree:
            message = f"This would {describe_action(what)}. Repeat the call with agree=true if the person agrees."
            raise ConfirmationRequired(message, action=what, paths=paths)
        return True

    return confirm


def _is_slow(desk: RequestContext, names: list[str]) -> bool:
    return any(tool.slow for tool in desk.served.tools.tools if tool.name in names)


def _author(desk: RequestContext, by: str, name: str) -> Author:
    if by == "agent":
        return desk.caller.agent(name)
    if not desk.caller.by_cookie:
        raise Refused("Only a person's own browser can call tools as that person.", code="not_allowed", field="by")
    return desk.author


def _check_role(desk: RequestContext, name: str) -> None:
    """Who only looks may call what only reads. A name that there is not is for the registry to refuse."""
    try:
        risk = desk.served.tools.get(name).risk
    except Refused:
        return
    if risk != "read":
        desk.need("editor")
