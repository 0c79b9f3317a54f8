"""Insert a section under a heading, or text at the end, at the beginning or under a heading."""

from __future__ import annotations

from typing import TYPE_CHECKING

from redraft.agent.offline.documents import (
    find_document,
    find_section,
    lines_around,
    pad_with_blank_lines,
    read_sections,
)
from redraft.agent.offline.intents import Intent, ScriptEnd, call, parse_patterns, perform

if TYPE_CHECKING:
    from redraft.agent.offline.documents import DocumentSections
    from redraft.agent.offline.intents import Script, ScriptContext, ScriptOutcome, SlotValues, Steps

_WITH = "[(with|containing|saying|that says|reading) [(text|content|words)] <text>]"
_NAMED = "[(called|named|titled|headed|with title|with heading|for)]"
_UNDER = "(under|below|beneath|underneath|inside section|in section)"
_ADD = "(add|insert|create|make|put|start|write|append|new|open)"
_SECTION = "[another] [new] [empty] (section|subsection|heading|headline|part)"

SECTION_PATTERNS = parse_patterns(f"""
{_ADD} {_SECTION} {_NAMED} <title> {_UNDER} [(heading|section)] <heading> [(in|of|to|inside) <doc>] {_WITH}
{_ADD} {_SECTION} {_NAMED} <title> [(in|to|into|of|at end of) <doc>] {_WITH}
{_ADD} {_SECTION} {_NAMED} <title> (after|following|behind) [(heading|section)] <heading> [(in|of|to) <doc>] \
 {_WITH} => place=after
{_ADD} {_SECTION} {_NAMED} <title> (to|in|into) <heading> section [(in|of) <doc>] {_WITH}
{_ADD} {_SECTION} {_UNDER} [(heading|section)] <heading> {_NAMED} <title> [(in|of|to) <doc>] {_WITH}
(under|below|beneath) [(heading|section)] <heading> [(in|of) <doc>] {_ADD} {_SECTION} {_NAMED} <title> {_WITH}
(in|inside) <doc> {_ADD} {_SECTION} {_NAMED} <title> [{_UNDER} [(heading|section)] <heading>] {_WITH}
{_ADD} <title> section [{_UNDER} [(heading|section)] <heading>] [(in|to|of|inside) <doc>] {_WITH}
{_ADD} <title> as [new] (section|subsection|heading) [{_UNDER} [(heading|section)] <heading>] [(in|to|of) <doc>] \
 {_WITH}
{_ADD} [to] <doc> {_SECTION} {_NAMED} <title> {_WITH}
{_ADD} <title> (section|heading) (at|to) (end|bottom) of <doc> {_WITH}
section <title> [(in|to|of) <doc>] , [please] add it
give <doc> {_SECTION} {_NAMED} <title> {_WITH}
<doc> (needs|wants|should have|could use|lacks) {_SECTION} {_NAMED} <title> {_WITH}
{_SECTION} (called|named|titled|headed) <title> [{_UNDER} [(heading|section)] <heading>] [(in|to|of|for) <doc>] \
 {_WITH}
""")

_TEXT = "(add|append|put|write|insert|attach|stick|tack|note)"
TEXT_PATTERNS = parse_patterns(f"""
{_TEXT} [(text|line|sentence|paragraph|words|note)] <text> [(to|at|on|onto)] [very] (end|bottom) of <doc> => at=end
{_TEXT} [(text|line|sentence|paragraph|words|note)] <text> (to|at|on|onto) [very] (start|top|beginning|head) of \
 <doc> => at=start
{_TEXT} [(text|line|sentence|paragraph|words|note)] <text> (to|into|in|onto|on) <doc> => at=end
{_TEXT} (to|at) [very] (end|bottom) of <doc> [text] <text> => at=end
{_TEXT} (to|at) [very] (start|top|beginning) of <doc> [text] <text> => at=start
{_TEXT} (to|in|into|onto) <doc> [(text|line|sentence|paragraph|following)] : <text> => at=end
{_TEXT} [following] (to|in|into) <doc> : <text> => at=end
{_TEXT} [following] (sentence|line|text|paragraph|words|this) (to|in|into|at end of) <doc> : <text> => at=end
{_TEXT} (line|sentence|note|paragraph) (saying|reading|with) <text> (to|in|into|at end of) <doc> => at=end
(append|attach|add) [text] <text> => at=end
(prepend) [(text|line|sentence|paragraph)] <text> [(to|in|into|at) <doc>] => at=start
(begin|start|open) <doc> with [following] (text|line|sentence|words) <text> => at=start
(begin|start|open) <doc> with <text> => at=start
(end|finish|close) <doc> with [(text|line|sentence|words)] <text> => at=end
{_TEXT} [(text|line|sentence|paragraph|words|note)] <text> (under|below|beneath) [(heading|section)] <heading> \
 [(in|of) <doc>] => at=under
{_TEXT} [(text|line|sentence|paragraph|words|note)] <text> (to|in|into) <heading> section [(in|of) <doc>] \
 => at=under
{_TEXT} [(text|line|sentence|paragraph|words|note)] <text> (to|in|into) section <heading> [(in|of) <doc>] \
 => at=under
(under|below|beneath) [(heading|section)] <heading> [(in|of) <doc>] {_TEXT} [(text|line|sentence|paragraph)] \
 <text> => at=under
(under|below|beneath) [(heading|section)] <heading> {_TEXT} <text> (in|into|of) <doc> => at=under
(in|at end of|to) <doc> {_TEXT} [(text|line|sentence|paragraph|words)] <text> => at=end
(at start of|at top of|at beginning of) <doc> {_TEXT} [(text|line|sentence|paragraph|words)] <text> => at=start
""")


