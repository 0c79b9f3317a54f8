"""The folder's server, asked as its owner; where none runs, one is started and ends with this process."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from redraft.errors import Busy, RedraftError
from redraft.runtime import state_of
from redraft.server.discovery import RunningServer, find_server

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

START_SECONDS = 60.0
AGAIN_SECONDS = 0.5


class FolderClient:
    """One folder's server."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._running: RunningServer | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._closed = threading.Event()
        self._joining = threading.Lock()

    async def running(self) -> RunningServer:
        return await asyncio.to_thread(self._find)

    def _find(self) -> RunningServer:
        with self._joining:
            state = state_of(self.folder)
            found = None if state is None else find_server(state)
            if found is None:
                found = self._start()
            self._running = found
            return found

    def _start(self) -> RunningServer:
        words = [sys.executable, "-m", "redraft", "serve", "--json", "--", self.folder]
        process = subprocess.Popen(  # noqa: S603 - our own program, and no shell
            words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        # It says where it is once it can be asked, and nothing after that.
        for line in process.stdout or ():
            if line == b"}\n":
                break
        state = state_of(self.folder)
        found = None if state is None else find_server(state)
        if found is None:
            process.kill()
            raise Busy(f"The server of {self.folder} did not start.")
        self._process = process
        return found

    async def get(self, path: str, /, **query: str | int) -> Any:
        return await self._ask("GET", path + ("?" + urlencode(query) if query else ""), None)

    async def post(self, path: str, body: Mapping[str, Any]) -> Any:
        return await self._ask("POST", path, body)

    async def _ask(self, method: str, path: str, body: Any) -> Any:
        def ask() -> Any:
            running = self._running or self._find()
            try:
                return running.ask(method, path, body)
            except Busy:
                # A read can be repeated with the server that is there now; a write may have been done.
                if method != "GET":
                    raise
                return self._find().ask(method, path, body)

        return await asyncio.to_thread(ask)

    def listen(self, heard: Callable[[dict[str, Any]], None]) -> None:
        """Call `heard`, in another thread, for each change in the folder, and once whenever the stream begins."""

        def stay() -> None:
            while not self._closed.is_set():
                with contextlib.suppress(OSError, http.client.HTTPException, ValueError, RedraftError):
                    self._stream(heard)
                self._closed.wait(AGAIN_SECONDS)

        threading.Thread(target=stay, daemon=True).start()

    def _stream(self, heard: Callable[[dict[str, Any]], None]) -> None:
        running = self._find()
        connection = http.client.HTTPConnection(running.host, running.port)
        try:
            connection.request("GET", "/api/changes/stream", headers=running.headers)
            response = connection.getresponse()
            if response.status != 200:
                return
            heard({"kind": "all"})
            while not self._closed.is_set() and (line := response.readline()):
                if line.startswith(b"data:"):
                    heard(json.loads(line[5:]))
        finally:
            connection.close()

    def close(self) -> None:
        self._closed.set()
        if self._process is not None:
            self._process.terminate()
            self._process.wait(START_SECONDS)
            if self._process.stdout is not None:
                self._process.stdout.close()
