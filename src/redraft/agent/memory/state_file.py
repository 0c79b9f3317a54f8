"""A small JSON file in a folder's state: always read from disk, and changed by one process at a time.

The person may read and edit it by hand. Its owner defines its content and how to treat a broken file.
"""

from __future__ import annotations

import contextlib
import json
import os
from typing import TYPE_CHECKING, Any

from redraft.files.atomic_write import write_private
from redraft.files.locks import folder_lock

if TYPE_CHECKING:
    from collections.abc import Generator


class StateFile:
    """The file of that name in the state folder."""

    def __init__(self, state: str, name: str) -> None:
        self.path = os.path.join(state, name)
        self._state = state
        self._name = name

    def read(self) -> Any:
        """Its content; None if there is no file. Raises `OSError` or `ValueError` if it cannot be read."""
        try:
            with open(self.path, encoding="utf-8") as file:
                return json.load(file)
        except FileNotFoundError:
            return None

    @contextlib.contextmanager
    def lock(self) -> Generator[None]:
        """Keep others from changing it between a `read` and the next `write`."""
        with folder_lock(self._state, f"{self._name}.lock"):
            yield

    def write(self, value: Any) -> None:
        write_private(self.path, json.dumps(value, indent=2, ensure_ascii=False))
