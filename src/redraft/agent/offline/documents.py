"""Which document is meant: the first step of most scripts.

A phrase is matched against the documents of `list_documents`: by path, by name, by the words in it. If two match, the
person is asked, once.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from redraft.agent.offline.intents import ScriptEnd, ScriptOutcome, Steps, call, perform
from redraft.agent.offline.tokens import edit_distance, likeness, word_list
from redraft.search.stems import stem

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from redraft.agent.offline.intents import ScriptCall, ScriptContext

NO_ANSWER = "no_user_answer"
MAX_LISTED = 1000
SHOWN = 6
_THIS = re.compile(
    r"(?:it|here|(?:in|the|this|that|current|open|active|present|whole|entire)?\s*(?:(?:this|that|current|open|active|"
    r"present|whole|entire)\s+)?(?:document|file|note|page|text|chapter|tab|draft|article|one)?)",
    re.IGNORECASE,
)
_EVERYTHING = re.compile(
    r"everywhere|everything|anywhere|throughout|all"
    r"|(?:all|every|each|any)\s+(?:of\s+)?(?:(?:the|my|our|these|those)\s+)?(?:documents?|files?|notes?|docs?|pages?)"
    r"|(?:(?:the|my|our|this|these|those)\s+)?(?:documents|files|notes|docs|pages|folder|workspace|project|vault)"
    r"|(?:(?:the|my|our|this)\s+)?(?:whole|entire)\s+(?:folder|workspace|project|vault|book|collection)",
    re.IGNORECASE,
)
_GROUP = re.compile(r"(all\s+|every\s+|each\s+)?(?:of\s+)?(?:(?:the|my|our)\s+)?([^\W\d_]+)", re.IGNORECASE)
_TEXT = re.compile(r"\.(?:md|markdown|txt)$", re.IGNORECASE)
_NOISE = frozenset(word_list("the a an my our in of document file note notes doc called named list page md"))
_ORDINALS = {
    word: str(at)
    for at, word in enumerate(word_list("zero one two three four five six seven eight nine ten eleven twelve"))
} | {
    word: str(at)
    for at, word in enumerate(word_list("first second third fourth fifth sixth seventh eighth ninth tenth"), start=1)
}


@dataclass(frozen=True, slots=True)
class Listing:
    """The folder's documents and folders; `whole` is False if the list was too long to get all of it."""

    files: tuple[str, ...]
    folders: tuple[str, ...]
    whole: bool = True


def is_this(phrase: str) -> bool:
    """Whether the phrase means the current document, or none in particular."""
    return not phrase or _THIS.fullmatch(phrase.strip()) is not None


def is_everything(phrase: str) -> bool:
    return _EVERYTHING.fullmatch(phrase.strip()) is not None


def list_files() -> Steps[Listing]:
    """All documents and folders."""
    found = yield from perform(call("list_documents", recursive=True, limit=MAX_LISTED))
    if not found.ok:
        raise ScriptEnd(f"I could not list the documents: {found.message}")
    entries = found.rows("documents")
    files = tuple(str(entry["path"]) for entry in entries if entry["type"] == "file")
    folders = tuple(str(entry["path"]) for entry in entries if entry["type"] == "folder")
    return Listing(files, folders, not (found.data["truncated"] or found.cut))


def best_matches(phrase: str, paths: Sequence[str]) -> list[str]:
    """The paths that match a phrase best, all of them."""
    wanted = phrase.strip().strip("/").casefold()
    words = _words(wanted)
    ranked: dict[int, list[str]] = {}
    for path in paths:
        rank = _rank(wanted, words, path.casefold())
        if rank:
            ranked.setdefault(rank, []).append(path)
    return ranked[max(ranked)] if ranked else []


