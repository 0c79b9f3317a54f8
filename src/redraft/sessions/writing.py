"""The write path: an answer or an entry into its document, and the snapshot after it.

An answer is stored durably before anything is tried with it, and stays stored until it is in the document: whatever
fails, it was paid for. Writers of one folder wait for one another; whoever else writes is met by the version. The
snapshot becomes what the agent knows: what it was given and what it said. So what a person typed meanwhile is new to it
at the next run, as it should be.
"""

from __future__ import annotations

import secrets
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from redraft.errors import RedraftError
from redraft.files.locks import folder_lock
from redraft.formats.frontmatter import fields, with_field
from redraft.formats.patch_blocks import parse_answer
from redraft.sessions.applying import Applied, apply_answer
from redraft.sessions.doors import Changed, Door, change
from redraft.sessions.fields import session_fields
from redraft.sessions.merging import merge_answer
from redraft.text.lines import adopt_newlines, newline_style

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping

    from redraft.sessions.fields import Strategy
    from redraft.sessions.project import Project, Shelf
    from redraft.sessions.rules import Rule

LOCK = "agent-doc"
# Writers come one after the other; this many seconds are for a queue of them, not for one.
PATIENCE = 60.0
_UNIFORM = ("lf", "crlf", "cr")


@contextmanager
def alone(state: str) -> Generator[None]:
    """Be the only writer of the folder's sessions."""
    with folder_lock(state, LOCK, timeout=PATIENCE):
        yield


@dataclass(frozen=True, slots=True)
class Desk:
    """All that a write needs: the document, its project's `.agent-doc`, the way to it, and the state's lock."""

    project: Project
    shelf: Shelf
    door: Door
    state: str
    author: str = "agent"
    clock: Callable[[], float] = time.time
    rules: Mapping[str, Rule] = field(default_factory=dict[str, "Rule"])

    @property
    def stamp(self) -> str:
        """The time as entries and commits show it."""
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self.clock()))

    @contextmanager
    def alone(self) -> Generator[None]:
        with alone(self.state):
            yield


@dataclass(frozen=True, slots=True)
class Written:
    """What became of an answer. `marked` says that conflicts are marked in the text, for the person to resolve."""

    changed: Changed
    conflicts: int = 0
    remarks: tuple[str, ...] = ()
    marked: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """An answer brought into its base: what is to be written, and how it meets what was typed meanwhile."""

    base: str
    applied: Applied
    strategy: Strategy


def plan(desk: Desk, answer: str, baseline: str | None, current: str, *, strategy: Strategy | None = None) -> Plan:
    """Bring an answer into the text that it was made for: the named baseline, else the document as it is."""
    base = current if baseline is None else like(current, baseline)
    said = session_fields(base)
    applied = apply_answer(base, parse_answer(answer), desk.rules, desk.stamp, inline=said.format == "inline")
    return Plan(base, applied, strategy or said.write)


def like(text: str, baseline: str) -> str:
    """A baseline that lost the document's line ends on the way, with them: else every line would differ."""
    both = newline_style(text) in _UNIFORM and newline_style(baseline) in _UNIFORM
    return adopt_newlines(baseline, text) if both else baseline


def write(
    desk: Desk,
    answer: str,
    *,
    baseline: str | None = None,
    strategy: Strategy | None = None,
    set_fields: Mapping[str, str] | None = None,
) -> Written:
    """An answer into its document, merged with what was typed since `baseline`; `set_fields` into its frontmatter."""
    with kept_safe(desk, answer), desk.alone():
        made = plan(desk, answer, baseline, desk.door.read(desk.project.path).text, strategy=strategy)
        met: list[int] = [0]

        def make(text: str) -> str:
            merged = merge_answer(made.base, text, made.applied, made.strategy, desk.author)
            met[0] = merged.conflicts
            return _with_fields(merged.text, set_fields)

        changed = change(desk.door, desk.project.path, f"Answer in {desk.project.path}", make)
        if changed.state != "proposed":
            desk.shelf.save_snapshot(desk.project, _with_fields(made.applied.text, set_fields))
    return Written(changed, met[0], made.applied.remarks, marked=met[0] > 0 and made.strategy == "merge")


def _with_fields(text: str, wanted: Mapping[str, str] | None) -> str:
    for key, value in (wanted or {}).items():
        if fields(text).get(key) != value:
            text = with_field(text, key, value)
    return text


@contextmanager
def kept_safe(desk: Desk, answer: str) -> Generator[str]:
    """Store an answer, and let go of it when it is in the document; a failure tells where it lies."""
    place = desk.shelf.keep_answer(desk.project, desk.stamp, secrets.token_hex(4), answer)
    try:
        yield place
    except RedraftError as error:
        error.message = f"{error.message} The answer is kept in {place}."
        error.details["answer"] = place
        raise
    desk.shelf.drop_answer(place)
