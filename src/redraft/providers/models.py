"""From settings to providers: which models a person has, and a provider for each.

Models are those in the settings, and one for each provider whose key is stored or in the environment, so that a key
alone is enough to start. Keys are only ever read from what is passed in: the stored ones, by the origin of the
server that each is for, and the environment, of which a settings file names the variable.
Making a provider costs nothing: connections, files and libraries wait for the first step.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from redraft.config import ModelEntry
from redraft.errors import Refused
from redraft.providers.adapters.command import CLAUDE, CommandProvider, CommandSpec
from redraft.providers.adapters.local import LocalProvider
from redraft.providers.adapters.prompted_tools import PromptedTools
from redraft.providers.adapters.remote import PUBLIC_ADDRESSES, Address, RemoteLimits, RemoteProvider, RetryPolicy
from redraft.providers.adapters.scripted import ScriptedProvider, read_script
from redraft.providers.contract import Provider, ProviderError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

# The variables that may hold a provider's key, in order.
KEY_VARIABLES: dict[str, tuple[str, ...]] = {
    "anthropic": ("ANTHROPIC_API_KEY",),
    "openai": ("OPENAI_API_KEY",),
    "openai_responses": ("OPENAI_API_KEY",),
    "google": ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
}
# The assistant that needs no model and is always available.
OFFLINE = "offline"
# The models that a key alone gives, in order of preference.
FROM_KEYS: dict[str, ModelEntry] = {
    "anthropic": ModelEntry(kind="anthropic", model="claude-sonnet-5-5"),
    "openai": ModelEntry(kind="openai_responses", model="gpt-5.5"),
    "google": ModelEntry(kind="google", model="gemini-flash-latest"),
}
_CLAUDE_VARIABLES = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "CLAUDE_CONFIG_DIR")
MAX_SCRIPT_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class KeySources:
    """Where keys are: the process's environment, by variable, and what is stored, by the origin of the server."""

    environ: Mapping[str, str] = field(default_factory=dict[str, str])
    stored: Mapping[str, str] = field(default_factory=dict[str, str])

    def has_usual(self, kind: str) -> bool:
        """Whether there is a key for a public provider."""
        variables = any(self.environ.get(variable) for variable in KEY_VARIABLES[kind])
        return variables or origin_of(PUBLIC_ADDRESSES[kind]) in self.stored


def origin_of(url: str) -> str:
    """The scheme, host and port of an address: what a stored key is for."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}".lower()


def origin_of_model(entry: ModelEntry) -> str:
    """The server that a model is asked from; empty if it is none."""
    url = entry.base_url or PUBLIC_ADDRESSES.get(entry.kind, "")
    return origin_of(url) if url else ""


def list_known_models(models: Mapping[str, ModelEntry], keys: KeySources) -> dict[str, ModelEntry]:
    """Every model by name: the person's own, then those from keys alone."""
    found = dict(models)
    for name, entry in FROM_KEYS.items():
        if name not in found and keys.has_usual(entry.kind):
            found[name] = entry
    return found


def make_provider(name: str, models: Mapping[str, ModelEntry], keys: KeySources) -> Provider:
    """The model of this name, wrapped in the JSON protocol if it has no native tools.

    `provider:model` (`anthropic:claude-haiku-5-5`) names a model that is not in the settings.
    """
    entry = list_known_models(models, keys).get(name) or _parse_name(name)
    if entry is None:
        names = ", ".join(dict.fromkeys((*list_known_models(models, keys), OFFLINE)))
        raise Refused(f"There is no model {name!r}; known are: {names}.", code="model_unavailable", model=name)
    return make_provider_of(entry, keys)


def make_provider_of(entry: ModelEntry, keys: KeySources) -> Provider:
    """The model of this entry, which need not be in the settings."""
    provider = _MAKERS[entry.kind](entry, keys)
    return provider if provider.supports_native_tools else PromptedTools(provider)


def _parse_name(name: str) -> ModelEntry | None:
    kind, colon, model = name.partition(":")
    return ModelEntry(kind=kind, model=model) if colon and model and kind in KEY_VARIABLES else None


def _make_remote_provider(entry: ModelEntry, keys: KeySources) -> Provider:
    return RemoteProvider(
        Address(entry.kind, entry.model, _key(entry, keys), entry.base_url),
        limits=RemoteLimits(entry.timeout_seconds, entry.output_tokens, entry.context_tokens or None),
        policy=RetryPolicy(attempts=entry.attempts),
        native_tools=entry.native_tools,
    )


def _key(entry: ModelEntry, keys: KeySources) -> str:
    if not entry.key_env and (stored := keys.stored.get(origin_of_model(entry))):
        return stored
    # A public provider's usual variable applies to its own address only: a key must not reach another server.
    usual = () if entry.base_url else KEY_VARIABLES.get(entry.kind, ())
    variables = (entry.key_env,) if entry.key_env else usual
    for variable in variables:
        if keys.environ.get(variable):
            return keys.environ[variable]
    if variables:
        raise ProviderError(
            f"There is no API key: {' or '.join(variables)} is not set, and none is stored.",
            kind="auth",
            provider=entry.kind,
        )
    return ""


def _make_local_provider(entry: ModelEntry, keys: KeySources) -> Provider:
    return LocalProvider(
        entry.file,
        context_tokens=entry.context_tokens or 8192,
        output_tokens=entry.output_tokens,
        seconds=entry.timeout_seconds,
    )


def _make_claude_provider(entry: ModelEntry, keys: KeySources) -> Provider:
    command = CommandSpec(
        argv=entry.command or CLAUDE,
        form="claude",
        model=entry.model,
        pass_variables=(*_CLAUDE_VARIABLES, *entry.pass_env),
        seconds=entry.timeout_seconds,
    )
    return CommandProvider(command, keys.environ, name="claude", context_tokens=entry.context_tokens or None)


def _make_command_provider(entry: ModelEntry, keys: KeySources) -> Provider:
    command = CommandSpec(
        argv=entry.command,
        form="text",
        model=entry.model,
        pass_variables=entry.pass_env,
        seconds=entry.timeout_seconds,
    )
    return CommandProvider(command, keys.environ, context_tokens=entry.context_tokens or None)


def _make_scripted_provider(entry: ModelEntry, keys: KeySources) -> Provider:
    try:
        with open(entry.file, encoding="utf-8") as file:
            script = file.read(MAX_SCRIPT_BYTES)
    except (OSError, UnicodeDecodeError) as error:
        raise ProviderError(
            f"{entry.file} cannot be read: {error}.", kind="unavailable", provider="scripted"
        ) from error
    return ScriptedProvider(read_script(script), model=entry.model or "scripted")


_MAKERS: dict[str, Callable[[ModelEntry, KeySources], Provider]] = {
    "anthropic": _make_remote_provider,
    "openai": _make_remote_provider,
    "openai_responses": _make_remote_provider,
    "google": _make_remote_provider,
    "compatible": _make_remote_provider,
    "local": _make_local_provider,
    "claude": _make_claude_provider,
    "command": _make_command_provider,
    "scripted": _make_scripted_provider,
}
