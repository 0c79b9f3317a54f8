"""A table of contents: inserted below the title, or updated in place. Running it twice changes nothing."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from redraft.agent.offline.documents import find_document, read_one
from redraft.agent.offline.intents import Intent, ScriptEnd, call, parse_patterns, perform
from redraft.agent.offline.prose import lines_of
from redraft.formats.markdown_headings import headings
from redraft.text.frontmatter_block import frontmatter_end
from redraft.text.lines import count_breaks, split_lines

if TYPE_CHECKING:
    from redraft.agent.offline.intents import Script, ScriptContext, SlotValues
    from redraft.formats.markdown_headings import Heading

BEGIN, END = "<!-- toc -->", "<!-- tocstop -->"
_BEGIN = re.compile(r"\s*<!--\s*toc\s*-->\s*", re.IGNORECASE)
_END = re.compile(r"\s*<!--\s*(?:tocstop|/toc|toc\s*end|end\s*toc)\s*-->\s*", re.IGNORECASE)
_OWN = re.compile(r"(?i)(?:table of )?contents|toc|in this (?:document|chapter)")
_LISTED = re.compile(r"\s*|\s*(?:[-*+]|\d+[.)])\s.*")
_ENTRY = re.compile(r"\s*[-*+]\s+\[.*\]\(#.*\)\s*")
_TOC = (
    "(table of contents|toc|contents list|contents|contents table|list of contents|index of headings|list of headings|"
    "outline with links|outline of headings|overview of headings)"
)

PATTERNS = parse_patterns(f"""
(create|make|add|insert|generate|build|write|put|give|produce|new) [new] [up to date] {_TOC} [(to|for|in|into|at \
 top of|at start of|at beginning of|on top of|of|from) <doc>]
(update|refresh|rebuild|regenerate|redo|fix|renew|sync|renumber|recreate|bring) {_TOC} [(in|of|for|to) <doc>] [up \
 to date]
(update|refresh|rebuild|regenerate) <doc> {_TOC}
(create|make|add|insert|generate|build|update|refresh) <doc> {_TOC}
give <doc> {_TOC}
{_TOC} [(for|of|in|to|,)] <doc>
{_TOC}
{_TOC} would be (nice|good|great|helpful|useful) [(for|in|of) <doc>]
(sync|align|match) {_TOC} with headings [(in|of) <doc>]
(update|refresh|fix) contents of {_TOC} [(in|of) <doc>]
make sure {_TOC} [(of|in|for) <doc>] is (up to date|current|right|correct)
(does|has) <doc> have {_TOC} ? if not add one
(i|we) (need|want|like|love) {_TOC} [(for|of|in|to) <doc>]
{_TOC} [(for|of|in|to) <doc>] is (outdated|out of date|old|stale|wrong|missing)
<doc> (needs|wants|should have|could use|is missing) {_TOC}
""")


@dataclass(frozen=True, slots=True)
class ContentsTable:
    """Where the table goes: the lines that it replaces (an empty range for a new one), and the new lines."""

    start: int
    stop: int
    lines: tuple[str, ...]
    entries: int


def slug(title: str) -> str:
    """The anchor of a heading, as common markdown sites generate it."""
    bare = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", title).replace("`", "")
    return re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", bare.casefold().strip()))


def table_of(text: str) -> ContentsTable | None:
    """The table for the document as it is now; None if there are no headings to list."""
    lines = [line.rstrip("\r\n") for line in split_lines(text)]
    marks = headings(text)
    title = marks[0] if marks and marks[0].level == 1 and sum(mark.level == 1 for mark in marks) == 1 else None
    own = next((mark for mark in marks if _OWN.fullmatch(mark.title.strip())), None)
    entries = _entries(marks, {mark for mark in (title, own) if mark is not None})
    if not entries:
        return None
    marked = _find_markers(text, lines)
    if marked is not None:
        return ContentsTable(*marked, ("", *entries, ""), len(entries))
    if own is not None:
        return _under_heading(own, marks, lines, entries)
    after = title.line + 1 if title is not None else count_breaks(text[: frontmatter_end(text)])
    lead = ("",) if after and lines[after - 1].strip() else ()
    trail = ("",) if after < len(lines) and lines[after].strip() else ()
    return ContentsTable(after, after, (*lead, BEGIN, "", *entries, "", END, *trail), len(entries))


def _find_markers(text: str, lines: list[str]) -> tuple[int, int] | None:
    """The lines between the first pair of markers with nothing but a list between them; markers in code do not
    count."""
    code = {line.number for line in lines_of(text) if line.kind == "code"}
    begin = None
    for at, line in enumerate(lines):
        if at in code:
            begin = None
        elif _BEGIN.fullmatch(line):
            begin = at + 1
        elif _END.fullmatch(line) and begin is not None:
            return begin, at
        elif not _LISTED.fullmatch(line):
            begin = None
    return None


def _entries(marks: list[Heading], but: set[Heading]) -> list[str]:
    listed = [mark for mark in marks if mark not in but]
    top = min((mark.level for mark in listed), default=1)
    taken: dict[str, int] = {}
    found: list[str] = []
    for mark in marks:
        address = slug(mark.title)
        number = taken.get(address, 0)
        taken[address] = number + 1
        if mark not in but:
            link = f"{address}-{number}" if number else address
            found.append(f"{'  ' * (mark.level - top)}- [{mark.title}](#{link})")
    return found


def _under_heading(own: Heading, marks: list[Heading], lines: list[str], entries: list[str]) -> ContentsTable:
    """Below a heading of its own: the links there are replaced, everything else stays."""
    stop = next((mark.line for mark in marks if mark.line > own.line), len(lines))
    first = next((at for at in range(own.line + 1, stop) if _ENTRY.fullmatch(lines[at])), None)
    if first is not None:
        last = next((at for at in range(first, stop) if not _ENTRY.fullmatch(lines[at])), stop)
        return ContentsTable(first, last, tuple(entries), len(entries))
    after = own.line + 1
    trail = ("",) if after < len(lines) and lines[after].strip() else ()
    return ContentsTable(after, after, ("", *entries, *trail), len(entries))


def script(slots: SlotValues, context: ScriptContext) -> Script:
    path = yield from find_document(slots["doc"], context, guess=False)
    reading = yield from read_one(path, context, keep=1)
    if not reading.whole:
        return f"{path} is too long for me to read in one job, so I did not make a table of contents."
    if reading.format != "markdown":
        return f"{path} is not a markdown document, so a table of contents would not work."
    table = table_of(reading.text)
    if table is None:
        return f"{path} has no headings to list, besides its title."
    old = [line.rstrip("\r\n") for line in split_lines(reading.text)][table.start : table.stop]
    if tuple(old) == table.lines:
        return f"The table of contents of {path} is up to date ({table.entries} entries)."
    where = {"path": path, "version": reading.version, "content": "".join(f"{line}\n" for line in table.lines)}
    if table.start == table.stop:
        outcome = yield from perform(call("insert_lines", after_line=table.start - 1, **where))
    else:
        outcome = yield from perform(call("replace_lines", start_line=table.start, end_line=table.stop - 1, **where))
    if not outcome.ok:
        raise ScriptEnd(f"I could not change {path}: {outcome.message}")
    done = "made" if table.start == table.stop else "refreshed"
    return f"The table of contents of {path} is {done}, with {table.entries} entries, ready for review."


INTENT = Intent(
    "contents",
    "create or update a table of contents",
    ("Make a table of contents for meeting.md", "Refresh the table of contents"),
    PATTERNS,
    script,
)
