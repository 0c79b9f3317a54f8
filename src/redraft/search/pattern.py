"""A query, made ready to be run: literal words or a regular expression, on an engine that cannot be made to hang.

RE2 matches in time linear in the text, whatever the pattern; look-around and back-references cannot be had that way
and are refused by name. A pattern means here what it means to ripgrep: `\\w`, `\\d` and `\\s` know all of Unicode, `^`
and `$` stand at every line, letter case is folded one character at a time. Where RE2 cannot follow: `\\b` in the midst
of a pattern, `\\B`, and `\\W` inside a class know ASCII only (see `boundaries` for `\\b` at its ends).

Nothing here reads a document; offsets are bytes of UTF-8, for the callers to turn into code points.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from redraft.errors import Refused
from redraft.search.boundaries import Framed, without_edges

if TYPE_CHECKING:
    from collections.abc import Callable

LONGEST_QUERY = 10_000

# What `\w` and `\s` hold beyond ASCII, as Unicode's annex on regular expressions says and ripgrep does.
WORD = (
    r"\pL\pM\p{Nd}\p{Nl}\p{Pc}\x{200c}\x{200d}\x{24b6}-\x{24e9}"
    r"\x{1f130}-\x{1f149}\x{1f150}-\x{1f169}\x{1f170}-\x{1f189}"
)
SPACE = r"\t-\r \x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}"
_NOT_SPACE = (
    r"\x{0}-\x{8}\x{e}-\x{1f}\x{21}-\x{84}\x{86}-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027}"
    r"\x{202a}-\x{202e}\x{2030}-\x{205e}\x{2060}-\x{2fff}\x{3001}-\x{10ffff}"
)
_OUTSIDE = {"w": f"[{WORD}]", "W": f"[^{WORD}]", "s": f"[{SPACE}]", "S": f"[^{SPACE}]", "d": r"\p{Nd}", "D": r"\P{Nd}"}
_INSIDE = {"w": WORD, "s": SPACE, "S": _NOT_SPACE, "d": r"\p{Nd}", "D": r"\P{Nd}"}


@dataclass(frozen=True, slots=True)
class Pattern:
    """A query that compiled. `find` gives the byte span of the first match at or after a place, or None."""

    query: str
    regex: bool
    case_sensitive: bool
    whole_word: bool
    by_line: bool
    find: Callable[[bytes, int], tuple[int, int] | None]


@lru_cache(maxsize=256)
def compile_query(
    query: str, *, regex: bool = False, case_sensitive: bool = True, whole_word: bool = False, by_line: bool = False
) -> Pattern:
    """Make a query ready; `by_line` keeps every match within one line."""
    _check_query(query, by_line=by_line and not regex)
    if not regex and case_sensitive and not whole_word:
        return Pattern(query, regex, case_sensitive, whole_word, by_line, _finder_of_bytes(query.encode()))
    re2 = _engine()
    framed = Framed(re2.escape(query), before=False, after=False)
    if regex:
        # By itself first: the engine's complaint is about what was asked, and a stray parenthesis is not closed below.
        _compile(re2, query, query, case_sensitive=case_sensitive, by_line=by_line)
        framed = without_edges(query)
        framed = framed._replace(pattern=_to_unicode(framed.pattern))
    # What stands around a word is consumed, since there is no look-around; group 1 is the match itself.
    before = rf"(?:^|[^{WORD}])" if whole_word or framed.before else ""
    after = rf"(?:$|[^{WORD}])" if whole_word or framed.after else ""
    group = int(bool(before or after))
    source = f"(?m){before}({framed.pattern}){after}"
    compiled = _compile(re2, source, query, case_sensitive=case_sensitive, by_line=by_line, capture=bool(group))
    return Pattern(query, regex, case_sensitive, whole_word, by_line, _finder(compiled, group))


def _check_query(query: str, *, by_line: bool) -> None:
    if not query:
        raise Refused("The query is empty.", code="invalid_argument")
    if len(query) > LONGEST_QUERY:
        raise Refused(f"The query is longer than {LONGEST_QUERY} characters.", code="invalid_argument")
    try:
        query.encode()
    except UnicodeEncodeError as error:
        raise Refused(
            f"The query has an unpaired surrogate at character {error.start}.", code="invalid_text"
        ) from error
    if by_line and ("\n" in query or "\r" in query):
        raise Refused("Files are searched line by line, so the query cannot hold a line break.")


def _engine() -> Any:
    # Through importlib, because the package has no types; and late, because most runs of the program never search.
    return importlib.import_module("re2")


def _compile(re2: Any, source: str, query: str, *, case_sensitive: bool, by_line: bool, capture: bool = False) -> Any:
    options = re2.Options()
    options.never_capture = not capture  # where a group lies is asked of slower machinery
    options.case_sensitive = case_sensitive
    options.log_errors = False
    options.never_nl = by_line
    try:
        return re2.compile(source, options=options)
    except re2.error as error:
        raise Refused(_why(query, _said(error)), code="invalid_regex", pattern=query[:200]) from None


def _said(error: Exception) -> str:
    first = error.args[0] if error.args else ""
    return first.decode("utf-8", "replace") if isinstance(first, bytes) else str(first)


def _why(query: str, said: str) -> str:
    """The engine's complaint, or a plainer sentence where it leaves out on purpose what other engines have."""
    if any(mark in query for mark in ("(?=", "(?!", "(?<=", "(?<!")) and "perl operator" in said:
        return "Look-ahead and look-behind are not supported: every pattern must match in linear time."
    if said.startswith("invalid escape sequence") and said.rpartition("\\")[2][:1] in set("123456789kg"):
        return "Back-references are not supported: every pattern must match in linear time."
    if any(mark in query for mark in ("(?>", "(?(", "(?P=", "++", "*+", "?+")):
        return f"Atomic groups, conditions and possessive repeats are not supported ({said})."
    return f"The pattern cannot be read: {said}."


