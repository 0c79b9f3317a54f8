"""A pydantic-ai model for a provider's address, model name and key.

Nothing is sent here. The key and the address are always named, which shuts off the libraries' own habit of looking for
them in the environment: a key of one provider must never reach another one's address.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pydantic_ai

if TYPE_CHECKING:
    from collections.abc import Callable

    import httpx2
    from pydantic_ai.models import Model

    from redraft.providers.remote import Address

pydantic_ai.BANNER_ENABLED = False  # it would print advertising into a person's terminal

# What is sent where there is no key: with none at all, the libraries would take whatever the environment has for one.
NO_KEY = "none"


def connect(address: Address, client: httpx2.AsyncClient) -> Model:
    """The library's model, speaking through `client`."""
    return _KINDS[address.kind](address, client)


def _anthropic(address: Address, client: httpx2.AsyncClient) -> Model:
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    provider = AnthropicProvider(api_key=address.key or NO_KEY, base_url=address.url, http_client=client)
    return AnthropicModel(address.model, provider=provider)


def _openai(address: Address, client: httpx2.AsyncClient) -> Model:
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    provider = OpenAIProvider(api_key=address.key or NO_KEY, base_url=address.url, http_client=client)
    return OpenAIChatModel(address.model, provider=provider)


def _openai_responses(address: Address, client: httpx2.AsyncClient) -> Model:
    from pydantic_ai.models.openai import OpenAIResponsesModel
    from pydantic_ai.providers.openai import OpenAIProvider

    provider = OpenAIProvider(api_key=address.key or NO_KEY, base_url=address.url, http_client=client)
    return OpenAIResponsesModel(address.model, provider=provider)


def _google(address: Address, client: httpx2.AsyncClient) -> Model:
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.providers.google import GoogleProvider

    provider = GoogleProvider(api_key=address.key or NO_KEY, base_url=address.url, http_client=client)
    return GoogleModel(address.model, provider=provider)


def _compatible(address: Address, client: httpx2.AsyncClient) -> Model:
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.profiles.openai import OpenAIModelProfile
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    provider = OpenAICompatibleProvider(
        "compatible",
        base_url=address.url,
        api_key=address.key or NO_KEY,
        http_client=client,
        # The older name of the limit is the one that every server of this family knows.
        profile=OpenAIModelProfile(openai_chat_supports_max_completion_tokens=False),
    )
    return OpenAIChatModel(address.model, provider=provider)


_KINDS: dict[str, Callable[[Address, httpx2.AsyncClient], Model]] = {
    "anthropic": _anthropic,
    "openai": _openai,
    "openai_responses": _openai_responses,
    "google": _google,
    "compatible": _compatible,
}
