"""The write path: an answer or an entry into its document, and the snapshot after it.

An answer is stored durably before anything is tried with it, and stays stored until it is in the document: whatever
fails, it was paid for. Writers of one folder wait for one another; whoever else writes is met by the version. The
snapshot becomes what the agent knows: what it was given and what it said. So what a person typed meanwhile is new to it
at the next run, as it should be.
"""

from __future__ import annotations

import json
import secrets
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from redraft.errors import Busy, RedraftError
from redraft.files.locks import folder_lock
from redraft.formats.components import parse_answer
from redraft.formats.frontmatter import fields, set_field
from redraft.sessions.answers.fills import AppliedAnswer, apply_answer
from redraft.sessions.answers.merge import merge_answer
from redraft.sessions.document_store import DocumentStore, StoredChange, change
from redraft.sessions.project import AGENT_DOC, PATCHES
from redraft.sessions.session_fields import session_fields
from redraft.text.lines import adopt_newlines, newline_style

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping

    from redraft.sessions.component_rules import ComponentRule
    from redraft.sessions.project import AgentDocFiles, Project
    from redraft.sessions.session_fields import Strategy

LOCK = "agent-doc"
# Writers come one after the other; this many seconds are for a queue of them, not for one.
PATIENCE = 60.0
_UNIFORM = ("lf", "crlf", "cr")


@contextmanager
def sessions_lock(state: str) -> Generator[None]:
    """Be the only writer of the folder's sessions."""
    with folder_lock(state, LOCK, timeout=PATIENCE):
        yield


@dataclass(frozen=True, slots=True)
class SessionContext:
    """All that a write needs: the document, its project's `.agent-doc`, the way to it, and the state's lock."""

    project: Project
    agent_files: AgentDocFiles
    store: DocumentStore
    state: str
    author: str = "agent"
    clock: Callable[[], float] = time.time
    rules: Mapping[str, ComponentRule] = field(default_factory=dict[str, "ComponentRule"])

    @property
    def stamp(self) -> str:
        """The time as entries and commits show it."""
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self.clock()))

    @contextmanager
    def lock(self) -> Generator[None]:
        with sessions_lock(self.state):
            yield


@dataclass(frozen=True, slots=True)
class WrittenAnswer:
    """What became of an answer. `marked` says that conflicts are marked in the text, for the person to resolve."""

    changed: StoredChange
    conflicts: int = 0
    remarks: tuple[str, ...] = ()
    marked: bool = False


@dataclass(frozen=True, slots=True)
class AnswerPlan:
    """An answer brought into its base: what is to be written, and how it meets what was typed meanwhile."""

    base: str
    applied: AppliedAnswer
    strategy: Strategy


def plan_answer(
    desk: SessionContext, answer: str, baseline: str | None, current: str, *, strategy: Strategy | None = None
) -> AnswerPlan:
    """Bring an answer into the text that it was made for: the named baseline, else the document as it is."""
    base = current if baseline is None else match_newlines(current, baseline)
    said = session_fields(base)
    applied = apply_answer(base, parse_answer(answer), desk.rules, desk.stamp, inline=said.format == "inline")
    return AnswerPlan(base, applied, strategy or said.write)


def match_newlines(text: str, baseline: str) -> str:
    """A baseline that lost the document's line ends on the way, with them: else every line would differ."""
    both = newline_style(text) in _UNIFORM and newline_style(baseline) in _UNIFORM
    return adopt_newlines(baseline, text) if both else baseline


def write_answer(
    desk: SessionContext,
    answer: str,
    *,
    baseline: str | None = None,
    strategy: Strategy | None = None,
    set_fields: Mapping[str, str] | None = None,
) -> WrittenAnswer:
    """An answer into its document, merged with what was typed since `baseline`; `set_fields` into its frontmatter."""
    with preserve_answer(desk, answer), desk.lock():
        made = plan_answer(desk, answer, baseline, desk.store.read(desk.project.path).text, strategy=strategy)
        met: list[int] = [0]

        def make(text: str) -> str:
            merged = merge_answer(made.base, text, made.applied, made.strategy, desk.author)
            met[0] = merged.conflicts
            return _set_fields(merged.text, set_fields)

        changed = change(desk.store, desk.project.path, f"Answer in {desk.project.path}", make)
        if changed.state != "proposed":
            desk.agent_files.save_snapshot(desk.project, _set_fields(made.applied.text, set_fields))
    return WrittenAnswer(changed, met[0], made.applied.remarks, marked=met[0] > 0 and made.strategy == "merge")


