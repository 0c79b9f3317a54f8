"""A result that is too long for a conversation, cut to a window: its shape stays, its longest texts and lists get
shorter, and what is left out is said, so that the model can ask for it.
"""

from __future__ import annotations

import json
from typing import Any, cast

SMALLEST_TEXT = 200
SMALLEST_LIST = 3


def size_of(value: Any) -> int:
    """How many characters a value takes when it is told."""
    return len(json.dumps(value, ensure_ascii=False))


def windowed(result: dict[str, Any], limit: int) -> dict[str, Any]:
    """The result in at most about `limit` characters. Texts and lists are halved until it fits or nothing is left to
    cut; `truncated` and `total_characters` say that it was."""
    total = size_of(result)
    if total <= limit:
        return result
    return {
        **cast("dict[str, Any]", shortened(result, limit)),
        "truncated": True,
        "total_characters": total,
        "advice": "This is only the beginning of each part. Ask for less at a time: fewer lines, a narrower search.",
    }


def shortened(value: Any, limit: int, *, text: int | None = None, items: int = 1000) -> Any:
    """A value in at most about `limit` characters, each of its texts in `text` and each of its lists in `items`."""
    text = limit if text is None else text
    cut = _cut(value, text, items)
    while size_of(cut) > limit and (text > SMALLEST_TEXT or items > SMALLEST_LIST):
        text, items = max(text // 2, SMALLEST_TEXT), max(items // 2, SMALLEST_LIST)
        cut = _cut(value, text, items)
    return cut


def _cut(value: Any, text: int, items: int) -> Any:
    if isinstance(value, str):
        return value if len(value) <= text else f"{value[:text]}… [{len(value) - text} more characters]"
    if isinstance(value, dict):
        table = cast("dict[str, Any]", value)
        return {name: _cut(inner, text, items) for name, inner in table.items()}
    if isinstance(value, list):
        entries = cast("list[Any]", value)
        kept = [_cut(inner, text, items) for inner in entries[:items]]
        return kept if len(entries) <= items else [*kept, f"… [{len(entries) - items} more]"]
    return value
