"""Where a document's frontmatter ends. `formats/frontmatter` reads its content."""

from __future__ import annotations

import re

_BREAK = r"(?:\r\n?|\n)"
_DASHES = r"(?:---|\.\.\.)[ \t]*(?:[\r\n]|\Z)"
_EMPTY = rf"[ \t]*(?:\#[^\r\n]*)?{_BREAK}"
_KEY = r"[\w\"'.$@/-][^\r\n:]*:(?:[ \t\r\n]|\Z)"
# All of it may be one flow mapping: `{agent: claude}`.
_FLOW = rf"\{{[ \t]*(?:[\w\"'][^\r\n:{{}}%]*:[ \t]|{_BREAK}|\}}[ \t]*{_BREAK})"
# A document may also begin with a rule, so the first line inside has to look like YAML: a key, a comment, or nothing.
_FRONTMATTER = re.compile(
    rf"\ufeff?---[ \t]*{_BREAK}(?=(?:{_EMPTY})*+(?:{_KEY}|{_FLOW}|{_DASHES}))"
    rf"(?:(?!{_DASHES})[^\r\n]*{_BREAK})*+(?:---|\.\.\.)[ \t]*(?:{_BREAK}|\Z)"
)


def frontmatter_end(text: str) -> int:
    """The offset just after the frontmatter, the YAML between two lines of dashes; 0 if there is none."""
    match = _FRONTMATTER.match(text)
    return match.end() if match else 0
