"""What a rename changes in a text and what it leaves alone. Pure; both are counted exactly.

A name matches as a whole word, with its possessive ("Anna's"), its plural ("Annas") and in capitals ("ANNA"); a
lower-case term also with an initial capital. Each form is replaced with the same form of the new name. Code,
link targets and the keys of frontmatter, YAML and JSON are not prose and stay as they are; occurrences there are
counted, so that the answer can mention them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from redraft.agent.offline.documents import (
    ReadLines,
    find_document,
    is_everything,
    is_this,
    list_files,
    read_on,
    resolve_folder,
    resolve_group,
)
from redraft.agent.offline.intents import (
    Intent,
    ScriptCall,
    ScriptEnd,
    call,
    parse_patterns,
    perform,
    pluralize,
    quote_query,
)
from redraft.text.edits import Change
from redraft.text.frontmatter_block import frontmatter_end
from redraft.text.markdown_blocks import fences
from redraft.tools.long_documents.character_rename import rename_edits

if TYPE_CHECKING:
    from redraft.agent.offline.intents import Script, ScriptContext, SlotValues, Steps

_INLINE = re.compile(r"(?<!`)(`+)(?!`)[^\n]*?(?<!`)\1(?!`)")
_TARGET = re.compile(r"\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*\)|<https?://[^>\s]*>|\bhttps?://[^\s)>\]]+")
_DEFINITION = re.compile(r"^ {0,3}\[[^\]\n]+\]:[ \t]*\S+", re.MULTILINE)
_YAML_KEY = re.compile(r"^[ \t]*(?:- +)*(?:\"[^\"\n]*\"|'[^'\n]*'|[^\s#:\"'][^:\n]*?)[ \t]*:(?=\s|$)", re.MULTILINE)
_JSON_KEY = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"\s*:")


@dataclass(frozen=True, slots=True)
class RenameResult:
    """The new text, the number of places changed, the number left alone, and whether every place is written exactly as
    the person wrote the name."""

    text: str
    count: int
    left: int
    plain: bool


def forms(old: str, new: str) -> dict[str, str]:
    """Every form of the old name, mapped to the same form of the new one; the first is the name itself."""
    pairs = {old: new}
    singular = list(pairs.items())
    plural_old, plural_new = plural(old), plural(new)
    if plural_old and plural_new:
        singular.append((plural_old, plural_new))
    for one, other in singular:
        pairs.setdefault(one, other)
        if old == old.lower():
            pairs.setdefault(_capital(one), _capital(other))
        if len(old) > 1:
            pairs.setdefault(one.upper(), other.upper())
    return pairs


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def plural(name: str) -> str:
    """The regular English plural; empty if the name does not end in a letter, or looks like a plural already."""
    if not name or not name[-1].isalpha() or name.casefold().endswith("s"):
        return ""
    if re.search(r"(?i)(?:x|z|ch|sh)$", name):
        return name + "es"
    if re.search(r"(?i)[^aeiou\W]y$", name) and name == name.lower():
        return name[:-1] + "ies"
    return name + "s"


def rename_in_text(text: str, old: str, new: str, format: str = "markdown") -> RenameResult:  # noqa: A002 - the tools' own word
    """The text with the name changed wherever it is prose."""
    protected = find_protected_spans(text, format)
    found = rename_edits(text, _tidy_forms(old, new))
    edits = [
        edit for edit in found if not any(start < edit.at + len(edit.old) and edit.at < end for start, end in protected)
    ]
    left = len(found) - len(edits)
    plain = not left and all(edit.old == old for edit in edits)
    return RenameResult(Change(tuple(edits)).apply(text), len(edits), left, plain)


def _tidy_forms(old: str, new: str) -> dict[str, str]:
    return forms(" ".join(old.split()), new)


def find_protected_spans(text: str, format: str = "markdown") -> list[tuple[int, int]]:  # noqa: A002
    """The parts of a text that are code, keys or link targets."""
    if format == "json":
        return [match.span() for match in _JSON_KEY.finditer(text)]
    if format == "yaml":
        return [match.span() for match in _YAML_KEY.finditer(text)]
    if format != "markdown":
        return []
    body = frontmatter_end(text)
    found = [match.span() for match in _YAML_KEY.finditer(text, 0, body)]
    found += [(block.start, block.end) for block in fences(text, body)]
    for pattern in (_INLINE, _TARGET, _DEFINITION):
        found += [match.span() for match in pattern.finditer(text, body)]
    return found


# Rename a name or a term in one document, or in all that contain it.


MAX_DOCUMENTS = 200
NOT_DONE, GO_ON = "Not done yet, because a job has a limited number of calls: ", ". Ask again to continue."
SNIPPETS, SNIPPET = 3, 100

_EACH = (
    "[(every|all)] [(name|word|term|character|place|spelling|occurrence|mention|instance|phrase)] [(of|from)] "
    "[(name|word|term|character)]"
)
_IN = "[[but] [only] [just] (in|inside|within|across|throughout|through) <doc>]"
PATTERNS = parse_patterns(f"""
(rename|change|replace|turn|convert|switch|correct) {_EACH} <old> (to|with|by|into|->|=>|→) [(name|word|term)] \
 <new> {_IN}
