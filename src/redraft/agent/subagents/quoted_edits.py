"""Place the edits that a model wrote for a passage, or refuse them with an explanation that the model can use. Pure.

An edit quotes what it changes. The quotation must occur in the passage exactly once, so that there is no guessing;
edits may not overlap; a new text may not be out of proportion to what it replaces, nor contain invisible characters.
Nothing outside of the passage can be addressed at all.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from redraft.agent.run.prompts import INVISIBLE
from redraft.text.edits import Change, Edit
from redraft.text.lines import adopt_newlines

if TYPE_CHECKING:
    from collections.abc import Sequence

# A rewritten passage may be a little more than twice as long; more than this is a different text.
GROWTH, ALLOWANCE = 2, 400
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
SHOWN = 80


def faults_of_edits(passage: str, edits: Sequence[dict[str, Any]]) -> list[str]:
    """What is wrong with a model's edits of a passage, one sentence each; empty if they can be made."""
    faults: list[str] = []
    placed: list[Edit] = []
    for edit in edits:
        found = _place(passage, edit)
        if isinstance(found, str):
            faults.append(found)
        else:
            placed.append(found)
    placed.sort(key=lambda each: each.at)
    for first, second in pairwise(placed):
        if second.at < first.end:
            faults.append(
                f"The edits of {_excerpt(first.old)} and {_excerpt(second.old)} overlap: combine them into one."
            )
    if sum(len(edit.new) for edit in placed) > GROWTH * len(passage) + ALLOWANCE:
        faults.append("The new text is much longer than the passage.")
    return faults


def change_of(passage: str, edits: Sequence[dict[str, Any]]) -> Change:
    """The change that valid edits make. An edit that changes nothing is dropped."""
    placed = [found for edit in edits if isinstance(found := _place(passage, edit), Edit)]
    return Change(tuple(sorted((each for each in placed if each.old != each.new), key=lambda each: each.at)))


def _place(passage: str, edit: dict[str, Any]) -> Edit | str:
    old, new = adopt_newlines(edit["old"], passage), adopt_newlines(edit["new"], passage)
    if not old.strip():
        return "An edit must quote the text that it changes; one quoted nothing."
    times = passage.count(old)
    if times == 0:
        return f"{_excerpt(old)} is not in the passage: quote it exactly."
    at = passage.index(old)
    if times > 1 or passage.find(old, at + 1) >= 0:
        return f"{_excerpt(old)} occurs in the passage more than once: quote more of its context."
    if _CONTROL.search(new) or set(INVISIBLE.findall(new)) - set(INVISIBLE.findall(old)):
        return f"The new text for {_excerpt(old)} contains invisible characters."
    if len(new) > GROWTH * len(old) + ALLOWANCE:
        return f"The new text for {_excerpt(old)} is much longer than what it replaces."
    return Edit(at, old, new)


def _excerpt(text: str) -> str:
    return repr(text if len(text) <= SHOWN else f"{text[:SHOWN]}…")
