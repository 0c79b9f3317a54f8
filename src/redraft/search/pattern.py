"""Compile a query: literal words or a regular expression, on an engine that cannot be made to hang.

RE2 matches in time linear in the text, whatever the pattern. That excludes look-around and back-references, which are
refused by name. A pattern means what it means to ripgrep: `\\w`, `\\d` and `\\s` cover all of Unicode, `^` and `$`
match at every line, and case is folded one character at a time. RE2 cannot do all of it: `\b` in the middle of a
pattern, `\\B`, and `\\W` inside a class know ASCII only (for `\b` at its ends see `regex_syntax`).

Nothing here reads a document; offsets are bytes of UTF-8, and callers convert them to code points.
"""

from __future__ import annotations

import importlib
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from redraft.errors import Refused
from redraft.search.regex_syntax import BoundedPattern, find_required_words, strip_boundaries

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    Span = tuple[int, int]
    Next = Callable[[int], Span | None]
    Finder = Callable[[bytes], Next]

# Ways to find matches in bytes, each as fast as its kind of query allows, all with the same results as the engine.
#
# A finder is applied to one text and then asked for the first match at or after a position that never decreases.
# Literal words are found with Python's own methods on bytes, several times faster than the engine; if the result could
# differ from the engine's, the engine is used. Every finder takes time linear in the bytes.


# Beyond ASCII, only these two equal an ASCII letter when case is ignored: the Kelvin sign and the long s.
_ODD = ("\u212a".encode(), "\u017f".encode())
# In so few bytes one slow search costs less than two.
_SHORT = 200
_ASCII_WORD = bytes(code == 95 or chr(code).isalnum() for code in range(128))


def exact_finder(needle: bytes) -> Finder:
    """Exactly these bytes."""
    length = len(needle)

    def on(data: bytes) -> Next:
        def find_next(start: int) -> Span | None:
            at = data.find(needle, start)
            return None if at < 0 else (at, at + length)

        return find_next

    return on


def make_folded_finder(needle: str, engine: Finder) -> Finder:
    """ASCII words, ignoring case."""
    find = exact_finder(needle.lower().encode())
    return ascii_finder(lambda data: find(data.lower()), engine, odd_signs([needle]))


def ascii_finder(quick: Finder, engine: Finder, odd: Sequence[bytes]) -> Finder:
    """The quick finder if a text has none of the odd characters, else the engine."""

    def on(data: bytes) -> Next:
        return engine(data) if has_any(data, odd) else quick(data)

    return on


def odd_signs(words: Iterable[str]) -> Sequence[bytes]:
    """The characters beyond ASCII that these ASCII words may match when case is ignored."""
    letters = "".join(words).lower()
    return [sign for sign, letter in zip(_ODD, "ks", strict=True) if letter in letters]


def has_any(data: bytes, odd: Sequence[bytes]) -> bool:
    return bool(odd) and not data.isascii() and any(sign in data for sign in odd)


def whole_word_finder(inner: Finder, is_word: Callable[[str], bool]) -> Finder:
    """The matches of a literal that are whole words: no word character before or after them."""

    def on(data: bytes) -> Next:
        find = inner(data)

        def find_next(start: int) -> Span | None:
            found = find(start)
            while found is not None:
                if not _is_word_before(data, found[0], is_word) and not _is_word_after(data, found[1], is_word):
                    return found
                found = find(found[0] + 1)
            return None

        return find_next

    return on


def _is_word_before(data: bytes, at: int, is_word: Callable[[str], bool]) -> bool:
    if not at:
        return False
    if data[at - 1] < 128:
        return bool(_ASCII_WORD[data[at - 1]])
    start = at - 1
    while start > max(0, at - 4) and data[start] & 0xC0 == 0x80:
        start -= 1
    return is_word(str(data[start:at], "utf-8", "replace")[-1])


def _is_word_after(data: bytes, at: int, is_word: Callable[[str], bool]) -> bool:
    if at >= len(data):
        return False
    if data[at] < 128:
        return bool(_ASCII_WORD[data[at]])
    return is_word(str(data[at : at + 4], "utf-8", "replace")[0])


def engine_finder(compiled: Any) -> Finder:
    """What a compiled pattern matches."""

    def on(data: bytes) -> Next:
        def find_next(start: int) -> Span | None:
            found = compiled.search(data, start)
            return None if found is None else found.span()

        return find_next

    return on


def group_finder(compiled: Any, capturing: Any) -> Finder:
    """The first group of a pattern. Locating it takes a much slower engine, so it is done only for actual matches."""

    def on(data: bytes) -> Next:
        def find_next(start: int) -> Span | None:
            if len(data) < _SHORT:
                found = capturing.search(data, start)
                return None if found is None else found.span(1)
            found = compiled.search(data, start)
            return None if found is None else capturing.match(data, found.start()).span(1)

        return find_next

    return on


