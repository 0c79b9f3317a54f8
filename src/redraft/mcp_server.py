"""The toolset over the Model Context Protocol: JSON-RPC, one message a line, on the standard streams.

A small loop of our own rather than the SDK, whose import alone takes longer than most sessions' first call; the SDK's
client is its judge in the tests. One connection is one caller: it has one `ToolContext`, and its calls run in the order
in which they come. What the person must be asked (a confirmation, a question of the agent's) is asked through the
client where that can be done, and refused in words where it cannot. Nothing but protocol is written to the output.
"""

from __future__ import annotations

import json
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote, unquote

from redraft import __version__
from redraft.errors import RedraftError, Refused
from redraft.history.turns import Author
from redraft.tools.context import ToolContext
from redraft.tools.prompts import PROMPTS

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import BinaryIO

    from redraft.tools.registry import Registry, Tool
    from redraft.workspace.workspace import Workspace

    Message = dict[str, Any]

# The newest first: a client that asks for one we do not know is offered that.
PROTOCOLS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
SCHEME = "redraft://documents/"
PARSE_ERROR, INVALID_REQUEST, NO_METHOD, BAD_PARAMETERS, NOT_FOUND = -32700, -32600, -32601, -32602, -32002
LISTED_DOCUMENTS = 1000

INSTRUCTIONS = (
    "Redraft holds a folder of documents. Read before you edit: every edit names the version it was made for, and a"
    " stale one is refused with what changed. Every change is a turn that the person can see and undo. Prefer small"
    " edits (edit_text, replace_lines) to whole-document writes, and `batch` for edits that belong together."
)


