"""Where links lead, as markdown writes it: destinations, titles, labels. Pure."""

from __future__ import annotations

import re

_NEEDS_BRACKETS = re.compile(r"[\s<>\x00-\x1f]|^$")
_ENTITY = re.compile(r"&(?=(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});)")
_ESCAPED = re.compile(r"\\(?=[!-/:-@\[-`{-~])")


def destination(href: str) -> str:
    """A link's destination in parentheses."""
    written = _ENTITY.sub("&amp;", _ESCAPED.sub(r"\\\\", href))
    if _NEEDS_BRACKETS.search(written):
        return "<" + re.sub(r"([<>])", r"\\\1", re.sub(r"[\r\n]+", " ", written)) + ">" if href else ""
    return written if _balanced(written) else re.sub(r"([()])", r"\\\1", written)


def titled(title: str | None) -> str:
    """A link's title with the blank before it, nothing where there is none."""
    if not title:
        return ""
    written = _ENTITY.sub("&amp;", title.replace("\\", "\\\\"))
    written = re.sub(r"\n[ \t]*(?=\n)", "\n&#10;", written)
    if '"' in written and "'" not in written:
        return f" '{written}'"
    return ' "' + written.replace('"', '\\"') + '"'


def label_key(label: str) -> str:
    """The normal form of a reference's label, as markdown-it has it."""
    from markdown_it.common.utils import normalizeReference

    return normalizeReference(label)


def _balanced(href: str) -> bool:
    depth = 0
    for character in re.findall(r"(?<!\\)[()]", href):
        depth += 1 if character == "(" else -1
        if depth < 0:
            return False
    return depth == 0
