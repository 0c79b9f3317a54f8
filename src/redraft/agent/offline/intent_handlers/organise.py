"""Organise loose notes: move those in the top folder into folders by topic, and say why. Nothing is overwritten."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from redraft.agent.offline.documents import list_files
from redraft.agent.offline.intents import Intent, call, parse_patterns, quote_query
from redraft.agent.offline.topics import TopicGroup, find_groups

if TYPE_CHECKING:
    from redraft.agent.offline.documents import Listing
    from redraft.agent.offline.intents import Script, ScriptContext, SlotValues, Steps

MAX_NOTES = 100
_NOTE = re.compile(r"[^/]+\.(?:md|markdown|txt)", re.IGNORECASE)
_STAYS = re.compile(r"(?i)(?:readme|index|contributing|license|changelog|to-?do)\b.*")
BEGINNING = 400
# Nearly every line of prose contains one of them, so two searches return the first lines of every note.
COMMON_LETTERS = ("e", "a")

_SORT = (
    "(organise|organize|sort|tidy|tidy up|clean up|group|arrange|file|order|structure|categorise|categorize|"
    "bring order into|cluster|declutter|sort out|sort through|reorganise|reorganize)"
)
_NOTES = (
    "(loose notes|notes|loose files|files|documents|loose documents|everything|folder|workspace|mess|stuff|"
    "note collection|loose ends|unsorted notes|papers|things|inbox|pages)"
)
_INTO = "[(into|in|to) (folders|subfolders|topic folders|topics|groups|categories|directories|folders by topic|themes)]"
PATTERNS = parse_patterns(f"""
{_SORT} [(loose|unsorted|messy|scattered|root|top level)] {_NOTES} [up] [here] {_INTO} [(by|according to|based \
 on) (topic|subject|theme|content|meaning|what they are about)]
{_SORT} {_NOTES} (by|according to|based on) (topic|subject|theme|content|meaning|what they are about) {_INTO}
(put|move|divide|split|distribute|file) [(loose|unsorted)] {_NOTES} [away] (into|in|to|by|among) \
 (folders|subfolders|topic folders|topics|groups|categories|topic|folders by topic|suitable folders|fitting \
 folders|right folders|where they belong)
(make|create|suggest|propose|find) (folders|topic folders|topics|folder structure|structure|order) (for|from|out \
 of|in|among) [(loose|unsorted)] {_NOTES}
(put|move|file) [(loose|unsorted)] {_NOTES} where they belong
{_SORT} (mess|chaos|clutter) [(in|of) {_NOTES}]
{_SORT}
{_NOTES} (sorted|organised|organized|grouped|arranged) [(by|according to) (topic|subject|theme|content)] {_INTO}
(make sense of|go through) {_NOTES} and (put|move|sort) them (in|into) (folders|topics|groups)
(put|move|divide|split|distribute) {_NOTES} into (folders|groups|subfolders) by \
 (topic|subject|theme|content|meaning)
(which|what) {_NOTES} belong together
{_NOTES} (are|is) [a] (mess|chaos|chaotic|messy|disorganised|disorganized|unsorted) [{_SORT} them]
""")


def script(slots: SlotValues, context: ScriptContext) -> Script:
    listed = yield from list_files()
    loose = [path for path in listed.files if _NOTE.fullmatch(path) and not _STAYS.match(path)]
    if len(loose) < 2:
        return (
            "There are not enough loose notes in the top folder to organise; I leave notes in folders where they are."
        )
    notes = yield from _beginnings(loose[:MAX_NOTES], context)
    found, by = find_groups(notes)
    if not found:
        return f"The {len(loose)} loose notes have too little in common to put them into folders. Nothing was moved."
    wanted = _moves(found, listed)
    for path, folder in wanted:
        context.notes.append(f"- {path} would go to {folder}/")
    now, later = wanted[: context.acts], wanted[context.acts :]
    outcomes = (
        (yield [call("move_document", from_path=path, to_path=f"{folder}/{path}") for path, folder in now])
        if now
        else ()
    )
    failed = {path: each.message for (path, _), each in zip(now, outcomes, strict=True) if not each.ok}
    return _report(
        found, dict(now), failed, [path for path, _ in later], [*set(loose) - {path for path, _ in wanted}], by
    )


def _beginnings(paths: list[str], context: ScriptContext) -> Steps[dict[str, str]]:
    """The names and first lines of notes: read one by one if enough calls remain to move them too, else from a search
    over all of them."""
    lines: dict[str, list[str]] = {path: [_title(path)] for path in paths}
    if len(paths) * 2 <= context.left:
        outcomes = yield [call("read_document", path=path, max_tokens=BEGINNING) for path in paths]
        for path, outcome in zip(paths, outcomes, strict=True):
            lines[path] += [outcome.data["content"]] if outcome.ok else []
    else:
        outcomes = yield [call("search_documents", query=quote_query(letter), limit=200) for letter in COMMON_LETTERS]
        for entry in (entry for outcome in outcomes for entry in outcome.rows("results") if entry["path"] in lines):
            lines[entry["path"]] += (line for line in entry["matches"] if line not in lines[entry["path"]])
    return {path: "\n".join(found) for path, found in lines.items()}


def _title(path: str) -> str:
    return re.sub(r"[-_\d]+", " ", path.rpartition(".")[0]).strip()


def _moves(found: list[TopicGroup], listed: Listing) -> list[tuple[str, str]]:
    """Each note with its folder: an existing one named after a shared word, else a new one."""
    tops = {folder.casefold(): folder for folder in listed.folders if "/" not in folder}
    taken = set(listed.files)
    moves: list[tuple[str, str]] = []
    for group in found:
        folder = next((tops[word] for word in group.shared if word in tops), group.shared[0])
        moves += [(path, folder) for path in group.members if f"{folder}/{path}" not in taken]
    return moves


def _report(
    found: list[TopicGroup], moved: dict[str, str], failed: dict[str, str], later: list[str], stay: list[str], by: str
) -> str:
    lines = [f"Moves for you to review one by one (grouped by {'meaning' if by == 'meaning' else 'shared words'}):"]
    for group in found:
        there = [path for path in group.members if path in moved and path not in failed]
        if there:
            why = ", ".join(f"“{word}”" for word in group.shared)
            lines.append(f"- {moved[there[0]]}/: {', '.join(there)}. They share {why}.")
    lines += [f"- {path} stays: {why}" for path, why in failed.items()]
    if stay:
        lines.append(f"Left where they are: {', '.join(sorted(stay))}.")
    if later:
        lines.append(
            f"Not moved yet, because a job has a limited number of calls: {', '.join(later)}. Ask again to continue."
        )
    return "\n".join(lines)


INTENT = Intent(
    "organise",
    "organise loose notes into folders by topic",
    ("Organise my loose notes into folders", "Sort the notes by topic"),
    PATTERNS,
    script,
)
