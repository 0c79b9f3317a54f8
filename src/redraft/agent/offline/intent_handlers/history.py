"""Show what was done, undo it, and list what there is: the history and the listing."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from redraft.agent.offline.documents import best_matches, find_document, is_everything, is_this, list_files
from redraft.agent.offline.intents import Intent, ScriptEnd, call, parse_patterns, perform
from redraft.agent.offline.tokens import word_list

if TYPE_CHECKING:
    from redraft.agent.offline.intents import Script, ScriptContext, SlotValues

USUAL = 10
MOST = 60

UNDO_PATTERNS = parse_patterns("""
(undo|revert|rollback|roll back|take back|reverse|cancel) (turn|change|edit|step|number|no) [(turn|number|no)] <n>
(undo|revert|rollback|roll back|take back|reverse) <n>
(undo|revert|rollback|roll back|take back|reverse|back out|unmake|withdraw) [(it|everything)] [your] \
 [(last|latest|previous|recent|most recent|final|what you)] \
 [(turn|change|changes|edit|edits|step|action|thing|work|did|have done|just did|just done)] [again] [you did|you \
 made|you have made]
(undo|revert|take back|reverse|withdraw|roll back) (that|this|it|all) [again]
(reverse|roll|take|put|turn) (that|this|it) back
take (turn|change|step) <n> back
(bring|get) back (old|previous|earlier|last) (version|state|text)
(revert|go back|reset) to (how it was|what it was|before|previous state|previous version|old version)
(step|go|one step) back [one step]
that is (wrong|not right|not what i wanted) , (undo|revert|take) (it|that) [back]
(cancel|withdraw|drop) [your] (last|latest|previous) (change|edit|turn|step|action)
(get|go|bring it|take me) back to (previous|earlier|last|old) (state|version)
undo [my] last (request|order|command|instruction|job)
(i|we) (did not|didn't|don't) (want|mean|like) (that|this|it) , (undo|revert|take) [it|that] [back]
take (it|that|this|last change|that change) back [again]
(go|put it|change it|set it) back [to] [(how it was|the way it was|before|as it was|what it was|one step)]
(oops|oh no|whoops|mistake|wrong) [,] (undo|revert|take) [(that|it|back)] [back]
(that was wrong|that was a mistake|i changed my mind) [,] (undo|revert|take) [(that|it|back)] [back]
put [everything] (back|back as it was)
restore (state before|what was before|how it was before|previous state|previous version) [(turn|change)] [<n>]
""")
CHANGES_PATTERNS = parse_patterns("""
what (changed|has changed|was changed|did change|is different|is new|got changed|have changed) [(in|with|about) \
 <doc>] [(lately|recently|since)]
what (was|is|were) [the] (last|latest|most recent) (change|edit|turn|thing you did) [(in|to) <doc>]
what changed since <when>
(which|what) (edits|changes|turns) (were|are|have been|did you) [made|make|done] [(in|to|on) <doc>]
what were [your] last [<n>] (edits|changes|turns) [(in|to|on) <doc>]
(history|log|list) of (changes|turns|edits)
(show|display|list) (log|history|list) of (changes|turns|edits)
(show|list) (changes|edits|turns) (of|from) (today|yesterday|this week)
who last (edited|changed|touched) <doc>
what is (changed|new|different) [(in|with) <doc>]
what (you|i|we) (did|changed|edited|have done|have changed|wrote) [(last|so far|recently|lately|today)] \
 [(in|to|with) <doc>]
what [has] (happened|happen|been going on|been done|went on) [(in|to|with) <doc>] [(lately|recently|so \
 far|today|since)]
what did (you|we|i|they|anybody|others) (do|change|edit|touch|write) [(last|so \
 far|before|recently|lately|today|just now|just)] [(in|to|with) <doc>]
what have (you|we|i) (done|changed|edited) [(so far|recently|lately|today)] [(in|to|with) <doc>]
(show|list|give|see|tell|display) [every] [last] [<n>] [last|latest|recent|past|previous] \
 (change|changes|turns|edits|history|change history|log|change log|activity|what changed|what was done|actions) \
 [(in|of|to|for|on) <doc>]
(show|list|display) history [(of|for) <doc>]
[change] (history|log|changelog) [(of|for) <doc>]
(last|latest|recent) [<n>] (change|changes|turns|edits) [(in|of|to) <doc>]
who (changed|edited|touched|wrote|worked on) [in|on] <doc> [(last|lately|recently)]
(which|what) (documents|files|notes) (changed|were changed|have changed|did you change|were edited|were touched) \
 [(lately|recently|last)]
when (was|did) <doc> [last] (changed|edited|change|touched)
""")
LIST_PATTERNS = parse_patterns("""
(list|show|display|give|ls|see|tell) [every] \
 (documents|files|notes|docs|pages|folders|contents|content|everything|all|what is there|list of documents|list \
 of files) [there are|there is|i have|we have|names] [(in|inside|of|under|from) [folder] <folder> [folder]]
