"""`.agent-doc/components.toml`: how entries are added to each component, and the commands to run with them. Pure.

A file that does not parse, or has an unknown key or value, is refused with the reason: a log that is replaced because
of a misspelt `mode` is lost work. A command that is listed here is not thereby allowed to run.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, cast

from redraft.errors import RedraftError, Refused
from redraft.formats.components import FILL_MODES, FillMode, FillOptions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from redraft.formats.components import Component

FILE = ".agent-doc/components.toml"
_TRUTHS = {"true": True, "false": False}


@dataclass(frozen=True, slots=True)
class ComponentRule:
    """The rules of one component."""

    mode: FillMode = "replace"
    timestamp: bool = False
    max_entries: int = 0
    pre_patch: str = ""
    post_patch: str = ""

    @property
    def has_hooks(self) -> bool:
        return bool(self.pre_patch or self.post_patch)

    @property
    def filling(self) -> FillOptions:
        return FillOptions(self.mode, self.max_entries)


_KINDS: dict[str, type] = {entry.name: type(getattr(ComponentRule(), entry.name)) for entry in fields(ComponentRule)}


def parse_rules(table: Mapping[str, Any], source: str = FILE) -> dict[str, ComponentRule]:
    """The rules of a parsed file, by component name."""
    return {name: _parse_rule(name, given, source) for name, given in table.items()}


def rule_for(component: Component, rules: Mapping[str, ComponentRule]) -> ComponentRule:
    """The rules of a component: its own attributes override the file, which overrides the defaults."""
    rule = rules.get(component.name, ComponentRule())
    said = dict(component.attributes)
    if _PATCH in said:  # the newer word of the original; it wins over the older one
        said["mode"] = said[_PATCH]
    attributes = {name: _parse_attribute(name, value) for name, value in said.items() if name in _ATTRIBUTES}
    return ComponentRule(**{**{entry.name: getattr(rule, entry.name) for entry in fields(ComponentRule)}, **attributes})


_ATTRIBUTES = ("mode", "timestamp", "max_entries")
_PATCH = "patch"


def _parse_attribute(name: str, value: str) -> Any:
    known = _TRUTHS.get(value) if name == "timestamp" else value
    if name == "max_entries":
        known = int(value) if value.isascii() and value.isdigit() and len(value) <= 9 else None
    fault = _fault(name, known)
    if fault:
        raise Refused(f"A component's marker says {name}={value}; {name} must be {fault}.", code="conflict")
    return known


def _parse_rule(component: str, given: object, source: str) -> ComponentRule:
    if not isinstance(given, dict):
        raise _invalid(source, component, "a table")
    table = cast("dict[str, Any]", given)
    for name, value in table.items():
        if name not in _KINDS:
            raise RedraftError(
                f"{source}: [{component}] has the unknown key {name!r}. Known: {', '.join(_KINDS)}.",
                code="invalid_settings",
                path=source,
            )
        fault = _fault(name, value)
        if fault:
            raise _invalid(source, f"{component}.{name}", fault)
    return ComponentRule(**table)


def _fault(name: str, value: object) -> str | None:
    """What a value has to be instead; None if it is valid."""
    kind = _KINDS[name]
    if name == "mode":
        return None if value in FILL_MODES else f"one of {', '.join(FILL_MODES)}"
    if kind is bool:
        return None if isinstance(value, bool) else "true or false"
    if kind is int:
        return (
            None if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else "a number of 0 or more"
        )
    return None if isinstance(value, str) else "a string"


def _invalid(source: str, name: str, what: str) -> RedraftError:
    return RedraftError(f"{source}: {name} must be {what}.", code="invalid_settings", path=source)