def _finder_of_bytes(needle: bytes) -> Callable[[bytes, int], tuple[int, int] | None]:
    length = len(needle)

    def find(data: bytes, start: int) -> tuple[int, int] | None:
        at = data.find(needle, start)
        return None if at < 0 else (at, at + length)

    return find


def _finder(compiled: Any, group: int) -> Callable[[bytes, int], tuple[int, int] | None]:
    def find(data: bytes, start: int) -> tuple[int, int] | None:
        found = compiled.search(data, start)
        return None if found is None else found.span(group)

    return find


def _to_unicode(pattern: str) -> str:
    """The pattern with `\\w`, `\\d` and `\\s` (and their opposites) spelled out, since RE2's know ASCII only."""
    out: list[str] = []
    at = 0
    in_class = -1  # where the innermost bracket's content starts, or -1
    while at < len(pattern):
        char = pattern[at]
        if char == "\\":
            if pattern.startswith("\\Q", at) and in_class < 0:
                end = pattern.find("\\E", at)
                end = len(pattern) if end < 0 else end + 2
                out.append(pattern[at:end])
                at = end
                continue
            escaped = pattern[at + 1 : at + 2]
            out.append((_OUTSIDE if in_class < 0 else _INSIDE).get(escaped, char + escaped))
            at += 2
            continue
        if in_class < 0 and char == "[":
            negated = pattern.startswith("^", at + 1)
            in_class = at + 1 + negated
        elif in_class >= 0 and pattern.startswith("[:", at) and ":]" in pattern[at:]:
            end = pattern.index(":]", at) + 2
            out.append(pattern[at:end])
            at = end
            continue
        elif char == "]" and at > in_class >= 0:  # first in its class, a bracket stands for itself
            in_class = -1
        out.append(char)
        at += 1
    return "".join(out)
