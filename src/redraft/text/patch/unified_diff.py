"""Unified patches: written in git's format, and applied.

A patch is applied whole or not at all. A section must match line by line; it may have moved, but only to the one place
where it matches. Nothing is applied by similarity: `fuzz` merely ignores that many outer lines of context, for those
who ask for it. `git apply` and `patch` accept what `format_patch` writes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from redraft.errors import Refused, Stale
from redraft.text.diff.sequence_diff import Region, diff_sequences
from redraft.text.patch.parser import FilePatch, PatchHunk, Sign, parse_patch, quote_path

if TYPE_CHECKING:
    from collections.abc import Iterable

    from redraft.text.edits import Edit

__all__ = ["FilePatch", "PatchHunk", "apply_patch", "format_edits", "format_hunk", "format_patch", "parse_patch"]

# In a line longer than this, only the text around the change is shown.
LONG_LINE, AROUND = 2_000, 200
_NO_LINE_FEED = "\n\\ No newline at end of file\n"
_NOT_TEXT = {"120000": "a symbolic link", "160000": "a submodule"}


def format_patch(path: str, old: str | None, new: str | None, *, context: int = 3, old_path: str | None = None) -> str:
    """The patch that turns `old` into `new`; None is a file that does not exist. Empty if nothing changes."""
    before = path if old_path is None else old_path
    if old is None and new is None:
        raise ValueError("a patch needs a file on one side at least")
    if (old, before) == (new, path):
        return ""
    header = [f"diff --git {quote_path('a/' + before)} {quote_path('b/' + path)}\n"]
    if old is None:
        header.append("new file mode 100644\n")
    elif new is None:
        header.append("deleted file mode 100644\n")
    elif before != path:
        header += [f"rename from {quote_path(before)}\n", f"rename to {quote_path(path)}\n"]
    sections = _sections(_lines(old or ""), _lines(new or ""), context)
    if sections:
        header.append(f"--- {_header_path(None if old is None else 'a/' + before)}\n")
        header.append(f"+++ {_header_path(None if new is None else 'b/' + path)}\n")
    return "".join([*header, *sections])


class HunkSection(NamedTuple):
    """A hunk as a `@@` section. One with `shortened` lines is for reading: it does not apply."""

    text: str
    shortened: bool


def format_hunk(edit: Edit, old: str, *, context: int = 3) -> HunkSection:
    """One hunk of a diff of `old` as a `@@` section, as if no other were applied. Its lines are whole, except that of a
    very long one only the text around the change is shown: many hunks of that line would each repeat all of it."""
    start = _context_start(old, edit, context)
    return _format_section(edit, old, start, old.count("\n", 0, start), context)


def format_edits(path: str, old: str, edits: Iterable[Edit], *, context: int = 3) -> list[HunkSection]:
    """A patch of the file for each edit of `old`, in order, as if no other were made; empty if an edit changes nothing.
    Only the lines around an edit are processed, so that thousands of edits of a long text take only linear time."""
    names = f"--- {_header_path('a/' + path)}\n+++ {_header_path('b/' + path)}\n"
    header = f"diff --git {quote_path('a/' + path)} {quote_path('b/' + path)}\n{names}"
    patches: list[HunkSection] = []
    counted = line = 0
    for edit in edits:
        start = _context_start(old, edit, context)
        line += old.count("\n", counted, start)
        counted = start
        section = _format_section(edit, old, start, line, context)
        patches.append(section._replace(text=header + section.text if section.text else ""))
    return patches


def _context_start(old: str, edit: Edit, context: int) -> int:
    """Where the lines begin that are shown for an edit."""
    start = old.rfind("\n", 0, edit.at) + 1
    for _ in range(context):
        start = old.rfind("\n", 0, max(start - 1, 0)) + 1
    return start


def _format_section(edit: Edit, old: str, start: int, first_line: int, context: int) -> HunkSection:
    begin = old.rfind("\n", 0, edit.at) + 1
    until = edit.end
    ends = old.endswith("\n", edit.at, until)
    close = until if ends else old.find("\n", until) + 1 or len(old)
    end = close
    for _ in range(context + ends):
        end = old.find("\n", end) + 1 or len(old)
    head = "".join(map(_shorten_line, _lines(old[start:begin]))) + _shorten_before(old, begin, edit.at)
    tail = _shorten_after(old, until, close) + "".join(map(_shorten_line, _lines(old[close:end])))
    before, after = _lines(head + edit.old + tail), _lines(head + edit.new + tail)
    regions = diff_sequences(before, after)
    section = _section(before, after, regions, context, first_line) if regions else ""
    return HunkSection(section, len(head) + len(tail) != edit.at - start + end - until)


def _shorten_before(text: str, start: int, end: int) -> str:
    return text[start:end] if end - start <= LONG_LINE else "…" + text[end - AROUND : end]


def _shorten_after(text: str, start: int, end: int) -> str:
    if end - start <= LONG_LINE:
        return text[start:end]
    return text[start : start + AROUND] + "…" + ("\n" if text.startswith("\n", end - 1) else "")


def _shorten_line(line: str) -> str:
    return _shorten_after(line, 0, len(line))


def apply_patch(old: str, patch: FilePatch, *, fuzz: int = 0) -> str:
    """`old` with the patch applied: an empty text for a file that does not exist yet, or no longer.

    Refused as `conflict`, naming the section, if a section is not found, or at several places but not at its own.
    """
    if patch.binary or patch.mode in _NOT_TEXT:
        what = _NOT_TEXT.get(patch.mode or "", "a binary file")
        raise Refused(f"{patch.path} is {what}, and only text can be patched", code="invalid_patch")
    if patch.kind == "created" and old:
        raise Stale(f"the patch creates {patch.path}, which already exists", code="conflict")
    lines = _lines(old)
    try:
        result = _apply(lines, patch.hunks, fuzz)
    except Stale:
        if not patch.crlf:
            raise
        result = _apply(lines, tuple(map(_without_returns, patch.hunks)), fuzz)
    if patch.kind == "deleted" and result:
        raise Stale(f"the patch deletes {patch.path}, but not all of its content", code="conflict")
    return "".join(result)


def _apply(lines: list[str], hunks: tuple[PatchHunk, ...], fuzz: int) -> list[str]:
    result: list[str] = []
    done = 0
    moved = False
    for number, hunk in enumerate(hunks, start=1):
        at, trimmed = _place(lines, hunk, number, done, moved, fuzz)
        moved = moved or at != trimmed.old_start
        new = trimmed.new_lines
        result += lines[done:at]
        result += new
        done = at + len(trimmed.old_lines)
        # A last line without line feed must stay the last one.
        if (result and not result[-1].endswith("\n") and done < len(lines)) or _is_glued(result, len(new)):
            raise _conflict(hunk, number, "it would join two lines")
    return result + lines[done:]


def _is_glued(result: list[str], new: int) -> bool:
    return 0 < new < len(result) and not result[-new - 1].endswith("\n")


def _place(lines: list[str], hunk: PatchHunk, number: int, done: int, moved: bool, fuzz: int) -> tuple[int, PatchHunk]:
    """Where the section goes, and which part of it had to match. Its own place wins while no earlier section has
    moved."""
    for slack in range(fuzz + 1):
        trimmed = _trim_context(hunk, slack)
        wanted = trimmed.old_lines
        if not wanted and lines:
            raise _conflict(hunk, number, "it has no context")
        if not moved and trimmed.old_start >= done and _matches(lines, wanted, trimmed.old_start):
            return trimmed.old_start, trimmed
        places = [at for at in range(done, len(lines) - len(wanted) + 1) if _matches(lines, wanted, at)]
        if wanted and len(places) == 1:
            return places[0], trimmed
        if places:
            raise _conflict(hunk, number, f"its lines occur at {len(places)} places" if wanted else "it has no context")
    raise _conflict(hunk, number, "its lines are not in the file")


def _matches(lines: list[str], wanted: list[str], at: int) -> bool:
    if not wanted:
        return at <= len(lines)
    # The first line is compared alone, so that searching everywhere stays cheap.
    return at < len(lines) and lines[at] == wanted[0] and lines[at : at + len(wanted)] == wanted


def _trim_context(hunk: PatchHunk, slack: int) -> PatchHunk:
    """The section without its outermost `slack` lines of context on either end."""
    lines = hunk.lines
    changes = [index for index, (sign, _) in enumerate(lines) if sign != " "]
    front = min(slack, changes[0])
    back = min(slack, len(lines) - 1 - changes[-1])
    return PatchHunk(hunk.old_start + front, hunk.new_start + front, lines[front : len(lines) - back], hunk.heading)


def _without_returns(hunk: PatchHunk) -> PatchHunk:
    lines: list[tuple[Sign, str]] = []
    for sign, text in hunk.lines:
        lines.append((sign, text[:-2] + "\n" if text.endswith("\r\n") else text))
    return PatchHunk(hunk.old_start, hunk.new_start, tuple(lines), hunk.heading)


def _conflict(hunk: PatchHunk, number: int, why: str) -> Stale:
    return Stale(
        f"section {number} of the patch, for line {hunk.old_start + 1}, does not apply: {why}",
        code="conflict",
        hunk=number,
        line=hunk.old_start + 1,
    )


def _sections(old: list[str], new: list[str], context: int) -> list[str]:
    """The `@@` sections; changes with few enough lines between them share one."""
    groups: list[list[Region]] = []
    for region in diff_sequences(old, new):
        if groups and region.old_start - groups[-1][-1].old_end <= 2 * context:
            groups[-1].append(region)
        else:
            groups.append([region])
    return [_section(old, new, group, context) for group in groups]


def _section(old: list[str], new: list[str], regions: list[Region], context: int, first_line: int = 0) -> str:
    lead = min(context, regions[0].old_start)
    tail = min(context, len(old) - regions[-1].old_end)
    old_start, new_start = regions[0].old_start - lead, regions[0].new_start - lead
    old_count = regions[-1].old_end + tail - old_start
    new_count = regions[-1].new_end + tail - new_start
    parts = [f"@@ -{_range(first_line + old_start, old_count)} +{_range(first_line + new_start, new_count)} @@\n"]
    done = old_start
    for region in regions:
        parts += [_line(" ", line) for line in old[done : region.old_start]]
        parts += [_line("-", line) for line in old[region.old_start : region.old_end]]
        parts += [_line("+", line) for line in new[region.new_start : region.new_end]]
        done = region.old_end
    parts += [_line(" ", line) for line in old[done : done + tail]]
    return "".join(parts)


def _range(start: int, count: int) -> str:
    # As in git and diff: from 1, the line before it if there are none, and no count if it is 1.
    first = start + 1 if count else start
    return str(first) if count == 1 else f"{first},{count}"


def _line(sign: str, line: str) -> str:
    return sign + line if line.endswith("\n") else sign + line + _NO_LINE_FEED


def _lines(text: str) -> list[str]:
    """The lines of a patch, which end at a line feed only: git and patch count no others."""
    lines = [line + "\n" for line in text.split("\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines


def _header_path(path: str | None) -> str:
    if path is None:
        return "/dev/null"
    # A tab marks where a name with blanks ends.
    return path + "\t" if " " in path and quote_path(path) == path else quote_path(path)
