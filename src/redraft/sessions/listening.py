"""Editors that listen: a JSON file in `.agent-doc/patches/`, which an editor's plugin takes and applies to its buffer.

The file is the letter and its disappearance the receipt. A letter that nobody took in time is taken back, so that it
cannot be applied a second time later; one that is gone by then was taken after all.
"""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

from redraft.errors import Busy
from redraft.sessions.merging import merge_answer
from redraft.sessions.project import AGENT_DOC, PATCHES
from redraft.sessions.writing import kept_safe, plan

if TYPE_CHECKING:
    from redraft.sessions.fields import Strategy
    from redraft.sessions.writing import Desk, Plan

SECONDS = 2.0
_PAUSE = 0.02


class NotTaken(Busy):
    """A plugin listens, and did not take the answer in time."""


def has_listener(desk: Desk) -> bool:
    """Whether a plugin has made the folder in which it looks for letters."""
    return desk.shelf.has_folder(PATCHES)


def leave(desk: Desk, answer: str, baseline: str | None, strategy: Strategy | None = None) -> str:
    """Leave an answer for the plugin and do not wait; gives the letter's path from the project's folder."""
    with desk.alone():
        return f"{AGENT_DOC}/{_leave(desk, answer, baseline, strategy)}"


def deliver(desk: Desk, answer: str, baseline: str | None, strategy: Strategy | None = None) -> None:
    """Leave an answer for the plugin and wait until it is taken; `NotTaken` where nobody did. Afterwards the snapshot
    is the file as the editor wrote it."""
    with kept_safe(desk, answer), desk.alone():
        name = _leave(desk, answer, baseline, strategy)
        deadline = time.monotonic() + SECONDS
        while desk.shelf.read(name) is not None:
            if time.monotonic() > deadline and desk.shelf.remove(name):
                raise NotTaken(f"No editor took the answer within {SECONDS:g} seconds; nothing was written.")
            time.sleep(_PAUSE)
        desk.shelf.save_snapshot(desk.project, desk.door.read(desk.project.path).text)


def _leave(desk: Desk, answer: str, baseline: str | None, strategy: Strategy | None) -> str:
    current = desk.door.read(desk.project.path).text
    made = plan(desk, answer, baseline, current, strategy=strategy)
    name, number = f"{PATCHES}/{desk.project.name}.json", 1
    while desk.shelf.read(name) is not None:  # a letter that waits is never written over
        name, number = f"{PATCHES}/{desk.project.name}-{number}.json", number + 1
    desk.shelf.write(name, json.dumps(_letter(desk, made, current), ensure_ascii=False).encode())
    return name


def _letter(desk: Desk, plan: Plan, current: str) -> dict[str, Any]:
    """Patches where the answer only fills components; the whole text where it adds to the document itself."""
    patches = [
        {"component": fill.component, "content": fill.content, "mode": fill.filling.mode} for fill in plan.applied.fills
    ]
    letter: dict[str, Any] = {"file": desk.project.file, "patches": patches, "unmatched": "", "baseline": plan.base}
    if plan.applied.tail:
        merged = merge_answer(plan.base, current, plan.applied, plan.strategy, desk.author)
        letter |= {"patches": [], "fullContent": merged.text}
    return letter