def _rank(wanted: str, words: set[str], path: str) -> int:
    name = path.rpartition("/")[2]
    bare = name.rpartition(".")[0] or name
    if wanted == path:
        return 9
    if wanted in (name, bare):
        return 8
    own = _words(bare)
    if words and words == own:
        return 7
    if words and words <= own:
        return 6
    if words and words <= _words(path):
        return 5
    if words and own and own <= words:
        return 4
    same_numbers = re.findall(r"\d+", wanted) == re.findall(r"\d+", bare)
    return 3 if len(wanted) > 4 and same_numbers and edit_distance(wanted, bare, 2) <= min(2, len(wanted) // 4) else 0


def _words(text: str) -> set[str]:
    found: list[str] = re.findall(r"[^\W\d_]+|\d+", text)
    words = [_ORDINALS.get(word, word) for word in found if word not in _NOISE]
    return {word.lstrip("0") or "0" for word in words}


def find_document(
    phrase: str, context: ScriptContext, *, guess: bool = True, listed: Listing | None = None
) -> Steps[str]:
    """The path of the document that is meant. With `guess`, choose one if the person leaves it to us."""
    if is_this(phrase):
        return (yield from _current_document(context, guess))
    listed = listed or (yield from list_files())
    found = best_matches(phrase, listed.files)
    if len(found) == 1:
        return found[0]
    if not found:
        raise ScriptEnd(_explain_unknown(phrase, listed))
    return (yield from _ask_which(f"Which document do you mean by “{phrase}”", found, context, guess))


def _current_document(context: ScriptContext, guess: bool) -> Steps[str]:
    """The document that the person pinned or has in front of them."""
    if len(context.here) == 1:
        return context.here[0]
    if not context.here:
        tabs = yield from perform(call("list_tabs"))
        entries = tabs.rows("tabs")
        active = [str(tab["path"]) for tab in entries if tab["is_active"] or len(entries) == 1]
        if len(active) == 1:
            return active[0]
    choices = context.here or (yield from list_files()).files
    if len(choices) == 1:
        return choices[0]
    if not choices:
        raise ScriptEnd("There is no document here yet.")
    return (yield from _ask_which("Which document do you mean", choices, context, guess and bool(context.here)))


def _ask_which(question: str, choices: Sequence[str], context: ScriptContext, guess: bool) -> Steps[str]:
    answer = yield from ask(f"{question}: {list_some(choices)}?", context)
    found = match_choice(answer, choices)
    if found:
        return found
    if guess:
        context.notes.append(f"It could have been {list_some(choices)}; I used {choices[0]}.")
        return choices[0]
    raise ScriptEnd(f"I changed nothing, because I do not know which document you mean: {list_some(choices)}.")


def match_choice(answer: str, choices: Sequence[str]) -> str:
    """The choice that an answer means: by name, by a word that only it contains, or by its position; "" for none."""
    if answer == NO_ANSWER:
        return ""
    found = best_matches(answer, choices)
    if len(found) == 1:
        return found[0]
    wanted = _words(answer.casefold())
    shared = [len(wanted & _words(path.casefold())) for path in choices]
    if shared.count(max(shared)) == 1:
        return choices[shared.index(max(shared))]
    places = [int(word) for word in wanted if word.isdigit() and 0 < int(word) <= len(choices)]
    return choices[places[0] - 1] if len(places) == 1 else ""


def ask(question: str, context: ScriptContext) -> Steps[str]:
    """The person's answer, or `no_user_answer`."""
    if not context.left:
        return NO_ANSWER
    outcome = yield from perform(call("clarify_user", question=question))
    return str(outcome.data.get("answer") or NO_ANSWER).strip() if outcome.ok else NO_ANSWER


def _explain_unknown(phrase: str, listed: Listing) -> str:
    near = [path for path in listed.files if _words(path.casefold()) & _words(phrase.casefold())]
    there = list_some(near or listed.files)
    more = "" if listed.whole else " (there are more)"
    return f"I found no document called “{phrase}”. There are: {there}{more}." if there else "There is no document yet."


def list_some(choices: Sequence[str]) -> str:
    rest = len(choices) - SHOWN
    return ", ".join(choices[:SHOWN]) + (f" and {rest} more" if rest > 0 else "")


def resolve_paths(phrase: str, context: ScriptContext, *, default_everything: bool = False) -> Steps[list[str]]:
    """The documents of a phrase that may also mean all of them, or a folder."""
    everything = is_everything(phrase) or (default_everything and not phrase and not context.here)
    if not everything and is_this(phrase):
        return [(yield from find_document(phrase, context))]
    listed = yield from list_files()
    if everything:
        return list(listed.files)
    if group := resolve_group(phrase, listed):
        return group
    folder = resolve_folder(phrase, listed)
    if folder:
        return [path for path in listed.files if path.startswith(f"{folder}/")]
    return [(yield from find_document(phrase, context, listed=listed))]


def resolve_group(phrase: str, listed: Listing) -> list[str]:
    """The documents that a phrase like "all chapters" means: two or more with that word in their names."""
    match = _GROUP.fullmatch(phrase.strip())
    if match is None or not (match[1] or match[2].casefold().endswith("s")):
        return []
    word = stem(match[2].casefold())
    names = {path: _words(path.rpartition("/")[2].casefold()) for path in listed.files}
    found = [path for path, words in names.items() if word in map(stem, words)]
    return found if len(found) > 1 else []


def resolve_folder(phrase: str, listed: Listing) -> str:
    """The folder that a phrase means, if it means one: because it says so, because no document has that name, or
    because several have."""
    says_so = re.search(r"\b(?:folder|directory)\b", phrase, re.IGNORECASE) is not None
    found = best_matches(re.sub(r"\b(?:folder|directory)\b", "", phrase, flags=re.IGNORECASE), listed.folders)
    if len(found) != 1 or not any(path.startswith(f"{found[0]}/") for path in listed.files):
        return ""
    texts = [path for path in best_matches(phrase, listed.files) if _TEXT.search(path)]
    exact = [
        path for path in texts if phrase.strip().casefold() in (path.casefold(), path.rpartition("/")[2].casefold())
    ]
    return found[0] if says_so or (len(texts) != 1 and not exact) else ""


# Where in a document something goes: sections by heading, start and end of the text, and blank lines around new text.
#
# Uses the outline and a few lines around the place, so it costs the same in a note and in a novel.


@dataclass(frozen=True, slots=True)
class HeadingRange:
    """A heading: its title, level, line from 0, the last line of its section, and the last line before the first
    heading below it."""

    title: str
    level: int
    line: int
    last: int
    own_last: int


@dataclass(frozen=True, slots=True)
class DocumentSections:
    """A document's sections, version and number of lines."""

    path: str
    version: str
    total: int
    first: str
    sections: tuple[HeadingRange, ...]


def read_sections(path: str) -> Steps[DocumentSections]:
    """The structure of a document, in one step of two calls."""
    outlined, read = yield (
        call("get_outline", path=path, max_depth=10),
        call("read_document", path=path, max_tokens=50),
    )
    for outcome in (outlined, read):
        if not outcome.ok:
            raise ScriptEnd(f"I cannot read {path}: {outcome.message}")
    total = read.data["lines"]["total"]
    return DocumentSections(path, read.data["version"], total, read.data["content"], tuple(_sections(outlined, total)))


def _sections(outlined: ScriptOutcome, total: int) -> list[HeadingRange]:
    flat = list(_flat(outlined.data["outline"]))
    starts = [entry["line_start"] for entry in flat] + [total]
    return [
        HeadingRange(
            entry["title"],
            entry["level"],
            entry["line_start"],
            total - 1 if entry["line_end"] is None else entry["line_end"],
            starts[at + 1] - 1,
        )
        for at, entry in enumerate(flat)
    ]


def _flat(entries: Iterable[Any]) -> Iterable[dict[str, Any]]:
    for entry in entries:
        if isinstance(entry, dict) and "line_start" in entry:
            yield entry  # pyright: ignore[reportUnknownVariableType]
            yield from _flat(entry.get("children", ()))  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]