def section_script(slots: SlotValues, context: ScriptContext) -> Script:
    """A new section: at the end of the section that it goes under, one level deeper; by default at the document's
    end."""
    title, heading = slots["title"], slots["heading"]
    path = yield from find_document(slots["doc"], context, guess=False)
    shape = yield from read_sections(path)
    parent = find_section(heading, shape) if heading else None
    beside = slots["place"] == "after"
    level = min(6, parent.level + (not beside)) if parent else _usual_level(shape)
    after = parent.last if parent else shape.total - 1
    body = slots["text"].strip()
    content = f"{'#' * level} {title}\n" + (f"\n{body}\n" if body else "")
    outcome = yield from _insert(shape, after, content)
    place = f"{'after' if beside else 'under'} “{parent.title}” in" if parent else "at the end of"
    empty = "" if body else " It is empty: you gave no text for it."
    return _check_outcome(outcome, f"The section “{title}” is {place} {path}, ready for review.{empty}")


def _usual_level(shape: DocumentSections) -> int:
    """The level of the document's sections: one below the title, if there is one."""
    levels = [section.level for section in shape.sections]
    return 2 if not levels or levels.count(1) <= 1 else 1


def text_script(slots: SlotValues, context: ScriptContext) -> Script:
    text, at = slots["text"], slots["at"]
    path = yield from find_document(slots["doc"], context, guess=False)
    shape = yield from read_sections(path)
    if at == "under":
        section = find_section(slots["heading"], shape)
        outcome = yield from _insert(shape, section.own_last, text)
        return _check_outcome(outcome, f"Added under “{section.title}” in {path}, ready for review.")
    if at == "end":
        outcome = yield from _insert(shape, shape.total - 1, text)
        return _check_outcome(outcome, f"Added at the end of {path}, ready for review.")
    after, place = _start(shape)
    outcome = yield from _insert(shape, after, text)
    return _check_outcome(outcome, f"Added {place} of {path}, ready for review.")


def _start(shape: DocumentSections) -> tuple[int, str]:
    """The line after which the body starts: frontmatter and the title stay first."""
    first = shape.sections[0] if shape.sections else None
    if first is not None and first.level == 1 and (first.line == 0 or shape.first.startswith("---")):
        return first.line, "below the title"
    if shape.first.startswith("---") and first is not None:
        return first.line - 1, "at the beginning"
    return -1, "at the beginning"


def _insert(shape: DocumentSections, after: int, content: str) -> Steps[ScriptOutcome]:
    """Insert lines after a line, with a blank line on each side."""
    before, following = yield from lines_around(shape.path, after)
    return (
        yield from perform(
            call(
                "insert_lines",
                path=shape.path,
                version=shape.version,
                after_line=after,
                content=pad_with_blank_lines(content, before, following),
            )
        )
    )


def _check_outcome(outcome: ScriptOutcome, done: str) -> str:
    if not outcome.ok:
        raise ScriptEnd(f"Nothing was changed: {outcome.message}")
    return done


SECTION = Intent(
    "section",
    "add a section under a heading, with your text or empty",
    (
        'Add a section "Open questions" under "What we said" in meeting.md',
        "Insert a new section called Sources in chapter 2",
        "Create a section Budget in the meeting notes with the text: 200 euros",
    ),
    SECTION_PATTERNS,
    section_script,
)
TEXT = Intent(
    "add",
    "add text at the end or the beginning of a document, or under a heading",
    ('Append "Ruth brings the biscuits." to meeting.md', 'Add "Draft" at the top of chapter 1'),
    TEXT_PATTERNS,
    text_script,
)
