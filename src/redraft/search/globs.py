"""Which paths a glob matches, as in `rg --glob` and `.gitignore`.

A glob without a slash matches the name, at any depth; with one it matches the whole path. `*` and `?` stay within a
name, `**` crosses folders, `{a,b}` is either, a leading `!` means everything else, and a trailing slash everything
inside a folder. A comma-separated list of globs is not supported.
"""

from __future__ import annotations

import importlib
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from redraft.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Callable

_SIGN = re.compile(r"/\*\*/|^\*\*/|/\*\*$|\*+|\?|\[[!^]?\]?[^\]]*\]|\\.|[{},]|[^*?\[\\{},/]+|.", re.DOTALL)
LONGEST_GLOB = 1000
_ACROSS = {"/**/": "/(?:.*/)?", "**/": "(?:.*/)?", "/**": "/.*"}


@lru_cache(maxsize=64)
def path_filter(glob: str | None) -> Callable[[str], bool]:
    """A predicate for one glob; without a glob every path matches."""
    if not glob or glob in {"**", "**/*", "*"}:
        return _everything
    if len(glob) > LONGEST_GLOB:
        raise Refused(f"The glob is longer than {LONGEST_GLOB} characters.", code="invalid_argument", field="glob")
    negated = glob.startswith("!")
    body = glob[negated:]
    body = body + "**" if body.endswith("/") else body
    anchored = "/" in body
    body = body.removeprefix("/")
    re2: Any = importlib.import_module("re2")  # a glob is untrusted like any pattern: many stars must not take forever
    options = re2.Options()
    options.log_errors = False
    try:
        compiled = re2.compile(("" if anchored else "(?:.*/)?") + _to_regex(body, re2), options=options)
    except re2.error as error:
        raise Refused(f"The glob {glob[:200]!a} cannot be read.", code="invalid_argument") from error
    return lambda path: (compiled.fullmatch(path) is not None) is not negated


def _everything(_path: str) -> bool:
    return True


def _to_regex(glob: str, re2: Any) -> str:
    out: list[str] = []
    depth = 0
    for found in _SIGN.finditer(glob):
        sign = found.group()
        if sign in _ACROSS:
            out.append(_ACROSS[sign])
        elif sign[0] == "*":
            out.append("[^/]*")
        elif sign == "?":
            out.append("[^/]")
        elif sign[0] == "[" and len(sign) > 1:
            inner = sign[1:-1]
            negated = inner[:1] in {"!", "^"}
            out.append(("[^/" if negated else "[") + inner[negated:].replace("\\", "\\\\").replace("[", "\\[") + "]")
        elif sign in {"{", "}"} or (sign == "," and depth):
            depth += {"{": 1, "}": -1}.get(sign, 0)
            out.append({"{": "(?:", "}": ")", ",": "|"}[sign])
        else:
            out.append(re2.escape(sign[-1] if sign[0] == "\\" and len(sign) > 1 else sign))
    return "".join(out)
