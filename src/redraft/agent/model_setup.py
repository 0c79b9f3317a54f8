"""Setting up a model: what a person may choose from, the entry that it becomes, and whether it answers.

The app's Models page and `redraft models` are both made of this, so that they refuse the same and say the same.
"""

from __future__ import annotations

import asyncio
import re
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from redraft.agent.model_selection import ON_THIS_MACHINE, is_local
from redraft.config import ModelEntry
from redraft.errors import Refused
from redraft.providers.contract import StepRequest, UserMessage
from redraft.providers.errors import ProviderError
from redraft.providers.models import FROM_KEYS, KEY_VARIABLES, make_provider_of, origin_of_model
from redraft.providers.network_guard import is_loopback

if TYPE_CHECKING:
    from collections.abc import Mapping

    from redraft.files.key_store import KeyStore
    from redraft.providers.models import KeySources

# What the page and the command offer. Models that run a program or read a file are for the settings file alone: a web
# page must never name a command.
Provider = Literal["anthropic", "openai", "google", "compatible"]
KINDS: dict[Provider, str] = {
    "anthropic": "anthropic",
    "openai": "openai_responses",
    "google": "google",
    "compatible": "compatible",
}
ADDABLE = ("anthropic", "openai", "openai_responses", "google", "compatible")
KEY_PAGES = {
    "anthropic": "https://console.anthropic.com/settings/keys",
    "openai": "https://platform.openai.com/api-keys",
    "openai_responses": "https://platform.openai.com/api-keys",
    "google": "https://aistudio.google.com/apikey",
}
NAME_FORM = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}\Z")
TEST_PROMPT = "Answer with one short sentence: which model are you?"
TEST_SECONDS, TEST_TOKENS, MAX_SHOWN = 60, 2000, 500
KeyPlace = Literal["keyring", "file", "environment", "missing", "none"]


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """The model that a person wants to set up. What is empty gets the provider's usual value."""

    provider: Provider
    model: str = ""
    base_url: str = ""
    native_tools: bool = True


def entry_of(spec: ModelSpec) -> ModelEntry:
    """The entry for the settings; `Refused` with what to change."""
    kind = KINDS[spec.provider]
    usual = FROM_KEYS.get(spec.provider)
    model = spec.model.strip() or (usual.model if usual else "")
    if not model or len(model) > 200 or not model.isprintable():
        raise Refused("Name the model, as its server lists it.", field="model")
    url = spec.base_url.strip().rstrip("/")
    if url:
        _check_url(url)
    elif kind == "compatible":
        raise Refused("Give the address of the server, such as http://localhost:11434/v1.", field="base_url")
    return ModelEntry(kind=kind, model=model, base_url=url, native_tools=spec.native_tools)


def _check_url(url: str) -> None:
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(url)
        wrong = parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0
    except ValueError:
        wrong, parts = True, urlsplit("")
    if wrong or parts.username is not None or parts.query or parts.fragment or len(url) > 2000 or not url.isprintable():
        raise Refused("That is not an address such as http://localhost:11434/v1.", field="base_url")
    if parts.scheme == "http" and not is_loopback(url):
        raise Refused("Use https: over http, others on the network could read the key and your text.", field="base_url")


def check_name(name: str, models: Mapping[str, ModelEntry]) -> str:
    """The name for a model, which may replace one that was set up in the same way."""
    if not NAME_FORM.match(name) or name == "offline":
        raise Refused("A model's name has small letters, digits, - and _.", field="name")
    if name in models and models[name].kind not in ADDABLE:
        raise Refused(f"{name} is the name of a {models[name].kind} in your settings; choose another.", field="name")
    return name


def place_of_key(entry: ModelEntry, keys: KeySources, store: KeyStore) -> KeyPlace:
    """Where the model's key lies; `none` if it needs none."""
    if entry.kind in ON_THIS_MACHINE or entry.kind not in ADDABLE:
        return "none"
    if entry.key_env:
        return "environment" if keys.environ.get(entry.key_env) else "missing"
    if (stored := store.place(origin_of_model(entry))) is not None:
        return stored
    if entry.base_url:
        return "none" if is_local(entry) or entry.kind == "compatible" else "missing"
    return "environment" if any(keys.environ.get(name) for name in KEY_VARIABLES[entry.kind]) else "missing"


@dataclass(frozen=True, slots=True)
class ModelTestResult:
    """How a model answered. `price_usd` is None if nobody knows the price; a model on this machine costs nothing."""

    ok: bool
    text: str
    model: str = ""
    price_usd: str | None = None
    seconds: float = 0.0


def check_model(entry: ModelEntry, keys: KeySources) -> ModelTestResult:
    """Ask the model one short question, once."""
    started = time.monotonic()
    quick = replace(entry, attempts=1, timeout_seconds=min(entry.timeout_seconds, TEST_SECONDS))
    try:
        provider = make_provider_of(quick, keys)
        request = StepRequest((UserMessage(TEST_PROMPT),), max_output_tokens=TEST_TOKENS)
        result = asyncio.run(provider.run_step(request))
    except ProviderError as error:
        return ModelTestResult(False, advise(error, entry), seconds=time.monotonic() - started)
    price = "0" if is_local(entry) else None if result.price_usd is None else f"{result.price_usd:f}"
    said = " ".join(result.text.split())[:MAX_SHOWN] or "(It answered without words.)"
    return ModelTestResult(True, said, result.model, price, time.monotonic() - started)


def advise(error: ProviderError, entry: ModelEntry) -> str:
    """What went wrong, in one sentence, and what to do in another."""
    origin = origin_of_model(entry) or entry.kind
    page = "" if entry.base_url else KEY_PAGES.get(entry.kind, "")
    if error.kind == "auth":
        where = f" at {page}" if page else ""
        return f"{origin} refused the key. Copy the whole key again, or make a new one{where}, and add it here."
    if error.kind == "quota":
        return "The key works, but its account has no credit or quota left. Add credit there, or use another model."
    if error.kind == "unreachable":
        if is_local(entry):
            return f"Nothing answers at {origin}. Start the model's server, then test again."
        return f"{origin} cannot be reached. Check this computer's connection to the internet, then test again."
    if error.kind == "timeout":
        return "The model did not answer within a minute. A local one may still be loading: test again."
    if error.kind in ("rate_limited", "overloaded"):
        return f"{origin} is busy, or you asked too often. Wait a minute, then test again. {_said(error)}".strip()
    if error.kind == "bad_request":
        return f"{origin} refused the question. Check that “{entry.model}” is a model there. {_said(error)}".strip()
    return f"{error.message} {error.hint or ''}".strip()


def _said(error: ProviderError) -> str:
    _, mark, quoted = error.message.partition("It said: ")
    return mark + quoted
