"""New documents: blank, with text, from a template, today's note, a meeting's notes."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING

from redraft.agent.offline.documents import best_matches, list_files
from redraft.agent.offline.intents import Intent, ScriptEnd, call, parse_patterns, perform
from redraft.agent.offline.tokens import edit_distance

if TYPE_CHECKING:
    from redraft.agent.offline.documents import Listing
    from redraft.agent.offline.intents import Script, ScriptContext, SlotValues

BUILT_IN = ("meeting-notes", "todo-list", "journal", "blank")
_DAILY_FOLDERS = ("daily", "journal", "diary", "days", "daily notes", "daily-notes")
_MEETING_FOLDERS = ("meetings", "meeting", "meeting notes", "meeting-notes")
_NEW = "(create|make|start|open|begin|write|add|set up|new|draft|prepare|generate|take)"
_DOC = "(document|file|note|page|doc|text|markdown file|text file)"
_NAMED = "(called|named|titled|with name|with title|:)"
_DAILY = (
    "(daily note|journal|journal entry|diary entry|diary|daily page|daily journal|note for today|daily log|"
    "day note|todays note|today's note|daily entry)"
)
_IN = "[(in|into|inside|under) [folder] <folder> [folder]]"
_WITH = "[(with|containing|saying|that says) [(text|content|words)] <text>]"
PATTERNS = parse_patterns(f"""
{_NEW} [new] [(today's|todays)] {_DAILY} [(for|of) today] [from template <template>] => kind=daily
{_NEW} [new] (note|page|entry) (for|of) today => kind=daily
{_NEW} [new] (note|page|entry) (for|of) tomorrow => kind=daily day=1
{_NEW} [new] [(tomorrow's|tomorrows)] {_DAILY} for tomorrow => kind=daily day=1
{_NEW} [new] (tomorrow's|tomorrows) (note|page|entry|daily note|journal) => kind=daily day=1
{_NEW} [new] (today's|todays) (note|page|entry) => kind=daily
[new] {_DAILY} => kind=daily
{_NEW} [new] (meeting note|meeting notes|minutes|meeting minutes|meeting document|meeting page|notes for \
 meeting|note for meeting) [(for|about|with|called|named|titled|on) <title>] {_IN} => kind=meeting
[new] (meeting note|meeting notes|meeting minutes) [(for|about|with|called|named|:) <title>] => kind=meeting
{_NEW} [new] {_DOC} [{_NAMED}] <title> from [(template|my template)] <template> [template] {_IN}
{_NEW} [new] {_DOC} from [(template|my template)] <template> [template] [{_NAMED} <title>] {_IN}
{_NEW} [new] {_DOC} [{_NAMED}] <title> (using|based on|with) template <template> {_IN}
{_NEW} [new] {_DOC} [{_NAMED}] <title> (using|based on|with) <template> template {_IN}
{_NEW} [new] <title> from template <template> {_IN}
use template <template> (for|to create|to make) [new] [{_DOC}] [{_NAMED}] <title> {_IN}
{_NEW} [new] [(blank|empty)] {_DOC} [{_NAMED}] <title> {_IN} {_WITH}
{_NEW} [new] [(blank|empty)] {_DOC} (in|inside|under) folder <folder> [{_NAMED}] <title> {_WITH}
{_NEW} [new] [(blank|empty)] <file> {_WITH}
(write|put|save) <text> (into|in|to) [a] new {_DOC} [{_NAMED}] <title> {_IN}
{_NEW} [new] (todo list|to-do list|task list|checklist) [(called|named|for)] [<title>] {_IN} => template=todo-list
""")


def script(slots: SlotValues, context: ScriptContext) -> Script:
    listed = yield from list_files()
    day = context.today + timedelta(days=int(slots["day"] or 0))
    title, folder, template = slots["title"].strip(), slots["folder"], slots["template"]
    if slots["kind"] == "daily":
        title, folder = day.isoformat(), _folder_among(_DAILY_FOLDERS, listed)
        template = _template(template or "daily", listed) or _template("journal", listed)
    elif slots["kind"] == "meeting":
        title = f"{day.isoformat()} {title}" if title else f"{day.isoformat()} Meeting"
        folder = folder or _folder_among(_MEETING_FOLDERS, listed)
        template = _template("meeting", listed)
    elif template:
        template, wanted = _template(template, listed), template
        if not template:
            raise ScriptEnd(f"There is no template “{wanted}”. {_templates(listed)}")
    return (yield from _create(title or slots["file"] or template or "", folder, template, slots["text"], listed))


def _create(title: str, folder: str, template: str, text: str, listed: Listing) -> Script:
    path = _file_name(title)
    if folder:
        known = best_matches(folder.replace("folder", ""), listed.folders)
        path = f"{known[0] if len(known) == 1 else folder.strip('/ ')}/{path}"
    if path in listed.files:
        return f"{path} already exists; I did not change it."
    content = f"{text.strip()}\n" if text.strip() else None
    if not content and not template and path.endswith(".md"):
        content = f"# {title.removesuffix('.md').rpartition('/')[2]}\n"
    outcome = yield from perform(call("create_document", path=path, template=template or None, content=content))
    if not outcome.ok:
        raise ScriptEnd(f"I could not create {path}: {outcome.message}")
    source = f" from the template {template}" if template else ""
    return f"{outcome.data['path']} is ready for review{source}."


def _file_name(title: str) -> str:
    """A title as a file name, without the characters that a path cannot have."""
    clean = re.sub(r"[\\:*?\"<>|\x00-\x1f]", "", title).strip(" ./") or "untitled"
    return clean if re.search(r"\.(?:md|markdown|txt|json|ya?ml)$", clean, re.IGNORECASE) else f"{clean}.md"


def _folder_among(names: tuple[str, ...], listed: Listing) -> str:
    found = {folder.casefold(): folder for folder in listed.folders}
    return next((found[name] for name in names if name in found), "")


def _own_templates(listed: Listing) -> list[str]:
    return [path.removeprefix("templates/") for path in listed.files if path.startswith("templates/")]


def _template(wanted: str, listed: Listing) -> str:
    """The person's own template of that name, else a built-in one; empty if there is none."""
    own = best_matches(wanted, _own_templates(listed))
    if own:
        return own[0]
    key = re.sub(r"[\s_]+", "-", wanted.strip().casefold()).removesuffix("-template")
    return next(
        (name for name in BUILT_IN if key in (name, name.partition("-")[0]) or edit_distance(key, name, 1) <= 1), ""
    )


def _templates(listed: Listing) -> str:
    return f"There are: {', '.join([*_own_templates(listed), *BUILT_IN])}."


INTENT = Intent(
    "create",
    "create a document, today's note or meeting notes, also from your templates",
    (
        "Create today's note",
        "New meeting note for the reading group",
        "Create a document Ideas from the template journal",
    ),
    PATTERNS,
    script,
)
