"""A socket of our own, and a server upon it until a signal says to end: what every server of ours has to do."""

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


def bound(host: str, port: int) -> socket.socket:
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


def run(config: uvicorn.Config, listener: socket.socket, end_streams: Callable[[], object]) -> None:
    """Serve until a signal says to end. Streams are ended first: a server waits for them to end."""
    import uvicorn

    class Server(uvicorn.Server):
        """One that ends the streams."""

        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            end_streams()
            super().handle_exit(sig, frame)

    with _signals():
        Server(config).run(sockets=[listener])


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
