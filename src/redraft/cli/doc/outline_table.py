"""A document's sections as a table or as JSON. It imports almost nothing, because `outline` must be fast."""

from __future__ import annotations

from redraft.formats.markdown_headings import sections

_WIDTH = 40


def format_outline(text: str, *, as_json: bool) -> str:
    """What `outline` prints."""
    found = sections(text)
    if as_json:
        import json

        return json.dumps([section.as_json() for section in found], ensure_ascii=True, separators=(",", ":")) + "\n"
    lines = [
        _row("  " * max(section.depth - 1, 0) + section.heading, section.lines, section.tokens) for section in found
    ]
    total = _row("Total", sum(section.lines for section in found), sum(section.tokens for section in found))
    return "".join([*lines, "---\n", total])


def _row(heading: str, lines: int, tokens: int) -> str:
    return f"{heading:<{_WIDTH}} {lines:>5} lines  ~{tokens:>6} tokens\n"
