"""`analyze_document`: analyse a whole document of any length. The result is written to a separate document."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NotRequired, cast

from redraft.errors import Forbidden, RedraftError, Refused
from redraft.tools.context import CallOutcome, ChangeResult, ToolContext, carry_out
from redraft.tools.long_documents.prose_stats import likely_names, style_figures
from redraft.tools.long_documents.worker import Analysis, Source, Task
from redraft.tools.parameters import Field
from redraft.tools.registry import tool
from redraft.tools.target import Target, TargetDocument, resolve_target, target_document
from redraft.workspace.document import Document
from redraft.workspace.turns.modes import Action, Verdict

MAX_PROMPT = 4000
MOST_NAMES = 1000
# It exists, although it cannot be read.
TAKEN = ("unsupported_file_type", "too_large")

TITLES = {
    "characters": "Characters",
    "plot": "Plot",
    "style": "Style",
    "summary": "Summary",
    "custom": "Analysis",
}
_MARKS = re.compile(r"([\\`*_\[\]<>|#])")


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalyzeDocument(Target):
    """What `analyze_document` takes."""

    task: Annotated[
        Literal["characters", "plot", "style", "summary", "custom"],
        Field("What to find out; custom: see custom_prompt."),
    ]
    custom_prompt: Annotated[str | None, Field('The question to answer, when task is "custom".', ("prompt",))] = None
    output_tab: Annotated[
        str | None, Field("The tab whose text the result replaces. Default: a new document beside the source.")
    ] = None


class AnalyzeDocumentResult(ChangeResult):
    """The answer of `analyze_document`."""

    status: Literal["complete"]
    result_tab_id: Annotated[str | None, Field("The tab with the result; null while only staged.")]
    path: Annotated[str, Field("The document with the result.")]
    summary: str
    details: Annotated[
        dict[str, Any],
        Field("By task: characters (name, mentions, first_appearance: a line from 0), events, figures, findings."),
    ]
    effort: Annotated[dict[str, int], Field("How many chunks were read, and how many model calls were made.")]
    note: NotRequired[str]


@tool("create", "tabs", serves="TK-analyze TK-sub", needs="model")
def analyze_document(given: AnalyzeDocument, context: ToolContext) -> AnalyzeDocumentResult:
    """Analyse a whole document of any length: its characters, plot, style, a summary, or a question of your own. Long
    documents are read in chunks, in parallel; unchanged chunks are not read again. The full result is written to a new
    document, or to output_tab. Numbers are counted, not guessed."""
    prompt = _prompt(given)
    place, document = target_document(given, context)
    output = None if given.output_tab is None else resolve_target(Target(tab_id=given.output_tab), context)
    if output is not None and output.path == place.path:
        raise Refused("The result would replace the document that is analysed.", field="output_tab")
    source = source_of(document)
    check_allowed(context, "create" if output is None else "modify", place.path if output is None else output.path)
    analysis = _analysis(source, given.task, prompt, context)
    content = render_report(source, given.task, analysis, prompt)
    done, tab_id = _write_result(context, source, given.task, content, output)
    answer: Any = {
        "status": "complete",
        "result_tab_id": tab_id,
        "path": "" if done.document is None else done.document.path,
        "summary": analysis.summary,
        "details": analysis.details,
        "effort": analysis.effort.as_dict(),
        **done.changed,
    }
    return answer


def _prompt(given: AnalyzeDocument) -> str:
    prompt = (given.custom_prompt or "").strip()
    if given.task == "custom" and not prompt:
        raise Refused("A custom analysis needs a question.", code="content_required", field="custom_prompt")
    if len(prompt) > MAX_PROMPT:
        raise Refused(f"A question may have at most {MAX_PROMPT} characters.", field="custom_prompt")
    return prompt if given.task == "custom" else ""


def check_allowed(context: ToolContext, action: Action, path: str) -> None:
    """Refuse at once what the turn would refuse in the end, before any money is spent."""
    if context.author.is_agent and context.rules.verdict(action, path) is Verdict.DENY:
        message = f"The mode {context.rules.name!r} does not let agents {action} {path}."
        raise Forbidden(message, code="mode_refuses", path=path)


def source_of(document: Document) -> Source:
    return Source(document.path, str(document.text), document.format)


def _analysis(source: Source, task: Task, prompt: str, context: ToolContext) -> Analysis:
    if (worker := context.worker_for(source.path)) is not None:
        return worker.analyse(source, task, prompt)
    if task == "style":
        figures = style_figures(source.text)
        summary = f"{figures['words']} words in {figures['sentences']} sentences."
        return Analysis(summary, {"figures": figures, "note": "Counted without a model."})
    if task == "characters":
        return _names(source)
    raise no_model_error(f'The task "{task}" needs a model, and none is set up; "characters" and "style" do not.')


def _names(source: Source) -> Analysis:
    """What looks like a name, counted. Only a reader can tell whether it is a person's, and the note says so."""
    listed = [
        {"name": each.name, "mentions": each.count, "first_appearance": each.first_line}
        for each in likely_names(source.text, MOST_NAMES)
    ]
    note = "Found by capital letters, without a model: places may be among them, and nicknames are listed separately."
    names = ", ".join(each.name for each in likely_names(source.text, 5))
    summary = f"Found {len(listed)} names; most often mentioned: {names}." if listed else "Found no names."
    return Analysis(summary, {"characters": listed, "note": note})


