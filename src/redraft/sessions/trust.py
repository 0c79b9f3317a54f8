"""Which `components.toml` a person has trusted: by its exact content, kept in the folder's state outside the folder.

A hash that is not known means no trust; there is no trust by name or by place, so whoever changes one byte of a trusted
file has to be trusted again.
"""

from __future__ import annotations

import json
import os
from hashlib import sha256
from typing import cast

from redraft.errors import Damaged
from redraft.files.faults import told
from redraft.files.locks import folder_lock
from redraft.files.writing import write_private

FILE = "agent-doc-trusted.json"
LOCK = "agent-doc-trust"


def is_trusted(state: str, data: bytes) -> bool:
    return _digest(data) in _known(state)


def trust(state: str, data: bytes) -> None:
    """From now on commands in a file with this content may run."""
    with folder_lock(state, LOCK):
        known = _known(state)
        if _digest(data) not in known:
            _write(state, [*known, _digest(data)])


def distrust(state: str) -> int:
    """Forget all that was trusted; how many files that were."""
    with folder_lock(state, LOCK):
        known = _known(state)
        if known:
            _write(state, [])
    return len(known)


def _digest(data: bytes) -> str:
    return sha256(data).hexdigest()


def _known(state: str) -> list[str]:
    path = os.path.join(state, FILE)
    try:
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
    except FileNotFoundError:
        return []
    except (OSError, ValueError) as error:
        raise Damaged(f"{FILE} in the folder's state cannot be read: {error}.") from error
    if not isinstance(found, list):
        raise Damaged(f"{FILE} in the folder's state holds something else.")
    return [entry for entry in cast("list[object]", found) if isinstance(entry, str)]


def _write(state: str, known: list[str]) -> None:
    with told("write", FILE):
        write_private(os.path.join(state, FILE), json.dumps(known))
