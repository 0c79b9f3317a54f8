"""The write path: an answer or an entry into its document, and the snapshot after it.

An answer is stored durably before anything else, and stays stored until it is in the document: whatever fails, it was
paid for. Writers of one folder wait for one another; other writers are detected by the version. The snapshot becomes
what the agent knows: what it was given and what it said. So what a person typed meanwhile is new to it in the next
run, as it should be.
"""

from __future__ import annotations

import json
import secrets
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from redraft.errors import Busy, RedraftError
from redraft.files.locks import folder_lock
from redraft.formats.components import parse_answer
from redraft.sessions.answers.fills import AppliedAnswer, apply_answer
from redraft.sessions.answers.letter import format_letter
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
# Writers take turns; these seconds are for a queue of them, not for one.
PATIENCE = 60.0
_UNIFORM = ("lf", "crlf", "cr")


@contextmanager
def sessions_lock(state: str) -> Generator[None]:
    """Be the only writer of the folder's sessions."""
    with folder_lock(state, LOCK, timeout=PATIENCE):
        yield


@dataclass(frozen=True, slots=True)
class SessionContext:
    """Everything that a write needs: the document, its project's `.agent-doc`, the store to write it, and the lock."""

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
    """The result of writing an answer. `marked` means that the text has marked conflicts for the person to resolve."""

    changed: StoredChange
    conflicts: int = 0
    remarks: tuple[str, ...] = ()
    marked: bool = False


@dataclass(frozen=True, slots=True)
class AnswerPlan:
    """An answer applied to its base: what will be written, and how it is merged with what was typed meanwhile."""

    base: str
    applied: AppliedAnswer
    strategy: Strategy


def plan_answer(
    context: SessionContext, answer: str, baseline: str | None, current: str, *, strategy: Strategy | None = None
) -> AnswerPlan:
    """Apply an answer to the text that it was made for: the given baseline, else the document as it is."""
    base = current if baseline is None else match_newlines(current, baseline)
    fields = session_fields(base)
    applied = apply_answer(base, parse_answer(answer), context.rules, context.stamp, inline=fields.format == "inline")
    return AnswerPlan(base, applied, strategy or fields.write)


def match_newlines(text: str, baseline: str) -> str:
    """A baseline that lost the document's line endings, with them restored: otherwise every line would differ."""
    both = newline_style(text) in _UNIFORM and newline_style(baseline) in _UNIFORM
    return adopt_newlines(baseline, text) if both else baseline


def write_answer(
    context: SessionContext,
    answer: str,
    *,
    baseline: str | None = None,
    strategy: Strategy | None = None,
    set_fields: Callable[[str], str] = str,
) -> WrittenAnswer:
    """Write an answer into its document, merged with what was typed since `baseline`; `set_fields` sets fields of its
    frontmatter."""
    with preserve_answer(context, answer), context.lock():
        made = plan_answer(context, answer, baseline, context.store.read(context.project.path).text, strategy=strategy)
        met: list[int] = [0]

        def make(text: str) -> str:
            merged = merge_answer(made.base, text, made.applied, made.strategy, context.author)
            met[0] = merged.conflicts
            return set_fields(merged.text)

        changed = change(context.store, context.project.path, f"Answer in {context.project.path}", make)
        if changed.state != "proposed":
            context.agent_files.save_snapshot(context.project, set_fields(made.applied.text))
    return WrittenAnswer(changed, met[0], made.applied.remarks, marked=met[0] > 0 and made.strategy == "merge")


@contextmanager
def preserve_answer(context: SessionContext, answer: str) -> Generator[str]:
    """Store an answer, and delete it once it is in the document; an error says where it is stored."""
    place = context.agent_files.keep_answer(context.project, context.stamp, secrets.token_hex(4), answer)
    try:
        yield place
    except RedraftError as error:
        error.message = f"{error.message} The answer is kept in {context.project.shown(place)}."
        error.details["answer"] = place
        raise
    context.agent_files.drop_answer(place)


# Editors that listen: a JSON file in `.agent-doc/patches/`, which an editor's plugin picks up and applies to its
# buffer.
#
# The plugin deletes the file as a receipt, or renames it while it is at it and deletes it when it has saved. A file
# that nobody picked up in time is withdrawn, so that it cannot be applied a second time later; if it is gone by then,
# it was picked up after all.


EDITOR_SECONDS = 2.0
TAKING, TAKING_SECONDS = ".taking", 30.0
_PAUSE = 0.02


class AnswerNotTaken(Busy):
    """A plugin listens, but did not pick up the answer in time."""


def has_listener(context: SessionContext) -> bool:
    """Whether a plugin has created the folder in which it looks for answers."""
    return context.agent_files.has_folder(PATCHES)


def leave_for_editor(
    context: SessionContext, answer: str, baseline: str | None, strategy: Strategy | None = None
) -> str:
    """Leave an answer for the plugin without waiting; returns the file's path from where the person stands."""
    with context.lock():
        return context.project.shown(f"{AGENT_DOC}/{_write_letter(context, answer, baseline, strategy)}")


def deliver_to_editor(
    context: SessionContext, answer: str, baseline: str | None, strategy: Strategy | None = None
) -> None:
    """Leave an answer for the plugin and wait until it is picked up; raises `AnswerNotTaken` if nobody did. Afterwards
    the snapshot is the file as the editor wrote it."""
    with preserve_answer(context, answer), context.lock():
        name = _write_letter(context, answer, baseline, strategy)
        deadline = time.monotonic() + EDITOR_SECONDS
        while context.agent_files.read(name) is not None:
            if time.monotonic() > deadline and context.agent_files.remove(name):
                raise AnswerNotTaken(
                    f"No editor took the answer within {EDITOR_SECONDS:g} seconds; nothing was written."
                )
            time.sleep(_PAUSE)
        deadline = time.monotonic() + TAKING_SECONDS
        while context.agent_files.read(name + TAKING) is not None:
            if time.monotonic() > deadline:
                raise AnswerNotTaken(f"An editor has begun to take the answer, and left it in {name + TAKING}.")
            time.sleep(_PAUSE)
        context.agent_files.save_snapshot(context.project, context.store.read(context.project.path).text)


def _write_letter(context: SessionContext, answer: str, baseline: str | None, strategy: Strategy | None) -> str:
    current = context.store.read(context.project.path).text
    made = plan_answer(context, answer, baseline, current, strategy=strategy)
    name, number = f"{PATCHES}/{context.project.name}.json", 1
    while context.agent_files.read(name) is not None:  # a file that waits is never overwritten
        name, number = f"{PATCHES}/{context.project.name}-{number}.json", number + 1
    # Only an answer to the whole document needs the whole text.
    whole = (
        merge_answer(made.base, current, made.applied, made.strategy, context.author).text if made.applied.tail else ""
    )
    letter = format_letter(context.project.file, made, whole)
    context.agent_files.write(name, json.dumps(letter, ensure_ascii=False).encode())
    return name
