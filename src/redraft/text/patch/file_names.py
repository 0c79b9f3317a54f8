"""File names in the headers of patches.

A name may be quoted as in C, followed by a date or a revision, and preceded by a prefix for its side (`a/`, `b/`) that
is not part of it. Nothing here looks at a file or decides whether a name is safe to open.
"""

from __future__ import annotations

import re

from redraft.errors import Refused

Names = tuple[str | None, str | None]
RawNames = tuple[str, str]

_NOWHERE = "/dev/null"
# Git's usual prefixes, and those of `diff.mnemonicPrefix`: commit, index, working tree, object.
_PREFIXES = {("a/", "b/"), ("i/", "w/"), ("c/", "i/"), ("c/", "w/"), ("o/", "w/"), ("1/", "2/")}
_STAMP = re.compile(r"\s+\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d.*|\s*\((?:revision \d+|working copy|nonexistent)\)")
_TO_QUOTE = re.compile(r'[\x00-\x1f\x7f"\\]')
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
_ESCAPED = re.compile(r"\\([0-7]{3})|\\(.)|([^\\]+)")
_ESCAPES = {"a": 7, "b": 8, "t": 9, "n": 10, "v": 11, "f": 12, "r": 13, '"': 34, "\\": 92}


def quote_path(path: str) -> str:
    """The path in C quotes if it needs them."""
    if not _TO_QUOTE.search(path):
        return path
    return '"' + _TO_QUOTE.sub(lambda found: f"\\{ord(found[0]):03o}", path) + '"'


def unquote_path(name: str) -> str:
    """The name without C quotes, in which bytes beyond ASCII are octal escapes; unchanged if it has none."""
    if not name.startswith('"'):
        return name
    found = _QUOTED.match(name)
    if not found:
        raise _wrong(name, "is not closed")
    raw = bytearray()
    for octal, escape, plain in _ESCAPED.findall(found[1]):
        if escape and escape not in _ESCAPES:
            raise _wrong(name, "is quoted wrongly")
        raw += plain.encode() if plain else bytes([int(octal, 8) & 255 if octal else _ESCAPES[escape]])
    try:
        return raw.decode()
    except UnicodeDecodeError:
        raise _wrong(name, "is not UTF-8") from None


def header_name(field: str) -> str:
    """The name in a `---` or `+++` line, without what follows it."""
    if field.startswith('"'):
        return unquote_path(field)
    name, tab, _ = field.partition("\t")
    return name if tab else _STAMP.sub("", name)


def git_names(field: str) -> RawNames | None:
    """The two names of a `diff --git` line, which only quotes, or being equal except for a prefix, can separate."""
    if found := _QUOTED.match(field):
        return unquote_path(found[0]), unquote_path(field[found.end() + 1 :])
    for blank in re.finditer(" ", field):
        old, new = field[: blank.start()], unquote_path(field[blank.end() :])
        if old == new or ((old[:2], new[:2]) in _PREFIXES and old[2:] == new[2:]):
            return old, new
    old, _, new = field.partition(" ")
    return (old, unquote_path(new)) if new and (" " not in new or new.startswith('"')) else None


def without_prefixes(old: str, new: str, git: RawNames | None = None) -> Names:
    """The names without their sides' prefixes, and None for the name that stands for no file.

    If a `diff --git` line gave both names, it alone says whether there are prefixes: `a/x` may be a file in `a`.
    """
    first, second = git or (old, new)
    prefixed = (first[:2], second[:2]) in _PREFIXES and (git is not None or first[2:] == second[2:])
    if git is None:
        prefixed = prefixed or (_side(first, "a/") and _side(second, "b/"))
    old, new = (name[2:] if prefixed and name != _NOWHERE else name for name in (old, new))
    return None if old == _NOWHERE else old, None if new == _NOWHERE else new


def _side(name: str, prefix: str) -> bool:
    return name == _NOWHERE or name.startswith(prefix)


def _wrong(name: str, why: str) -> Refused:
    return Refused(f"the file name {name} {why}", code="invalid_patch")
