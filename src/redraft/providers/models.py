"""From settings to providers: which models a person has, and a provider for each.

Models are those in the settings, and one for each provider whose key is in the environment, so that a key alone is
enough to start. Keys are only ever read from the environment that is passed in; a settings file names the variable.
Making a provider costs nothing: connections, files and libraries wait for the first step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from redraft.config import ModelEntry
from redraft.errors import Refused
from redraft.providers.adapters.command import CLAUDE, CommandProvider, CommandSpec
from redraft.providers.adapters.local import LocalProvider
from redraft.providers.adapters.prompted_tools import PromptedTools
from redraft.providers.adapters.remote import Address, RemoteLimits, RemoteProvider, RetryPolicy
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


def list_known_models(models: Mapping[str, ModelEntry], environ: Mapping[str, str]) -> dict[str, ModelEntry]:
    """Every model by name: the person's own, then those from keys in the environment."""
    found = dict(models)
    for name, entry in FROM_KEYS.items():
        if name not in found and any(environ.get(variable) for variable in KEY_VARIABLES[entry.kind]):
            found[name] = entry
    return found


def make_provider(name: str, models: Mapping[str, ModelEntry], environ: Mapping[str, str]) -> Provider:
    """The model of this name, wrapped in the JSON protocol if it has no native tools.

    `provider:model` (`anthropic:claude-haiku-5-5`) names a model that is not in the settings.
    """
    entry = list_known_models(models, environ).get(name) or _parse_name(name)
    if entry is None:
        names = ", ".join(dict.fromkeys((*list_known_models(models, environ), OFFLINE)))
        raise Refused(f"There is no model {name!r}; known are: {names}.", code="model_unavailable", model=name)
    provider = _MAKERS[entry.kind](entry, environ)
    return provider if provider.supports_native_tools else PromptedTools(provider)


def _parse_name(name: str) -> ModelEntry | None:
    kind, colon, model = name.partition(":")
    return ModelEntry(kind=kind, model=model) if colon and model and kind in KEY_VARIABLES else None


def _make_remote_provider(entry: ModelEntry, environ: Mapping[str, str]) -> Provider:
    return RemoteProvider(
        Address(entry.kind, entry.model, _key(entry, environ), entry.base_url),
        limits=RemoteLimits(entry.timeout_seconds, entry.output_tokens, entry.context_tokens or None),
        policy=RetryPolicy(attempts=entry.attempts),
        native_tools=entry.native_tools,
    )


def _key(entry: ModelEntry, environ: Mapping[str, str]) -> str:
    # A public provider's usual variable applies to its own address only: a key must not reach another server.
    usual = () if entry.base_url else KEY_VARIABLES.get(entry.kind, ())
    variables = (entry.key_env,) if entry.key_env else usual
    for variable in variables:
        if environ.get(variable):
            return environ[variable]
    if variables:
        raise ProviderError(
            f"There is no API key: {' or '.join(variables)} is not set.", kind="auth", provider=entry.kind
        )
    return ""


def _make_local_provider(entry: ModelEntry, environ: Mapping[str, str]) -> Provider:
    return LocalProvider(
        entry.file,
        context_tokens=entry.context_tokens or 8192,
        output_tokens=entry.output_tokens,
        seconds=entry.timeout_seconds,
    )


def _make_claude_provider(entry: ModelEntry, environ: Mapping[str, str]) -> Provider:
    command = CommandSpec(
        argv=entry.command or CLAUDE,
        form="claude",
        model=entry.model,
        pass_variables=(*_CLAUDE_VARIABLES, *entry.pass_env),
        seconds=entry.timeout_seconds,
    )
    return CommandProvider(command, environ, name="claude", context_tokens=entry.context_tokens or None)


def _make_command_provider(entry: ModelEntry, environ: Mapping[str, str]) -> Provider:
    command = CommandSpec(
        argv=entry.command,
        form="text",
        model=entry.model,
        pass_variables=entry.pass_env,
        seconds=entry.timeout_seconds,
    )
    return CommandProvider(command, environ, context_tokens=entry.context_tokens or None)


def _make_scripted_provider(entry: ModelEntry, environ: Mapping[str, str]) -> Provider:
    try:
        with open(entry.file, encoding="utf-8") as file:
            script = file.read(MAX_SCRIPT_BYTES)
    except (OSError, UnicodeDecodeError) as error:
        raise ProviderError(
            f"{entry.file} cannot be read: {error}.", kind="unavailable", provider="scripted"
        ) from error
    return ScriptedProvider(read_script(script), model=entry.model or "scripted")


_MAKERS: dict[str, Callable[[ModelEntry, Mapping[str, str]], Provider]] = {
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