def find_section(phrase: str, shape: DocumentSections) -> HeadingRange:
    """The section with that heading; ends the script if there is none, or if it is ambiguous."""
    found = headings_like(phrase, shape.sections)
    if len(found) == 1:
        return found[0]
    titles = ", ".join(f"“{each.title}”" for each in (found or shape.sections)[:8])
    if not found:
        there = f" It has: {titles}." if titles else " It has no headings."
        raise ScriptEnd(f"{shape.path} has no heading “{phrase}”; nothing was changed.{there}")
    raise ScriptEnd(f"{shape.path} has several headings “{phrase}” ({titles}); give the full title.")


def headings_like(phrase: str, sections: Sequence[HeadingRange]) -> list[HeadingRange]:
    """The sections whose heading the phrase means: by the whole title, by its words, or approximately."""
    wanted = phrase.strip().strip("#").strip().casefold()
    exact = [each for each in sections if each.title.casefold() == wanted]
    if exact:
        return exact
    titles = list(dict.fromkeys(each.title for each in sections))
    found = set(best_matches(wanted, titles)) or {
        title
        for title in titles
        if edit_distance(title.casefold(), wanted, 2) <= 2 and likeness(title.casefold()[:1], wanted[:1])
    }
    return [each for each in sections if each.title in found]


