"""An answer that was asked for as JSON: read, checked against its schema, or refused with what to tell the model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from redraft.providers.contract import ProviderError
from redraft.providers.reading import first_object, parse_json
from redraft.providers.schemas import violations

if TYPE_CHECKING:
    from redraft.providers.contract import StepRequest


def structured_data(text: str, request: StepRequest, provider: str) -> Any:
    """The value that the request's schema asks for; None where it asks for none."""
    if request.response_schema is None:
        return None
    try:
        value = parse_json(_bare(text))
    except ValueError as error:
        raise invalid_answer(f"The answer cannot be used: {error}.", text, provider) from error
    if found := violations(value, request.response_schema):
        raise invalid_answer(f"The answer does not fit its schema: {'; '.join(found)}.", text, provider)
    return value


def _bare(text: str) -> str:
    # A model without constrained decoding wraps its JSON in a fence or a sentence; the object itself is what counts.
    stripped = text.strip()
    return stripped if stripped[:1] in ("{", "[") else first_object(stripped)


def invalid_answer(message: str, text: str, provider: str) -> ProviderError:
    return ProviderError(message, kind="invalid_output", provider=provider, output=text)
