"""Where in a document something goes: sections by their headings, the edges of the text, and how new lines are set off.

Works on the outline and on a few lines read around the place, so it costs the same in a note and in a novel.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from redraft.agent.offline.documents import named
from redraft.agent.offline.intents import Outcome, Steps, Told, call, one
from redraft.agent.offline.wording import likeness, slips

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


@dataclass(frozen=True, slots=True)
class Section:
    """A heading: its title, level, its line from 0, the last line of all that is under it, and the last line before
    the first heading under it."""

    title: str
    level: int
    line: int
    last: int
    own_last: int


@dataclass(frozen=True, slots=True)
class Shape:
    """A document's sections, version and number of lines."""

    path: str
    version: str
    total: int
    first: str
    sections: tuple[Section, ...]


def shape_of(path: str) -> Steps[Shape]:
    """The shape of a document, in one step of two calls."""
    outlined, read = yield (
        call("get_outline", path=path, max_depth=10),
        call("read_document", path=path, max_tokens=50),
    )
    for outcome in (outlined, read):
        if not outcome.ok:
            raise Told(f"I cannot read {path}: {outcome.message}")
    total = read.data["lines"]["total"]
    return Shape(path, read.data["version"], total, read.data["content"], tuple(_sections(outlined, total)))


def _sections(outlined: Outcome, total: int) -> list[Section]:
    flat = list(_flat(outlined.data["outline"]))
    starts = [entry["line_start"] for entry in flat] + [total]
    return [
        Section(
            entry["title"],
            entry["level"],
            entry["line_start"],
            total - 1 if entry["line_end"] is None else entry["line_end"],
            starts[at + 1] - 1,
        )
        for at, entry in enumerate(flat)
    ]


def _flat(entries: Iterable[Any]) -> Iterable[dict[str, Any]]:
    for entry in entries:
        if isinstance(entry, dict) and "line_start" in entry:
            yield entry  # pyright: ignore[reportUnknownVariableType]
            yield from _flat(entry.get("children", ()))  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]


def section_called(phrase: str, shape: Shape) -> Section:
    """The section with that heading; ends the script where there is none, or where two could be meant."""
    found = headings_like(phrase, shape.sections)
    if len(found) == 1:
        return found[0]
    titles = ", ".join(f"“{each.title}”" for each in (found or shape.sections)[:8])
    if not found:
        there = f" It has: {titles}." if titles else " It has no headings."
        raise Told(f"{shape.path} has no heading “{phrase}”; nothing was changed.{there}")
    raise Told(f"{shape.path} has several headings “{phrase}” ({titles}); say which by its whole title.")


def headings_like(phrase: str, sections: Sequence[Section]) -> list[Section]:
    """The sections whose heading the phrase means: by the whole title, by its words, or nearly."""
    wanted = phrase.strip().strip("#").strip().casefold()
    exact = [each for each in sections if each.title.casefold() == wanted]
    if exact:
        return exact
    titles = list(dict.fromkeys(each.title for each in sections))
    found = set(named(wanted, titles)) or {
        title
        for title in titles
        if slips(title.casefold(), wanted, 2) <= 2 and likeness(title.casefold()[:1], wanted[:1])
    }
    return [each for each in sections if each.title in found]


def lines_around(path: str, line: int) -> Steps[tuple[str, str]]:
    """The line and the one after it, empty where there is none."""
    if line < 0:
        return "", ""
    outcome = yield from one(call("read_document", path=path, start_line=line, max_tokens=2000))
    if not outcome.ok:
        raise Told(f"I cannot read {path}: {outcome.message}")
    lines = outcome.data["content"].splitlines()
    return (lines[0] if lines else ""), (lines[1] if len(lines) > 1 else "")


def set_off(text: str, before: str, after: str) -> str:
    """New lines with a blank line on each side, where there is none yet."""
    lead = "\n" if before.strip() else ""
    trail = "\n" if after.strip() else ""
    return f"{lead}{text.strip(chr(10))}\n{trail}"
