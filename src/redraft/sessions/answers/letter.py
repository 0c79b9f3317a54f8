"""A message to an editor: an answer for a document that the editor may have open, with typing that is not saved. Pure.

Besides what the specification has (`file`, `patches`, `unmatched`, `baseline`, `fullContent`), a message for a whole
document says what of it is the answer, so that it can be merged into the editor's text as into the file.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

from redraft.errors import Refused
from redraft.formats.components import FillOptions
from redraft.sessions.answers.fills import AppliedAnswer, ComponentEdit, apply_fills
from redraft.sessions.answers.merge import MergedAnswer, merge_answer, resolve_conflicts
from redraft.sessions.session_fields import session_fields
from redraft.text.merge.three_way import merge

if TYPE_CHECKING:
    from collections.abc import Mapping

    from redraft.sessions.answers.writer import AnswerPlan

MODES = ("replace", "append", "prepend")


def format_letter(file: str, plan: AnswerPlan, whole: str) -> dict[str, Any]:
    """Patches if the answer only fills components; else `whole`, the merged text."""
    applied = plan.applied
    patches = [
        {"component": fill.component, "content": fill.content, "mode": fill.filling.mode} for fill in applied.fills
    ]
    letter: dict[str, Any] = {"file": file, "patches": patches, "unmatched": "", "baseline": plan.base}
    if applied.tail:
        answer = {"filled": applied.filled, "tail": applied.tail, "newExchange": applied.new_exchange}
        letter |= {"patches": [], "fullContent": whole, "answer": {**answer, "fills": patches}}
    return letter


def merge_letter(data: bytes, current: str) -> MergedAnswer:
    """The text that an editor shows, with the answer of a message in it. `data` may be anything."""
    try:
        letter = _as_object(json.loads(data))
        base = _as_text(letter["baseline"])
        strategy = session_fields(base).write
        if letter.get("fullContent") is None:
            fills = _fills(letter["patches"])
            return merge_answer(base, current, AppliedAnswer(apply_fills(base, fills), fills), strategy)
        if "answer" not in letter:
            found = merge(base, current, _as_text(letter["fullContent"]))
            return MergedAnswer(resolve_conflicts(found, strategy, "agent"), len(found.conflicts))
        answer = _as_object(letter["answer"])
        applied = AppliedAnswer(
            _as_text(answer["filled"]),
            _fills(answer["fills"]),
            _as_text(answer["tail"]),
            _as_text(answer["newExchange"]),
        )
        return merge_answer(base, current, applied, strategy)
    except (KeyError, TypeError, ValueError) as error:
        raise Refused(f"This is not an answer that was left for an editor: {error!r}.", field="letter") from error


def _fills(given: object) -> tuple[ComponentEdit, ...]:
    if not isinstance(given, list):
        raise TypeError("`patches` must be a list")
    return tuple(_fill(_as_object(each)) for each in cast("list[object]", given))


def _fill(given: Mapping[str, object]) -> ComponentEdit:
    mode = given["mode"]
    if mode not in MODES:
        raise ValueError(f"{mode!r} is not a mode")
    options = FillOptions(mode)  # pyright: ignore[reportArgumentType] - one of the three, as was just seen
    return ComponentEdit(_as_text(given["component"]), _as_text(given["content"]), options)


def _as_object(given: object) -> Mapping[str, object]:
    if not isinstance(given, dict):
        raise TypeError("an object is missing")
    return cast("dict[str, object]", given)


def _as_text(given: object) -> str:
    if not isinstance(given, str):
        raise TypeError("a text is missing")
    return given
