"""Todo items: add one, check one off, reopen one, or list the open ones."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from redraft.agent.offline.documents import NO_ANSWER, ask, find_document, is_this, list_files, read_one
from redraft.agent.offline.intents import Intent, ScriptEnd, call, parse_patterns, perform, quote_query
from redraft.search.stems import terms
from redraft.text.lines import split_lines

if TYPE_CHECKING:
    from redraft.agent.offline.documents import ReadLines
    from redraft.agent.offline.intents import Script, ScriptContext, SlotValues, Steps

_ITEM = re.compile(r"(\s*[-*+]\s+\[)([ xX])(\]\s+)(.*)")
_LISTS = re.compile(r"(?i)(?:to-?\s?do|task|checklist|action)s?")
_THING = "[(todo|to-do|task|item|action|point|box|todo item|action item|checkbox)]"
_LIST = "(todo|to-do|task|todos|tasks|to do|checklist)"

PATTERNS = parse_patterns(f"""
(add|put|create|make|write|note|append|new) [new] (todo|to-do|task|todo item|to-do item|action item|checkbox|to \
 do) [(to|for|:)] <item> [(to|in|on|into) <doc>] => act=add
(add|put|write|note|append|stick) <item> (to|on|in|into|onto) {_LIST} [list] [(in|of) <doc>] => act=add doc=todo
(add|put|append) <item> as [new] (todo|to-do|task|todo item|action item) [(to|in|on) <doc>] => act=add
(todo|to-do|task) : <item> => act=add
remind me to <item> => act=add
(add|put|write|note) (to|on|onto) {_LIST} [list] : <item> => act=add doc=todo
mark as (done|finished|complete) : <item> => act=check
(what|which) (is|are) [my] (open|pending|remaining|unfinished) (todo|todos|task|tasks|to-dos|items) [(in|on) \
 <doc>] => act=list
(do i|have i|are there|do we) [have|got] [any] (open|pending|unfinished|undone) (todo|todos|task|tasks|items) \
 [(in|on) <doc>] => act=list
[show|see] what is (left|still) to do [(in|on) <doc>] => act=list
(i|we) (have|need|must|want) [to] remember to <item> => act=add
(add|put|write) <item> (to|on|in) list of (tasks|todos|things to do) => act=add doc=todo
(set|put|mark) {_THING} <item> back to (open|undone|todo) [(in|on) <doc>] => act=open
(what|which) (todo|task|item|to-do) (is|are) not [yet] (done|finished|checked) [yet] [(in|on) <doc>] => act=list
(i|we) (need|have|must) to <item> , add (it|that|this) [as|to] [(todo|to-do|task|item)] [list] => act=add
<item> , add (it|that|this) (as|to) (todo|to-do|task|item) [list] => act=add
(check|tick|cross|mark) off {_THING} <item> [(in|on|from) <doc>] => act=check
(tick|complete|finish) {_THING} <item> [(in|on|from) <doc>] => act=check
check (todo|to-do|task|item|box) <item> [(in|on|from) <doc>] => act=check
(check|tick|cross) {_THING} <item> off [(in|on|from) <doc>] => act=check
mark {_THING} <item> (as|=) (done|finished|complete|checked|ticked) [(in|on) <doc>] => act=check
mark {_THING} <item> (done|finished|complete) [(in|on) <doc>] => act=check
(i|we) [(have|already|just)] (did|done|finished|completed) {_THING} <item> => act=check
(i've|we've) [(already|just)] (done|finished|completed) {_THING} <item> => act=check
{_THING} <item> [(task|item|todo)] is (done|finished|complete) [(in|on) <doc>] => act=check
(set|put) {_THING} <item> to done [(in|on) <doc>] => act=check
(uncheck|untick|reopen) {_THING} <item> [(in|on) <doc>] => act=open
mark {_THING} <item> (as|=) (open|undone|not done|unfinished|pending) [(in|on) <doc>] => act=open
(what|which) (todo|task|item|to-do) (is|are) [(still|left)] (open|left|undone|pending|missing|to do) [(in|on) \
 <doc>] => act=list
what (is|do i have|have i got|remains) [(left|still|still left)] (to do|todo|to be done) [(in|on) <doc>] => act=list
what is [still] (open|undone|unfinished|left) [(in|on) <doc>] => act=list
what (do|must|should) (i|we) [still] (have to|need to|must) do [(in|on) <doc>] => act=list
what (do|must|should) (i|we) still do [(in|on) <doc>] => act=list
(show|list|give|tell) [(open|pending|unfinished|remaining)] (todo|to-do|task|todos|tasks|to do) [list|item] \
 [(in|on|from) <doc>] => act=list
