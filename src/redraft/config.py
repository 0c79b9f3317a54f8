"""Settings as values. Nothing here reads a file or the environment: `runtime` does, and hands the values down.

A person's settings may say anything; a folder's own (`.redraft/settings.toml`, which arrives with the folder and so may
come from anybody) can only narrow them. An unknown key is an error, because a misspelt limit is no limit.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Literal, cast

from redraft.errors import RedraftError

if TYPE_CHECKING:
    from collections.abc import Mapping

_KINDS: dict[type, str] = {int: "a whole number", bool: "true or false", str: "a string", tuple: "a list of strings"}
_NUMBER = re.compile(r"[0-9]{1,18}")
MODE_WIDTH = {"read": 0, "propose": 1, "apply": 2, "merge": 2}
TABLES = ("limits", "agent", "server", "run", "routing", "models", "agents")
AGENT_MODES = ("local", "remote", "hybrid_auto")
# What each kind of model cannot do without.
MODEL_KINDS: dict[str, tuple[str, ...]] = {
    "anthropic": ("model",),
    "openai": ("model",),
    "openai_responses": ("model",),
    "google": ("model",),
    "compatible": ("model", "base_url"),
    "local": ("file",),
    "claude": (),
    "command": ("command",),
    "scripted": ("file",),
}
# Where agents keep their sign-in, settings and conversations, beneath the person's home; they cannot work without.
AGENT_PLACES: dict[str, tuple[str, ...]] = {
    "claude": (".claude", ".claude.json", ".cache/claude-cli-nodejs"),
    "codex": (".codex",),
    "gemini": (".gemini",),
    "opencode": (".config/opencode", ".local/share/opencode", ".local/state/opencode", ".cache/opencode"),
}
# The sets in which tools are offered: one specification's own, the curated default, everything. A tool says itself to
# which it belongs.
PROFILES = ("tabs", "workspace", "project", "editor", "default", "all")
EMBEDDINGS = ("wordllama", "minilm", "off")
VIEWS = ("auto", "copy")
CHOICES = {
    "mode": tuple(MODE_WIDTH),
    "embeddings": EMBEDDINGS,
    "agent_mode": AGENT_MODES,
    "profile": PROFILES,
    "view": VIEWS,
}


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one turn may do, and how much a tool gives back where the call does not say."""

    actions: int = 20
    files: int = 1000
    bytes: int = 64 * 1024 * 1024
    document_bytes: int = 64 * 1024 * 1024
    editor_seconds: int = 30
    read_tokens: int = 6000
    read_lines: int = 800
    read_bytes: int = 65536
    search_results: int = 20
    search_results_cap: int = 50
    search_snippet_lines: int = 20
    chunk_tokens: int = 4000
    response_tokens: int = 2000
    subagents: int = 8

    def narrow(self, other: Limits) -> Limits:
        """The smaller of each."""
        return Limits(
            **{entry.name: min(getattr(self, entry.name), getattr(other, entry.name)) for entry in fields(Limits)}
        )


@dataclass(frozen=True, slots=True)
class AgentLimits:
    """Which tools one job of the agent has, how far it may go, what it asks about first, and how long jobs are kept,
    `[agent]`."""

    profile: str = "default"
    tool_calls: int = 60
    iterations: int = 50
    output_tokens: int = 4000
    tokens: int = 1_000_000
    cents: int = 100
    seconds: int = 900
    schema_retries: int = 5
    reruns: int = 2
    destructive_calls: int = 20
    result_characters: int = 24_000
    ask_above_tokens: int = 100_000
    ask_above_cents: int = 25
    max_sessions: int = 25
    archived_days: int = 90
    max_jobs_per_session: int = 40
    max_events_per_job: int = 3000
    completed_ttl_hours: int = 72

    def narrow(self, other: AgentLimits) -> AgentLimits:
        """The smaller of each that bounds a job; which tools a job has and how long conversations are kept is not a
        folder's business."""
        kept = (
            "profile",
            "max_sessions",
            "archived_days",
            "max_jobs_per_session",
            "max_events_per_job",
            "completed_ttl_hours",
        )
        smaller = {
            entry.name: min(getattr(self, entry.name), getattr(other, entry.name))
            for entry in fields(AgentLimits)
            if entry.name not in kept
        }
        return replace(self, **smaller)


@dataclass(frozen=True, slots=True)
class ServerLimits:
    """How long a server waits for the head and the body of a request, `[server]`. A folder has no say in it."""

    head_seconds: int = 20
    body_seconds: int = 120