class Fault(Exception):
    """A message that cannot be answered as it stands."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(slots=True)
class Connection:
    """One client, from its first message to its last."""

    workspace: Workspace
    tools: Registry
    source: BinaryIO
    sink: BinaryIO
    client: Message = field(default_factory=dict[str, Any])
    context: ToolContext | None = None
    _waiting: deque[Message] = field(default_factory=deque[Any])
    _asked: int = 0

    def serve(self) -> None:
        """Answer until the input ends."""
        while (message := self._next()) is not None:
            self._answer(message)

    def _next(self) -> Message | None:
        if self._waiting:
            return self._waiting.popleft()
        while line := self.source.readline():
            if not line.strip():
                continue
            try:
                found: Any = json.loads(line)
            except (ValueError, RecursionError):
                self._send({"id": None, "error": {"code": PARSE_ERROR, "message": "This line is not JSON."}})
                continue
            if isinstance(found, dict):
                return cast("Message", found)
            self._send({"id": None, "error": {"code": INVALID_REQUEST, "message": "A message is a JSON object."}})
        return None

    def _send(self, message: Message) -> None:
        line = json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False, separators=(",", ":"))
        self.sink.write(line.encode() + b"\n")
        self.sink.flush()

    def _answer(self, message: Message) -> None:
        name, number = message.get("method"), message.get("id")
        if name is None or "id" not in message:
            return  # an answer nobody waits for any more, or a notification: cancelling ends what has ended already
        try:
            act = METHODS.get(name) if isinstance(name, str) else None
            if act is None:
                raise Fault(NO_METHOD, f"There is no method {name!r}.")
            parameters: Any = message.get("params") or {}
            if not isinstance(parameters, dict):
                raise Fault(BAD_PARAMETERS, "The parameters are a JSON object.")
            self._send({"id": number, "result": act(self, cast("Message", parameters))})
        except Fault as fault:
            self._send({"id": number, "error": {"code": fault.code, "message": str(fault)}})

    # What a client may ask

    def initialize(self, parameters: Message) -> Message:
        self.client = parameters
        wanted = parameters.get("protocolVersion")
        return {
            "protocolVersion": wanted if wanted in PROTOCOLS else PROTOCOLS[0],
            "capabilities": {"tools": {}, "resources": {}, "prompts": {}},
            "serverInfo": {"name": "redraft", "title": "Redraft", "version": __version__},
            "instructions": INSTRUCTIONS,
        }

    def ping(self, _: Message) -> Message:
        return {}

    def list_tools(self, _: Message) -> Message:
        return {"tools": [described(tool) for tool in self.tools.tools]}

    def call_tool(self, parameters: Message) -> Message:
        """A failure is an answer too: the model reads it and knows what to do next."""
        name = parameters.get("name")
        arguments: Any = parameters.get("arguments") or {}
        if not isinstance(name, str) or not isinstance(arguments, dict):
            raise Fault(BAD_PARAMETERS, "A call has a `name` and `arguments`, a JSON object.")
        try:
            answer, failed = self.tools.call(name, cast("Message", arguments), self._context()), False
        except RedraftError as error:
            answer, failed = error.as_dict(), True
        text = json.dumps(answer, ensure_ascii=False)
        shape: Message = {"content": [{"type": "text", "text": text}], "isError": failed}
        return shape if failed else {**shape, "structuredContent": answer}

    def list_resources(self, _: Message) -> Message:
        entries = self.workspace.list(limit=LISTED_DOCUMENTS)
        return {
            "resources": [
                {"uri": SCHEME + quote(entry.path), "name": entry.path, "mimeType": mime_of(entry.path)}
                for entry in entries
                if entry.kind == "file"
            ]
        }

    def list_templates(self, _: Message) -> Message:
        template = {"uriTemplate": SCHEME + "{path}", "name": "document", "description": "A document of the folder."}
        return {"resourceTemplates": [template]}

    def read_resource(self, parameters: Message) -> Message:
        uri = parameters.get("uri")
        if not isinstance(uri, str) or not uri.startswith(SCHEME):
            raise Fault(NOT_FOUND, f"A document's address begins with {SCHEME}.")
        try:
            document = self.workspace.read(unquote(uri.removeprefix(SCHEME)), author=self._author())
        except RedraftError as error:
            raise Fault(NOT_FOUND, f"{error.message} {error.advice}") from error
        return {"contents": [{"uri": uri, "mimeType": mime_of(document.path), "text": str(document.text)}]}

    def list_prompts(self, _: Message) -> Message:
        return {"prompts": [prompt.listed() for prompt in PROMPTS.values()]}

    def get_prompt(self, parameters: Message) -> Message:
        prompt = PROMPTS.get(str(parameters.get("name")))
        if prompt is None:
            raise Fault(BAD_PARAMETERS, "There is no such prompt.")
        given = cast("Message", parameters.get("arguments") or {})
        missing = [name for name in prompt.arguments if name not in given]
        if missing:
            raise Fault(BAD_PARAMETERS, f"The prompt needs {', '.join(missing)}.")
        return {"description": prompt.description, "messages": [prompt.message(given)]}

    # Who is calling, and asking the person

    def _author(self) -> Author:
        told = self.client.get("clientInfo")
        name = cast("Message", told).get("name") if isinstance(told, dict) else None
        return Author("agent", str(name)[:64] if name else "agent")

    def _context(self) -> ToolContext:
        if self.context is None:
            self.context = ToolContext(self.workspace, self._author(), confirm=self._confirm, ask=self._ask)
        return self.context

    def _confirm(self, what: str, paths: list[str]) -> bool:
        question = f"May the agent {what}?\n" + "\n".join(paths[:50])
        answer = self._elicit(question, {"agree": {"type": "boolean", "title": "Agree"}})
        return bool(answer and answer.get("agree"))

    def _ask(self, question: str) -> str | None:
        answer = self._elicit(question, {"answer": {"type": "string", "title": "Answer"}})
        return None if answer is None else str(answer.get("answer", ""))

    def _elicit(self, message: str, properties: Message) -> Message | None:
        """Put a question to the person through the client; None where it cannot, or they will not answer."""
        able = cast("Message", self.client.get("capabilities") or {})
        if "elicitation" not in able:
            return None
        self._asked += 1
        number = f"ask-{self._asked}"
        schema = {"type": "object", "properties": properties, "required": list(properties)}
        parameters = {"message": message, "requestedSchema": schema}
        self._send({"id": number, "method": "elicitation/create", "params": parameters})
        answer = self._answer_to(number)
        if answer.get("action") != "accept":
            return None
        return cast("Message", answer.get("content") or {})

    def _answer_to(self, number: str) -> Message:
        """The result that belongs to a question of ours; whatever else comes first waits for its turn."""
        held: deque[Message] = deque()
        try:
            while (message := self._next()) is not None:
                if message.get("id") == number and "method" not in message:
                    return cast("Message", message.get("result") or {})
                if message.get("method") == "ping":
                    self._answer(message)
                else:
                    held.append(message)
            return {}
        finally:
            self._waiting.extendleft(reversed(held))


METHODS: dict[str, Callable[[Connection, Message], Message]] = {
    "initialize": Connection.initialize,
    "ping": Connection.ping,
    "tools/list": Connection.list_tools,
    "tools/call": Connection.call_tool,
    "resources/list": Connection.list_resources,
    "resources/templates/list": Connection.list_templates,
    "resources/read": Connection.read_resource,
    "prompts/list": Connection.list_prompts,
    "prompts/get": Connection.get_prompt,
}


def described(tool: Tool) -> Message:
    """A tool as the protocol lists it."""
    return {
        "name": tool.name,
        "description": tool.description,
        "inputSchema": tool.input_schema,
        "outputSchema": tool.output_schema,
        "annotations": {
            "readOnlyHint": tool.risk == "read",
            "destructiveHint": tool.risk == "destroy",
            "idempotentHint": tool.idempotent,
            "openWorldHint": False,
        },
        # Some clients put tools off until the model has searched for them; these are what it is here for.
        "_meta": {"anthropic/alwaysLoad": True},
    }


def mime_of(path: str) -> str:
    kinds = {"md": "text/markdown", "json": "application/json", "yaml": "application/yaml", "yml": "application/yaml"}
    return kinds.get(path.rpartition(".")[2].lower(), "text/plain")


def serve(workspace: Workspace, tools: Registry, source: BinaryIO, sink: BinaryIO) -> None:
    """Serve one client on two streams."""
    if not tools.tools:
        raise Refused("This profile has no tools.", field="profile")
    Connection(workspace, tools, source, sink).serve()
