"""Settings as values. Nothing here reads a file or the environment: `runtime` does, and hands the values down.

A person's settings may say anything; a folder's own (`.redraft/settings.toml`, which arrives with the folder and so may
come from anybody) can only narrow them. An unknown key is an error, because a misspelt limit is no limit.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, cast

from redraft.errors import RedraftError

MODE_WIDTH = {"read": 0, "propose": 1, "apply": 2, "merge": 2}


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one turn may do."""

    actions: int = 20
    files: int = 1000
    bytes: int = 64 * 1024 * 1024
    document_bytes: int = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Settings:
    """What a person can choose."""

    mode: str = "propose"
    review: Literal["hunk", "turn"] = "hunk"
    confirm_files: int = 10
    retention_days: int = 90
    retention_turns: int = 10_000
    limits: Limits = field(default_factory=Limits)

    def narrowed(self, folder: Settings) -> Settings:
        """These settings under a folder's own: the smaller limit, the stricter mode."""
        mode = min(self.mode, folder.mode, key=lambda name: MODE_WIDTH.get(name, 0))
        limits = Limits(
            actions=min(self.limits.actions, folder.limits.actions),
            files=min(self.limits.files, folder.limits.files),
            bytes=min(self.limits.bytes, folder.limits.bytes),
            document_bytes=min(self.limits.document_bytes, folder.limits.document_bytes),
        )
        return replace(
            self,
            mode=mode,
            review="turn" if "turn" in (self.review, folder.review) else "hunk",
            confirm_files=min(self.confirm_files, folder.confirm_files),
            limits=limits,
        )


def parse_settings(table: dict[str, Any], source: str, start: Settings | None = None) -> Settings:
    """Settings from a parsed TOML table, on top of `start`."""
    settings = start or Settings()
    given = dict(table)
    limits = given.pop("limits", {})
    if not isinstance(limits, dict):
        raise invalid(source, "limits", "a table")
    return replace(
        settings,
        **checked(given, settings, source),
        limits=replace(settings.limits, **checked(cast("dict[str, Any]", limits), settings.limits, source)),
    )


def checked(given: dict[str, Any], start: Settings | Limits, source: str) -> dict[str, Any]:
    """The values, each of the kind that the setting has now."""
    known = {entry.name: getattr(start, entry.name) for entry in fields(start)}
    for name, value in given.items():
        if name not in known:
            raise invalid(source, name, f"one of {', '.join(sorted(known))}")
        kind = cast("type[Any]", type(known[name]))
        if type(value) is not kind:
            raise invalid(source, name, f"of the kind {kind.__name__}")
        if kind is int and value < 1:
            raise invalid(source, name, "at least 1")
        if name == "review" and value not in ("hunk", "turn"):
            raise invalid(source, name, "'hunk' or 'turn'")
        if name == "mode" and value not in MODE_WIDTH:
            raise invalid(source, name, f"one of {', '.join(MODE_WIDTH)}")
    return given


def invalid(source: str, name: str, wanted: str) -> RedraftError:
    return RedraftError(f"{source}: {name} must be {wanted}.", code="invalid_settings", setting=name)
