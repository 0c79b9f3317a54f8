"""Move, rename or delete documents. The tools ask the person where required, and overwrite nothing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from redraft.agent.offline.documents import best_matches, find_document, list_files
from redraft.agent.offline.intents import Intent, ScriptEnd, call, parse_patterns, perform

if TYPE_CHECKING:
    from redraft.agent.offline.intents import Script, ScriptContext, SlotValues

_DOC = "[(document|file|note|page|doc)]"
_EXTENSION = re.compile(r"\.(?:md|markdown|txt|json|ya?ml)$", re.IGNORECASE)

MOVE_PATTERNS = parse_patterns(f"""
(move|put|place|shift|relocate|transfer|drag|file) {_DOC} <doc> (to|into|in|under|inside) [(folder|directory)] \
 <folder> [(folder|directory)]
(move|put|place|shift|relocate|transfer|drag|file) {_DOC} <file> (to|into|in|under|inside) [(folder|directory)] \
 <folder> [(folder|directory)]
(move|put|shift) {_DOC} <doc> (to|into|in) (root|top folder|top level|main folder) => folder=/
(move|put|shift) {_DOC} <doc> out of [its|folder|the folder] [<from>] => folder=/
(move|bring|put) {_DOC} <file> up [to] [(root|top folder|top level|main folder)] => folder=/
<doc> moved (to|into) [(folder|directory)] <folder> [(folder|directory)]
(move|put|shift) {_DOC} <file> over (to|into) [(folder|directory)] <folder> [(folder|directory)]
take {_DOC} <doc> and (put|move) it (to|into|in|under) [(folder|directory)] <folder> [(folder|directory)]
(rename|retitle|change name of) (document|file|note|page|doc) <doc> (to|as|into|->) <to>
(rename|retitle|call|move|change name of) {_DOC} <file> (to|as|into|->) <to>
(rename|call|name) (document|file|note|page|doc) <doc> <to>
change (name|title|filename|file name) of {_DOC} <doc> (to|into) <to>
change {_DOC} <file> (name|filename|title) to <to>
give {_DOC} <doc> (new name|name|new filename) <to>
(rename|retitle) (this|it|current) [(document|file|note)] (to|as|into) <to> => doc=this
{_DOC} <file> (should|must|belongs) [(go|be|be moved|live|belong)] (in|into|to|under) [folder] <folder> [folder]
""")
DELETE_PATTERNS = parse_patterns(f"""
(delete|remove|trash|erase|discard|bin|throw away|throw out|toss|chuck|get rid \
 of|drop|dump|scrap|destroy|rm|wipe|kill) [(document|file|note|page|doc)] <doc> \
 [(completely|forever|permanently|from folder|altogether|from disk)]
(throw|put) {_DOC} <doc> (away|in trash|into trash|in bin|into bin|in the trash|out)
(move|send|put) {_DOC} <doc> (to|into|in) (trash|bin|waste|wastebasket|recycle bin)
(i|we) (don't|do not|no longer) need {_DOC} <doc> [anymore|any more|any longer] [(delete|remove) it]
make {_DOC} <doc> (disappear|vanish|go away)
{_DOC} <doc> is (no longer|not) needed [anymore]
{_DOC} <doc> can (go|be deleted|be removed|be thrown away)
""")


def move_script(slots: SlotValues, context: ScriptContext) -> Script:
    listed = yield from list_files()
    path = yield from find_document(slots["file"] or slots["doc"], context, guess=False, listed=listed)
    name = path.rpartition("/")[2]
    folder, to = slots["folder"], slots["to"].strip()
    if to:
        target = to if _EXTENSION.search(to) else to + name[len(name.rpartition(".")[0]) :]
        parent = path.rpartition("/")[0]
        target = target if "/" in target or not parent else f"{parent}/{target}"
    elif _EXTENSION.search(folder):
        target = folder
    else:
        known = best_matches(folder, listed.folders)
        place = known[0] if len(known) == 1 else folder.strip("/ ")
        target = f"{place}/{name}" if place else name
    if target == path:
        return f"{path} already exists; nothing was moved."
    outcome = yield from perform(call("move_document", from_path=path, to_path=target))
    if not outcome.ok:
        raise ScriptEnd(f"I could not move {path} to {target}: {outcome.message}")
    return f"{outcome.data['from']} → {outcome.data['to']}, ready for review."


def delete_script(slots: SlotValues, context: ScriptContext) -> Script:
    listed = yield from list_files()
    several = _split_list(slots["doc"])
    phrases = several if all(best_matches(each, listed.files) for each in several) else [slots["doc"]]
    paths: list[str] = []
    for phrase in phrases:
        paths += [(yield from find_document(phrase, context, guess=False, listed=listed))]
    due = list(dict.fromkeys(paths))[: context.acts]
    outcomes = yield [call("delete_document", path=path) for path in due]
    lines: list[str] = []
    for path, outcome in zip(due, outcomes, strict=True):
        if outcome.ok:
            lines.append(f"{path} goes to the trash, and you can restore it from there.")
        else:
            lines.append(f"{path} was not deleted: {outcome.message}")
    return "\n".join(lines)


def _split_list(phrase: str) -> list[str]:
    """The documents of a list such as "a.md, b.md and c.md"."""
    return [each for each in re.split(r"\s*,\s*(?:and\s+)?|\s+and\s+", phrase) if each]


MOVE = Intent(
    "move",
    "move a document into a folder, or rename it",
    ("Move todo.md to the folder story", "Rename the file meeting.md to reading-group.md"),
    MOVE_PATTERNS,
    move_script,
)
DELETE = Intent(
    "delete",
    "delete documents, after you agree; they go to the trash",
    ("Delete todo.md", "Throw away the meeting notes"),
    DELETE_PATTERNS,
    delete_script,
)
