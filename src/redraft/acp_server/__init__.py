"""The built-in agent over the Agent Client Protocol, for editors: Zed, JetBrains, Neovim, Emacs, Obsidian.

The editor starts `redraft acp` and speaks JSON-RPC with it on standard input and output. Its sessions are the folder's
own chat sessions, and each prompt is a job of the folder's agent, so an editor, the app and the command line see the
same conversations, turns and reviews. `AcpAgent` answers the editor's requests, `PromptRun` carries one prompt out,
`EditorBuffers` brings in what the editor holds unsaved, and `StdioChannel` carries the messages. The protocol's types
and its dispatch come from its SDK, which takes half a second to import: only the command imports this package.
"""

from redraft.acp_server.stdio import serve

__all__ = ["serve"]
