"""Escapes: which characters of a text would be read as markdown where they stand. Pure."""

from __future__ import annotations

import re

_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_PUNCTUATION = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
_SIGNS = re.compile(r"[\\`*_\[\]<&~!|]")
# What would begin another block, where a line begins with it: the part to keep, and the sign to escape.
_LINE_STARTS = re.compile(
    r"(?P<before>[ \t]{0,3})(?:(?P<number>[0-9]{1,9})(?P<point>[.)])(?=[ \t]|$)"
    r"|(?P<sign>\#(?=\#{0,5}(?:[ \t]|$))|[-+*](?=[ \t]|$)|>|[-=](?=[-= \t]*$)"
    r"|-(?=(?:[ \t]*-){2,}[ \t]*$)|\*(?=(?:[ \t]*\*){2,}[ \t]*$)|_(?=(?:[ \t]*_){2,}[ \t]*$)"
    r"|~(?=~~)|:(?=::)|:(?=-)|:(?=:[A-Za-z])|\|(?=[ \t]*:?-)|-(?=-*[ \t]*[:|])|!(?=!!)|\?(?=\?\?)|\{(?=[%{:])|\$(?=\$)"
    r"|\+(?=\+\+)))"
)


def escaped(character: str) -> str:
    """A character as a reference."""
    return "&nbsp;" if character == "\u00a0" else f"&#{ord(character)};"


def text_escaped(content: str, before: str, after: str, follows: str, *, in_table: bool) -> str:
    """A text between the characters `before` and `after` and before a node of the type `follows`."""
    pieces: list[str] = []
    at = 0
    for found in _SIGNS.finditer(content):
        place = found.start()
        previous = content[place - 1] if place else before
        following = content[place + 1] if place + 1 < len(content) else after
        last = place + 1 == len(content)
        if _is_markup(content, place, previous, following, last=last, follows=follows, in_table=in_table):
            pieces += (content[at:place], "\\")
            at = place
    pieces.append(content[at:])
    return "".join(pieces).replace("\n", "&#10;").replace("\r", "&#13;")


def _is_markup(
    content: str, at: int, previous: str, following: str, *, last: bool, follows: str, in_table: bool
) -> bool:
    sign = content[at]
    match sign:
        case "`" | "[" | "]":
            return True
        case "\\":
            return following in _PUNCTUATION or last
        case "*":
            return at == 0 or last or not (previous.isspace() and following.isspace())
        case "_":
            return not (previous.isalnum() and following.isalnum())
        case "<":
            return last or following.isalpha() or following in "/!?"
        case "&":
            return bool(_ENTITY.match(content, at)) or (last and bool(follows))
        case "~":
            return "~" in (previous, following) or (last and bool(follows))
        case "!":
            return last and follows in ("text", "inlineSource")
        case _:
            return in_table


def line_starts_escaped(written: str) -> str:
    """The lines of a paragraph, none of which begins another block."""
    return "\n".join(map(_line_start_escaped, written.split("\n")))


def _line_start_escaped(line: str) -> str:
    found = _LINE_STARTS.match(line)
    if found is None:
        return line
    place = found.start("point") if found["number"] else found.start("sign")
    return f"{line[:place]}\\{line[place:]}"


def code_span(content: str, *, in_table: bool) -> str:
    """Code between as many backticks as it takes."""
    runs = {len(run) for run in re.findall(r"`+", content)}
    ticks = "`" * next(count for count in range(1, len(runs) + 2) if count not in runs)
    blank = content.startswith(" ") and content.endswith(" ") and content.strip(" ")
    pad = " " if content[:1] == "`" or content[-1:] == "`" or blank else ""
    if in_table:
        content = content.replace("|", "\\|")
    return f"{ticks}{pad}{content}{pad}{ticks}"