(list|ls) [(in|inside|folder)] [<folder>] [folder]
(list|show) [every] (markdown|text) (files|documents|notes)
[(give|show|get)] [(overview|list) of] (documents|files|notes|folders)
(what|which) (documents|files|notes) are in (folder|this folder|here)
what is in folder
what can i (find|see|read) (in|inside) [folder] <folder> [folder]
are there [any] (notes|documents|files) [(here|there)] [(in|inside) <folder>]
(what|which) (documents|files|notes|folders|docs|pages) (are|do i have|do we have|exist|have i got|is) \
 [(there|here|available)] [(in|inside|under) [folder] <folder> [folder]]
what (is|do i have|have i got|do we have) [there] (in|inside|under) [folder] <folder> [folder]
what is (here|there|in here|in this folder|around)
what (have|do) (i|we) (got|have) [(here|there|in here)]
how many (documents|files|notes|pages) (are|are there|do i have|are here|exist|have i) [(in|inside|under) \
 [folder] <folder> [folder]]
(show|open|list) <folder> folder
(show|open|list) folder <folder>
(directory listing|file list|list of files|list of documents|table of files) [(of|for) <folder>]
""")


def undo_script(slots: SlotValues, context: ScriptContext) -> Script:
    outcome = yield from perform(call("undo_turn", turn=slots.number("n")))
    if outcome.ok:
        data = outcome.data
        where = ", ".join(data["paths"])
        return f"Turn {data['undone']} (“{data['title']}”) is undone{f' in {where}' if where else ''}."
    lines = [f"I could not undo that: {outcome.message}"]
    if context.left:
        turns = yield from perform(call("list_turns", limit=5))
        lines += ["The last turns:", *_turns(turns.rows("turns"))] if turns.rows("turns") else []
    return "\n".join(lines)


def changes_script(slots: SlotValues, context: ScriptContext) -> Script:
    path = None
    if slots["doc"] and not is_everything(slots["doc"]) and (context.here or not is_this(slots["doc"])):
        path = yield from find_document(slots["doc"], context)
    wanted = min(slots.number("n") or USUAL, MOST)
    outcome = yield from perform(call("list_turns", path=path, limit=wanted))
    if not outcome.ok:
        raise ScriptEnd(f"I could not read the history: {outcome.message}")
    turns = outcome.rows("turns")
    about = f" in {path}" if path else ""
    if not turns:
        return f"Nothing has been recorded{about} yet."
    more = "\nThere are older turns." if outcome.data["has_more"] else ""
    more += "\nI cannot filter by date; each turn shows its time." if slots["when"] else ""
    return "\n".join([f"What was done{about}, newest first:", *_turns(turns)]) + more


def _turns(turns: list[dict[str, Any]]) -> list[str]:
    lines: list[str] = []
    for turn in turns:
        when = datetime.fromtimestamp(turn["created"], UTC).astimezone().strftime("%Y-%m-%d %H:%M")
        paths = ", ".join(turn["paths"][:4]) + (" …" if len(turn["paths"]) > 4 else "")
        lines.append(
            f"- turn {turn['turn']}, {when}, {turn['author']}: {turn['title']} ({turn['state']}) {paths}".rstrip()
        )
    return lines


def list_script(slots: SlotValues, context: ScriptContext) -> Script:
    listed = yield from list_files()
    wanted = slots["folder"]
    inside = "" if not wanted or is_this(wanted) or is_everything(wanted) else _folder(wanted, listed.folders)
    files = [path for path in listed.files if not inside or path.startswith(f"{inside}/")]
    where = f"{inside}/" if inside else "the folder"
    if not files:
        return f"There are no documents in {where}."
    count = f"{len(files)} document{'' if len(files) == 1 else 's'}{'' if listed.whole else ' or more'} in {where}:"
    more = [f"- and {len(files) - MOST} more"] if len(files) > MOST else []
    return "\n".join([count, *(f"- {path}" for path in files[:MOST]), *more])


def _folder(wanted: str, folders: tuple[str, ...]) -> str:
    found = best_matches(wanted, folders)
    if len(found) == 1:
        return found[0]
    raise ScriptEnd(f"I found no folder “{wanted}”. There are: {', '.join(found or folders) or 'none'}.")


UNDO = Intent(
    "undo",
    "undo my last turn, or a turn by its number",
    ("Undo the last change", "Undo turn 12"),
    UNDO_PATTERNS,
    undo_script,
)
CHANGES = Intent(
    "changes",
    "show what was done, in all documents or in one",
    ("What changed?", "Show the last 5 changes in todo.md"),
    CHANGES_PATTERNS,
    changes_script,
    word_list("changes changed history edited edits activity"),
)
LIST = Intent(
    "list",
    "list the documents",
    ("List the documents", "What is in the folder story?"),
    LIST_PATTERNS,
    list_script,
    word_list("documents files folders"),
)
