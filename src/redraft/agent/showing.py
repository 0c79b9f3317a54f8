"""A tool call as a person is shown it: its arguments and its answer as JSON, shortened, without what must stay secret.

Events are kept, streamed to browsers and printed, so what looks like a credential is masked in them wherever it stands:
by the name of a field, or by the form of its text. The model's own conversation is not touched by this.
"""

from __future__ import annotations

import json
import re
from typing import Any, cast

from redraft.agent.windows import shortened

MAX_SHOWN = 4000
MAX_TEXT, MAX_ITEMS = 1000, 20
MASKED = "[masked]"
# Words in the name of a field whose text is a secret.
TELLING = frozenset(
    {"apikey", "auth", "authorization", "cookie", "credential", "credentials", "passphrase", "passwd", "password"}
    | {"secret", "token"}
)
# Credentials that are known by how they begin; they may stand in the middle of prose.
CREDENTIAL = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----.*"  # and all that follows
    r"|\b(?:sk|pk|rk)[-_](?:[A-Za-z0-9]+[-_])*[A-Za-z0-9]{16,}"
    r"|\b(?:gh[opsur]|github_pat|glpat|xox[abops]|npm|pypi|hf)[-_][A-Za-z0-9_-]{16,}"
    r"|\bAKIA[0-9A-Z]{16}\b"
    r"|\bAIza[0-9A-Za-z_-]{35}"
    r"|\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"
    r"|(?i:\bBearer\s+)[A-Za-z0-9._~+/=-]{16,}",
    re.DOTALL,
)
# How one begins whose end was cut off: too little of it is left to be known as above.
CUT_OFF = re.compile(
    r"(?:\b(?:[spr]k|gh[opsur]|github_pat|glpat|xox[abops]|npm|pypi|hf)[-_]|\bAKIA|\bAIza|\beyJ|(?i:\bBearer\s+))"
    r"[A-Za-z0-9._~+/=-]*(?=… \[\d+ more characters\]\Z)"
)


def shown(value: Any) -> str:
    """A JSON value as an event carries it: valid JSON in at most about `MAX_SHOWN` characters. A text that was cut says
    how much of it is left out."""
    told = json.dumps(_masked(shortened(value, MAX_SHOWN, text=MAX_TEXT, items=MAX_ITEMS)), ensure_ascii=False)
    if len(told) <= 2 * MAX_SHOWN:
        return told
    # Of many fields, or of long names, only what they look like is left.
    return json.dumps(f"{told[:MAX_SHOWN]}… [{len(told) - MAX_SHOWN} more characters]", ensure_ascii=False)


def _masked(value: Any) -> Any:
    if isinstance(value, str):
        return CUT_OFF.sub(MASKED, CREDENTIAL.sub(MASKED, value))
    if isinstance(value, dict):
        table = cast("dict[str, Any]", value)
        return {name: MASKED if _tells(name, inner) else _masked(inner) for name, inner in table.items()}
    if isinstance(value, list):
        return [_masked(inner) for inner in cast("list[Any]", value)]
    return value


def _tells(name: str, value: Any) -> bool:
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).casefold().replace("-", "_").split("_")
    telling = not TELLING.isdisjoint(words) or "api_key" in "_".join(words) or "private_key" in "_".join(words)
    return telling and isinstance(value, str) and bool(value)
