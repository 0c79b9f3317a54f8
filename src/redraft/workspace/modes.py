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


class Verdict(StrEnum):
    """From the widest to the narrowest."""

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


STRICTNESS = {Verdict.ALLOW: 0, Verdict.ASK: 1, Verdict.DENY: 2}


class Writes(StrEnum):
    """When the disk is written, from the narrowest to the widest."""

    NEVER = "never"
    ON_ACCEPT = "on_accept"
    AT_ONCE = "at_once"
    MERGED = "merged"


WIDTH = {Writes.NEVER: 0, Writes.ON_ACCEPT: 1, Writes.AT_ONCE: 2, Writes.MERGED: 2}


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
    writes: Writes
    rules: tuple[Rule, ...] = ()
    also: tuple[Mode, ...] = ()

    def verdict(self, action: Action, path: str) -> Verdict:
        """What the rules say; the strictest, where several modes hold at once."""
        own = next((rule.verdict for rule in self.rules if rule.fits(action, path)), Verdict.ALLOW)
        if self.writes is Writes.NEVER and action != "read":
            own = Verdict.DENY
        others = (mode.verdict(action, path) for mode in self.also)
        return max((own, *others), key=lambda verdict: STRICTNESS[verdict])

    def narrowed(self, other: Mode) -> Mode:
        """This mode under the further restrictions of `other`."""
        writes = min(self.writes, other.writes, key=lambda when: WIDTH[when])
        name = self.name if writes is self.writes else other.name
        return replace(self, name=name, writes=writes, also=(*self.also, other))


ASK_BEFORE_DESTROYING = (Rule("destroy", "*", Verdict.ASK),)

MODES: dict[str, Mode] = {
    "read": Mode("read", Writes.NEVER),
    "propose": Mode("propose", Writes.ON_ACCEPT),
    "apply": Mode("apply", Writes.AT_ONCE, ASK_BEFORE_DESTROYING),
    "merge": Mode("merge", Writes.MERGED, ASK_BEFORE_DESTROYING),
}


def mode_named(name: str, custom: dict[str, Mode] | None = None) -> Mode:
    known = {**(custom or {}), **MODES}  # a custom mode cannot take the name of a built-in one
    if name not in known:
        raise Refused(f"There is no mode {name!r}. Known: {', '.join(known)}.", mode=name)
    return known[name]
