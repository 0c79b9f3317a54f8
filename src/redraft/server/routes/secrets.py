"""Opening a secret: the folder's owner says that they want to see a file of theirs that may hold keys or passwords."""

from typing import Any, Literal

from fastapi import Response
from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

from redraft.errors import Refused
from redraft.server.routes.responses import Here, answer, gives, new_router
from redraft.workspace.workspace import Workspace

router = new_router("/api/secrets", "documents")


class OpenSecretRequest(BaseModel):
    """The file that the owner wants to see, with confirmation."""

    model_config = ConfigDict(extra="forbid")
    path: str = Field(min_length=1, max_length=4096)
    confirm: Literal[True]


class OpenSecretResponse(TypedDict):
    """The file can be opened by its owner, and by nobody else, until its tab is closed or the server stops."""

    path: str


@router.post("", **gives(OpenSecretResponse, 404, 415, body=True))
async def confirm_secret(desk: Here, given: OpenSecretRequest) -> Response:
    """Only for the folder's owner, in a browser on the folder's own machine. Agents, tools, other people, search,
    export and the history never see the file."""
    if not desk.caller.at_home:
        message = "Only the folder's owner, in a browser on the folder's own machine, can open a secret."
        raise Refused(message, code="not_allowed")

    def act(workspace: Workspace) -> dict[str, Any]:
        path = workspace.path(given.path)
        workspace.read(path, confirmed=(path,))  # refuses what cannot be opened anyway
        desk.served.confirmed.add(path)
        return {"path": path}

    return answer(await desk.work(act))