def _set_fields(text: str, wanted: Mapping[str, str] | None) -> str:
    for key, value in (wanted or {}).items():
        if fields(text).get(key) != value:
            text = set_field(text, key, value)
    return text


@contextmanager
def preserve_answer(desk: SessionContext, answer: str) -> Generator[str]:
    """Store an answer, and let go of it when it is in the document; a failure tells where it lies."""
    place = desk.agent_files.keep_answer(desk.project, desk.stamp, secrets.token_hex(4), answer)
    try:
        yield place
    except RedraftError as error:
        error.message = f"{error.message} The answer is kept in {place}."
        error.details["answer"] = place
        raise
    desk.agent_files.drop_answer(place)


# Editors that listen: a JSON file in `.agent-doc/patches/`, which an editor's plugin takes and applies to its buffer.
#
# The file is the letter and its disappearance the receipt. A letter that nobody took in time is taken back, so that
# it cannot be applied a second time later; one that is gone by then was taken after all.


EDITOR_SECONDS = 2.0
_PAUSE = 0.02


class AnswerNotTaken(Busy):
    """A plugin listens, and did not take the answer in time."""


def has_listener(desk: SessionContext) -> bool:
    """Whether a plugin has made the folder in which it looks for letters."""
    return desk.agent_files.has_folder(PATCHES)


def leave_for_editor(desk: SessionContext, answer: str, baseline: str | None, strategy: Strategy | None = None) -> str:
    """Leave an answer for the plugin and do not wait; gives the letter's path from the project's folder."""
    with desk.lock():
        return f"{AGENT_DOC}/{_write_letter(desk, answer, baseline, strategy)}"


def deliver_to_editor(
    desk: SessionContext, answer: str, baseline: str | None, strategy: Strategy | None = None
) -> None:
    """Leave an answer for the plugin and wait until it is taken; `AnswerNotTaken` where nobody did. Afterwards the
    snapshot is the file as the editor wrote it."""
    with preserve_answer(desk, answer), desk.lock():
        name = _write_letter(desk, answer, baseline, strategy)
        deadline = time.monotonic() + EDITOR_SECONDS
        while desk.agent_files.read(name) is not None:
            if time.monotonic() > deadline and desk.agent_files.remove(name):
                raise AnswerNotTaken(
                    f"No editor took the answer within {EDITOR_SECONDS:g} seconds; nothing was written."
                )
            time.sleep(_PAUSE)
        desk.agent_files.save_snapshot(desk.project, desk.store.read(desk.project.path).text)


def _write_letter(desk: SessionContext, answer: str, baseline: str | None, strategy: Strategy | None) -> str:
    current = desk.store.read(desk.project.path).text
    made = plan_answer(desk, answer, baseline, current, strategy=strategy)
    name, number = f"{PATCHES}/{desk.project.name}.json", 1
    while desk.agent_files.read(name) is not None:  # a letter that waits is never written over
        name, number = f"{PATCHES}/{desk.project.name}-{number}.json", number + 1
    desk.agent_files.write(name, json.dumps(_letter(desk, made, current), ensure_ascii=False).encode())
    return name


def _letter(desk: SessionContext, plan: AnswerPlan, current: str) -> dict[str, Any]:
    """Patches where the answer only fills components; the whole text where it adds to the document itself."""
    patches = [
        {"component": fill.component, "content": fill.content, "mode": fill.filling.mode} for fill in plan.applied.fills
    ]
    letter: dict[str, Any] = {"file": desk.project.file, "patches": patches, "unmatched": "", "baseline": plan.base}
    if plan.applied.tail:
        merged = merge_answer(plan.base, current, plan.applied, plan.strategy, desk.author)
        letter |= {"patches": [], "fullContent": merged.text}
    return letter
