"""The one server of a folder, and how others find it: a file in the folder's state that only its owner can read.

The file says where the server listens and what its secret is. Whether it is still running is not guessed from a process
id: the server holds a lock as long as it lives, which the kernel releases however it ends. A file without its lock is
stale and ignored.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any

from redraft.errors import CODES, Busy, RedraftError
from redraft.files.locks import folder_lock

if TYPE_CHECKING:
    from collections.abc import Generator

FILE = "server.json"
LOCK = "server.lock"
START_SECONDS = 20.0
ASK_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class RunningServer:
    """A running server: its address, and the secret that identifies its owner."""

    pid: int
    host: str
    port: int
    secret: str
    started: float
    public: str = ""

    @property
    def url(self) -> str:
        """Where a browser finds it."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return self.public or f"http://{host}:{self.port}"

    @property
    def headers(self) -> dict[str, str]:
        """What a request of its owner's says. The host is a name that every server of ours has, whichever address it
        listens at."""
        return {
            "Host": f"127.0.0.1:{self.port}",
            "Authorization": f"Bearer {self.secret}",
            "Content-Type": "application/json",
        }

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """What the server answers to a request of its owner's."""
        import http.client

        connection = http.client.HTTPConnection(self.host, self.port, timeout=ASK_SECONDS)
        try:
            connection.request(method, path, None if body is None else json.dumps(body), self.headers)
            response = connection.getresponse()
            found = json.loads(response.read())
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise Busy(f"The server of this folder does not answer at {self.url}: {error}.") from error
        finally:
            connection.close()
        if response.status >= 400:
            code = found.get("error")  # which a server of another release may know alone
            raise RedraftError(
                found.get("message", "The server refused the request."), code=code if code in CODES else "io_error"
            )
        return found


@contextlib.contextmanager
def claim_folder(state: str) -> Generator[None]:
    """Become the folder's server; `Busy` if there is one already."""
    with folder_lock(state, LOCK, timeout=0):
        try:
            yield
        finally:
            with contextlib.suppress(OSError):
                os.unlink(os.path.join(state, FILE))


def announce(state: str, running: RunningServer) -> None:
    from redraft.files.atomic_write import write_private

    write_private(os.path.join(state, FILE), json.dumps(asdict(running)))


def is_running(state: str) -> bool:
    try:
        with folder_lock(state, LOCK, timeout=0):
            return False
    except Busy:
        return True


def find_server(state: str) -> RunningServer | None:
    """The folder's server, if one is running; waits for one that is just starting."""
    end = time.monotonic() + START_SECONDS
    while is_running(state):
        found = _read(state)
        if found is not None:
            return found
        if time.monotonic() > end:
            raise Busy("The server of this folder is starting, but has not published its address.")
        time.sleep(0.05)
    return None


def is_still(state: str, running: RunningServer) -> bool:
    """Whether the server that was found is still running."""
    return is_running(state) and _read(state) == running


def _read(state: str) -> RunningServer | None:
    try:
        with open(os.path.join(state, FILE), encoding="utf-8") as file:
            told = json.load(file)
        known = {entry.name for entry in fields(RunningServer)}  # a server of a later version may say more
        return RunningServer(**{name: value for name, value in told.items() if name in known})
    except (OSError, ValueError, TypeError, AttributeError):
        return None
