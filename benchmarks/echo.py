"""The least server that the SDK allows: one tool, which says back what it was told. The base line of a call's cost."""

from __future__ import annotations

import asyncio
from typing import Any

from mcp import types
from mcp.server import Server, ServerRequestContext
from mcp.server.stdio import stdio_server

SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


async def list_tools(
    _: ServerRequestContext[dict[str, Any]], __: types.PaginatedRequestParams | None
) -> types.ListToolsResult:
    return types.ListToolsResult(tools=[types.Tool(name="echo", description="Say it back.", input_schema=SCHEMA)])


async def call_tool(_: ServerRequestContext[dict[str, Any]], call: types.CallToolRequestParams) -> types.CallToolResult:
    text = str((call.arguments or {})["text"])
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)])


async def main() -> None:
    server = Server("echo", on_list_tools=list_tools, on_call_tool=call_tool)
    async with stdio_server() as (source, sink):
        await server.run(source, sink, server.create_initialization_options())


if __name__ == "__main__":
    asyncio.run(main())
