"""The tools over the Model Context Protocol, on stdio and HTTP.

This is our own implementation of the protocol: importing the SDK alone takes longer than the first call of most
sessions. The tests check it with the SDK's client. `Endpoint` is a folder to be served, `Connection` one client of it
whatever carries its messages; `stdio` and `http` are what carries them. What the person must be asked (a confirmation,
a question of the agent's) is asked through the client if it supports that, and refused with an explanation if not.
"""

from redraft.mcp_server.connection import Endpoint
from redraft.mcp_server.transports.stdio import serve_stdio

__all__ = ["Endpoint", "serve_stdio"]
