"""Model servers that run on this machine: Ollama, LM Studio and llama.cpp, asked at the ports they usually have.

Only loopback addresses are asked, without a key, and each has a second to answer.
"""

from __future__ import annotations

import http.client
import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from redraft.providers.errors import ProviderError
from redraft.providers.network_guard import check_address, is_loopback

if TYPE_CHECKING:
    from collections.abc import Mapping

SECONDS = 1.0
MAX_ANSWER = 1024 * 1024
MAX_MODELS = 100


@dataclass(frozen=True, slots=True)
class LocalServer:
    """A server that answered, and the models it offers. `base_url` is where it speaks OpenAI's protocol."""

    name: str
    base_url: str
    models: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Place:
    name: str
    origin: str
    listing: str = "/v1/models"
    field: str = "data"
    key: str = "id"


def find_local_servers(environ: Mapping[str, str]) -> list[LocalServer]:
    """The servers that answer now. `OLLAMA_HOST` names another port for Ollama, as it does for Ollama itself."""
    places = (
        _Place("Ollama", _ollama_origin(environ), "/api/tags", "models", "name"),
        _Place("LM Studio", "http://127.0.0.1:1234"),
        _Place("llama.cpp", "http://127.0.0.1:8080"),
    )
    with ThreadPoolExecutor(len(places)) as threads:
        return [found for found in threads.map(_ask, places) if found is not None]


def _ollama_origin(environ: Mapping[str, str]) -> str:
    told = environ.get("OLLAMA_HOST", "")
    url = told if "//" in told else f"http://{told}"
    try:
        parts = urlsplit(url)
        port = parts.port or 11434
    except ValueError:
        return "http://127.0.0.1:11434"
    return f"http://127.0.0.1:{port}" if is_loopback(url) or parts.hostname in ("0.0.0.0", None) else ""  # noqa: S104


def _ask(place: _Place) -> LocalServer | None:
    if not place.origin:
        return None
    connection = http.client.HTTPConnection(urlsplit(place.origin).netloc, timeout=SECONDS)
    try:
        check_address(place.origin, place.name)
        connection.request("GET", place.listing, headers={"Accept": "application/json"})
        response = connection.getresponse()
        found: Any = json.loads(response.read(MAX_ANSWER)) if response.status == 200 else None
    except (OSError, ValueError, http.client.HTTPException, ProviderError):
        return None
    finally:
        connection.close()
    listed = cast("dict[str, Any]", found).get(place.field) if isinstance(found, dict) else None
    if not isinstance(listed, list):
        return None  # another program uses the port
    entries = [cast("dict[str, Any]", each) for each in cast("list[object]", listed) if isinstance(each, dict)]
    names = [name for entry in entries if isinstance(name := entry.get(place.key), str) and 0 < len(name) <= 200]
    return LocalServer(place.name, f"{place.origin}/v1", tuple(names[:MAX_MODELS]))
