"""The person's standing rules: always allow, always ask, or never, by tool and path.

The rules are stored with the person's state, never in the folder, so a folder cannot bring its own and no agent can
reach them. They cannot widen a mode: `deny` and `ask` narrow it, and `allow` only answers a question that the mode
would have asked. What a mode forbids stays forbidden, and the mode alone says when the disk is written.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, cast

from redraft.agent.memory.state_file import StateFile
from redraft.errors import RedraftError, Refused
from redraft.workspace.document import check_text
from redraft.workspace.turns.modes import STRICTNESS, Mode, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from redraft.workspace.turns.modes import Action

FILE = "agent-rules.json"
MAX_RULES = 200


@dataclass(frozen=True, slots=True)
class PermissionRule:
    """A rule. `tool` is a tool's name, an action (`create`, `modify`, `move`, `destroy`, `change`) or `*`; in `path`,
    `*` also crosses folders."""

    tool: str
    path: str
    verdict: Verdict

    def fits(self, tool: str, action: str, path: str) -> bool:
        return self.tool in ("*", tool, action) and fnmatchcase(path, self.path)

    def as_dict(self) -> dict[str, str]:
        return {"tool": self.tool, "path": self.path, "verdict": str(self.verdict)}

    @staticmethod
    def from_dict(data: object) -> PermissionRule:
        table = cast("dict[str, Any]", data) if isinstance(data, dict) else {}
        tool, path, verdict = (table.get(name) for name in ("tool", "path", "verdict"))
        if not (isinstance(tool, str) and isinstance(path, str) and tool and path and verdict in set(Verdict)):
            raise Refused("A rule must have `tool`, `path` and `verdict` (allow, ask or deny).", field="rule")
        check_text(tool, path)
        return PermissionRule(tool, path, Verdict(verdict))


class PermissionRules:
    """The rules of one folder, in a file of the state directory that the person can read and edit."""

    def __init__(self, state: str) -> None:
        self._file = StateFile(state, FILE)
        self.path = self._file.path

    def all(self) -> list[PermissionRule]:
        """The newest first. An unreadable file counts as one rule that asks about everything."""
        try:
            found = self._file.read()
            if not isinstance(found, list | None):
                raise Refused("The rules must be a list.", field="rule")
            return [PermissionRule.from_dict(entry) for entry in cast("list[object]", found or [])]
        except (OSError, ValueError, RedraftError):
            return [PermissionRule("*", "*", Verdict.ASK)]

    def remember(self, rule: PermissionRule) -> None:
        """Add a rule before the others; it replaces a rule for the same tool and path."""
        with self._file.lock():
            self._write([rule, *self._without(rule.tool, rule.path)][:MAX_RULES])

    def forget(self, tool: str, path: str) -> None:
        """Drop the rule for this tool and path."""
        with self._file.lock():
            left = self._without(tool, path)
            if len(left) == len(self.all()):
                raise Refused("There is no such rule.", code="not_found", rule=tool, path=path)
            self._write(left)

    def _without(self, tool: str, path: str) -> list[PermissionRule]:
        return [each for each in self.all() if (each.tool, each.path) != (tool, path)]

    def _write(self, rules: Sequence[PermissionRule]) -> None:
        self._file.write([rule.as_dict() for rule in rules])


def verdict_of(rules: Iterable[PermissionRule], tool: str, action: str, paths: Iterable[str]) -> Verdict | None:
    """What the rules say about an action on these paths: the strictest of each path's first matching rule. None if some
    path has no rule."""
    found = [next((rule.verdict for rule in rules if rule.fits(tool, action, path)), None) for path in paths]
    if not found:
        return None
    strict = [verdict for verdict in found if verdict is not None]
    worst = max(strict, key=lambda verdict: STRICTNESS[verdict], default=None)
    return worst if worst is not Verdict.ALLOW or None not in found else None


def rules_to_allow(tool: str, paths: Iterable[str]) -> list[PermissionRule]:
    """The rules that a person means who always allows something: for these documents and those beside them."""
    patterns = dict.fromkeys(_sibling_pattern(path) for path in paths)
    return [PermissionRule(tool, pattern, Verdict.ALLOW) for pattern in patterns]


def _sibling_pattern(path: str) -> str:
    """A pattern for the documents of the same folder."""
    folder, slash, _ = path.rpartition("/")
    return f"{folder}{slash}*" if slash else path


@dataclass(frozen=True, slots=True)
class RuledMode(Mode):
    """A mode under the person's rules. `tool` returns the name of the tool that is running."""

    remembered: tuple[PermissionRule, ...] = ()
    tool: Callable[[], str] = field(default=lambda: "", compare=False)

    def verdict(self, action: Action, path: str) -> Verdict:
        own = Mode.verdict(self, action, path)
        ruling = verdict_of(self.remembered, self.tool(), action, [path])
        return own if ruling is None else max(own, ruling, key=lambda verdict: STRICTNESS[verdict])


def apply_rules(mode: Mode, rules: Sequence[PermissionRule], tool: Callable[[], str]) -> RuledMode:
    """The mode, narrowed by the rules."""
    return RuledMode(mode.name, mode.writes, mode.rules, mode.also, tuple(rules), tool)
