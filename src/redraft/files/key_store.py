"""The API keys that a person gave us, by the address of the server that each is for.

A key lies in the system's keyring where there is a real one, else in a file that only the person can read, in the state
folder: outside every folder of documents, and hidden from programs that run in a private view. Keys belong to an
address, so a key can never be sent to another server by a change of the settings. What is on this list can be asked
without the key itself: nothing shows a key again.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal, cast

from redraft.errors import Damaged, RedraftError, Refused
from redraft.files.atomic_write import write_private
from redraft.files.locks import folder_lock

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

Place = Literal["keyring", "file"]
FILE = "keys.json"
SERVICE = "redraft"
MAX_KEY = 4096
# A keyring may ask the person to unlock it, and nobody may be there to answer.
KEYRING_SECONDS = 30.0
# Below 1 are keyrings that fail, forget or store in the open, by the library's own scale.
REAL_PRIORITY = 1


class KeyStore(Mapping[str, str]):
    """A mapping from origins to keys. `state` is the folder for private state, which exists once a key is stored."""

    def __init__(self, state: str) -> None:
        self._state = state
        self._path = os.path.join(state, FILE)

    def __getitem__(self, origin: str) -> str:
        entry = self._read()[origin]
        if entry["in"] == "file":
            return str(entry["key"])
        key = _in_time(lambda: _keyring().get_password(SERVICE, origin))
        if not key:
            raise Refused(
                f"The key for {origin} is no longer in the system's keyring; add it again.", code="model_auth"
            )
        return str(key)

    def __contains__(self, origin: object) -> bool:
        return origin in self._read()

    def __iter__(self) -> Iterator[str]:
        return iter(self._read())

    def __len__(self) -> int:
        return len(self._read())

    def place(self, origin: str) -> Place | None:
        """Where the key for a server lies; None if there is none."""
        entry = self._read().get(origin)
        return None if entry is None else entry["in"]

    def set(self, origin: str, key: str) -> Place:
        """Store the key for a server in place of the one before; returns where it lies now."""
        key = key.strip()
        if not key or len(key) > MAX_KEY or not key.isascii() or not key.isprintable() or " " in key:
            raise Refused("That is not an API key: it must be one line of letters, digits and signs.", field="key")
        with self._changing() as entries:
            if usable_keyring() is not None and _stored_in_keyring(origin, key):
                entries[origin] = {"in": "keyring"}
            else:
                entries[origin] = {"in": "file", "key": key}
            self._write(entries)
            return entries[origin]["in"]

    def remove(self, origin: str) -> None:
        with self._changing() as entries:
            entry = entries.pop(origin, None)
            if entry is None:
                return
            self._write(entries)  # first, so that nothing uses a key that could not be deleted
            if entry["in"] == "keyring":
                _forget_in_keyring(origin)

    @contextmanager
    def _changing(self) -> Generator[dict[str, dict[str, Any]]]:
        """The stored entries, while nobody else changes them."""
        os.makedirs(self._state, mode=0o700, exist_ok=True)
        with folder_lock(self._state, "keys"):
            yield self._read()

    def _read(self) -> dict[str, dict[str, Any]]:
        try:
            with open(self._path, encoding="utf-8") as file:
                found: Any = json.load(file)
        except FileNotFoundError:
            return {}
        except (OSError, ValueError):
            found = None
        if not isinstance(found, dict):
            raise Damaged("The list of API keys cannot be read. Delete it and add the keys again.", path=self._path)
        return cast("dict[str, dict[str, Any]]", found)

    def _write(self, entries: Mapping[str, Mapping[str, Any]]) -> None:
        try:
            write_private(self._path, json.dumps(entries, indent=2))
        except OSError as error:
            raise RedraftError(f"The key cannot be stored: {error.strerror}.", path=self._path) from error


def usable_keyring() -> Any:
    """The system's keyring; None where there is none that keeps a secret."""
    try:
        found = _keyring()
        return found if found.priority >= REAL_PRIORITY else None
    except (ImportError, RuntimeError, OSError):
        return None


def _keyring() -> Any:
    import keyring

    return keyring.get_keyring()


def _stored_in_keyring(origin: str, key: str) -> bool:
    """Whether the keyring took the key and gives it back; if not, the file has to hold it."""

    def store() -> bool:
        backend = _keyring()
        backend.set_password(SERVICE, origin, key)
        return backend.get_password(SERVICE, origin) == key

    try:
        return _in_time(store)
    except RedraftError:
        return False


def _forget_in_keyring(origin: str) -> None:
    try:
        _in_time(lambda: _keyring().delete_password(SERVICE, origin))
    except RedraftError as error:
        raise RedraftError(
            f"The key for {origin} is not used any more, but could not be deleted from the system's keyring."
        ) from error


def _in_time(act: Callable[[], Any]) -> Any:
    """The result of `act`, which may wait for a person who is not there. It is left behind then."""
    results: list[Any] = []
    failures: list[Exception] = []

    def run() -> None:
        try:
            results.append(act())
        except Exception as error:  # noqa: BLE001 - backends raise whatever their system does; raised again below
            failures.append(error)

    thread = threading.Thread(target=run, name="redraft-keyring", daemon=True)
    thread.start()
    thread.join(KEYRING_SECONDS)
    if failures:
        raise RedraftError("The system's keyring cannot be used.", code="model_auth") from failures[0]
    if not results:
        raise RedraftError("The system's keyring does not answer. Unlock it and try again.", code="model_auth")
    return results[0]
