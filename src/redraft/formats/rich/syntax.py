"""Markdown's grammar for the rich editor: CommonMark with GFM's tables and strikethrough, plus rules that recognise
what other tools put into markdown (directives, footnotes, display formulas, template tags) as blocks that are kept as
they are written. Tokens are markdown-it's own; each block token knows its lines.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from redraft.formats.interrupt import check_interrupt

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_inline import StateInline

# Deeper containers are read as source: nobody writes them, and parsing them costs a stack frame each.
MAX_NESTING = 80
_FENCED_DIRECTIVE = re.compile(r"(:{3,})(?!:)[ \t]*(?:[A-Za-z{\[].*)?$")
_LEAF_DIRECTIVE = re.compile(r"::[A-Za-z][\w-]*(?:\[.*\])?(?:\{.*\})?[ \t]*$")
_ADMONITION = re.compile(r"(?:!!!|\?\?\?\+?)[ \t]+[A-Za-z]")
_TEMPLATE = re.compile(r"(?:\{%.*%\}|\{\{[<%].*[>%]\}\}|\{:.*\})[ \t]*$")
_FORMULA = re.compile(r"\$\$")
_FOOTNOTE = re.compile(r"\[\^[^\]\s]+\]:")
_FOOTNOTE_MARK = re.compile(r"\[\^[^\[\]\s]+\]")
_INDENT = 4


@cache
def markdown_parser() -> MarkdownIt:
    """The parser. It is shared: parsing does not change it."""
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import reference

    made = MarkdownIt("commonmark", {"store_labels": True, "inline_definitions": True, "maxNesting": MAX_NESTING})
    made.enable(["table", "strikethrough"])

    def definition(state: StateBlock, start: int, end: int, silent: bool) -> bool:
        """A link definition with its own text, which the parser's rule does not provide."""
        if not reference(state, start, end, silent):
            return False
        if not silent and state.tokens and state.tokens[-1].type == "definition":
            state.tokens[-1].content = state.getLines(start, state.line, state.blkIndent, False)
        return True

    made.block.ruler.at("reference", definition)
    everywhere = ["paragraph", "reference", "blockquote", "list"]
    made.block.ruler.before("fence", "directive", _directive, {"alt": everywhere})
    made.block.ruler.before("reference", "footnote", _footnote, {"alt": ["paragraph", "reference"]})
    made.block.ruler.before("fence", "formula", _formula, {"alt": []})
    made.inline.ruler.before("link", "footnote_mark", _footnote_mark)
    made.block.ruler.before("table", "interrupt", _check_block, {"alt": everywhere})
    made.inline.ruler.after("text", "interrupt", _check_inline)
    return made


def _check_block(_state: StateBlock, _start: int, _end: int, _silent: bool) -> bool:
    """Not a rule, but a hook that every line passes."""
    check_interrupt()
    return False


def _check_inline(_state: StateInline, _silent: bool) -> bool:
    check_interrupt()
    return False


def _line(state: StateBlock, line: int) -> str:
    return state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]]


def _push(state: StateBlock, kind: str, start: int, stop: int) -> bool:
    state.line = stop
    token = state.push("source", "", 0)
    token.map = [start, stop]
    token.info = kind
    token.content = state.getLines(start, stop, state.blkIndent, False)
    return True


def _directive(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """`:::name` up to its closing colons, `::name`, `!!! name` with its indented lines, or a template tag."""
    if state.is_code_block(start):
        return False
    line = _line(state, start)
    if not line or line[0] not in ":!?{":
        return False
    stop = _directive_end(state, line, start, end)
    if stop is None:
        return False
    return True if silent else _push(state, "directive", start, stop)


def _directive_end(state: StateBlock, line: str, start: int, end: int) -> int | None:
    if fence := _FENCED_DIRECTIVE.match(line):
        return _closing_colons(state, len(fence[1]), start, end) if line.strip(": \t") else None
    if _ADMONITION.match(line):
        return _skip_indented_lines(state, start, end)
    if _LEAF_DIRECTIVE.match(line) or _TEMPLATE.match(line):
        return start + 1
    return None


def _closing_colons(state: StateBlock, colons: int, start: int, end: int) -> int | None:
    depth = 0
    for number in range(start, end):
        found = _FENCED_DIRECTIVE.match(_line(state, number))
        if state.sCount[number] < state.blkIndent and not state.isEmpty(number):
            return None
        if found is None:
            continue
        if _line(state, number).strip(": \t"):
            depth += 1
        elif len(found[1]) >= colons or depth > 1:
            depth -= 1
        if depth == 0:
            return number + 1
    return None


def _skip_indented_lines(state: StateBlock, start: int, end: int) -> int:
    """Skip the lines that are indented below the first."""
    stop = start + 1
    for number in range(start + 1, end):
        if state.isEmpty(number):
            continue
        if state.sCount[number] - state.blkIndent < _INDENT:
            break
        stop = number + 1
    return stop


def _footnote(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """`[^name]: text`, the lines of its paragraph, and its indented lines."""
    if state.is_code_block(start) or not _FOOTNOTE.match(_line(state, start)):
        return False
    if silent:
        return True
    stop = start + 1
    while stop < end and not state.isEmpty(stop) and not _interrupts(state, stop, end):
        stop += 1
    return _push(state, "footnote", start, _skip_indented_lines(state, stop - 1, end))


def _interrupts(state: StateBlock, line: int, end: int) -> bool:
    if state.sCount[line] - state.blkIndent >= _INDENT:
        return False
    if state.sCount[line] < state.blkIndent or _FOOTNOTE.match(_line(state, line)):
        return True
    return any(rule(state, line, end, True) for rule in state.md.block.ruler.getRules("paragraph"))


def _formula(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """`$$` up to the line that ends in `$$`; without that line it is text."""
    line = _line(state, start)
    if state.is_code_block(start) or not _FORMULA.match(line):
        return False
    first = line.rstrip()
    stop = start + 1 if len(first) > 4 and first.endswith("$$") else None
    for number in range(start + 1, end):
        if stop is not None or state.isEmpty(number) or state.sCount[number] < state.blkIndent:
            break
        if _line(state, number).rstrip().endswith("$$"):
            stop = number + 1
    if stop is None or "$$" in first[2:-2]:
        return False
    return True if silent else _push(state, "formula", start, stop)


def _footnote_mark(state: StateInline, silent: bool) -> bool:
    """`[^name]` in a line."""
    found = _FOOTNOTE_MARK.match(state.src, state.pos)
    if found is None or found.end() > state.posMax:
        return False
    if not silent:
        token = state.push("html_inline", "", 0)
        token.content = found[0]
    state.pos = found.end()
    return True
