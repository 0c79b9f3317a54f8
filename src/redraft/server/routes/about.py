"""About the server and the folder: health, version, state, models, usage, the audit log."""

import time
from dataclasses import asdict
from typing import Annotated, Any, Literal, NotRequired

from fastapi import Query, Request, Response
from typing_extensions import TypedDict

from redraft import __version__
from redraft.agent.hosted.agent_programs import KnownPrograms
from redraft.errors import Damaged
from redraft.server.auth.callers import ANYBODY, Role
from redraft.server.auth.gate import ENTER
from redraft.server.routes.responses import Here, answer, gives, new_router
from redraft.workspace.workspace import Workspace

router = new_router("/api", "about")
DAY_SECONDS = 86_400
MAX_LINES = 1000
LastDays = Annotated[int | None, Query(ge=1, le=36_500, description="Only the last N days.")]


class HealthResponse(TypedDict):
    """The server is up and can reach its history. The number of turns is shown only with a valid token."""

    status: Literal["ok"]
    turns: NotRequired[int]


@router.get("/health", **gives(HealthResponse))
async def health(desk: Here) -> Response:
    """Health check for monitoring; needs no token. 500 if the history cannot be read or written."""

    def act(workspace: Workspace) -> int:
        workspace.database.hold_in_place()
        return workspace.newest_turn()

    turns = await desk.work(act)
    return answer({"status": "ok"} if desk.caller == ANYBODY else {"status": "ok", "turns": turns})


class VersionResponse(TypedDict):
    """Which program this is."""

    name: str
    version: str


@router.get("/version", **gives(VersionResponse))
async def version() -> Response:
    return answer({"name": "redraft", "version": __version__})


@router.get("/openapi.json", **gives({"type": "object"}))
async def openapi(request: Request) -> Response:
    """This description."""
    return answer(request.app.state.description())


class CallerShape(TypedDict):
    """Who is asking. `at_home` is the folder's owner, in a browser on the folder's own machine."""

    name: str
    role: Role
    at_home: bool


class WorkspaceShape(TypedDict):
    """The folder's state. In the state `history_lost` another program has emptied the history while the server was
    running: `notices` says so, everything else is empty, and nothing is stored until a restart."""

    id: str
    state: Literal["ok", "history_lost"]
    name: str
    mode: str
    review: str
    caller: CallerShape
    notices: list[str]
    newest_turn: int
    pending: list[str]
    unsaved: list[str]


@router.get("/workspace", **gives(WorkspaceShape))
async def workspace_state(desk: Here) -> Response:
    """The folder's name and mode, pending decisions, unsaved documents, and notices for the person."""

    def act(workspace: Workspace) -> dict[str, Any]:
        settings = workspace.settings
        return {
            "id": workspace.id,
            "name": desk.served.folder_name,
            "mode": settings.mode,
            "review": settings.review,
            "caller": {"name": desk.caller.name, "role": desk.caller.role, "at_home": desk.caller.at_home},
            **_history_state(workspace),
        }

    return answer(await desk.work(act))


def _history_state(workspace: Workspace) -> dict[str, Any]:
    try:
        drafts = workspace.drafts()
        return {
            "state": "ok",
            "notices": workspace.notices,
            "newest_turn": workspace.newest_turn(),
            "pending": [draft.key for draft in drafts if draft.pending],
            "unsaved": [draft.key for draft in drafts if draft.dirty],
        }
    except Damaged as error:
        if error.code != "history_lost":
            raise
        return {"state": error.code, "notices": [error.message], "newest_turn": 0, "pending": [], "unsaved": []}


class VisitResponse(TypedDict):
    """A path that signs a browser in, once."""

    path: str


@router.post("/visit", **gives(VisitResponse))
async def visit(desk: Here, request: Request) -> Response:
    """For the program that opens the browser: a path with a one-time key that signs in as the caller."""
    desk.need("admin")
    return answer({"path": f"{ENTER}?key={request.app.state.keys.visit(desk.caller)}"})


class ProviderShape(TypedDict):
    """A model that is set up."""

    name: str
    kind: str
    model: str


class DefaultModelInfo(TypedDict):
    """The model that answers if no other is named."""

    provider: str
    model: str


class AgentOptionValue(TypedDict):
    """One choice."""

    value: str
    name: str


