"""Mask credentials in what is shown or stored of a call, wherever they are: by the name of a field, or by the form of
its text. What a tool or a model works with is not changed.
"""

from __future__ import annotations

import re
from typing import Any, cast

MASKED = "[masked]"
# Words in the name of a field whose value is a secret.
TELLING = frozenset(
    {"apikey", "auth", "authorization", "cookie", "credential", "credentials", "passphrase", "passwd", "password"}
    | {"secret", "token"}
)
# Credentials that are recognised by their prefix, also in the middle of prose.
CREDENTIAL = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----.*"  # and everything after it
    r"|\b(?:sk|pk|rk)[-_](?:[A-Za-z0-9]+[-_])*[A-Za-z0-9]{16,}"
    r"|\b(?:gh[opsur]|github_pat|glpat|xox[abops]|npm|pypi|hf)[-_][A-Za-z0-9_-]{16,}"
    r"|\bAKIA[0-9A-Z]{16}\b"
    r"|\bAIza[0-9A-Za-z_-]{35}"
    r"|\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"
    r"|(?i:\bBearer\s+)[A-Za-z0-9._~+/=-]{16,}",
    re.DOTALL,
)
# The prefix of a credential whose end was cut off: too short to be recognised as above.
CUT_OFF = re.compile(
    r"(?:\b(?:[spr]k|gh[opsur]|github_pat|glpat|xox[abops]|npm|pypi|hf)[-_]|\bAKIA|\bAIza|\beyJ|(?i:\bBearer\s+))"
    r"[A-Za-z0-9._~+/=-]*(?=… \[\d+ more characters\]\Z)"
)


def mask_credentials(value: Any) -> Any:
    """A JSON value without what looks like a credential."""
    if isinstance(value, str):
        return CUT_OFF.sub(MASKED, CREDENTIAL.sub(MASKED, value))
    if isinstance(value, dict):
        table = cast("dict[str, Any]", value)
        return {
            name: MASKED if is_secret_field(name, inner) else mask_credentials(inner) for name, inner in table.items()
        }
    if isinstance(value, list):
        return [mask_credentials(inner) for inner in cast("list[Any]", value)]
    return value


def is_secret_field(name: str, value: Any) -> bool:
    """Whether a field of this name contains a secret."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).casefold().replace("-", "_").split("_")
    telling = not TELLING.isdisjoint(words) or "api_key" in "_".join(words) or "private_key" in "_".join(words)
    return telling and isinstance(value, str) and bool(value)
