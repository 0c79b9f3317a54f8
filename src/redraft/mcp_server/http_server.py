"""`redraft mcp --http`: the application behind its gate, on a socket that only this machine reaches."""

from __future__ import annotations

import contextlib
import signal
import socket
from typing import TYPE_CHECKING, Self

from redraft.errors import Refused
from redraft.mcp_server.gate import Gate, loopback_hosts
from redraft.mcp_server.http import asgi_app

if TYPE_CHECKING:
    from collections.abc import Generator
    from types import FrameType, TracebackType

    from redraft.mcp_server.endpoint import Endpoint

ADDRESS = "127.0.0.1"
PATH = "/mcp"
ENDING_SECONDS = 3


class Listener:
    """A socket that is bound from the making on, so that its address can be told before it is served."""

    def __init__(self, endpoint: Endpoint, token: str, *, port: int = 0) -> None:
        self._token = token
        self._endpoint = endpoint
        self._socket = _bound(port)
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

        class Server(uvicorn.Server):
            """Ends its streams first: a server waits for them to end."""

            def handle_exit(self, sig: int, frame: FrameType | None) -> None:
                app.close()
                super().handle_exit(sig, frame)

        with _signals():
            Server(config).run(sockets=[self._socket])


def _bound(port: int) -> socket.socket:
    # Named as TCP, or the event loop leaves the pause in that a second small packet waits for.
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((ADDRESS, port))
        found.listen()  # whoever comes before the server is up waits, and is not turned away
    except (OSError, OverflowError) as error:
        found.close()
        reason = error.strerror if isinstance(error, OSError) else "there is no such port"
        raise Refused(f"Port {port} cannot be used: {reason}.", field="port") from error
    return found


@contextlib.contextmanager
def _signals() -> Generator[None]:
    """The server handles signals and then sends them once more: that we have ended is all that they were to say."""
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.signal(number, _nothing_more) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _nothing_more(_number: int, _frame: FrameType | None) -> None:
    pass
