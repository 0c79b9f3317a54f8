"""Which document is meant: the step that most scripts begin with.

A name is looked for among the documents that `list_documents` tells, by path, by name, by the words in it. Where two
fit, the person is asked, once.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from redraft.agent.offline.intents import Steps, Told, call, one
from redraft.agent.offline.wording import slips, word_list
from redraft.search.stems import stem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from redraft.agent.offline.intents import Desk

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
    """The documents and folders there are; `whole` is False where there are more than could be told."""

    files: tuple[str, ...]
    folders: tuple[str, ...]
    whole: bool = True


def is_this(phrase: str) -> bool:
    """Whether the words mean the document at hand, or none in particular."""
    return not phrase or _THIS.fullmatch(phrase.strip()) is not None


def is_everything(phrase: str) -> bool:
    return _EVERYTHING.fullmatch(phrase.strip()) is not None


def listing() -> Steps[Listing]:
    """Everything that there is."""
    found = yield from one(call("list_documents", recursive=True, limit=MAX_LISTED))
    if not found.ok:
        raise Told(f"I could not list the documents: {found.message}")
    entries = found.rows("documents")
    files = tuple(str(entry["path"]) for entry in entries if entry["type"] == "file")
    folders = tuple(str(entry["path"]) for entry in entries if entry["type"] == "folder")
    return Listing(files, folders, not (found.data["truncated"] or found.cut))


def named(phrase: str, paths: Sequence[str]) -> list[str]:
    """The paths that a phrase may mean: those that fit best, all of them."""
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
    return 3 if len(wanted) > 4 and same_numbers and slips(wanted, bare, 2) <= min(2, len(wanted) // 4) else 0


def _words(text: str) -> set[str]:
    found: list[str] = re.findall(r"[^\W\d_]+|\d+", text)
    kept = [_ORDINALS.get(word, word) for word in found if word not in _NOISE]
    return {word.lstrip("0") or "0" for word in kept}


def one_document(phrase: str, desk: Desk, *, guess: bool = True, listed: Listing | None = None) -> Steps[str]:
    """The path of the document that is meant. With `guess`, one is chosen where the person leaves it to us."""
    if is_this(phrase):
        return (yield from _at_hand(desk, guess))
    listed = listed or (yield from listing())
    found = named(phrase, listed.files)
    if len(found) == 1:
        return found[0]
    if not found:
        raise Told(_unknown(phrase, listed))
    return (yield from _asked(f"Which document do you mean by “{phrase}”", found, desk, guess))


def _at_hand(desk: Desk, guess: bool) -> Steps[str]:
    """The document that the person pinned or has in front of them."""
    if len(desk.here) == 1:
        return desk.here[0]
    if not desk.here:
        tabs = yield from one(call("list_tabs"))
        entries = tabs.rows("tabs")
        active = [str(tab["path"]) for tab in entries if tab["is_active"] or len(entries) == 1]
        if len(active) == 1:
            return active[0]
    choices = desk.here or (yield from listing()).files
    if len(choices) == 1:
        return choices[0]
    if not choices:
        raise Told("There is no document here yet.")
    return (yield from _asked("Which document do you mean", choices, desk, guess and bool(desk.here)))


def _asked(question: str, choices: Sequence[str], desk: Desk, guess: bool) -> Steps[str]:
    answer = yield from ask(f"{question}: {some(choices)}?", desk)
    found = chosen(answer, choices)
    if found:
        return found
    if guess:
        desk.notes.append(f"It could have been {some(choices)}; I took {choices[0]}.")
        return choices[0]
    raise Told(f"I changed nothing, since I do not know which document you mean: {some(choices)}.")


def chosen(answer: str, choices: Sequence[str]) -> str:
    """The choice that an answer means: by name, by a word that only it has, or by its place; "" for none."""
    if answer == NO_ANSWER:
        return ""
    found = named(answer, choices)
    if len(found) == 1:
        return found[0]
    wanted = _words(answer.casefold())
    shared = [len(wanted & _words(path.casefold())) for path in choices]
    if shared.count(max(shared)) == 1:
        return choices[shared.index(max(shared))]
    places = [int(word) for word in wanted if word.isdigit() and 0 < int(word) <= len(choices)]
    return choices[places[0] - 1] if len(places) == 1 else ""


def ask(question: str, desk: Desk) -> Steps[str]:
    """The person's answer; `no_user_answer` where there is none to be had."""
    if not desk.left:
        return NO_ANSWER
    outcome = yield from one(call("clarify_user", question=question))
    return str(outcome.data.get("answer") or NO_ANSWER).strip() if outcome.ok else NO_ANSWER


def _unknown(phrase: str, listed: Listing) -> str:
    near = [path for path in listed.files if _words(path.casefold()) & _words(phrase.casefold())]
    there = some(near or listed.files)
    more = "" if listed.whole else " (there are more than I was told)"
    return f"I find no document called “{phrase}”. There is: {there}{more}." if there else "There is no document yet."


def some(choices: Sequence[str]) -> str:
    rest = len(choices) - SHOWN
    return ", ".join(choices[:SHOWN]) + (f" and {rest} more" if rest > 0 else "")


def paths_meant(phrase: str, desk: Desk, *, default_everything: bool = False) -> Steps[list[str]]:
    """The documents of a phrase that may also mean all of them, or a folder."""
    everything = is_everything(phrase) or (default_everything and not phrase and not desk.here)
    if not everything and is_this(phrase):
        return [(yield from one_document(phrase, desk))]
    listed = yield from listing()
    if everything:
        return list(listed.files)
    if group := group_meant(phrase, listed):
        return group
    folder = folder_meant(phrase, listed)
    if folder:
        return [path for path in listed.files if path.startswith(f"{folder}/")]
    return [(yield from one_document(phrase, desk, listed=listed))]


def group_meant(phrase: str, listed: Listing) -> list[str]:
    """The documents that "all chapters" means: two or more that have the word in their names."""
    match = _GROUP.fullmatch(phrase.strip())
    if match is None or not (match[1] or match[2].casefold().endswith("s")):
        return []
    word = stem(match[2].casefold())
    names = {path: _words(path.rpartition("/")[2].casefold()) for path in listed.files}
    found = [path for path, words in names.items() if word in map(stem, words)]
    return found if len(found) > 1 else []


def folder_meant(phrase: str, listed: Listing) -> str:
    """The folder that a phrase means rather than a document: because it says so, because no text has that name, or
    because several have."""
    says_so = re.search(r"\b(?:folder|directory)\b", phrase, re.IGNORECASE) is not None
    found = named(re.sub(r"\b(?:folder|directory)\b", "", phrase, flags=re.IGNORECASE), listed.folders)
    if len(found) != 1 or not any(path.startswith(f"{found[0]}/") for path in listed.files):
        return ""
    texts = [path for path in named(phrase, listed.files) if _TEXT.search(path)]
    exact = [
        path for path in texts if phrase.strip().casefold() in (path.casefold(), path.rpartition("/")[2].casefold())
    ]
    return found[0] if says_so or (len(texts) != 1 and not exact) else ""