""")


@dataclass(frozen=True, slots=True)
class Item:
    """A todo item: its line from 0, the prefix before its text, whether it is done, and its text."""

    line: int
    mark: str
    done: bool
    text: str


def items_of(text: str) -> list[Item]:
    """The todo items of a text."""
    found: list[Item] = []
    for number, line in enumerate(split_lines(text)):
        match = _ITEM.match(line.rstrip("\r\n"))
        if match is not None:
            found.append(Item(number, match[1], match[2] != " ", match[4].strip()))
    return found


def script(slots: SlotValues, context: ScriptContext) -> Script:
    path = yield from _list_document(slots["doc"], slots["act"], slots["item"], context)
    if not path:
        return (yield from _new_list(slots["item"]))
    reading = yield from read_one(path, context, keep=2)
    if slots["act"] == "list":
        return _open_items(reading)
    if slots["act"] == "add":
        return (yield from _add(slots["item"].strip(), reading))
    return (yield from _check(slots["item"], reading, context, done=slots["act"] == "check"))


def _list_document(where: str, act: str, item: str, context: ScriptContext) -> Steps[str]:
    """The document with the list: the one that is named or pinned, else one whose name suggests it; "" for none."""
    if where and not _LISTS.fullmatch(where.strip()):
        return (yield from find_document(where, context, guess=False))
    if context.here and is_this(where):
        return context.here[0]
    listed = yield from list_files()
    found = [path for path in listed.files if _LISTS.search(path.rpartition("/")[2])]
    if len(found) > 1:
        return (yield from find_document("todo", context, guess=act == "list", listed=listed))
    if found:
        return found[0]
    if act == "add":
        return ""
    outcome = yield from perform(
        call("search_documents", query=quote_query("- [ ]" if act == "list" else item), limit=5)
    )
    paths = [str(entry["path"]) for entry in outcome.rows("results")]
    if not paths:
        raise ScriptEnd("I found no todo list here.")
    return paths[0]


def _new_list(item: str) -> Script:
    outcome = yield from perform(call("create_document", path="todo.md", content=f"# To do\n\n- [ ] {item.strip()}\n"))
    if not outcome.ok:
        raise ScriptEnd(f"There is no todo list yet, and I could not make one: {outcome.message}")
    return f"There was no todo list yet, so I created {outcome.data['path']} with: {item.strip()}"


def _add(item: str, reading: ReadLines) -> Script:
    found = items_of(reading.text)
    last = found[-1] if found else None
    mark = f"{last.mark} ] " if last else "- [ ] "
    after = last.line if last else reading.total - 1
    between = "" if last or not reading.text.strip() else "\n"
    outcome = yield from perform(
        call(
            "insert_lines",
            path=reading.path,
            version=reading.version,
            after_line=after,
            content=f"{between}{mark}{item}\n",
        )
    )
    if not outcome.ok:
        raise ScriptEnd(f"I could not add it to {reading.path}: {outcome.message}")
    return f"Added to {reading.path}, ready for review: {item}"


def _check(item: str, reading: ReadLines, context: ScriptContext, *, done: bool) -> Script:
    of_kind = [each for each in items_of(reading.text) if each.done is not done]
    found = _similar_items(item, of_kind)
    if len(found) > 1:
        answer = yield from ask(f"Which one: {'; '.join(each.text for each in found)}?", context)
        found = [] if answer == NO_ANSWER else _similar_items(answer, found)
    if len(found) != 1:
        already = _similar_items(item, [each for each in items_of(reading.text) if each.done is done])
        if len(already) == 1 and not found:
            return f"“{already[0].text}” in {reading.path} is {'checked off' if done else 'open'} already."
        there = "; ".join(each.text for each in of_kind[:8])
        state = "open" if done else "checked"
        return f"No {state} item in {reading.path} clearly matches “{item}”. Items: {there or 'none'}."
    chosen = found[0]
    line = split_lines(reading.text)[chosen.line].rstrip("\r\n")
    new = _ITEM.sub(lambda match: f"{match[1]}{'x' if done else ' '}{match[3]}{match[4]}", line)
    outcome = yield from perform(
        call(
            "replace_lines",
            path=reading.path,
            version=reading.version,
            start_line=chosen.line,
            end_line=chosen.line,
            content=new,
        )
    )
    if not outcome.ok:
        raise ScriptEnd(f"I could not change {reading.path}: {outcome.message}")
    return f"{'Checked off' if done else 'Reopened'} in {reading.path}, ready for review: {chosen.text}"


def _similar_items(phrase: str, items: list[Item]) -> list[Item]:
    """The items that share the most words with the phrase."""
    exact = [each for each in items if each.text.casefold() == phrase.strip().casefold()]
    if exact:
        return exact[:1]
    wanted = set(terms(phrase))
    shared = {each: len(wanted & set(terms(each.text))) for each in items}
    most = max(shared.values(), default=0)
    return [each for each, count in shared.items() if count == most and most * 2 >= len(wanted)] if most else []


def _open_items(reading: ReadLines) -> str:
    found = [each for each in items_of(reading.text) if not each.done]
    if not found:
        return f"{reading.path} has no open item."
    return "\n".join([f"Open in {reading.path}:", *(f"- {each.text} (line {each.line + 1})" for each in found)])


INTENT = Intent(
    "todo",
    "add, check off, reopen or list todo items",
    ('Add "buy biscuits" to my todo list', "Check off the harbour board name", "What is still open?"),
    PATTERNS,
    script,
)
