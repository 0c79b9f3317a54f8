"""What the person keeps for the agent: macros, and the rules that they had it remember.

Both lie in the folder's state and are the person's: an agent reaches neither, and a macro runs as an agent's turn does,
in the mode that holds.
"""

from typing import Annotated, Any, Literal

from fastapi import Path, Query, Response
from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

from redraft.agent.memory.macros import Macros, calls_of_job
from redraft.agent.memory.permissions import PermissionRule
from redraft.errors import Refused
from redraft.server.folder_state import RequestContext
from redraft.server.routes.responses import Here, Mode, answer, gives, new_router
from redraft.server.routes.tools import Agreed, consent
from redraft.tools.edits.batch import MAX_CALLS
from redraft.workspace.turns.modes import Verdict
from redraft.workspace.workspace import Workspace

router = new_router("/api/agent", "agent")
MacroName = Annotated[str, Path(min_length=1, max_length=61)]


class CallShape(TypedDict):
    """One call of a macro; its texts may contain `{{date}}`, `{{time}}` and the macro's own placeholders."""

    tool: str
    arguments: dict[str, Any]


class MacroShape(TypedDict):
    """A macro. `saved` is false for a built-in one; `values` are the placeholders that a run can fill in."""

    name: str
    saved: bool
    values: list[str]
    calls: list[CallShape]


class MacroList(TypedDict):
    """Built-in macros come first."""

    macros: list[MacroShape]


def _macros(desk: RequestContext) -> Macros:
    return Macros(desk.served.state)


@router.get("/macros", **gives(MacroList))
async def list_macros(desk: Here) -> Response:
    return answer({"macros": await desk.run_aside(_macros(desk).shapes)})


class MacroCall(BaseModel):
    """One call of a macro."""

    model_config = ConfigDict(extra="forbid")
    tool: str = Field(min_length=1, max_length=100)
    arguments: dict[str, Any] = Field(default_factory=dict)


class SaveMacroRequest(BaseModel):
    """The calls to save, or the job whose successful edits to save."""

    model_config = ConfigDict(extra="forbid")
    calls: list[MacroCall] | None = Field(default=None, max_length=MAX_CALLS)
    job_id: str | None = Field(default=None, min_length=1, max_length=60)


@router.put("/macros/{name}", **gives(MacroShape, 404, body=True))
async def save_macro(desk: Here, name: MacroName, given: SaveMacroRequest) -> Response:
    """Save a sequence of calls under a name, replacing a macro with that name."""
    if (given.calls is None) == (given.job_id is None):
        raise Refused("Send either `calls` or `job_id`.", field="calls")

    def act() -> dict[str, Any]:
        served, macros = desk.served, _macros(desk)
        if given.job_id is None:
            calls = [call.model_dump() for call in given.calls or ()]
        else:
            calls = calls_of_job(served.agent.store, served.agent.store.jobs.get(given.job_id).id, served.tools)
        macros.save(name, calls, served.tools)
        return next(each for each in macros.shapes() if each["name"] == name)

    return answer(await desk.run_aside(act))


@router.delete("/macros/{name}", **gives(MacroList, 404, body=True))
async def delete_macro(desk: Here, name: MacroName) -> Response:
    """Delete a saved macro. Returns the remaining ones."""

    def act() -> list[dict[str, Any]]:
        macros = _macros(desk)
        macros.remove(name)
        return macros.shapes()

    return answer({"macros": await desk.run_aside(act)})


class RunMacroRequest(BaseModel):
    """Values for the placeholders."""

    model_config = ConfigDict(extra="forbid")
    values: dict[str, str] = Field(default_factory=dict, max_length=50)


class RunMacroResponse(TypedDict):
    """The turn it made; null if nothing changed. `state` is applied, proposed or unchanged; `paths` are the documents
    that it changed and that are still there."""

    name: str
    state: str
    turn: int | None
    results: list[str | dict[str, Any]]
    paths: list[str]


@router.post("/macros/{name}/run", **gives(RunMacroResponse, 404, body=True))
async def run_macro(
    desk: Here, name: MacroName, given: RunMacroRequest | None = None, mode: Mode | None = None, agree: Agreed = False
) -> Response:
    """Run a macro as one turn: all of its calls, or none."""

    def act(workspace: Workspace) -> dict[str, Any]:
        values = {} if given is None else given.values
        allowed = desk.served.mode(mode)
        done = _macros(desk).run(name, workspace, desk.served.tools, values, consent(agree), mode=allowed)
        return {
            "name": name,
            **{field: done[field] for field in ("state", "turn", "results")},
            "paths": [*done["versions"]],
        }

    return answer(await desk.work(act))


class RuleShape(TypedDict):
    """A rule: `tool` is a tool's name, an action or `*`; in `path` a `*` also crosses folders."""

    tool: str
    path: str
    verdict: Verdict


class RuleList(TypedDict):
    """Newest first, which is also the order of precedence."""

    rules: list[RuleShape]


def _rules(desk: RequestContext) -> dict[str, Any]:
    return {"rules": [rule.as_dict() for rule in desk.served.agent.environment.rules.all()]}


@router.get("/rules", **gives(RuleList))
async def list_rules(desk: Here) -> Response:
    """The person's permanent rules: allow, ask or deny, by tool and path."""
    return answer(await desk.run_aside(_rules, desk))


class NewRuleRequest(BaseModel):
    """A rule that restricts: ask first, or never do it. A rule that allows can only be given in answer to a
    question."""

    model_config = ConfigDict(extra="forbid")
    tool: str = Field(min_length=1, max_length=100)
    path: str = Field(default="*", min_length=1, max_length=4096)
    verdict: Literal["ask", "deny"]


@router.post("/rules", **gives(RuleList, body=True))
async def remember_rule(desk: Here, given: NewRuleRequest) -> Response:
    """Put a rule before the others, replacing one for the same tool and path. Returns all rules."""
    rule = PermissionRule.from_dict(given.model_dump())
    await desk.run_aside(desk.served.agent.environment.rules.remember, rule)
    return answer(await desk.run_aside(_rules, desk))


@router.delete("/rules", **gives(RuleList, 404, body=True))
async def forget_rule(
    desk: Here,
    tool: Annotated[str, Query(min_length=1, max_length=100)],
    path: Annotated[str, Query(min_length=1, max_length=4096)],
) -> Response:
    """Delete the rule for this tool and path. Returns the remaining ones."""
    await desk.run_aside(desk.served.agent.environment.rules.forget, tool, path)
    return answer(await desk.run_aside(_rules, desk))
