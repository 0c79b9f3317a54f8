"""A socket that listens, and a server on it that a signal ends: what every server of ours has to do."""

from __future__ import annotations

import contextlib
import signal
import socket
from typing import TYPE_CHECKING

from redraft.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from types import FrameType

    import uvicorn

WAITING = 2048


def bind_socket(host: str, port: int) -> socket.socket:
    """A socket that listens already: whoever comes before the server is up waits, and is not turned away."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Named as TCP, or the event loop leaves the pause in that a second small packet waits for.
    found = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((host, port))
        found.listen(WAITING)
    except (OSError, OverflowError) as error:
        found.close()
        reason = error.strerror if isinstance(error, OSError) else "there is no such port"
        raise Refused(f"Port {port} cannot be used at {host}: {reason}.", field="port") from error
    return found


@contextlib.contextmanager
def catch_signals(config: uvicorn.Config, end_streams: Callable[[], object]) -> Generator[uvicorn.Server]:
    """A server that a signal ends from here on, also before it runs: whoever was told of it may end it at once.

    Streams are ended first, since a server waits for them to end.
    """
    import uvicorn

    class Server(uvicorn.Server):
        """Ends the streams at the first signal. Those that came are raised once more after its end, to no effect."""

        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            if not self.should_exit:
                end_streams()
            super().handle_exit(sig, frame)

    server = Server(config)
    before = {number: signal.signal(number, server.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield server
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
