"""Rename a character throughout a text, without a model: every occurrence of the name as whole words, and no other.

A line break within the name stays where it was, a name in capitals stays in capitals, a possessive ending is not
touched. What cannot be decided without understanding (nicknames, another person whose name contains this one) is left
alone or changed, and always flagged for a person. Pure.
"""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple

from redraft.errors import Refused
from redraft.text.edits import Change, Edit
from redraft.text.lines import count_breaks
from redraft.text.sentences import sentences
from redraft.tools.long_documents.prose_stats import WORD, likely_names, name_pattern, word_set
from redraft.tools.long_documents.worker import Flag

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MAX_NAME = 80
MAX_FLAGS = 40
QUOTED = 160
# A shorter name is the start of too many unrelated words.
LEAST_STEM = 3
PRONOUNS = {
    "male": word_set("he him his himself"),
    "female": word_set("she her hers herself"),
}
TITLES = word_set("mr mrs ms mx miss dr prof sir madam lord lady captain uncle aunt father mother king queen")
_CAPITAL = r"[^\W\d_a-zß-öø-ÿ][\w’'-]*"


class Rename(NamedTuple):
    """Who is renamed. `gender` is that of the new name; empty if unknown."""

    old: str
    new: str
    update_pronouns: bool = False
    gender: str = ""


def parse_rename(names: Mapping[str, object]) -> Rename:
    """The parameters of `character_rename`, checked."""
    old, new = (" ".join(str(names.get(key) or "").split()) for key in ("old_name", "new_name"))
    for key, value in (("old_name", old), ("new_name", new)):
        if not value or len(value) > MAX_NAME or not WORD.search(value):
            raise Refused(f"`params.{key}` must be a name of at most {MAX_NAME} characters.", field=f"params.{key}")
    if old == new:
        raise Refused("The old and the new name are the same.", field="params.new_name")
    return Rename(old, new, bool(names.get("update_pronouns", False)), str(names.get("gender") or ""))


def rename_edits(text: str, names: Mapping[str, str]) -> tuple[Edit, ...]:
    """The edits that replace every name with its new one."""
    wanted = {old.upper(): new.upper() for old, new in names.items()} | dict(names)
    pattern = "|".join(map(name_pattern, sorted(wanted, key=lambda name: (-len(name), name))))
    if not pattern:
        return ()
    return tuple(
        Edit(match.start(), match.group(), _fit_spacing(wanted[" ".join(match.group().split())], match.group()))
        for match in re.finditer(pattern, text)
    )


def is_form_of(form: str, name: str, text: str) -> bool:
    """Whether something is certainly another form of a name: a nickname or a longer form that begins like one of its
    words, and never occurs in lower case in the text, as other words do."""
    words = form.split()
    stems = [part[:LEAST_STEM].casefold() for part in name.split() if len(part) >= LEAST_STEM]
    if not words or len(form) > MAX_NAME or not all(word[:1].isupper() for word in words):
        return False
    like = any(word.casefold().startswith(stem) for word in words for stem in stems)
    return like and re.search(name_pattern(form.lower()), text) is None


def _fit_spacing(new: str, old: str) -> str:
    """The new name with the white space of the old one."""
    gaps = re.findall(r"\s+", old)
    words = new.split()
    return "".join(word + gap for word, gap in zip_longest(words, gaps[: len(words) - 1], fillvalue=" ")).rstrip()


# What a person should check


def rename_flags(old_text: str, new_text: str, rename: Rename) -> list[Flag]:
    """The doubtful places of a rename, in the new text."""
    return [
        *_flag_taken_names(old_text, new_text, rename),
        *_longer_names(new_text, rename),
        *leftovers(new_text, rename.old, rename.new),
        *(_pronouns(new_text, rename) if rename.update_pronouns else ()),
    ][:MAX_FLAGS]


