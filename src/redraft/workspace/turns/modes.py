"""Modes: when the disk is written, and what may be done without asking.

A mode says when an agent's turn reaches the disk; its rules say, for an action on a path, whether it is allowed, has to
be asked for, or is denied. The first rule that fits decides. Settings from a folder can only narrow: `narrowed` takes
the stricter verdict of two modes, so no file and no message of a model can widen what the person chose.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Literal

from redraft.errors import Refused

Action = Literal["read", "create", "modify", "move", "destroy"]


def describe_action(what: str) -> str:
    """An action in words for a person: a `destroy` moves something to the trash."""
    action, _, named = what.partition(" ")
    return f"move {named} to the trash" if action == "destroy" else what


class Verdict(StrEnum):
    """From the widest to the narrowest."""

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


STRICTNESS = {Verdict.ALLOW: 0, Verdict.ASK: 1, Verdict.DENY: 2}


class WriteTime(StrEnum):
    """When the disk is written, from the narrowest to the widest."""

    NEVER = "never"
    ON_ACCEPT = "on_accept"
    AT_ONCE = "at_once"
    MERGED = "merged"


WIDTH = {WriteTime.NEVER: 0, WriteTime.ON_ACCEPT: 1, WriteTime.AT_ONCE: 2, WriteTime.MERGED: 2}


@dataclass(frozen=True, slots=True)
class Rule:
    """`action` may be `*`; `path` is a pattern in which `*` also crosses folders."""

    action: str
    path: str
    verdict: Verdict

    def fits(self, action: Action, path: str) -> bool:
        return self.action in ("*", action) and fnmatchcase(path, self.path)


@dataclass(frozen=True, slots=True)
class Mode:
    """A named set of rules."""

    name: str
    writes: WriteTime
    rules: tuple[Rule, ...] = ()
    also: tuple[Mode, ...] = ()

    @property
    def writes_at_once(self) -> bool:
        return self.writes in (WriteTime.AT_ONCE, WriteTime.MERGED)

    def verdict(self, action: Action, path: str) -> Verdict:
        """What the rules say; if several modes apply, the strictest of them. In a mode that writes at once, a deletion
        is asked about first; if the person accepts changes first, it is one more change to accept."""
        said = self.rules_say(action, path)
        if action != "read" and self.writes is WriteTime.NEVER:
            return Verdict.DENY
        if action == "destroy" and self.writes_at_once and said is Verdict.ALLOW:
            return Verdict.ASK
        return said

    def rules_say(self, action: Action, path: str) -> Verdict:
        """The strictest result of the first matching rule in each mode."""
        own = next((rule.verdict for rule in self.rules if rule.fits(action, path)), Verdict.ALLOW)
        others = (mode.rules_say(action, path) for mode in self.also)
        return max((own, *others), key=lambda verdict: STRICTNESS[verdict])

    def narrow(self, other: Mode) -> Mode:
        """This mode with the additional restrictions of `other`."""
        writes = min(self.writes, other.writes, key=lambda when: WIDTH[when])
        name = self.name if writes is self.writes else other.name
        return replace(self, name=name, writes=writes, also=(*self.also, other))


MODES: dict[str, Mode] = {
    "read": Mode("read", WriteTime.NEVER),
    "propose": Mode("propose", WriteTime.ON_ACCEPT),
    "apply": Mode("apply", WriteTime.AT_ONCE),
    "merge": Mode("merge", WriteTime.MERGED),
}


def mode_by_name(name: str) -> Mode:
    if name not in MODES:
        raise Refused(f"There is no mode {name!r}. Known: {', '.join(MODES)}.", mode=name)
    return MODES[name]
