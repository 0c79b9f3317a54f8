"""The application as another server mounts it: behind that server's own checks, here of Host and Origin alone.

    python mounted.py FOLDER

Run as a program of its own; the address is the first line that it prints.
"""

from __future__ import annotations

import socket
import sys

import uvicorn

from redraft.mcp_server import Endpoint
from redraft.mcp_server.transports.http_server import McpGate, loopback_hosts
from redraft.mcp_server.transports.streamable_http import asgi_app
from redraft.runtime import open_workspace
from redraft.tools.registry import load_registry


def main(folder: str) -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    with open_workspace(folder, mode="apply") as workspace, Endpoint(workspace, load_registry()) as endpoint:
        gate = McpGate(asgi_app(endpoint), token=None, hosts=loopback_hosts(port), path="/mcp")
        sys.stdout.write(f"http://127.0.0.1:{port}/mcp\n")
        sys.stdout.flush()
        uvicorn.Server(uvicorn.Config(gate, log_level="warning")).run(sockets=[listener])


if __name__ == "__main__":
    main(sys.argv[1])
