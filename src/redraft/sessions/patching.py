"""`patch`: an entry into one component, with the commands that go with it if the person trusts them.

An untrusted `pre_patch` stops the patch, since the content was meant to pass through it; an untrusted `post_patch` is
left out and told, since the document does not depend on it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from redraft.errors import ConfirmationRequired, Refused
from redraft.formats.components import Component, component
from redraft.formats.components_filled import filled
from redraft.sessions import hooks
from redraft.sessions.applying import fill_for
from redraft.sessions.doors import change
from redraft.sessions.rules import FILE, rule_for
from redraft.sessions.writing import Written

if TYPE_CHECKING:
    from collections.abc import Mapping

    from redraft.sessions.rules import Rule
    from redraft.sessions.writing import Desk


@dataclass(frozen=True, slots=True)
class Hooks:
    """Whether the commands of `components.toml` may run, and with which environment."""

    trusted: bool
    environ: dict[str, str]


def patch(desk: Desk, name: str, content: str, allowed: Hooks) -> Written:
    """Put an entry into a component, through its hooks."""
    rule = rule_for(_place(desk.door.read(desk.project.path).text, name), desk.rules)
    around = hooks.Surroundings(desk.project.root, allowed.environ, name, desk.project.file)
    if rule.pre_patch:
        if not allowed.trusted:
            raise ConfirmationRequired(
                f"{FILE} has a pre_patch command for {name!r} that you have not trusted: {rule.pre_patch!r}. "
                "Look at the file, then run `agent-doc trust`.",
                component=name,
            )
        content = hooks.pre_patch(rule.pre_patch, content, around)
    written = _patch(desk, name, content)
    if not rule.post_patch:
        return written
    if not allowed.trusted:
        remark = f"The post_patch command of {name!r} was left out: {FILE} is not trusted. See `agent-doc trust`."
        return Written(written.changed, remarks=(remark,))
    hooks.post_patch(rule.post_patch, around)
    return written


def _patch(desk: Desk, name: str, content: str) -> Written:
    stamp = desk.stamp
    path = desk.project.path
    with desk.alone():
        was: list[str] = []

        def make(text: str) -> str:
            was[:] = [text]
            return _filled(text, name, content, desk.rules, stamp)

        changed = change(desk.door, path, f"Patch {name} in {path}", make)
        if changed.state != "proposed":
            desk.shelf.save_snapshot(desk.project, _carried(desk, was[0], changed.text, name, content, stamp))
    return Written(changed)


def _place(text: str, name: str) -> Component:
    place = component(text, name)
    if place is None:
        raise Refused(f"There is no component {name!r} in the document.", code="anchor_not_found", component=name)
    return place


def _filled(text: str, name: str, content: str, rules: Mapping[str, Rule], stamp: str) -> str:
    place = _place(text, name)
    fill = fill_for(place, content, rules, stamp)
    return filled(text, place, fill.content, fill.filling)


def _carried(desk: Desk, before: str, after: str, name: str, content: str, stamp: str) -> str:
    """The new snapshot: the document, or where the person has written what no agent has seen yet, the old snapshot
    with the same entry, so that their words stay news."""
    old = desk.shelf.snapshot(desk.project)
    if old is None or old == before:
        return after
    try:
        return _filled(old, name, content, desk.rules, stamp)
    except Refused:
        return old
