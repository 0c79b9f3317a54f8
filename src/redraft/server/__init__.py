"""One folder over HTTP: the API, the page in the browser, and MCP, for this machine alone or for a team.

Every request passes `gate` first (host, origin, token), then `bodies` (size, kind, repetition), then a route; nothing
is reached any other way, websockets included. A route asks a `RequestContext` for what it needs: the workspace is used
by one thread at a time, under the one guard that the agent and MCP hold too. Nothing here writes a document: that is
the workspace's alone. Nothing here is imported before a server is started, for the libraries of the web are slow to
load.
"""
