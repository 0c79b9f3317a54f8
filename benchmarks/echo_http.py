"""The least that FastAPI does: say back what it was told. The base line of a call over HTTP.

    python -m benchmarks.echo_http

The port is the first line that it prints.
"""

from __future__ import annotations

import socket
import sys
from typing import Any

import uvicorn
from fastapi import FastAPI

app = FastAPI()


@app.post("/echo")
async def echo(body: dict[str, Any]) -> dict[str, Any]:
    return body


def main() -> None:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))
    sys.stdout.write(f"{listener.getsockname()[1]}\n")
    sys.stdout.flush()
    config = uvicorn.Config(app, http="h11", ws="none", lifespan="off", log_config=None, access_log=False)
    uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    main()