def no_model_error(message: str) -> RedraftError:
    return Refused(message, code="model_unavailable")


def _write_result(
    context: ToolContext, source: Source, task: str, content: str, output: TargetDocument | None
) -> tuple[CallOutcome, str | None]:
    title = f"Analyse {source.title}: {task}"
    if output is not None:
        version = context.peek(output.path).version
        done = carry_out(context, title, lambda turn: turn.write(output.path, content, version))
        return done, output.tab_id
    path = free_path(context, f"{source.path} - {task}", ".md")
    done = carry_out(context, title, lambda turn: turn.create(path, content))
    return done, open_result_tab(context, path)


def free_path(context: ToolContext, stem: str, ending: str) -> str:
    """A name for the result, numbered if it is taken: nothing is ever overwritten."""
    number = 1
    while True:
        path = f"{stem}{'' if number == 1 else f' {number}'}{ending}"
        try:
            context.peek(path)
        except RedraftError as error:
            if error.code == "not_found":
                return path
            if error.code not in TAKEN:
                raise
        number += 1


def open_result_tab(context: ToolContext, path: str) -> str | None:
    """The tab of a new document; None while it is only staged."""
    if context.turn is not None:
        return None
    try:
        return context.workspace.open_tab(path).tab_id
    except RedraftError:
        return None  # somebody has already removed it; it was created all the same


def render_report(source: Source, task: str, analysis: Analysis, prompt: str = "") -> str:
    """The result as a markdown document, written from the details. Text from a document or a model is put on one line
    and cannot create headings or links."""
    parts = [f"# {TITLES[task]} of {escape_markdown(source.title)}"]
    if prompt:
        parts.append(f"> {escape_markdown(prompt)}")
    parts.append(paragraphs(analysis.summary))
    details = analysis.details
    if people := details.get("characters"):
        parts.append(_people(people))
    parts += [_entries(details.get(name, ())) for name in ("events", "observations", "findings")]
    if figures := details.get("figures"):
        parts.append("\n".join(f"- {key.replace('_', ' ')}: {value}" for key, value in figures.items()))
    for shared in details.get("shared_names", ()):
        people = ", ".join(map(escape_markdown, shared["people"]))
        parts.append(f"Several people are called {escape_markdown(shared['name'])}: {people}.")
    if note := details.get("note"):
        parts.append(escape_markdown(note))
    return "\n\n".join(part for part in parts if part) + "\n"


def _people(people: Iterable[dict[str, Any]]) -> str:
    rows = ["| name | mentions | first on line | also called | |", "| --- | --- | --- | --- | --- |"]
    for each in people:
        aliases = ", ".join(map(escape_markdown, each.get("aliases", ())))
        cells = [
            escape_markdown(each["name"]),
            each["mentions"],
            each["first_appearance"] + 1,
            aliases,
            escape_markdown(each.get("role", "")),
        ]
        rows.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(rows)


def _entries(entries: Iterable[dict[str, Any]]) -> str:
    lines: list[str] = []
    for entry in entries:
        finding = next(cast("str", entry[name]) for name in ("what", "note", "finding") if name in entry)
        lines.append(f"- Line {entry['line'] + 1}: {escape_markdown(finding)} (“{escape_markdown(entry['quote'])}”)")
    return "\n".join(lines)


def paragraphs(text: str) -> str:
    """A model's text as plain paragraphs, without any markup."""
    return "\n\n".join(escape_markdown(part) for part in re.split(r"(?:\r\n?|\n)\s*", text) if part.strip())


def escape_markdown(text: str) -> str:
    """Text on one line, with markdown escaped."""
    return _MARKS.sub(r"\\\1", " ".join(text.split()))
