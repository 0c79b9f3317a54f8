"""The history, for agents: what was done, undo, and what the person changed since the agent last read."""

from dataclasses import dataclass
from typing import Annotated, Any, NotRequired, TypedDict

from redraft.errors import Forbidden, Refused
from redraft.history.turns import State, TurnRecord
from redraft.text.patch.unified_diff import format_patch
from redraft.text.text import Text
from redraft.tools.context import ToolContext
from redraft.tools.parameters import Field
from redraft.tools.registry import tool
from redraft.tools.target import MAX_PLACES, Target, line_changes, relative_path, require_old_text, resolve_target
from redraft.workspace.document import version_of
from redraft.workspace.secret_gate import is_masked
from redraft.workspace.turns.modes import Verdict, WriteTime

MAX_TURNS = 200
MAX_TURN = 2**53 - 1
MAX_PATCH = 20_000
TURN_ALIASES = ("turn_id", "number", "id")


class TurnInfo(TypedDict):
    """One turn. `state` is proposed, applied, discarded or undone."""

    turn: int
    author: str
    by_agent: bool
    kind: str
    title: str
    state: str
    created: Annotated[float, Field("Seconds since 1970.")]
    paths: list[str]
    about: NotRequired[Annotated[int, Field("The turn that this one undid or decided.")]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListTurns:
    """What `list_turns` takes."""

    path: Annotated[str | None, Field("Only turns that touched this document.", ("file_path",))] = None
    limit: Annotated[int, Field("The maximum to return.", minimum=1, maximum=MAX_TURNS)] = 20
    before: Annotated[int | None, Field("Only turns with a smaller number, for paging.", minimum=1)] = None


class ListTurnsResult(TypedDict):
    """The answer of `list_turns`."""

    turns: list[TurnInfo]
    has_more: bool


@tool("read", "default", serves="RD-history-journal")
def list_turns(given: ListTurns, context: ToolContext) -> ListTurnsResult:
    """List what was done in this folder, newest first: each turn's number, author, title, state and documents. Use
    it to find the number for undo_turn or show_turn."""
    path = None if not given.path else context.workspace.path(relative_path(given.path, context))
    found = context.workspace.turns(limit=given.limit + 1, path=path, before=given.before)
    return {"turns": [_turn_info(turn) for turn in found[: given.limit]], "has_more": len(found) > given.limit}


def _turn_info(turn: TurnRecord) -> TurnInfo:
    info: TurnInfo = {
        "turn": turn.id,
        "author": turn.author.name,
        "by_agent": turn.author.is_agent,
        "kind": turn.kind,
        "title": turn.title,
        "state": str(turn.state),
        "created": turn.created,
        "paths": list(turn.paths),
    }
    if turn.source is not None:
        info["about"] = turn.source
    return info


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowTurn:
    """What `show_turn` takes."""

    turn: Annotated[int, Field("The turn's number.", TURN_ALIASES, minimum=1, maximum=MAX_TURN)]


class TurnPatch(TypedDict):
    """What a turn did to a document, as a unified diff."""

    path: str
    patch: str
    version_before: NotRequired[Annotated[str, Field("Its version before the turn, for write_document to restore.")]]
    version_after: NotRequired[Annotated[str, Field("Its version after the turn.")]]
    truncated: NotRequired[bool]
    withheld: NotRequired[bool]


class ShowTurnResult(TypedDict):
    """The answer of `show_turn`."""

    turn: TurnInfo
    documents: list[TurnPatch]


@tool("read", serves="RD-history-journal")
def show_turn(given: ShowTurn, context: ToolContext) -> ShowTurnResult:
    """Show what one turn changed, document by document, as unified diffs."""
    turn = context.workspace.show(given.turn)
    texts = () if turn.pruned else context.workspace.turn_texts(given.turn)
    documents = [_turn_patch(path, before, after, context) for path, before, after in texts]
    return {"turn": _turn_info(turn), "documents": documents}


def _turn_patch(path: str, before: str, after: str, context: ToolContext) -> TurnPatch:
    if not context.can_read(path) or is_masked(path, before, after):
        return {"path": path, "patch": "", "withheld": True}
    patch = format_patch(path, before, after)
    shown: TurnPatch = {"path": path, "patch": patch[:MAX_PATCH]}
    if before:
        shown["version_before"] = version_of(Text(before))
    if after:
        shown["version_after"] = version_of(Text(after))
    if len(patch) > MAX_PATCH:
        shown["truncated"] = True
    return shown


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoTurn:
    """What `undo_turn` takes."""

    turn: Annotated[
        int | None, Field("The turn to undo. Default: your last one.", TURN_ALIASES, minimum=1, maximum=MAX_TURN)
    ] = None


class UndoTurnResult(TypedDict):
    """The answer of `undo_turn`."""

    undone: int
    turn: Annotated[int | None, Field("The turn that undid it; undo this one to redo.")]
    title: str
    paths: list[str]


@tool("modify", "default", serves="ML-optimistic-undo", alone=True)
def undo_turn(given: UndoTurn, context: ToolContext) -> UndoTurnResult:
    """Undo one of your own turns, by default the last. Later changes stay; if the person has changed the same words
    since, it is refused and says where. An undo is itself a turn and can be undone."""
    chosen = _last_own_turn(context) if given.turn is None else context.workspace.show(given.turn)
    if context.author.is_agent:
        _check_may_undo(chosen, context)
    result = context.workspace.undo(chosen.id, author=context.author, called=context.call)
    context.logged = result.turn is not None
    if result.conflicts:
        places = [{"path": clash.path, "reason": clash.reason} for clash in result.conflicts]
        raise Refused(
            f"Turn {chosen.id} cannot be undone: its documents have been changed since.",
            code="conflict",
            turn=chosen.id,
            places=places,
        )
    number = None if result.turn is None else result.turn.id
    return {"undone": chosen.id, "turn": number, "title": chosen.title, "paths": list(chosen.paths)}


def _last_own_turn(context: ToolContext) -> TurnRecord:
    for turn in context.workspace.turns(limit=MAX_TURNS):
        stands = turn.state is State.APPLIED if turn.kind != "propose" else turn.state is State.PROPOSED
        if turn.author == context.author and stands and turn.kind != "undo":
            return turn
    raise Refused("You have no turn to undo.", code="nothing_to_undo")


def _check_may_undo(turn: TurnRecord, context: ToolContext) -> None:
    """An agent may undo only its own turns, and the disk is written no sooner than its mode says."""
    rules = context.rules
    if turn.author != context.author:
        raise Forbidden(f"Turn {turn.id} is not yours to undo.", code="mode_refuses", turn=turn.id)
    if rules.writes is WriteTime.NEVER or (rules.writes is WriteTime.ON_ACCEPT and turn.state is not State.PROPOSED):
        message = f"The mode {rules.name!r} does not let agents undo what is on disk."
        raise Forbidden(message, code="mode_refuses", turn=turn.id)
    for path in turn.paths:
        verdict = rules.verdict("modify", path)
        if verdict is Verdict.DENY:
            raise Forbidden(
                f"The mode {rules.name!r} does not let agents modify {path}.", code="mode_refuses", path=path
            )
        if verdict is Verdict.ASK:
            context.begin("Undo").ask(f"undo turn {turn.id} in {path}", [path])


@dataclass(frozen=True, slots=True, kw_only=True)
class GetChangesSince(Target):
    """What `get_changes_since` takes."""

    version: Annotated[str | None, Field("The version to compare with. Default: what you last read.", ("since",))] = (
        None
    )


class LineChange(TypedDict):
    """Lines from 0, inclusive; an end before its start means that there are none."""

    start_line: int
    end_line: int
    old_start_line: int
    old_end_line: int
    old: str
    new: str


class GetChangesSinceResult(TypedDict):
    """The answer of `get_changes_since`."""

    tab_id: str | None
    path: str
    since_version: str
    version: str
    changed: bool
    changes: list[LineChange]
    total_changes: int


@tool("read", "default", serves="RD-decided-version")
def get_changes_since(given: GetChangesSince, context: ToolContext) -> GetChangesSinceResult:
    """Show what changed in a document since you last read it, or since a given version: the lines before and after. Use
    it when an edit was refused as stale, or before continuing with a document the person is editing too."""
    place = resolve_target(given, context)
    document = context.peek(place.path)
    seen = context.last_seen(place.path)
    since = given.version or (seen.version if seen is not None else None)
    if since is None:
        raise Refused("You have not read this document yet: name a `version`.", field="version")
    found: list[Any] = []
    if since != document.version:
        found = line_changes(require_old_text(context, document, since), document.text)
    context.mark_seen(document)
    return {
        "tab_id": place.tab_id,
        "path": place.path,
        "since_version": since,
        "version": document.version,
        "changed": since != document.version,
        "changes": found[:MAX_PLACES],
        "total_changes": len(found),
    }
