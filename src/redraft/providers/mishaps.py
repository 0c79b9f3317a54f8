"""The library's failures as ours: which kind each is, and what of the provider's own words is passed on.

Whatever else the library raises means that it met an answer it does not understand (a body without the fields that the
provider's documentation promises gives a plain `TypeError`): the answer is invalid, and nobody above has to know.
"""

from __future__ import annotations

from typing import Any

from pydantic_ai import exceptions as library

from redraft.providers.failures import Kind, ProviderError

# The first class that fits decides, so the narrower ones stand first.
_FAILURES: tuple[tuple[type[Exception], Kind], ...] = (
    (library.ModelContextWindowExceededError, "context_overflow"),
    (library.ModelAuthenticationError, "auth"),
    (library.ModelRequestRejectedError, "bad_request"),
    (library.ModelQuotaExceededError, "auth"),
    (library.ModelRateLimitError, "rate_limited"),
    (library.ModelUnavailableError, "overloaded"),
    (library.ModelServerError, "overloaded"),
    (library.ModelTimeoutError, "timeout"),
    (library.ModelRequestTimeout, "timeout"),
    (library.ModelConnectionError, "unreachable"),
    (library.ModelHTTPError, "bad_request"),
    (library.ModelAPIError, "unreachable"),
    (library.UnexpectedModelBehavior, "invalid_output"),
    (library.UserError, "bad_request"),
    (Exception, "invalid_output"),
)
_WORDS: dict[Kind, str] = {
    "context_overflow": "The conversation is longer than the model can hold.",
    "auth": "The provider refused the key, or the account has no credit left.",
    "bad_request": "The provider refused the request.",
    "rate_limited": "The provider has had too many requests.",
    "overloaded": "The provider failed or is overloaded.",
    "timeout": "The model did not answer in time.",
    "unreachable": "The model could not be reached, or the connection broke.",
    "invalid_output": "The provider's answer cannot be read.",
}
_MAX_QUOTED = 300


def failure(error: Exception, provider: str) -> ProviderError:
    """Our failure for one of the library's."""
    kind: Kind = next(kind for known, kind in _FAILURES if isinstance(error, known))
    said = _said(error)
    return ProviderError(
        f"{_WORDS[kind]} {said}".strip(),
        kind=kind,
        provider=provider,
        status=error.status_code if isinstance(error, library.ModelHTTPError) else None,
        retry_after=error.retry_after if isinstance(error, library.ModelAPIError) else None,
    )


def _said(error: Exception) -> str:
    """What the provider said of it: its own sentence, bounded, and nothing else of the body."""
    body: Any = getattr(error, "body", None)
    for name in ("error", "message"):
        if isinstance(body, dict) and name in body:
            body = body[name]  # pyright: ignore[reportUnknownVariableType] - any JSON
    if isinstance(body, str) and body.strip():
        return f"It said: {' '.join(body.split())[:_MAX_QUOTED]}"
    return ""
