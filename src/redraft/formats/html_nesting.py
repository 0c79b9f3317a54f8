"""How much a parser of HTML has to do with a fragment, before one is let at it.

Such a parser follows rules that make a lot of a little: for each tag it may go through all that is open, and words that
were made bold and never ended are made so again in every paragraph. A document of some kilobytes can ask for gigabytes
in this way. So what is open at most is counted here, and rather too high than too low: a tag counts as ended only where
it was opened last and both are written plainly. Pure, and takes time by the length alone.
"""

from __future__ import annotations

import re

from redraft.errors import Refused

# Tags times what is open among them. So many take about half a gigabyte and a few seconds at the worst; a page as long
# as one may be, with a tag for every ten characters, reaches it where twenty are open within each other.
MOST = 4_000_000
_PLAIN = r"""(?:\s++[a-z_:][\w.:-]*+(?:\s*+=\s*+(?:"[^"<>]*+"|'[^'<>]*+'|[^\s"'=<>`]++))?+)*+\s*+/?>"""
_PIECE = re.compile(
    rf"<(?P<opened>[a-z][a-z0-9-]*+){_PLAIN}|</(?P<ended>[a-z][a-z0-9-]*+)\s*+>|(?P<comment><!--)|(?P<until>-->)|<[a-z!?/]",
    re.IGNORECASE,
)
# Nothing stands in them, or they end by themselves where the next one begins, and words in them do so, too.
_NEVER_OPEN = frozenset(
    {"area", "br", "col", "hr", "img", "input", "wbr", "p", "li", "dt", "dd", "tr", "thead", "tbody", "tfoot"}
)
# Within these, everything is like any other tag.
_FOREIGN = frozenset({"svg", "math"})
_COMMENT, _ODD = "<!--", "<"


def check_nesting(html: str) -> None:
    """`too_large` where it would take too much to parse this."""
    tags, depth = tags_and_depth(html)
    if tags * depth > MOST:
        raise Refused("The HTML in this document is nested too deeply for a page.", code="too_large", limit=MOST)


def tags_and_depth(html: str) -> tuple[int, int]:
    """How many tags there are, and how many of them are open at most."""
    tags = depth = 0
    open_now: list[str] = []
    never_open = _NEVER_OPEN
    for piece in _PIECE.finditer(html):
        tags += 1
        if piece["opened"]:
            name = piece["opened"].lower()
            if name in _FOREIGN:
                never_open = frozenset[str]()
            if name not in never_open:
                open_now.append(name)
        elif piece["ended"] or piece["until"]:
            ended = _COMMENT if piece["until"] else piece["ended"].lower()
            if open_now and open_now[-1] == ended:
                open_now.pop()
        else:
            open_now.append(_COMMENT if piece["comment"] else _ODD)
        depth = max(depth, len(open_now))
    return tags, depth