class AgentOptionInfo(TypedDict):
    """Something that an agent program lets a person choose, such as its mode or its model."""

    id: str
    name: str
    current: str
    values: list[AgentOptionValue]


class AgentCommand(TypedDict):
    """A command that an agent program knows; a request begins with it, after a slash."""

    name: str
    description: str


class AgentProgramInfo(TypedDict):
    """An agent program that is installed or set up; what it offers is known after its first request."""

    name: str
    options: list[AgentOptionInfo]
    commands: list[AgentCommand]


class ProvidersResponse(TypedDict):
    """The models that the agent can use."""

    models: list[ProviderShape]
    agent_mode: str
    default: DefaultModelInfo
    agents: list[AgentProgramInfo]


@router.get("/providers", **gives(ProvidersResponse))
async def providers(desk: Here) -> Response:
    def act() -> dict[str, Any]:
        known = desk.served.models
        default = known.provider("", lambda _choice: None)
        entries = [{"name": name, "kind": entry.kind, "model": entry.model} for name, entry in known.known.items()]
        answering = {"provider": default.provider_name, "model": default.model}
        agent = desk.served.agent
        offers = KnownPrograms(agent.store.state).all()
        agents = [
            {
                "name": name,
                "options": offers.get(name, {}).get("options", []),
                "commands": offers.get(name, {}).get("commands", []),
            }
            for name in agent.environment.programs.names()
        ]
        return {
            "models": entries,
            "agent_mode": known.routing.agent_mode,
            "default": answering,
            "agents": agents,
        }

    return answer(await desk.run_aside(act))


class SpentShape(TypedDict):
    """The usage of one group."""

    name: str
    steps: int
    input_tokens: int
    output_tokens: int
    cached_tokens: int
    price_usd: str
    unpriced_steps: int


class UsageResponse(TypedDict):
    """What the models have cost."""

    by: Literal["day", "model", "document"]
    usage: list[SpentShape]


@router.get("/usage", **gives(UsageResponse))
async def usage(
    desk: Here,
    by: Literal["day", "model", "document"] = "day",
    days: LastDays = None,
) -> Response:
    found = await desk.run_aside(lambda: desk.served.agent.store.usage.by(by, since=_since(days)))
    return answer({"by": by, "usage": [spent.as_dict() for spent in found]})


class ToolFiguresShape(TypedDict):
    """The calls of one tool."""

    tool: str
    calls: int
    failed: int
    seconds: float
    tokens: int


class FiguresShape(TypedDict):
    """Figures on the agents' work. A share is from 0 to 1, and null if there is nothing to count."""

    conversations: int
    jobs: int
    actions: int
    actions_per_conversation: float | None
    succeeded: float | None
    accepted: float | None
    undone: float | None
    p50_seconds: float | None
    p95_seconds: float | None
    tools: list[ToolFiguresShape]


@router.get("/figures", **gives(FiguresShape))
async def how_it_went(desk: Here, days: LastDays = None) -> Response:
    """Counted from the stored jobs and the turns in the history."""
    from redraft.agent.metrics import collect_metrics

    store, workspace = desk.served.agent.store, desk.served.workspace
    found = await desk.run_aside(lambda: collect_metrics(store, workspace, since=_since(days)))
    return answer(found.as_dict())


class AuditLineInfo(TypedDict):
    """One call. Its arguments are JSON in a string, with long texts truncated and secrets masked."""

    seq: int
    at: float
    author: str
    tool: str
    arguments: str
    result: str
    turn: int | None


class AuditResponse(TypedDict):
    """The newest lines, in chronological order."""

    entries: list[AuditLineInfo]


@router.get("/audit", **gives(AuditResponse))
async def audit(desk: Here, limit: Annotated[int, Query(ge=1, le=MAX_LINES)] = 100) -> Response:
    found = await desk.work(lambda workspace: workspace.audit(limit=limit))
    return answer({"entries": found})


class AuditVerdict(TypedDict):
    """Whether the log is intact; if not, the first line that is not, and why."""

    intact: bool
    entries: int
    broken_at: int | None
    reason: str


@router.get("/audit/verify", **gives(AuditVerdict))
async def verify_audit(desk: Here) -> Response:
    verdict = await desk.work(lambda workspace: workspace.verify_audit())
    return answer({"intact": verdict.intact, **asdict(verdict)})


def _since(days: int | None) -> float:
    return 0.0 if days is None else time.time() - days * DAY_SECONDS
