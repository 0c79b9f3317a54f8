"""The requirements as a page for people: counts by specification and status, then a table for each specification.

Pure: the same data gives the same bytes, so that a test can tell a stale page.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from tests.requirements import REQUIREMENTS, STATUSES, Requirement

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_HEAD = """\
# The requirements

Every requirement of the five specifications and of the design, in our words, with where it stands. This page is
generated from `tests/requirements/`, where the data lie; write it anew with

    python -m tests.requirements > docs/requirements.md

`done` is shown by a test that names the id; behind it stand the doors that its tests go through: the program (`cli`),
`mcp`, `http`, a `websocket` or the `app` in a browser, or `law` for a law about a pure function or a rule about the
code base. `planned` waits for the issue given, `decided` was changed by the design (the note says how), `out` is
deliberately not built.
"""


def render(doors_of: Callable[[str], Iterable[str]], requirements: Iterable[Requirement] = REQUIREMENTS) -> str:
    """The whole page; `doors_of` says through which doors the tests of an id go."""
    by_spec: dict[str, list[Requirement]] = {}
    for requirement in requirements:
        by_spec.setdefault(requirement.spec, []).append(requirement)
    lines = [_HEAD, *_counts(by_spec)]
    for spec, entries in by_spec.items():
        lines += ["", f"## {spec}", "", *_table(entries, doors_of)]
    return "\n".join(lines) + "\n"


def _counts(by_spec: dict[str, list[Requirement]]) -> Iterator[str]:
    yield _row(["specification", *STATUSES, "all"])
    yield _row(["---", *["---:"] * (len(STATUSES) + 1)])
    total: Counter[str] = Counter()
    for spec, entries in by_spec.items():
        count = Counter(entry.status for entry in entries)
        total.update(count)
        yield _row([spec, *(str(count[status]) for status in STATUSES), str(len(entries))])
    yield _row(["all", *(str(total[status]) for status in STATUSES), str(total.total())])


def _table(entries: Iterable[Requirement], doors_of: Callable[[str], Iterable[str]]) -> Iterator[str]:
    yield _row(["id", "place", "requirement", "status"])
    yield _row(["---"] * 4)
    for entry in entries:
        yield _row([f"`{entry.id}`", entry.section, entry.sentence, _standing(entry, doors_of)])


def _standing(entry: Requirement, doors_of: Callable[[str], Iterable[str]]) -> str:
    if entry.status == "done":
        return f"done: {'law' if entry.is_law else ', '.join(sorted(doors_of(entry.id)))}"
    if entry.note:
        return f"{entry.status}: {entry.note}"
    return f"planned, issue {entry.issue}" if entry.status == "planned" else entry.status


def _row(cells: Iterable[str]) -> str:
    """A table row; a bar or an opening angle bracket inside a cell must not be read as markup."""
    return "| " + " | ".join(cell.replace("|", "\\|").replace("<", "\\<") for cell in cells) + " |"
