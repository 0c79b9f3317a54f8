"""Ways to find matches in bytes, each as quick as its kind of query allows and all with the engine's answers.

A finder is put on one text and then asked, for places that never go back, for the first match at or after them. Literal
words are found by what Python has for bytes, some times faster than by the engine; where that could differ from what
the engine finds, the engine is asked. Every finder takes time linear in the bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    Span = tuple[int, int]
    Next = Callable[[int], Span | None]
    Finder = Callable[[bytes], Next]

# Beyond ASCII, these two alone differ from an ASCII letter by nothing but case: the Kelvin sign and the long s.
_ODD = ("\u212a".encode(), "\u017f".encode())
# In so few bytes one slow look costs less than two.
_SHORT = 200
_ASCII_WORD = bytes(code == 95 or chr(code).isalnum() for code in range(128))


def exact(needle: bytes) -> Finder:
    """Just these bytes."""
    length = len(needle)

    def on(data: bytes) -> Next:
        def following(start: int) -> Span | None:
            at = data.find(needle, start)
            return None if at < 0 else (at, at + length)

        return following

    return on


def folded(needle: str, engine: Finder) -> Finder:
    """ASCII words, whatever their case."""
    find = exact(needle.lower().encode())
    return unless_odd(lambda data: find(data.lower()), engine, odd_signs([needle]))


def unless_odd(quick: Finder, engine: Finder, odd: Sequence[bytes]) -> Finder:
    """What is quick where a text has none of the odd signs, and the engine where it has one."""

    def on(data: bytes) -> Next:
        return engine(data) if has_any(data, odd) else quick(data)

    return on


def odd_signs(words: Iterable[str]) -> Sequence[bytes]:
    """The signs beyond ASCII that these ASCII words may match when case does not count."""
    letters = "".join(words).lower()
    return [sign for sign, letter in zip(_ODD, "ks", strict=True) if letter in letters]


def has_any(data: bytes, odd: Sequence[bytes]) -> bool:
    return bool(odd) and not data.isascii() and any(sign in data for sign in odd)


def whole(inner: Finder, is_word: Callable[[str], bool]) -> Finder:
    """The matches of a literal that stand alone: no word goes on before them or after them."""

    def on(data: bytes) -> Next:
        find = inner(data)

        def following(start: int) -> Span | None:
            found = find(start)
            while found is not None:
                if not _goes_on_before(data, found[0], is_word) and not _goes_on_after(data, found[1], is_word):
                    return found
                found = find(found[0] + 1)
            return None

        return following

    return on


def _goes_on_before(data: bytes, at: int, is_word: Callable[[str], bool]) -> bool:
    if not at:
        return False
    if data[at - 1] < 128:
        return bool(_ASCII_WORD[data[at - 1]])
    start = at - 1
    while start > max(0, at - 4) and data[start] & 0xC0 == 0x80:
        start -= 1
    return is_word(str(data[start:at], "utf-8", "replace")[-1])


def _goes_on_after(data: bytes, at: int, is_word: Callable[[str], bool]) -> bool:
    if at >= len(data):
        return False
    if data[at] < 128:
        return bool(_ASCII_WORD[data[at]])
    return is_word(str(data[at : at + 4], "utf-8", "replace")[0])


def by_engine(compiled: Any) -> Finder:
    """What a compiled pattern matches."""

    def on(data: bytes) -> Next:
        def following(start: int) -> Span | None:
            found = compiled.search(data, start)
            return None if found is None else found.span()

        return following

    return on


def framed(compiled: Any, capturing: Any) -> Finder:
    """The first group of a pattern. Where it lies is asked of much slower machinery, so only where there is a match."""

    def on(data: bytes) -> Next:
        def following(start: int) -> Span | None:
            if len(data) < _SHORT:
                found = capturing.search(data, start)
                return None if found is None else found.span(1)
            found = compiled.search(data, start)
            return None if found is None else capturing.match(data, found.start()).span(1)

        return following

    return on


class Sieve:
    """What bytes must hold to match, asked without the engine: of every clause at least one word.

    Where case is `folding`, the words are ASCII and in lower case, and it is no use to ask about bytes that have one of
    the `odd` signs.
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


def sieved(engine: Finder, sieve: Sieve) -> Finder:
    """What the engine finds in the lines that pass; every match lies within a line."""

    def on(data: bytes) -> Next:
        if has_any(data, sieve.odd):
            return engine(data)
        low = data.lower() if sieve.folding else data
        nearest = _nearest(low, sieve.clauses[0])
        others = len(sieve.clauses) > 1

        def following(start: int) -> Span | None:
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

        return following

    return on


def each_line(engine: Finder) -> Finder:
    """What the engine finds when every line is a text by itself."""

    def on(data: bytes) -> Next:
        def following(start: int) -> Span | None:
            while start <= len(data):
                line = data.rfind(b"\n", 0, start) + 1
                end = data.find(b"\n", start)
                end = len(data) if end < 0 else end
                found = engine(data[line:end])(start - line)
                if found is not None:
                    return line + found[0], line + found[1]
                start = end + 1
            return None

        return following

    return on


def _nearest(data: bytes, needles: Sequence[bytes]) -> Callable[[int], int]:
    """The first place at or after another where one of the needles stands, or -1; each is looked for only once."""
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