class RequiredWords:
    """What bytes must contain to match, checked without the engine: at least one word of every clause.

    With case `folding`, the words are lower-case ASCII, and nothing can be said about bytes that contain one of the
    `odd` characters.
    """

    def __init__(self, clauses: Sequence[Sequence[str]], *, folding: bool) -> None:
        self.folding = folding
        self.clauses = [[(word.lower() if folding else word).encode() for word in clause] for clause in clauses]
        self.odd = odd_signs(word for clause in clauses for word in clause) if folding else ()

    def holds(self, data: bytes) -> bool:
        for words in self.clauses:
            for word in words:
                if word in data:
                    break
            else:
                return False
        return True


def make_sieved_finder(engine: Finder, sieve: RequiredWords) -> Finder:
    """What the engine finds in the lines that pass the sieve; every match is within a line."""

    def on(data: bytes) -> Next:
        if has_any(data, sieve.odd):
            return engine(data)
        low = data.lower() if sieve.folding else data
        nearest = _nearest_finder(low, sieve.clauses[0])
        others = len(sieve.clauses) > 1

        def find_next(start: int) -> Span | None:
            while (at := nearest(start)) >= 0:
                line = data.rfind(b"\n", 0, at) + 1
                end = data.find(b"\n", at)
                end = len(data) if end < 0 else end
                if not others or sieve.holds(low[line:end]):
                    found = engine(data[line:end])(max(0, start - line))
                    if found is not None:
                        return line + found[0], line + found[1]
                start = end + 1
            return None

        return find_next

    return on


def line_finder(engine: Finder) -> Finder:
    """What the engine finds when every line is a separate text."""

    def on(data: bytes) -> Next:
        def find_next(start: int) -> Span | None:
            while start <= len(data):
                line = data.rfind(b"\n", 0, start) + 1
                end = data.find(b"\n", start)
                end = len(data) if end < 0 else end
                found = engine(data[line:end])(start - line)
                if found is not None:
                    return line + found[0], line + found[1]
                start = end + 1
            return None

        return find_next

    return on


def _nearest_finder(data: bytes, needles: Sequence[bytes]) -> Callable[[int], int]:
    """The first position at or after another where one of the needles occurs, or -1; each is searched only once."""
    if len(needles) == 1:
        [needle] = needles
        return lambda start: data.find(needle, start)
    places = {needle: data.find(needle) for needle in needles}

    def nearest(start: int) -> int:
        for needle, at in places.items():
            if 0 <= at < start:
                places[needle] = data.find(needle, start)
        return min((at for at in places.values() if at >= 0), default=-1)

    return nearest


LONGEST_QUERY = 10_000
# A longer word that occurs, but not alone, would be compared again at each position after it.
_LONGEST_RETRIED = 64
# Searching for more words than these takes longer than using the engine.
_MOST_WORDS, _MOST_CLAUSES = 8, 4
# These refer to the ends of the text. If files are searched by line, each line is a text, as in ripgrep.
_WHOLE_TEXT = re.compile(r"\\[AzZ]|\(\?[a-zA-Z]*-[a-zA-Z]*m")

# What `\w` and `\s` contain beyond ASCII, by Unicode's annex on regular expressions and in ripgrep.
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
    """A compiled query. `on` applies it to a text; the result is asked for the next match (a `Finder`).

    `folding`: case is ignored, at least in part of it. `sieve` knows what any matching text must contain; None if that
    cannot be said in bytes. `scan` finds the same as `on`, and is faster where there is much text and little to find.
    """

    query: str
    regex: bool
    folding: bool
    by_line: bool
    sieve: RequiredWords | None
    on: Finder
    scan: Finder

    def find(self, data: bytes, start: int) -> tuple[int, int] | None:
        """The byte span of the first match at or after a position."""
        return self.on(data)(start)


@lru_cache(maxsize=256)
def compile_query(
    query: str, *, regex: bool = False, case_sensitive: bool = True, whole_word: bool = False, by_line: bool = False
) -> Pattern:
    """Compile a query; `by_line` keeps every match within one line."""
    _check_query(query, by_line=by_line and not regex)
    folding = not case_sensitive or (regex and "(?" in query)
    sieve = _sieve(query, regex=regex, folding=folding)
    if not regex:
        find, scan = _literal_finders(query, case_sensitive, whole_word, by_line)
        return Pattern(query, regex, folding, by_line, sieve, find, scan)
    find = scan = _regex_finder(query, case_sensitive, whole_word, by_line)
    ends = by_line and _WHOLE_TEXT.search(query) is not None
    if by_line and sieve is not None:
        find = make_sieved_finder(scan, sieve)
    elif ends:
        find = line_finder(scan)
    scan = find if ends else scan
    return Pattern(query, regex, folding, by_line, sieve, find, scan)


