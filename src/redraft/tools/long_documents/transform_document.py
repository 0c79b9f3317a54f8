"""`transform_document`: one change throughout a document of any length, all of it or nothing."""

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from redraft.errors import Refused
from redraft.text.edits import Change
from redraft.tools.context import ChangeResult, ToolContext, carry_out
from redraft.tools.long_documents.analyze_document import (
    check_allowed,
    free_path,
    no_model_error,
    open_result_tab,
    source_of,
)
from redraft.tools.long_documents.character_rename import parse_rename, plan_rename, rename_edits
from redraft.tools.long_documents.worker import Transformation, TransformationRequest
from redraft.tools.parameters import Field
from redraft.tools.registry import tool
from redraft.tools.target import EditBasis, Target, basis_of, carry, resolve_target
from redraft.workspace.document import Document
from redraft.workspace.turns.turn import Turn

KNOWN = {
    "character_rename": {"old_name", "new_name", "update_pronouns", "gender"},
    "setting_change": {"old_setting", "new_setting", "adapt_details"},
    "style_rewrite": {"style"},
    "custom": set[str](),
}
GENDERS = ("male", "female", "neutral")


@dataclass(frozen=True, slots=True, kw_only=True)
class TransformDocument(Target):
    """What `transform_document` takes."""

    transformation: Annotated[
        Literal["character_rename", "setting_change", "style_rewrite", "custom"], Field("What kind of change it is.")
    ]
    params: Annotated[
        dict[str, Any] | None,
        Field(
            "For character_rename: old_name, new_name, update_pronouns, gender (male, female, neutral). For "
            "setting_change: old_setting, new_setting, adapt_details. For style_rewrite: style."
        ),
    ] = None
    custom_prompt: Annotated[
        str | None, Field("Instructions in your own words: required for custom, added to the others.", ("prompt",))
    ] = None
    output_mode: Annotated[
        Literal["new_tab", "in_place"], Field("new_tab: the result is a new document. in_place: the source is changed.")
    ] = "new_tab"
    version: Annotated[str | None, Field("The version that read_document returned; required for in_place.")] = None


class TransformDocumentResult(ChangeResult):
    """The answer of `transform_document`."""

    status: Literal["complete"]
    result_tab_id: Annotated[str | None, Field("The tab with the result; null while only staged.")]
    path: Annotated[str, Field("The document with the result.")]
    version: Annotated[str, Field("The result's version, to give to the next edit.")]
    changes_made: int
    summary: str
    flags: Annotated[
        list[dict[str, Any]],
        Field("Places for a person to check: kind, line (from 0, in the result), quote, problem."),
    ]
    effort: Annotated[dict[str, int], Field("How many chunks there were, and how many model calls were made.")]


@tool("modify", "tabs", serves="TK-transform TK-sub", needs="model")
def transform_document(given: TransformDocument, context: ToolContext) -> TransformDocumentResult:
    """Make one change throughout a document of any length: rename a character (with pronouns), move the story to
    another setting, rewrite the style, or follow instructions of your own. Only changed passages are edited, all or
    none, and doubtful places are flagged for the person. The result is a new document, or the source itself with
    output_mode in_place and its version."""
    request = _parse_request(given)
    place = resolve_target(given, context)
    work = _Work(given, request, place.path)
    # The turn itself reads it: what the person types while subagents work is then merged, and not overwritten.
    title = f"Transform {place.path}: {given.transformation}"
    done = carry_out(context, title, lambda turn: work.stage(turn, context))
    tab_id = place.tab_id if given.output_mode == "in_place" else open_result_tab(context, work.path)
    found, lines = work.found, work.lines
    answer: Any = {
        "status": "complete",
        "result_tab_id": tab_id,
        "path": work.path,
        "version": "" if done.document is None else done.document.version,
        "changes_made": len(found.edits),
        "summary": _summary(request, found, lines),
        "flags": [flag.as_dict() for flag in found.flags],
        "effort": found.effort.as_dict(),
        **done.changed,
    }
    return answer


