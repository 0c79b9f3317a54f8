"""The person's models: set up, try, choose and remove them. For admins; a key goes in and never comes out."""

from __future__ import annotations

import os
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import Path, Response
from pydantic import BaseModel, ConfigDict, Field, SecretStr
from typing_extensions import TypedDict

from redraft.agent.model_selection import is_local
from redraft.agent.model_setup import (
    ADDABLE,
    KeyPlace,
    ModelSpec,
    check_model,
    check_name,
    entry_of,
    place_of_key,
)
from redraft.errors import Refused
from redraft.files.key_store import MAX_KEY, usable_keyring
from redraft.providers.local_servers import find_local_servers
from redraft.providers.models import origin_of_model
from redraft.runtime import (
    choose_model,
    folder_settings,
    key_sources,
    key_store,
    models,
    remove_model,
    user_settings,
    write_model,
)
from redraft.server.routes.responses import Here, answer, gives, new_router

if TYPE_CHECKING:
    from redraft.server.folder_state import RequestContext
    from redraft.workspace.workspace import Workspace

router = new_router("/api/models", "about")
Name = Annotated[str, Path(min_length=1, max_length=200)]


class ModelShape(TypedDict):
    """A model that is set up. `address` is its server's, empty if it has none; `key` says where its key lies, never
    what it is. `editable` is false for what only the settings file can change."""

    name: str
    kind: str
    model: str
    address: str
    key: KeyPlace
    local: bool
    in_use: bool
    editable: bool


class ModelsResponse(TypedDict):
    """The models, and where a new key would be stored."""

    models: list[ModelShape]
    keys_go_to: Literal["keyring", "file"]


class FoundServer(TypedDict):
    """A model server on this machine that answered."""

    name: str
    base_url: str
    models: list[str]


class FoundServers(TypedDict):
    servers: list[FoundServer]


class ModelRequest(BaseModel):
    """A model to set up. Without a `key`, the stored one stays."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)
    provider: Literal["anthropic", "openai", "google", "compatible"]
    model: str = Field("", max_length=200)
    base_url: str = Field("", max_length=2000)
    native_tools: bool = True
    key: SecretStr | None = Field(None, max_length=MAX_KEY)


class ModelTestShape(TypedDict):
    """How a model answered, or what went wrong and what to do. `price_usd` is null if nobody knows the price."""

    ok: bool
    text: str
    model: str
    price_usd: str | None
    seconds: float


def _all() -> dict[str, Any]:
    known, store, sources = models(), key_store(), key_sources()
    answering = known.default_names
    found: list[ModelShape] = [
        {
            "name": name,
            "kind": entry.kind,
            "model": entry.model or os.path.basename(entry.file),
            "address": origin_of_model(entry),
            "key": place_of_key(entry, sources, store),
            "local": is_local(entry),
            "in_use": name in answering,
            "editable": entry.kind in ADDABLE,
        }
        for name, entry in known.known.items()
    ]
    return {"models": found, "keys_go_to": "file" if usable_keyring() is None else "keyring"}


async def _change(desk: RequestContext, act: Any, values: dict[str, Any]) -> Response:
    """Change the person's settings or keys, and let the result hold here at once. The log has no key."""

    def apply(workspace: Workspace) -> None:
        settings, _ = folder_settings(workspace.folder, user_settings())
        workspace.change_settings(settings, values, author=desk.author)

    await desk.run_long(act)  # a keyring may wait for the person, and nobody else should
    await desk.work(apply)
    return answer(await desk.run_aside(_all))


@router.get("", **gives(ModelsResponse))
async def list_models(desk: Here) -> Response:
    desk.need("admin")
    return answer(await desk.run_aside(_all))


@router.get("/found", **gives(FoundServers))
async def find_servers(desk: Here) -> Response:
    """The model servers that run on this machine: Ollama, LM Studio, llama.cpp."""
    desk.need("admin")
    found = await desk.run_long(lambda: find_local_servers(os.environ))
    return answer({"servers": [asdict(each) for each in found]})


@router.put("/{name}", **gives(ModelsResponse, body=True))
async def set_up_model(desk: Here, name: Name, given: ModelRequest) -> Response:
    """Set up a model, or change it; it answers from now on if no other is named."""
    desk.need("admin")

    def act() -> None:
        check_name(name, user_settings().models)
        entry = entry_of(ModelSpec(given.provider, given.model, given.base_url, given.native_tools))
        key = given.key.get_secret_value() if given.key else ""
        if key:
            key_store().set(origin_of_model(entry), key)
        elif place_of_key(entry, key_sources(), key_store()) == "missing":
            raise Refused("This model needs an API key.", field="key")
        write_model(name, entry)

    return await _change(desk, act, {"model": name, "kind": given.provider, "key": "set" if given.key else "kept"})


@router.delete("/{name}", **gives(ModelsResponse, 404))
async def delete_model(desk: Here, name: Name) -> Response:
    """Remove a model, and its key if no other model uses it."""
    desk.need("admin")
    return await _change(desk, lambda: remove_model(name), {"model": name, "removed": True})


@router.post("/{name}/use", **gives(ModelsResponse, 404))
async def use_model(desk: Here, name: Name) -> Response:
    """From now on this model answers if no other is named."""
    desk.need("admin")
    return await _change(desk, lambda: choose_model(name), {"model": name, "in_use": True})


@router.post("/{name}/test", **gives(ModelTestShape, 404))
async def try_model(desk: Here, name: Name) -> Response:
    """Ask the model one short question: what it answers, which model that was, and what it cost."""
    desk.need("admin")

    def act() -> dict[str, Any]:
        entry = models().known.get(name)
        if entry is None:
            raise Refused(f"There is no model {name[:100]!a}.", code="not_found", model=name[:100])
        return asdict(check_model(entry, key_sources()))

    return answer(await desk.run_long(act))
