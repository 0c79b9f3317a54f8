"""`redraft mcp --http`: the application behind its gate, on a socket that only this machine reaches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from redraft.mcp_server.gate import Gate, loopback_hosts
from redraft.mcp_server.http import asgi_app
from redraft.mcp_server.listening import bound, run

if TYPE_CHECKING:
    from types import TracebackType

    from redraft.mcp_server.endpoint import Endpoint

ADDRESS = "127.0.0.1"
PATH = "/mcp"
ENDING_SECONDS = 3


class Listener:
    """A socket that is bound from the making on, so that its address can be told before it is served."""

    def __init__(self, endpoint: Endpoint, token: str, *, port: int = 0) -> None:
        self._token = token
        self._endpoint = endpoint
        self._socket = bound(ADDRESS, port)
        self.port: int = self._socket.getsockname()[1]

    @property
    def url(self) -> str:
        return f"http://{ADDRESS}:{self.port}{PATH}"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._socket.close()

    def serve(self) -> None:
        """Serve until a signal says to end."""
        import uvicorn

        app = asgi_app(self._endpoint)
        gate = Gate(app, token=self._token, hosts=loopback_hosts(self.port), path=PATH)
        config = uvicorn.Config(
            gate,
            http="h11",
            ws="none",
            log_level="error",  # a request that is turned away is the client's to hear of
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=ENDING_SECONDS,
        )

        run(config, self._socket, app.close)
