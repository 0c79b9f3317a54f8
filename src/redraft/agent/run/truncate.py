"""Truncate a result that is too long for a conversation: its shape stays, its longest texts and lists get shorter, and
it says what is left out, so that the model can ask for it.
"""

from __future__ import annotations

import json
from typing import Any, cast

from redraft.files.secret_detection import mask_credentials

SMALLEST_TEXT = 200
SMALLEST_LIST = 3


def size_of(value: Any) -> int:
    """How many characters a value takes as JSON."""
    return len(json.dumps(value, ensure_ascii=False))


def truncate_result(result: dict[str, Any], limit: int) -> dict[str, Any]:
    """The result in at most about `limit` characters. Texts and lists are halved until it fits or nothing is left to
    cut; `truncated` and `total_characters` then say so."""
    total = size_of(result)
    if total <= limit:
        return result
    return {
        **cast("dict[str, Any]", shorten(result, limit)),
        "truncated": True,
        "total_characters": total,
        "advice": "This is only the beginning of each part. Ask for less at a time: fewer lines, a narrower search.",
    }


def shorten(value: Any, limit: int, *, text: int | None = None, items: int = 1000) -> Any:
    """A value in at most about `limit` characters, each text in at most `text` and each list in at most `items`."""
    text = limit if text is None else text
    cut = _clip(value, text, items)
    while size_of(cut) > limit and (text > SMALLEST_TEXT or items > SMALLEST_LIST):
        text, items = max(text // 2, SMALLEST_TEXT), max(items // 2, SMALLEST_LIST)
        cut = _clip(value, text, items)
    return cut


def _clip(value: Any, text: int, items: int) -> Any:
    if isinstance(value, str):
        return value if len(value) <= text else f"{value[:text]}… [{len(value) - text} more characters]"
    if isinstance(value, dict):
        table = cast("dict[str, Any]", value)
        return {name: _clip(inner, text, items) for name, inner in table.items()}
    if isinstance(value, list):
        entries = cast("list[Any]", value)
        clipped = [_clip(inner, text, items) for inner in entries[:items]]
        return clipped if len(entries) <= items else [*clipped, f"… [{len(entries) - items} more]"]
    return value


# A tool call as a person sees it: its arguments and answer as JSON, shortened, with secrets masked.
#
# Events are stored, streamed to browsers and printed, so anything that looks like a credential is masked in them. The
# model's own conversation is not affected.


MAX_SHOWN = 4000
MAX_TEXT, MAX_ITEMS = 1000, 20


def preview_json(value: Any) -> str:
    """A JSON value for an event: valid JSON in at most about `MAX_SHOWN` characters. A truncated text says how much is
    left out."""
    text = json.dumps(mask_credentials(shorten(value, MAX_SHOWN, text=MAX_TEXT, items=MAX_ITEMS)), ensure_ascii=False)
    if len(text) <= 2 * MAX_SHOWN:
        return text
    # Of many fields, or of long names, only the shape is left.
    return json.dumps(f"{text[:MAX_SHOWN]}… [{len(text) - MAX_SHOWN} more characters]", ensure_ascii=False)
