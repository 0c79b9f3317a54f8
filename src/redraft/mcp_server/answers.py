"""A tool as the protocol lists it, and its answer as the protocol carries it: the document's text once.

An answer has two places in a result: `content`, which every client reads, and `structuredContent`, which some prefer. A
client that is known to read the one is sent just that one; a client that we do not know is sent both, since leaving one
out would leave some of them with nothing. See docs/decisions/0007.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from redraft.mcp_server.wire import as_text

if TYPE_CHECKING:
    from redraft.mcp_server.client import Form
    from redraft.mcp_server.protocol import Message
    from redraft.tools.registry import Tool

ELSEWHERE = "The answer is the structured content."


def described(tool: Tool, form: Form) -> Message:
    """A tool as it is listed. A client that gets no structured answers is not promised any."""
    listed: Message = {
        "name": tool.name,
        "title": tool.name.replace("_", " ").capitalize(),
        "description": tool.description,
        "inputSchema": tool.input_schema,
        "annotations": {
            "readOnlyHint": tool.risk == "read",
            "destructiveHint": tool.risk == "destroy",
            "idempotentHint": tool.idempotent,
            "openWorldHint": False,
        },
        # Some clients put tools off until the model has searched for them; these are what it is here for.
        "_meta": {"anthropic/alwaysLoad": True},
    }
    return listed if form == "text" else {**listed, "outputSchema": tool.output_schema}


def answered(answer: dict[str, Any], form: Form) -> Message:
    """The result of a call that was done."""
    if form == "structured":
        return {"content": [_text(ELSEWHERE)], "structuredContent": answer, "isError": False}
    result: Message = {"content": [_text(as_text(answer))], "isError": False}
    return result if form == "text" else {**result, "structuredContent": answer}


def failed(told: dict[str, Any]) -> Message:
    """The result of a call that was refused: the model reads it and knows what to do next. Every client reads it in
    the content, and no output schema promises its shape."""
    return {"content": [_text(as_text(told))], "isError": True}


def _text(text: str) -> Message:
    return {"type": "text", "text": text}
