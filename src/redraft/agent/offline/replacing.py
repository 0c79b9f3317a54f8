"""What a rename changes in a text, and what it leaves alone: pure, and the whole truth about both.

A name is found as a whole word, with its possessive ("Anna's"), its plural ("Annas") and in capitals ("ANNA"); a term
in small letters also with a capital at its beginning. Each form is replaced by the same form of the new name. Code,
link targets and the keys of frontmatter, YAML and JSON are not prose and stay as they are; how often the name stands
there is counted, so that it can be said.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from redraft.formats.frontmatter import frontmatter_end

_FENCED = re.compile(r"^ {0,3}(`{3,}|~{3,})[^\n]*\n.*?(?:^ {0,3}\1[`~]*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"(?<!`)(`+)(?!`)[^\n]*?(?<!`)\1(?!`)")
_TARGET = re.compile(r"\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*\)|<https?://[^>\s]*>|\bhttps?://[^\s)>\]]+")
_DEFINITION = re.compile(r"^ {0,3}\[[^\]\n]+\]:[ \t]*\S+", re.MULTILINE)
_YAML_KEY = re.compile(r"^[ \t]*(?:- +)*(?:\"[^\"\n]*\"|'[^'\n]*'|[^\s#:\"'][^:\n]*?)[ \t]*:(?=\s|$)", re.MULTILINE)
_JSON_KEY = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"\s*:")


@dataclass(frozen=True, slots=True)
class Replaced:
    """The new text, how many places it differs in, how many were left alone, and whether every place is written just
    as the person wrote the name."""

    text: str
    count: int
    left: int
    plain: bool


def forms(old: str, new: str) -> dict[str, str]:
    """Every form of the old name with the form of the new one that takes its place; the first is the name itself."""
    pairs = {old: new}
    singular = list(pairs.items())
    plural_old, plural_new = plural(old), plural(new)
    if plural_old and plural_new:
        singular.append((plural_old, plural_new))
    for one, other in singular:
        pairs.setdefault(one, other)
        if old == old.lower():
            pairs.setdefault(_capital(one), _capital(other))
        if len(old) > 1:
            pairs.setdefault(one.upper(), other.upper())
    return pairs


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def plural(name: str) -> str:
    """The regular English plural; empty where the name does not end in a letter, or looks like a plural."""
    if not name or not name[-1].isalpha() or name.casefold().endswith("s"):
        return ""
    if re.search(r"(?i)(?:x|z|ch|sh)$", name):
        return name + "es"
    if re.search(r"(?i)[^aeiou\W]y$", name) and name == name.lower():
        return name[:-1] + "ies"
    return name + "s"


def pattern_of(old: str, new: str) -> re.Pattern[str]:
    """Finds the forms of the name as whole words, the longest first."""
    longest = sorted(forms(old, new), key=len, reverse=True)
    return re.compile(r"(?<!\w)(?:" + "|".join(map(re.escape, longest)) + r")(?!\w)")


def replaced(text: str, old: str, new: str, format: str = "markdown") -> Replaced:  # noqa: A002 - the tools' own word
    """The text with the name changed wherever it is prose."""
    instead = forms(old, new)
    kept = kept_as_they_are(text, format)
    pieces: list[str] = []
    at = count = left = 0
    plain = True
    for match in pattern_of(old, new).finditer(text):
        if any(start < match.end() and match.start() < end for start, end in kept):
            left += 1
            continue
        pieces += (text[at : match.start()], instead[match.group()])
        at = match.end()
        count += 1
        plain = plain and match.group() == old
    return Replaced("".join((*pieces, text[at:])), count, left, plain and not left)


def kept_as_they_are(text: str, format: str = "markdown") -> list[tuple[int, int]]:  # noqa: A002
    """The parts of a text that are code, keys or link targets."""
    if format == "json":
        return [match.span() for match in _JSON_KEY.finditer(text)]
    if format == "yaml":
        return [match.span() for match in _YAML_KEY.finditer(text)]
    if format != "markdown":
        return []
    body = frontmatter_end(text)
    found = [match.span() for match in _YAML_KEY.finditer(text, 0, body)]
    fenced = [match.span() for match in _FENCED.finditer(text, body)]
    found += fenced
    for pattern in (_INLINE, _TARGET, _DEFINITION):
        found += [match.span() for match in pattern.finditer(text, body)]
    return found
