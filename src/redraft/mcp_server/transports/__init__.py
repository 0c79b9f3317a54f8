"""How MCP messages travel: standard streams and HTTP."""
