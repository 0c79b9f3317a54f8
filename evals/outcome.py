"""What came of a task, and what is wrong with it, in words."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evals.tasks import hashes_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from evals.tasks import Task


@dataclass(frozen=True, slots=True)
class EvalOutcome:
    """What a run left: the folder as the person would have it by accepting all, and how it went.

    `calls` are the tools that the model asked for, whether they did anything or not. `status` is `completed` for a job
    whose proposal waits for the person: what becomes of that is theirs.
    """

    folder: Mapping[str, bytes]
    status: str
    answer: str = ""
    questions: int = 0
    calls: frozenset[str] = frozenset()
    conflicts: frozenset[str] = frozenset()
    error: str = ""


def find_faults(task: Task, outcome: EvalOutcome) -> list[str]:
    """Every check that does not hold; none where the task is solved."""
    checks = task.checks
    found = [*_folder_faults(task, outcome)]
    found += [f"does not say {words!r}" for words in checks.says if not _matches_answer(outcome, words)]
    found += [f"says {words!r}" for words in checks.never_says if _matches_answer(outcome, words)]
    found += [f"calls {tool}" for tool in checks.never_calls if tool in outcome.calls]
    if checks.asks is not None and outcome.questions < checks.asks:
        found.append(f"asks {outcome.questions} of {checks.asks} questions")
    if missed := sorted(set(checks.conflicts) - outcome.conflicts):
        found.append(f"shows no conflict in {', '.join(missed)}")
    if outcome.status != checks.status:
        found.append(f"is {outcome.status}{f' ({outcome.error})' if outcome.error else ''}")
    return found


def _matches_answer(outcome: EvalOutcome, pattern: str) -> bool:
    return re.search(pattern, outcome.answer, re.IGNORECASE) is not None


def _folder_faults(task: Task, outcome: EvalOutcome) -> Iterator[str]:
    hashes = hashes_of(outcome.folder)
    yield from (f"{path} is not there" for path in task.hashes if path not in hashes)
    yield from (f"{path} should not be there" for path in hashes if path not in task.hashes)
    for path, digest in task.hashes.items():
        pattern = task.checks.matches.get(path)
        if path not in hashes:
            continue
        if pattern is None and hashes[path] != digest:
            yield f"{path} differs"
        elif pattern is not None and not re.fullmatch(pattern, outcome.folder[path].decode(errors="replace")):
            yield f"{path} does not match"
