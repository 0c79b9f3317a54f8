"""Edits that were made for one version, and a ledger of what must come of them: lines and gaps, and who has them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

WORDS = ["same", "same", "same", "", "x \U0001f600 y", "ein Wort", "\U0001d11e"]


@dataclass(frozen=True)
class Paper:
    """A document as lines without their ends; the last one may have none."""

    lines: tuple[str, ...]
    newline: str = "\n"
    ended: bool = True

    @property
    def text(self) -> str:
        return self.newline.join(self.lines) + (self.newline if self.ended and self.lines else "")


@dataclass(frozen=True)
class LineEdit:
    """Lines `start` to `end`, half-open, become `new`; where there are none, `new` comes before line `start`."""

    start: int
    end: int
    new: tuple[str, ...]

    def call(self, path: str, version: str) -> dict[str, Any]:
        where: dict[str, Any] = {"path": path, "version": version}
        content = "\n".join(self.new)
        if self.start == self.end:
            return {"tool": "insert_lines", "arguments": {**where, "after_line": self.start - 1, "content": content}}
        where |= {"start_line": self.start, "end_line": self.end - 1}
        if not self.new:
            return {"tool": "delete_lines", "arguments": where}
        return {"tool": "replace_lines", "arguments": {**where, "content": content}}


@dataclass
class Ledger:
    """What was asked for, one after the other: a line has one taker at most, and nobody comes between its lines."""

    paper: Paper
    taken: dict[int, LineEdit] = field(default_factory=dict[int, LineEdit])
    gaps: dict[int, list[LineEdit]] = field(default_factory=dict[int, list[LineEdit]])

    def takes(self, edit: LineEdit) -> bool:
        """Whether the edit goes together with those before; then it is entered."""
        if edit.start == edit.end:
            if edit.start in self.taken and self.taken.get(edit.start - 1) is self.taken[edit.start]:
                return False
            self.gaps.setdefault(edit.start, []).append(edit)
            return True
        if any(line in self.taken for line in range(edit.start, edit.end)):
            return False
        if any(self.gaps.get(gap) for gap in range(edit.start + 1, edit.end)):
            return False
        self.taken.update(dict.fromkeys(range(edit.start, edit.end), edit))
        return True

    @property
    def text(self) -> str:
        paper, parts = self.paper, list[str]()
        last = len(paper.lines)
        open_end = not paper.ended and last > 0
        for number in range(last + 1):
            for edit in self.gaps.get(number, []):
                content = paper.newline.join(edit.new)
                parts.append(paper.newline + content if number == last and open_end else content + paper.newline)
            if number == last:
                break
            taker = self.taken.get(number)
            end = "" if open_end and number == last - 1 else paper.newline
            if taker is None:
                parts.append(paper.lines[number] + end)
            elif taker.start == number and taker.new:
                final = "" if open_end and taker.end == last else paper.newline
                parts.append(paper.newline.join(taker.new) + final)
        return "".join(parts)


LINES = st.lists(st.sampled_from(WORDS), min_size=1, max_size=14)
# Each edit brings words of its own. A version is its content: who brings the same words back, brings the version back.
NEW = st.lists(st.integers(0, 10**9).map("new \U0001f600 {}".format), min_size=1, max_size=2, unique=True).map(tuple)


@st.composite
def papers(draw: st.DrawFn) -> Paper:
    lines = draw(LINES)
    if not lines[-1]:
        lines[-1] = "end"
    ended = draw(st.booleans())
    # A line without an end does not tell how the document ends its lines.
    newlines = ["\n", "\n", "\r\n"] if ended or len(lines) > 1 else ["\n"]
    return Paper(tuple(lines), draw(st.sampled_from(newlines)), ended)


@st.composite
def line_edits(draw: st.DrawFn, paper: Paper) -> LineEdit:
    total = len(paper.lines)
    start = draw(st.integers(0, total))
    end = draw(st.integers(start, min(total, start + 3)))
    new = draw(NEW) if start == end or draw(st.booleans()) else ()
    return LineEdit(start, end, new)


@st.composite
def sessions(draw: st.DrawFn) -> tuple[Paper, list[LineEdit]]:
    """A document, and edits that were all made for it."""
    paper = draw(papers())
    return paper, draw(st.lists(line_edits(paper), min_size=2, max_size=6))