def _parse_request(given: TransformDocument) -> TransformationRequest:
    names = dict(given.params or {})
    unknown = sorted(set(names) - KNOWN[given.transformation])
    if unknown:
        known = ", ".join(sorted(KNOWN[given.transformation])) or "none"
        raise Refused(f"`params.{unknown[0][:60]}` is unknown; known are: {known}.", field="params")
    for name in ("update_pronouns", "adapt_details"):
        if not isinstance(names.get(name, False), bool):
            raise Refused(f"`params.{name}` must be true or false.", field=f"params.{name}")
    if names.get("gender") not in (None, "", *GENDERS):
        raise Refused(f"`params.gender` must be one of {', '.join(GENDERS)}.", field="params.gender")
    return TransformationRequest(given.transformation, names, (given.custom_prompt or "").strip())


@dataclass(slots=True)
class _Work:
    """One call in progress: where the result goes, what was found, and how many lines were checked."""

    given: TransformDocument
    request: TransformationRequest
    path: str
    found: Transformation = field(default_factory=lambda: Transformation((), ()))
    lines: int = 0

    def stage(self, turn: Turn, context: ToolContext) -> Document:
        """Stage the result, only once all of it is there."""
        check_allowed(context, "modify" if self.given.output_mode == "in_place" else "create", self.path)
        document = turn.read(self.path)
        basis = EditBasis(document, document, document.version)
        if self.given.output_mode == "in_place":
            if not self.given.version:
                raise Refused("To change a document in place, give the `version` you read.", field="version")
            basis = basis_of(document, self.given.version, context)
            document = basis.then
        self.lines = document.text.line_count
        self.found = _transformation(document, self.request, context)
        change = Change(self.found.edits)
        if self.given.output_mode == "in_place":
            return carry(basis, self.found.edits, context).edit(turn)
        self.path = free_path(context, *_result_name(self.path, self.given.transformation))
        return turn.create(self.path, change.apply(str(document.text)), bom=document.bom)


def _result_name(path: str, transformation: str) -> tuple[str, str]:
    """The name of a new document beside the source, and its extension."""
    folder, slash, name = path.rpartition("/")
    stem, dot, ending = name.rpartition(".")
    if not stem:
        stem, dot, ending = name, "", ""
    return f"{folder}{slash}{stem} - {transformation}", dot + ending


def _transformation(document: Document, request: TransformationRequest, context: ToolContext) -> Transformation:
    if request.kind == "character_rename":
        rename = parse_rename(request.names)
        if not rename_edits(str(document.text), {rename.old: rename.new}):
            message = f"{rename.old} does not occur in {document.path} as a whole word."
            raise Refused(message, code="anchor_not_found", path=document.path)
        if not rename.update_pronouns and not request.prompt:
            edits, flags = plan_rename(str(document.text), rename)
            return Transformation(edits, tuple(flags))
    worker = context.worker_for(document.path)
    if worker is None:
        raise no_model_error(
            "This change needs a model, and none is set up; a rename without update_pronouns does not."
        )
    return worker.transform(source_of(document), request, context.ask)


def _summary(request: TransformationRequest, found: Transformation, lines: int) -> str:
    what = request.kind.replace("_", " ").capitalize()
    if request.kind == "character_rename":
        rename = parse_rename(request.names)
        what = f"Renamed '{rename.old}' to '{rename.new}'"
    elif request.kind == "setting_change":
        what = f"Moved from {request.names['old_setting']} to {request.names['new_setting']}"
    count = len(found.edits)
    summary = f"{what} in {count} location{'s' if count != 1 else ''} across {lines} lines"
    flags = len(found.flags)
    return f"{summary}; {flags} place{'s' if flags != 1 else ''} for a person to check." if flags else f"{summary}."
