"""The settings that hold in the folder, and what of them an admin may change: in the person's own file alone."""

from dataclasses import asdict
from typing import Annotated, Any, Literal

from fastapi import Response
from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

from redraft.config import Settings
from redraft.runtime import folder_settings, user_settings, write_settings
from redraft.server.routes.responses import Here, Mode, answer, gives, new_router
from redraft.workspace.workspace import Workspace

router = new_router("/api/settings", "about")
MAX_SETTING = 10**15
Positive = Annotated[int, Field(ge=1, le=MAX_SETTING)]


class SettingsShape(TypedDict):
    """The settings in effect: the person's, restricted by the folder's own."""

    mode: str
    review: str
    confirm_files: int
    retention_days: int
    retention_turns: int
    lock: bool
    embeddings: str
    poll_interval_ms: int
    limits: dict[str, int]
    agent: dict[str, int | str]
    routing: dict[str, str | int | bool]


def _shape(settings: Settings) -> dict[str, Any]:
    found = asdict(settings)
    found.pop("models")  # they name files and programs of the person's machine; `/providers` tells what matters
    return found


@router.get("", **gives(SettingsShape))
async def settings(desk: Here) -> Response:
    return answer(_shape(desk.served.workspace.settings))


class SettingsRequest(BaseModel):
    """The settings to change; others stay as they are. `agent` has the agent's limits, by name."""

    model_config = ConfigDict(extra="forbid")
    mode: Mode | None = None
    review: Literal["hunk", "turn"] | None = None
    confirm_files: Positive | None = None
    retention_days: Positive | None = None
    retention_turns: Positive | None = None
    lock: bool | None = None
    embeddings: Literal["wordllama", "minilm", "off"] | None = None
    poll_interval_ms: Positive | None = None
    agent: dict[str, Positive | str] = Field(default_factory=dict, max_length=100)


@router.put("", **gives(SettingsShape, body=True))
async def change_settings(desk: Here, given: SettingsRequest) -> Response:
    """Change the person's own settings file, keeping its comments; for admins. Returns the settings now in effect: the
    environment and the folder's own settings still apply."""
    desk.need("admin")
    wished: dict[str, Any] = given.model_dump(exclude={"agent"}, exclude_none=True)
    values = wished | {f"agent.{name}": value for name, value in given.agent.items()}

    def act(workspace: Workspace) -> Settings:
        write_settings(values)
        settings, _ = folder_settings(workspace.folder, user_settings())
        workspace.change_settings(settings, values, author=desk.author)
        return settings

    return answer(_shape(await desk.work(act)))