(swap|substitute|exchange|switch|replace) [out] {_EACH} <old> (for|with|by) [(name|word|term)] <new> {_IN}
(everywhere|throughout) [(rename|change|replace)] <old> (to|with|by|into|for) <new> => doc=everywhere
(in|throughout|across|inside|within) <doc> (rename|change|replace|swap|substitute|turn) [every] \
 [(name|word|term|character|occurrence|mention)] <old> (to|with|by|into|for) <new>
[(name|character|person|place|word)] <old> (should|must|shall|ought to) [now] (be called|be named|be \
 renamed|become|be spelled|be spelt|be written|be known) [to|as] <new> [(in|throughout|across) <doc>]
[from now on] <old> is [now] (called|named) <new> [(in|throughout|across) <doc>]
(i|we) (want|need|like) <old> to be (called|named|spelled|written) <new> [(in|throughout|across) <doc>]
<old> to be (called|named|spelled) <new> [(in|throughout|across) <doc>]
change name of <old> (to|into) <new> {_IN}
(change|rename) <old> name (to|into) <new> {_IN}
<old> name (should|must) be (changed|renamed) (to|into) <new> {_IN}
everywhere (in|inside) <doc> , (rename|change|replace) <old> (to|with|by|into) <new>
call [(name|character|person)] [the] <old> <new> instead [(in|throughout|across) <doc>]
(use|write|say|put) <new> instead of <old> [(in|inside|within|across|throughout) <doc>]
(instead of|rather than) <old> (use|write|say|put) <new> [(in|inside|within|across|throughout) <doc>]
[(do|run)] find and replace [of] <old> (with|by|to) <new> [(in|inside|within|across|throughout) <doc>]
(find|search) <old> and replace [it|them] (with|by) <new> [(in|inside|within|across|throughout) <doc>]
give [(character|person|place)] <old> [new] name <new> [(in|throughout|across) <doc>]
""")


def script(slots: SlotValues, context: ScriptContext) -> Script:
    old, new = slots["old"].strip(), slots["new"].strip()
    if old == new:
        return f"“{old}” is already the name you want."
    paths, more = yield from _candidates(old, new, slots["doc"], context)
    if not paths:
        return f"“{old}” does not occur as a whole word in any document; nothing was changed."
    waiting = _remaining_paths(context.earlier, old, new)
    paths = [path for path in paths if path in waiting] or paths
    readings = yield from _read_documents(paths, context)
    plans = {each.path: rename_in_text(each.text, old, new, each.format) for each in readings}
    due = [each for each in readings if plans[each.path].count or each.more]
    if not due and len(readings) == len(paths):
        return _explain_no_match(old, readings, plans)
    _note_counts(old, due, plans, context)
    outcomes = (yield [_edit(each, plans[each.path], old, new) for each in due]) if due else ()
    done: list[str] = []
    total = 0
    for reading, outcome in zip(due, outcomes, strict=True):
        count: int = outcome.data.get("replacements_made", plans[reading.path].count) if outcome.ok else 0
        total += count
        done.append(_line(reading, count, plans[reading.path], outcome.message))
    done += [f"- {each.path}: not read. {each.failed}" for each in readings if each.failed]
    unread = [path for path in paths if path not in plans]
    rest = f"\n\n{NOT_DONE}{', '.join(unread)}{GO_ON}" if unread else ""
    head = f"{_head(old, new)}{pluralize(total, 'place')}, as one turn for review."
    return "\n".join([head, *done]) + rest + ("\nThere may be more documents than the search found." if more else "")


def _head(old: str, new: str) -> str:
    return f"“{old}” → “{new}”: "


def _remaining_paths(earlier: str, old: str, new: str) -> set[str]:
    """The documents that our last answer listed as remaining, if it was about the same request. Finished documents may
    still contain the name in code, and would otherwise be read again every time."""
    _, found, rest = earlier.partition(NOT_DONE)
    return set(rest.partition(GO_ON)[0].split(", ")) if found and earlier.startswith(_head(old, new)) else set()


def _read_documents(paths: list[str], context: ScriptContext) -> Steps[list[ReadLines]]:
    """As many documents as can be read whole and edited in one job; of a document that is too long for any job, only
    the beginning. The others wait for the next job."""
    first = [ReadLines(path) for path in paths[: max(1, min(context.left // 2, context.actions))]]
    yield from read_on(first, context, keep=1)
    calls_left = context.left
    chosen: list[ReadLines] = []
    for reading in first:
        cost = 0 if reading.failed else reading.windows + 1
        if cost <= calls_left or not chosen:
            chosen.append(reading)
            calls_left -= min(cost, calls_left)
    if len(chosen) > 1 or chosen[0].windows < context.left:
        while (yield from read_on(chosen, context, keep=len(chosen))):
            pass
    return chosen


def _candidates(old: str, new: str, where: str, context: ScriptContext) -> Steps[tuple[list[str], bool]]:
    """The documents that may contain the name, and whether there may be more."""
    folder, group = "", list[str]()
    if where and not is_everything(where):
        listed = None if is_this(where) else (yield from list_files())
        group = resolve_group(where, listed) if listed else []
        folder = resolve_folder(where, listed) if listed and not group else ""
        if not folder and not group:
            return [(yield from find_document(where, context, guess=False, listed=listed))], False
    found = yield from perform(
        call("search_documents", query=quote_query(old), limit=MAX_DOCUMENTS, folder=folder or None)
    )
    if not found.ok:
        raise ScriptEnd(f"I could not search for “{old}”: {found.message}")
    paths = [entry["path"] for entry in found.rows("results") if _can_contain(entry["matches"], old, new)]
    return [path for path in paths if not group or path in group], bool(found.data["truncated"] or found.cut)


def _can_contain(shown: list[str], old: str, new: str) -> bool:
    """Whether a document may contain the name as a whole word, judging by the lines that the search returned."""
    all_shown = len(shown) < SNIPPETS and all(len(each) < SNIPPET for each in shown)
    return bool(shown) and (not all_shown or any(rename_edits(each, _tidy_forms(old, new)) for each in shown))


def _note_counts(old: str, due: list[ReadLines], plans: dict[str, RenameResult], context: ScriptContext) -> None:
    counts = ", ".join(f"{each.path} ({plans[each.path].count})" for each in due)
    context.notes.append(f"“{old}” occurs in: {counts}.")


def _edit(reading: ReadLines, plan: RenameResult, old: str, new: str) -> ScriptCall:
    """One call per document: a plain replacement where that is enough, else the whole new text."""
    if not reading.whole or plan.plain:
        return call(
            "find_and_replace",
            path=reading.path,
            version=reading.version,
            find=old,
            replace=new,
            whole_word=True,
            case_sensitive=True,
        )
    return call("write_document", path=reading.path, version=reading.version, content=plan.text)


def _line(reading: ReadLines, count: int, plan: RenameResult, failed: str) -> str:
    if failed:
        return f"- {reading.path}: not changed. {failed}"
    line = f"- {reading.path}: {count}"
    if not reading.whole:
        line += (
            " (too long to read in full: replaced exactly as you wrote it, in code too; other forms of the word "
            "were left)"
        )
    elif plan.left:
        line += f" ({plan.left} more in code, keys or link targets left as they are)"
    return line


def _explain_no_match(old: str, readings: list[ReadLines], plans: dict[str, RenameResult]) -> str:
    left = sum(plan.left for plan in plans.values())
    where = f" It occurs {left} times in code, keys or link targets, which I leave alone." if left else ""
    failed = "".join(f" {each.path}: {each.failed}" for each in readings if each.failed)
    return f"“{old}” does not occur as a whole word in the text; nothing was changed.{where}{failed}"


INTENT = Intent(
    "rename",
    "rename a name or term in one document or everywhere: whole words, with possessive, plural and capitals",
    ("Rename Ines to Marta everywhere", "Replace harbour with port in chapter 1", "Use colour instead of color"),
    PATTERNS,
    script,
)