def _sieve(query: str, *, regex: bool, folding: bool) -> RequiredWords | None:
    """The most distinctive clauses, and first the one that says most."""
    clauses = [
        sorted(clause)
        for clause in find_required_words(query, regex=regex)
        if len(clause) <= _MOST_WORDS and not (folding and not all(word.isascii() for word in clause))
    ]
    clauses.sort(key=lambda clause: (len(clause), -min(map(len, clause))))
    return RequiredWords(clauses[:_MOST_CLAUSES], folding=folding) if clauses else None


def _literal_finders(query: str, case_sensitive: bool, whole_word: bool, by_line: bool) -> tuple[Finder, Finder]:
    if whole_word and len(query) > _LONGEST_RETRIED:
        find = _make_bounded_finder(
            BoundedPattern(_engine().escape(query), before=True, after=True), query, case_sensitive, by_line
        )
        return find, find
    if case_sensitive:
        find = scan = exact_finder(query.encode())
    else:
        re2 = _engine()
        scan = engine_finder(_compile(re2, re2.escape(query), query, case_sensitive=False, by_line=by_line))
        if query.isascii():
            # For bytes the engine has a fast path for the first letter, unless one beyond ASCII equals it.
            quick = engine_finder(
                _compile(re2, re2.escape(query), query, case_sensitive=False, by_line=by_line, bytewise=True)
            )
            find = make_folded_finder(query, scan)
            scan = ascii_finder(quick, scan, odd_signs([query]))
        else:
            find = scan
    return (whole_word_finder(find, _is_word), whole_word_finder(scan, _is_word)) if whole_word else (find, scan)


def _regex_finder(query: str, case_sensitive: bool, whole_word: bool, by_line: bool) -> Finder:
    # First without additions: the engine's error must be about what was asked, and a stray parenthesis is not closed
    # below.
    _compile(_engine(), query, query, case_sensitive=case_sensitive, by_line=by_line)
    edges = strip_boundaries(query)
    edges = BoundedPattern(_to_unicode(edges.pattern), edges.before or whole_word, edges.after or whole_word)
    return _make_bounded_finder(edges, query, case_sensitive, by_line)


def _make_bounded_finder(edges: BoundedPattern, query: str, case_sensitive: bool, by_line: bool) -> Finder:
    # The characters around a word are consumed, since there is no look-around; group 1 is the match itself.
    before = rf"(?:^|[^{WORD}])" if edges.before else ""
    after = rf"(?:$|[^{WORD}])" if edges.after else ""
    source = f"(?m){before}({edges.pattern}){after}"
    re2 = _engine()
    compiled = _compile(re2, source, query, case_sensitive=case_sensitive, by_line=by_line)
    if not before and not after:
        return engine_finder(compiled)
    capturing = _compile(re2, source, query, case_sensitive=case_sensitive, by_line=by_line, capture=True)
    return group_finder(compiled, capturing)


@lru_cache(maxsize=1024)
def _is_word(char: str) -> bool:
    """Whether a character belongs to words, as in `\\w`."""
    return _engine().match(f"[{WORD}]", char) is not None


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
        raise Refused("Files are searched line by line, so the query cannot contain a line break.")


def _engine() -> Any:
    # Through importlib, because the package has no types; and late, because most runs of the program never search.
    return importlib.import_module("re2")


def _compile(
    re2: Any,
    source: str,
    query: str,
    *,
    case_sensitive: bool,
    by_line: bool,
    capture: bool = False,
    bytewise: bool = False,
) -> Any:
    """Compile a pattern; `bytewise` is for one in ASCII that must match only ASCII."""
    options = re2.Options()
    if bytewise:
        options.encoding = re2.Options.Encoding.LATIN1
    options.never_capture = not capture  # locating a group takes a slower engine
    options.case_sensitive = case_sensitive
    options.log_errors = False
    options.never_nl = by_line
    try:
        return re2.compile(source.encode() if bytewise else source, options=options)
    except re2.error as error:
        raise Refused(_explain_error(query, _error_text(error)), code="invalid_regex", pattern=query[:200]) from None


def _error_text(error: Exception) -> str:
    first = error.args[0] if error.args else ""
    return first.decode("utf-8", "replace") if isinstance(first, bytes) else str(first)


def _explain_error(query: str, message: str) -> str:
    """The engine's message, or a plainer one if it is about something that RE2 leaves out on purpose."""
    if any(mark in query for mark in ("(?=", "(?!", "(?<=", "(?<!")) and "perl operator" in message:
        return "Look-ahead and look-behind are not supported: every pattern must match in linear time."
    if message.startswith("invalid escape sequence") and message.rpartition("\\")[2][:1] in set("123456789kg"):
        return "Back-references are not supported: every pattern must match in linear time."
    if any(mark in query for mark in ("(?>", "(?(", "(?P=", "++", "*+", "?+")):
        return f"Atomic groups, conditions and possessive repeats are not supported ({message})."
    return f"The pattern is not valid: {message}."


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
        elif char == "]" and at > in_class >= 0:  # first in its class, a bracket is literal
            in_class = -1
        out.append(char)
        at += 1
    return "".join(out)