@dataclass(frozen=True, slots=True)
class RunSettings:
    """How `redraft run` runs other programs, `[run]`: how their private view is made, how much they may write there,
    where else they may write, and how long a view is kept in which something waits. A folder has no say in it."""

    view: str = "auto"
    bytes: int = 1024 * 1024 * 1024
    writable: tuple[str, ...] = ()
    keep_days: int = 14


@dataclass(frozen=True, slots=True)
class ModelEntry:
    """A model that a person has set up, `[models.NAME]`; docs/models.md says which kind needs what."""

    kind: str = ""
    model: str = ""
    base_url: str = ""
    key_env: str = ""
    file: str = ""
    command: tuple[str, ...] = ()
    pass_env: tuple[str, ...] = ()
    native_tools: bool = True
    context_tokens: int = 0
    output_tokens: int = 8192
    timeout_seconds: int = 300
    attempts: int = 4


@dataclass(frozen=True, slots=True)
class ProgramEntry:
    """An agent program that a person has set up, `[agents.NAME]`. A folder has no say in it."""

    command: tuple[str, ...] = ()
    writable: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RoutingSettings:
    """Which of the models answers, `[routing]`."""

    agent_mode: str = "remote"
    local: str = ""
    remote: str = ""
    fallback: bool = True
    hybrid_max_local_attempts: int = 2
    hybrid_remote_on_schema_fail: bool = True
    hybrid_remote_on_context_overflow: bool = True
    hybrid_remote_on_timeout_ms: int = 60_000

    def narrow(self, folder: RoutingSettings) -> RoutingSettings:
        """A folder may keep its documents on this machine and forbid a change of the model; it names no model."""
        local = "local" in (self.agent_mode, folder.agent_mode)
        return replace(
            self, agent_mode="local" if local else self.agent_mode, fallback=self.fallback and folder.fallback
        )


@dataclass(frozen=True, slots=True)
class Settings:
    """What a person can choose."""

    mode: str = "propose"
    review: Literal["hunk", "turn"] = "hunk"
    confirm_files: int = 10
    retention_days: int = 90
    retention_turns: int = 10_000
    lock: bool = False
    embeddings: Literal["wordllama", "minilm", "off"] = "wordllama"
    poll_interval_ms: int = 2000
    limits: Limits = field(default_factory=Limits)
    agent: AgentLimits = field(default_factory=AgentLimits)
    server: ServerLimits = field(default_factory=ServerLimits)
    run: RunSettings = field(default_factory=RunSettings)
    routing: RoutingSettings = field(default_factory=RoutingSettings)
    models: dict[str, ModelEntry] = field(default_factory=dict[str, ModelEntry])
    agents: dict[str, ProgramEntry] = field(default_factory=dict[str, ProgramEntry])

    def narrow(self, folder: Settings) -> Settings:
        """These settings under a folder's own: the smaller limit, the stricter mode."""
        mode = min(self.mode, folder.mode, key=lambda name: MODE_WIDTH.get(name, 0))
        return replace(
            self,
            mode=mode,
            review="turn" if "turn" in (self.review, folder.review) else "hunk",
            confirm_files=min(self.confirm_files, folder.confirm_files),
            lock=self.lock or folder.lock,
            limits=self.limits.narrow(folder.limits),
            agent=self.agent.narrow(folder.agent),
            routing=self.routing.narrow(folder.routing),
        )


# What the app and `redraft settings` may change in the person's own file; models and routes are for an editor.
WRITABLE = (
    *("mode", "review", "confirm_files", "retention_days", "retention_turns", "lock", "embeddings", "poll_interval_ms"),
    *(f"agent.{entry.name}" for entry in fields(AgentLimits)),
)


def parse_settings(table: dict[str, Any], source: str, start: Settings | None = None) -> Settings:
    """Settings from a parsed TOML table, on top of `start`."""
    settings = start or Settings()
    given = dict(table)
    limits, agent, server, run, routing, models, agents = (_table(given.pop(name, {}), name, source) for name in TABLES)
    run = {name: _words(value) for name, value in run.items()}
    return replace(
        settings,
        **check_values(given, settings, source),
        limits=replace(settings.limits, **check_values(limits, settings.limits, source)),
        agent=replace(settings.agent, **check_values(agent, settings.agent, source)),
        server=replace(settings.server, **check_values(server, settings.server, source)),
        run=replace(settings.run, **check_values(run, settings.run, source)),
        routing=replace(settings.routing, **check_values(routing, settings.routing, source)),
        models={**settings.models, **{name: _model(entry, name, source) for name, entry in models.items()}},
        agents={**settings.agents, **{name: _agent(entry, name, source) for name, entry in agents.items()}},
    )


