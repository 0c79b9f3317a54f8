"""The toolset over the Model Context Protocol, on the standard streams and over HTTP.

One implementation of the protocol, of our own rather than the SDK's, whose import alone takes longer than most
sessions' first call; the SDK's client is its judge in the tests. `Endpoint` is a folder to be served, `Connection` one
client of it whatever carries its messages; `stdio` and `http` are what carries them. What the person must be asked (a
confirmation, a question of the agent's) is asked through the client where that can be done, and refused in words where
it cannot.
"""

from redraft.mcp_server.endpoint import Endpoint
from redraft.mcp_server.transports.stdio import serve_stdio

__all__ = ["Endpoint", "serve_stdio"]
