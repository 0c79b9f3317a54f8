"""What came of a task, and what is wrong with it, in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from redraft.evals.tasks import hashes_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from redraft.evals.tasks import Checks, Task


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run left: the folder as the person would have it by accepting all, and how it went.

    `status` is `completed` for a job whose proposal waits for the person: what becomes of that is theirs.
    """

    folder: Mapping[str, bytes]
    status: str
    answer: str = ""
    questions: int = 0
    conflicts: frozenset[str] = frozenset()
    error: str = ""


def faults(task: Task, outcome: Outcome) -> list[str]:
    """Every check that does not hold; none where the task is solved."""
    checks = task.checks
    found = [*_in_the_folder(task, outcome), *_in_the_documents(checks, outcome)]
    found += [f"does not say {words!r}" for words in checks.says if words.casefold() not in outcome.answer.casefold()]
    found += [f"says {words!r}" for words in checks.never_says if words.casefold() in outcome.answer.casefold()]
    if checks.asks is not None and outcome.questions < checks.asks:
        found.append(f"asks {outcome.questions} of {checks.asks} questions")
    if missed := sorted(set(checks.conflicts) - outcome.conflicts):
        found.append(f"shows no conflict in {', '.join(missed)}")
    if outcome.status != checks.status:
        found.append(f"is {outcome.status}{f' ({outcome.error})' if outcome.error else ''}")
    return found


def _in_the_folder(task: Task, outcome: Outcome) -> Iterator[str]:
    if task.checks.exact:
        hashes = hashes_of(outcome.folder)
        yield from (f"{path} is not there" for path in task.hashes if path not in hashes)
        yield from (f"{path} should not be there" for path in hashes if path not in task.hashes)
        yield from (f"{path} differs" for path, digest in task.hashes.items() if hashes.get(path, digest) != digest)
    for path in task.checks.unchanged:
        if outcome.folder.get(path) != task.files.get(path):
            yield f"{path} was changed"


def _in_the_documents(checks: Checks, outcome: Outcome) -> Iterator[str]:
    for path, wanted in checks.contains.items():
        text = outcome.folder.get(path, b"").decode(errors="replace")
        yield from (f"{path} lacks {words!r}" for words in wanted if words not in text)
    for path, unwanted in checks.lacks.items():
        text = outcome.folder.get(path, b"").decode(errors="replace")
        yield from (f"{path} has {words!r}" for words in unwanted if words in text)
