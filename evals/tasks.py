"""A task: what the person asks for, the folder before and after, what the person does meanwhile, and the checks.

A task is data and says nothing about models. `after` is the right folder; `checks` say what any good answer must
fulfil, which is that folder to the byte but for documents of which more than one text is right. `solution` are the
steps of a model that does it right, where they cannot be derived from the two folders; `wrong` are steps that must not
pass.
Reading tasks from files is `task_files`'s.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    Steps = tuple[Mapping[str, Any], ...]

Moment = Literal["read", "edited", "review"]


@dataclass(frozen=True, slots=True)
class ConcurrentEdit:
    """A change by somebody else: after the model's step in which it first `read` or `edited` something, and before the
    next; or when its proposal waits for `review`. So it happens whatever way the model takes.

    The `person` types it in the editor, unsaved; a `program` writes the file without us.
    """

    at: Moment
    path: str
    old: str
    new: str
    by: Literal["person", "program"] = "person"


@dataclass(frozen=True, slots=True)
class Checks:
    """What must be so in the end, whichever model it was. The folder is the one that is proposed: what the person gets
    by accepting all.

    The whole folder must be the task's `after` to the byte. Where more than one text is right, `matches` has a pattern
    that the whole text of that document must match instead; everything else stays exact. `says` and `never_says` are
    patterns that are looked for in the answer, in any letter case; `never_calls` are tools that no good answer needs.
    """

    matches: Mapping[str, str] = field(default_factory=dict[str, str])
    says: tuple[str, ...] = ()
    never_says: tuple[str, ...] = ()
    never_calls: tuple[str, ...] = ()
    asks: int | None = None
    conflicts: tuple[str, ...] = ()
    status: str = "completed"


@dataclass(frozen=True, slots=True)
class WrongAnswer:
    """The steps of a model that does it wrong, and in which way: the checks must find it out."""

    why: str
    steps: Steps


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One task. `hashes` are the SHA-256 of every file that is to be there in the end, as the task's source gives them.

    `answers` are the person's, in order; when there are no more, they leave it to the agent. `allows` is what they say
    when asked for consent.
    """

    id: str
    prompt: str
    files: Mapping[str, bytes]
    after: Mapping[str, bytes]
    hashes: Mapping[str, str]
    checks: Checks = field(default_factory=Checks)
    kinds: tuple[str, ...] = ()
    mode: str = "propose"
    limits: Mapping[str, int] = field(default_factory=dict[str, int])
    answers: tuple[str, ...] = ()
    allows: bool = True
    meanwhile: tuple[ConcurrentEdit, ...] = ()
    solution: Steps = ()
    wrong: tuple[WrongAnswer, ...] = ()


@dataclass(frozen=True, slots=True)
class MissingTask:
    """A task that is named but cannot be run here, and why."""

    id: str
    why: str
    kinds: tuple[str, ...] = ()


def hashes_of(files: Mapping[str, bytes]) -> dict[str, str]:
    return {path: hashlib.sha256(data).hexdigest() for path, data in files.items()}