def lines_around(path: str, line: int) -> Steps[tuple[str, str]]:
    """The line and the one after it; empty if there is none."""
    if line < 0:
        return "", ""
    outcome = yield from perform(call("read_document", path=path, start_line=line, max_tokens=2000))
    if not outcome.ok:
        raise ScriptEnd(f"I cannot read {path}: {outcome.message}")
    lines = outcome.data["content"].splitlines()
    return (lines[0] if lines else ""), (lines[1] if len(lines) > 1 else "")


def pad_with_blank_lines(text: str, before: str, after: str) -> str:
    """New lines with a blank line on each side, unless there is one already."""
    lead = "\n" if before.strip() else ""
    trail = "\n" if after.strip() else ""
    return f"{lead}{text.strip(chr(10))}\n{trail}"


# The text of documents, read in windows as far as the budget allows; unread parts are marked as such.


# Smaller than what the loop passes on of one result, even after JSON escaping.
WINDOW_TOKENS = 5000


@dataclass(slots=True)
class ReadLines:
    """What was read of a document. Lines count from 0; `whole` is False if part of it was not read."""

    path: str
    version: str = ""
    format: str = ""
    pieces: list[str] = field(default_factory=list[str])
    next_line: int = 0
    total: int = 0
    whole: bool = False
    failed: str = ""
    tokens: int = WINDOW_TOKENS
    unread_tokens: int = 0

    @property
    def windows(self) -> int:
        """Roughly how many more windows the rest takes."""
        return 0 if not self.more else max(1, -(-self.unread_tokens // self.tokens))

    @property
    def text(self) -> str:
        return "".join(self.pieces)

    @property
    def more(self) -> bool:
        return not self.whole and not self.failed

    def take(self, outcome: ScriptOutcome) -> None:
        """Add a window. If the loop had to truncate it, the next request asks for half as much."""
        if not outcome.ok:
            self.failed = outcome.message
            return
        data = outcome.data
        if outcome.cut or not isinstance(data.get("lines"), dict):
            self.tokens //= 2
            self.failed = "" if self.tokens > 100 else "Its lines are too long for me."
            return
        if self.version and data["version"] != self.version:
            self.failed = "It changed while I was reading it; ask again."
            return
        self.version, self.format, self.total = data["version"], data["file_type"], data["lines"]["total"]
        self.pieces.append(data["content"])
        self.unread_tokens = (self.unread_tokens or data["tokens"]["total_estimate"]) - data["tokens"]["returned"]
        self.next_line = data["lines"]["end"] + 1
        if data.get("line_truncated"):
            self.failed = "It has a line that is too long for me."
        self.whole = not data["has_more"] and not self.failed


def read_all(paths: Sequence[str], context: ScriptContext, *, keep: int = 0) -> Steps[list[ReadLines]]:
    """Read documents in parallel as far as the budget allows, leaving `keep` calls. The last ones may not have been
    read at all; their `total` is 0 and `whole` is False."""
    readings = [ReadLines(path) for path in paths]
    while (yield from read_on(readings, context, keep=keep)):
        pass
    return readings


def read_on(readings: Sequence[ReadLines], context: ScriptContext, *, keep: int = 0) -> Steps[bool]:
    """Read the next window of each document that has more, in one step; returns whether there was anything to read."""
    calls_left = context.left - keep if context.steps > (2 if keep else 1) else 0
    due = [reading for reading in readings if reading.more][: max(0, calls_left)]
    if not due:
        return False
    wanted: list[ScriptCall] = [
        call("read_document", path=each.path, start_line=each.next_line, max_tokens=each.tokens) for each in due
    ]
    for reading, outcome in zip(due, (yield wanted), strict=True):
        reading.take(outcome)
    return True


def read_one(path: str, context: ScriptContext, *, keep: int = 0) -> Steps[ReadLines]:
    """One document; ends the script if none of it can be read."""
    [reading] = yield from read_all([path], context, keep=keep)
    if not reading.pieces:
        raise ScriptEnd(f"I cannot read {path}: {reading.failed or 'the budget of this job is used up.'}")
    return reading


def describe_unread(readings: Sequence[ReadLines]) -> str:
    """What was not read, to be stated beside every figure; empty if everything was."""
    parts = [reading for reading in readings if not reading.whole]
    unread: list[str] = []
    for reading in parts:
        if not reading.pieces:
            unread.append(f"{reading.path} ({reading.failed or 'not read'})")
        else:
            unread.append(f"{reading.path} from line {reading.next_line + 1} on")
    return f"\n\nNot counted: {list_some(unread)}." if unread else ""
