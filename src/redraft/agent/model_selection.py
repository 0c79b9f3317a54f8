"""Which model a job uses: the one it names, the one that routing selects, or the one that needs no key.

`Models` turns a person's settings and environment into providers. Creating one costs nothing until its first step.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from redraft.config import AgentLimits, Limits, ModelEntry, RoutingSettings
from redraft.providers.contract import Provider, ProviderError
from redraft.providers.models import OFFLINE, KeySources, list_known_models, make_provider
from redraft.providers.network_guard import is_loopback
from redraft.providers.router import RoutedProvider

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from redraft.config import Settings
    from redraft.providers.router import ModelChoice

    Trace = Callable[[ModelChoice], None]

# The kinds that run on this machine. With the others a document's text leaves it, unless their server is local.
ON_THIS_MACHINE = ("local", "scripted")


@dataclass(frozen=True, slots=True)
class Models:
    """The models of one person."""

    routing: RoutingSettings = field(default_factory=RoutingSettings)
    entries: Mapping[str, ModelEntry] = field(default_factory=dict[str, ModelEntry])
    keys: KeySources = field(default_factory=KeySources)
    limits: AgentLimits = field(default_factory=AgentLimits)
    actions: int = Limits().actions

    @staticmethod
    def of(settings: Settings, keys: KeySources) -> Models:
        return Models(settings.routing, settings.models, keys, settings.agent, settings.limits.actions)

    @property
    def known(self) -> dict[str, ModelEntry]:
        return list_known_models(self.entries, self.keys)

    def provider(self, name: str, trace: Trace) -> Provider:
        """The provider of a job: the named model, else the one that routing selects; `trace` is called for each
        choice."""
        if name == OFFLINE:
            return self.offline()
        if name:
            return self._make_router(RoutingSettings(agent_mode=self._side_of(name), fallback=False), name, trace)
        local, remote = self._sides()
        wanted = self.default_names
        if not wanted:
            return self.offline()
        if self.routing.agent_mode == "hybrid_auto" and not local:
            return self._make_router(RoutingSettings(agent_mode="remote", fallback=False), remote, trace)
        # A model that the mode does not want may be unusable here: no key, or no file.
        near, far = (self._make(side) if side in wanted else None for side in (local, remote))
        return RoutedProvider(self.routing, local=near, remote=far, trace=trace)

    @property
    def default_names(self) -> tuple[str, ...]:
        """The models that answer if none is named; empty for the assistant without a model."""
        local, remote = self._sides()
        wanted = {"local": (local,), "remote": (remote,), "hybrid_auto": (local, remote)}[self.routing.agent_mode]
        return tuple(name for name in wanted if name)

    def _sides(self) -> tuple[str, str]:
        return (
            self.routing.local or self._first(on_this_machine=True),
            self.routing.remote or self._first(on_this_machine=False),
        )

    def offline(self) -> Provider:
        """The rule-based assistant: used if no model is named, configured or found by its key."""
        from redraft.agent.offline import OfflineProvider

        limits = self.limits
        return OfflineProvider(tool_calls=limits.tool_calls, iterations=limits.iterations, actions=self.actions)

    def _make_router(self, routing: RoutingSettings, name: str, trace: Trace) -> Provider:
        made = self._make(name)
        return RoutedProvider(
            routing,
            local=made if routing.agent_mode == "local" else None,
            remote=made if routing.agent_mode == "remote" else None,
            trace=trace,
        )

    def _side_of(self, name: str) -> str:
        entry = self.known.get(name)
        if entry is None:
            self._make(name)  # raises, listing what is available
        here = entry is not None and is_local(entry)
        if not here and self.routing.agent_mode == "local":
            raise ProviderError(f"The settings keep documents on this machine; {name!r} is remote.", kind="unavailable")
        return "local" if here else "remote"

    def _first(self, *, on_this_machine: bool) -> str:
        return next((name for name, entry in self.known.items() if is_local(entry) is on_this_machine), "")

    def _make(self, name: str) -> Provider | None:
        return make_provider(name, self.entries, self.keys) if name else None


def is_local(entry: ModelEntry) -> bool:
    """Whether a model runs on this machine: in this process, or behind a server on a loopback address."""
    return entry.kind in ON_THIS_MACHINE or (entry.kind == "compatible" and is_loopback(entry.base_url))
