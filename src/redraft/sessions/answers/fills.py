"""Apply an answer to a text: patches go into their components, the rest where a reader looks for it. Pure.

Text outside the blocks, and blocks for components that do not exist, are appended to the component `exchange`, or to
`output`; they never replace its content. A document without components is a conversation: the answer becomes its next
`## Assistant` block.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from redraft.formats.components import FillOptions, component, components, escape_markers, fill_component, to_entry
from redraft.sessions.component_rules import rule_for
from redraft.text.lines import adopt_newlines, split_lines

if TYPE_CHECKING:
    from collections.abc import Mapping

    from redraft.formats.components import Answer, Component
    from redraft.sessions.component_rules import ComponentRule

FOR_THE_REST = ("exchange", "output")
USER, ASSISTANT = "## User", "## Assistant"


@dataclass(frozen=True, slots=True)
class ComponentEdit:
    """One entry and its component."""

    component: str
    content: str
    filling: FillOptions


@dataclass(frozen=True, slots=True)
class AppliedAnswer:
    """An answer applied to a text: `filled` is the text with its fills, and `tail` comes after all of it.

    `new_exchange` is the content of the tail if it is a new component `exchange`.
    """

    filled: str
    fills: tuple[ComponentEdit, ...] = ()
    tail: str = ""
    new_exchange: str = ""
    remarks: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        return self.filled + self.tail


def apply_answer(
    text: str, answer: Answer, rules: Mapping[str, ComponentRule], stamp: str, *, inline: bool
) -> AppliedAnswer:
    """The text with the answer in it. `stamp` is the time, for components that show it."""
    places = {each.name: each for each in components(text)}
    fills: list[ComponentEdit] = []
    rest: list[str] = []
    remarks: list[str] = []
    for name, content in answer.by_component().items():
        if name in places:
            fills.append(fill_for(places[name], content, rules, stamp))
        else:
            rest.append(to_entry(content))
            remarks.append(f"There is no component {name!r}; its content was put with the rest of the answer.")
    unmatched = "\n".join(piece for piece in (*rest, to_entry(answer.unmatched)) if piece)
    target = None if inline else next((name for name in FOR_THE_REST if name in places), None)
    if unmatched and target is not None:
        fills.append(_append_fill(text, fill_for(places[target], unmatched, rules, stamp)))
        unmatched = ""
    made = AppliedAnswer(apply_fills(text, fills), tuple(fills), remarks=tuple(remarks))
    if not unmatched:
        return made
    if inline or not places:
        return replace(made, tail=_reply(text, unmatched))
    return replace(made, tail=_new_exchange(text, unmatched), new_exchange=unmatched)


def fill_for(place: Component, content: str, rules: Mapping[str, ComponentRule], stamp: str) -> ComponentEdit:
    """The entry, as the component's rule requires."""
    rule = rule_for(place, rules)
    if rule.timestamp and (entry := to_entry(content)):
        content = f"[{stamp}] {entry.lstrip()}"
    return ComponentEdit(place.name, content, rule.filling)


def apply_fills(text: str, fills: list[ComponentEdit] | tuple[ComponentEdit, ...]) -> str:
    """The text with every entry in its component; skips a component that an earlier fill removed."""
    for fill in fills:
        place = component(text, fill.component)
        if place is not None:
            text = fill_component(text, place, fill.content, fill.filling)
    return text


def is_block_start(text: str) -> bool:
    """Whether a text begins with a block of a conversation."""
    first = next((line for line in split_lines(text) if line.strip()), "")
    return first.strip() in (USER, ASSISTANT)


def _append_fill(text: str, fill: ComponentEdit) -> ComponentEdit:
    """The same, but never replacing content, and as a paragraph of its own."""
    if fill.filling.mode == "prepend":
        return fill
    place = component(text, fill.component)
    has_content = place is not None and place.inner(text).strip() != ""
    blank = "\n\n" if has_content else ""
    return replace(fill, content=blank + fill.content, filling=replace(fill.filling, mode="append"))


def _reply(text: str, answer: str) -> str:
    reply = answer.strip().removeprefix(ASSISTANT).strip()
    return _gap(text) + adopt_newlines(f"{ASSISTANT}\n\n{escape_markers(reply).rstrip()}\n\n{USER}\n\n", text)


def _new_exchange(text: str, answer: str) -> str:
    entry = to_entry(escape_markers(answer))
    return _gap(text) + adopt_newlines(f"<!-- agent:exchange mode=append -->\n{entry}<!-- /agent:exchange -->\n", text)


def _gap(text: str) -> str:
    """What to add so that the text ends in a blank line."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    missing = 0 if not lines or lines.endswith("\n\n") else 1 if lines.endswith("\n") else 2
    return adopt_newlines("\n" * missing, text)
