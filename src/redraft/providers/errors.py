"""What can go wrong when a model is asked, whichever model it is.

`ProviderError` is one leaf of the project's error tree with a `kind`; `KINDS` maps each kind to its error code and says
whether the same request may be retried automatically. An adapter translates whatever its library raises into one of
these; nothing above it ever sees a library's own exception. A message never contains a key or a document's text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from redraft.errors import ErrorCode, RedraftError

Kind = Literal[
    "auth",
    "quota",
    "rate_limited",
    "overloaded",
    "timeout",
    "unreachable",
    "bad_request",
    "context_overflow",
    "cut_off",
    "invalid_output",
    "unavailable",
    "cancelled",
]


@dataclass(frozen=True, slots=True)
class ErrorPolicy:
    """The error code of a kind, and whether a retry can help."""

    code: ErrorCode
    retry: bool


KINDS: dict[Kind, ErrorPolicy] = {
    "auth": ErrorPolicy("model_auth", retry=False),
    "quota": ErrorPolicy("model_auth", retry=False),
    "rate_limited": ErrorPolicy("model_busy", retry=True),
    "overloaded": ErrorPolicy("model_busy", retry=True),
    "timeout": ErrorPolicy("model_timeout", retry=True),
    "unreachable": ErrorPolicy("model_unreachable", retry=True),
    "bad_request": ErrorPolicy("model_bad_request", retry=False),
    "context_overflow": ErrorPolicy("model_context_full", retry=False),
    "cut_off": ErrorPolicy("model_output_cut_off", retry=False),
    "invalid_output": ErrorPolicy("model_output_invalid", retry=False),
    "unavailable": ErrorPolicy("model_unavailable", retry=False),
    "cancelled": ErrorPolicy("cancelled", retry=False),
}


class ProviderError(RedraftError):
    """A step without a result. `retry_after` is in seconds, if the provider named a time.

    `attempts` is how often the request was sent; `final` is set if part of the answer was already shown, so that a
    retry would show it twice. `output` is, for `invalid_output`, what the model wrote (at most `MAX_OUTPUT_KEPT`
    characters), so that the caller can send it back; it is not part of the reported details, because models quote
    documents.
    """

    default_code = "model_unavailable"
    MAX_OUTPUT_KEPT = 2000

    def __init__(
        self,
        message: str,
        *,
        kind: Kind,
        provider: str = "",
        status: int | None = None,
        retry_after: float | None = None,
        output: str = "",
    ) -> None:
        details: dict[str, Any] = {"kind": kind}
        if provider:
            details["provider"] = provider
        if status is not None:
            details["status"] = status
        if retry_after is not None:
            details["retry_after"] = retry_after
        super().__init__(message, code=KINDS[kind].code, **details)
        self.kind: Kind = kind
        self.provider = provider
        self.status = status
        self.retry_after = retry_after
        self.output = output[: self.MAX_OUTPUT_KEPT]
        self.attempts = 1
        self.final = False

    def __reduce__(self) -> tuple[Any, ...]:
        # Durable jobs store a failure and raise it again in another process.
        return _rebuild, (self.message, self.kind), self.__dict__

    @property
    def can_retry(self) -> bool:
        return KINDS[self.kind].retry and not self.final


def _rebuild(message: str, kind: Kind) -> ProviderError:
    return ProviderError(message, kind=kind)