def _table(value: object, name: str, source: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise invalid_setting(source, name, "a table")
    return cast("dict[str, Any]", value)


def _model(value: object, name: str, source: str) -> ModelEntry:
    given = {key: _words(word) for key, word in _table(value, f"models.{name}", source).items()}
    entry = ModelEntry(**check_values(given, ModelEntry(), source))
    needed = MODEL_KINDS.get(entry.kind)
    if needed is None:
        raise invalid_setting(source, f"models.{name}.kind", f"one of {', '.join(MODEL_KINDS)}")
    for field_name in needed:
        if not getattr(entry, field_name):
            raise invalid_setting(source, f"models.{name}.{field_name}", "given")
    return entry


def _agent(value: object, name: str, source: str) -> ProgramEntry:
    given = {key: _words(word) for key, word in _table(value, f"agents.{name}", source).items()}
    entry = ProgramEntry(**check_values(given, ProgramEntry(), source))
    if not entry.command:
        raise invalid_setting(source, f"agents.{name}.command", "given")
    return entry


def _words(value: Any) -> Any:
    """A list of strings as the tuple that settings hold; anything else as it is, for `checked` to refuse."""
    if not isinstance(value, list):
        return value
    words = cast("list[object]", value)
    return tuple(words) if all(isinstance(word, str) for word in words) else words


def environment_table(environment: Mapping[str, str]) -> dict[str, Any]:
    """The settings that an environment names, as `parse_settings` takes them: `mode` is `REDRAFT_MODE`, `limits.files`
    is `REDRAFT_LIMITS_FILES`. An empty variable is one that was not set."""
    table = _environment_values(Settings(), "REDRAFT_", environment)
    return {
        **table,
        "limits": _environment_values(Limits(), "REDRAFT_LIMITS_", environment),
        "agent": _environment_values(AgentLimits(), "REDRAFT_AGENT_", environment),
        "server": _environment_values(ServerLimits(), "REDRAFT_SERVER_", environment),
        "run": _environment_values(RunSettings(), "REDRAFT_RUN_", environment),
    }


def _environment_values(
    start: Settings | Limits | AgentLimits | ServerLimits | RunSettings, prefix: str, environment: Mapping[str, str]
) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for entry in fields(start):
        told, now = environment.get(prefix + entry.name.upper(), ""), getattr(start, entry.name)
        if told and entry.name not in TABLES:
            found[entry.name] = told.split(":") if isinstance(now, tuple) else parse_value(told, now)
    return found


def parse_value(told: str, now: object) -> str | int | bool:
    """A setting's value as it is written outside of a file, by what it is now. What should be a number or a truth and
    is none stays as it is, for `checked` to refuse it by name."""
    if isinstance(now, bool):
        return {"true": True, "false": False}.get(told, told)
    return int(told) if isinstance(now, int) and _NUMBER.fullmatch(told) else told


def check_values(
    given: dict[str, Any],
    start: Settings | Limits | AgentLimits | ServerLimits | RunSettings | RoutingSettings | ModelEntry | ProgramEntry,
    source: str,
) -> dict[str, Any]:
    """The values, each of the kind that the setting has now."""
    known = {entry.name: getattr(start, entry.name) for entry in fields(start)}
    for name, value in given.items():
        if name not in known:
            raise invalid_setting(source, name, f"one of {', '.join(sorted(known))}")
        kind = cast("type[Any]", type(known[name]))
        if type(value) is not kind:
            raise invalid_setting(source, name, _KINDS[kind])
        if kind is int and value < 1:
            raise invalid_setting(source, name, "at least 1")
        if name == "review" and value not in ("hunk", "turn"):
            raise invalid_setting(source, name, "'hunk' or 'turn'")
        if name in CHOICES and value not in CHOICES[name]:
            raise invalid_setting(source, name, f"one of {', '.join(CHOICES[name])}")
    return given


def invalid_setting(source: str, name: str, wanted: str) -> RedraftError:
    return RedraftError(f"{source}: {name} must be {wanted}.", code="invalid_settings", setting=name)
