"""Where a document's frontmatter ends: the YAML between two lines of dashes at its very beginning.

A document may also begin with a rule, so the first line within has to look like YAML: a key, a comment, or nothing.
The content is never parsed here.
"""

from __future__ import annotations

import re

_BREAK = r"(?:\r\n?|\n)"
_DASHES = r"(?:---|\.\.\.)[ \t]*(?:[\r\n]|\Z)"
_BLANK = rf"[ \t]*(?:\#[^\r\n]*)?{_BREAK}"
_KEY = r"[\w\"'.$@/-][^\r\n:]*:(?:[ \t\r\n]|\Z)"
_FRONTMATTER = re.compile(
    rf"\ufeff?---[ \t]*{_BREAK}(?=(?:{_BLANK})*+(?:{_KEY}|{_DASHES}))"
    rf"(?:(?!{_DASHES})[^\r\n]*{_BREAK})*+(?:---|\.\.\.)[ \t]*(?:{_BREAK}|\Z)"
)


def frontmatter_end(text: str) -> int:
    """The offset just after the frontmatter, 0 where there is none."""
    match = _FRONTMATTER.match(text)
    return match.end() if match else 0
