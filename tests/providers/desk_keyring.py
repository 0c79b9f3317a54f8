"""A keyring for tests, by the library's own contract: its drawer is a file that the environment names."""

from __future__ import annotations

import json
import os
from pathlib import Path

from keyring.backend import KeyringBackend
from keyring.errors import PasswordDeleteError


class DeskKeyring(KeyringBackend):
    priority = 9  # type: ignore[assignment]

    @property
    def _drawer(self) -> Path:
        return Path(os.environ["DESK_KEYRING"])

    def _held(self) -> dict[str, str]:
        return json.loads(self._drawer.read_text(encoding="utf-8")) if self._drawer.exists() else {}

    def get_password(self, service: str, username: str) -> str | None:
        return self._held().get(f"{service} {username}")

    def set_password(self, service: str, username: str, password: str) -> None:
        self._drawer.write_text(json.dumps({**self._held(), f"{service} {username}": password}), encoding="utf-8")

    def delete_password(self, service: str, username: str) -> None:
        held = self._held()
        if held.pop(f"{service} {username}", None) is None:
            raise PasswordDeleteError("There is none.")
        self._drawer.write_text(json.dumps(held), encoding="utf-8")