def _flag_taken_names(old_text: str, new_text: str, rename: Rename) -> Iterator[Flag]:
    there = re.search(name_pattern(rename.new), old_text)
    if there:
        count = len(re.findall(name_pattern(rename.new), old_text))
        found = re.search(name_pattern(rename.new), new_text)
        problem = (
            f"{rename.new} was already a name in this text, {_times(count)}: two people may now have the same name."
        )
        yield make_flag("name_taken", new_text, found.start() if found else 0, problem)


def _longer_names(text: str, rename: Rename) -> Iterator[Flag]:
    """Longer names that contain the new one: each may be somebody else's."""
    around = re.compile(
        rf"(?:(?P<before>{_CAPITAL})(?P<dot>\.?)[^\S\r\n]+)?(?P<name>{name_pattern(rename.new)})"
        rf"(?P<after>[^\S\r\n]+{_CAPITAL})?"
    )
    forms: defaultdict[str, list[int]] = defaultdict(list)
    for match in around.finditer(text):
        before = match["before"] or ""
        if before.casefold() in TITLES or _begins_sentence(text, match.start()):
            before = ""
        form = f"{before}{match['dot'] if before else ''} {match['name']}{match['after'] or ''}"
        if before or match["after"]:
            forms[" ".join(form.split())].append(match.start("name"))
    for form, places in sorted(forms.items()):
        problem = f"“{form}” stands here {_times(len(places))}: it may be somebody else's name."
        yield make_flag("longer_name", text, places[0], problem)


def _begins_sentence(text: str, at: int) -> bool:
    before = text[max(0, at - 40) : at].rstrip(" \t\"'“‘«(*_")
    return not before or before[-1] in ".!?:;…\r\n"


def leftovers(text: str, old: str, new: str) -> Iterator[Flag]:
    """What is left of an old name: with other letters, as the start of a longer word, or only a part of it."""
    new_words = {word.casefold() for word in new.split()}
    forms: defaultdict[str, list[int]] = defaultdict(list)
    for part in dict.fromkeys((old, *old.split())):
        if part.casefold() in new_words or len(part) < LEAST_STEM:
            continue
        stem = r"\s+".join(map(re.escape, part.split()))
        for match in re.finditer(rf"(?<!\w){stem}\w*", text, re.IGNORECASE):
            forms[match.group()].append(match.start())
    for form, places in sorted(forms.items(), key=lambda each: each[1][0]):
        problem = f"“{form}” is left {_times(len(places))}: it may mean {new}."
        yield make_flag("leftover", text, places[0], problem)


def _pronouns(text: str, rename: Rename) -> Iterator[Flag]:
    """Sentences about the renamed person alone that contain the other gender's pronouns."""
    other = {"male": "female", "female": "male"}.get(rename.gender)
    name = re.compile(name_pattern(rename.new))
    if other is None or not name.search(text):
        return
    others = {each.name for each in likely_names(text)} - {rename.new, *rename.new.split()}
    at = 0
    for sentence in sentences(text):
        words = WORD.findall(sentence)
        found = next((word for word in words if word.casefold() in PRONOUNS[other]), None)
        if found is not None and name.search(sentence) and not others.intersection(words):
            yield make_flag("pronoun", text, at, f"“{found}” may still mean {rename.new}.")
        at += len(sentence)


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def make_flag(kind: str, text: str, at: int, problem: str) -> Flag:
    """A flag for an offset, with the text there."""
    start = max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1
    end = re.search(r"[\r\n]|\Z", text[at : at + QUOTED])
    quote = text[max(start, at - QUOTED // 4) : at + (end.start() if end else QUOTED)]
    return Flag(kind, count_breaks(text[:at]), quote, problem)


def plan_rename(text: str, rename: Rename) -> tuple[tuple[Edit, ...], list[Flag]]:
    """A rename without a model: the edits, and what to check."""
    edits = rename_edits(text, {rename.old: rename.new})
    new = Change(edits).apply(text)
    return edits, rename_flags(text, new, rename)
