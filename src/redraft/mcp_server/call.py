"""One request: what a client may ask, method by method, and the request while it is being answered.

A method takes the call and gives its result. A call is run by one thread and may be cancelled by another. It ends in
exactly one answer or, if cancelled, in none; no progress is sent after that. Cancellation is checked where nothing is
half done: before a call starts, between the calls of a batch, while the person is being asked. What was done by then is
a whole turn or nothing.
"""

from __future__ import annotations

import base64
import binascii
import json
import threading
import time
from bisect import bisect_right
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote, unquote

from redraft.errors import ConfirmationRequired, RedraftError, Refused
from redraft.mcp_server.protocol import (
    BAD_PARAMETERS,
    CAPABILITIES,
    ENVELOPE_VERSIONS,
    HANDSHAKE_VERSIONS,
    INSTRUCTIONS,
    INTERNAL,
    KEPT_BY_NOBODY,
    NO_METHOD,
    NOT_FOUND,
    SERVER,
    SERVER_KEY,
    SUBSCRIPTION_KEY,
    McpClient,
    ProtocolError,
    as_object,
    describe_tool,
    tool_error,
    tool_result,
)
from redraft.tools.registry import Registry, audit_call
from redraft.workspace.turns.modes import describe_action

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from redraft.mcp_server.connection import McpConnection
    from redraft.mcp_server.protocol import Message
    from redraft.tools.context import ToolContext
    from redraft.tools.long_documents.worker import DocumentWorker

    Emit = Callable[[Message], None]
    Number = str | int
    from collections.abc import Callable

    from redraft.mcp_server.protocol import Message

    Method = Callable[["McpCall"], Message | None]
    from redraft.mcp_server.protocol import Message


SHOWN_PATHS = 50
DO_IT_THEMSELVES = (
    "Tell the person: they can do it themselves in the app (`redraft open`). If they start the server with "
    "`redraft mcp --mode propose`, you can propose changes, deletions included, and they decide in the review."
)


class InputRequired(Exception):
    """The call cannot go on without the person; the client is to ask them and to call again."""

    def __init__(self, key: str, parameters: Message) -> None:
        super().__init__(key)
        self.key = key
        self.parameters = parameters

    def as_result(self) -> Message:
        request = {"method": "elicitation/create", "params": self.parameters}
        return {"resultType": "input_required", "inputRequests": {self.key: request}}


def confirm(call: McpCall, what: str, paths: list[str]) -> bool:
    """Whether the person agrees; `ConfirmationRequired` with what can be done instead, where they cannot be asked."""
    act = describe_action(what)
    if not call.client.can_be_asked:
        message = f"This would {act}. A person must agree first, and this client cannot ask them (no elicitation)."
        refused = ConfirmationRequired(message, action=what, paths=paths)
        refused.hint = DO_IT_THEMSELVES
        raise refused
    more = [f"and {len(paths) - SHOWN_PATHS} more"] if len(paths) > SHOWN_PATHS else []
    question = "\n".join([f"May the agent {act}?", *paths[:SHOWN_PATHS], *more])
    answer = _elicit(call, question, {"agree": {"type": "boolean", "title": "Agree"}}, paths)
    if answer is None or answer.get("agree") is not True:
        refused = ConfirmationRequired(f"The person was asked and did not agree: {act}.", action=what, paths=paths)
        refused.hint = "Continue without it, or ask the person what they want instead."
        raise refused
    return True


def ask(call: McpCall, question: str) -> str | None:
    """What the person says."""
    answer = _elicit(call, question, {"answer": {"type": "string", "title": "Answer"}}, [])
    said = None if answer is None else answer.get("answer")
    return said if isinstance(said, str) else None


def _elicit(call: McpCall, question: str, properties: Message, paths: list[str]) -> Message | None:
    if not call.client.can_be_asked:
        return None
    schema: Message = {"type": "object", "properties": properties, "required": list(properties)}
    parameters: Message = {"mode": "form", "message": question, "requestedSchema": schema}
    if call.client.by_request:
        answer = _find_supplied_answer(call, parameters, paths)
    else:
        answer = call.connection.ask_client(call, parameters)
    return as_object(answer.get("content")) if answer.get("action") == "accept" else None


def _find_supplied_answer(call: McpCall, parameters: Message, paths: list[str]) -> Message:
    """The answer with which the call was repeated; `InputRequired` where it has none to this."""
    questions = call.connection.endpoint.questions
    answers = as_object(call.given.get("inputResponses"))
    about = _fingerprint(call, parameters["message"], paths)
    key = questions.find_answer(answers, about)
    if key is None:
        raise InputRequired(questions.ask(about), parameters)
    call.consents.append(key)
    return as_object(answers[key])


def _fingerprint(call: McpCall, question: str, paths: list[str]) -> str:
    """What a consent is bound to: the question, the call, and what the documents say."""
    asked = {name: call.given.get(name) for name in ("name", "arguments", "uri")}
    about: list[Any] = [question, call.method, asked, [_version(call, path) for path in paths]]
    return sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()


def _version(call: McpCall, path: str) -> str | None:
    try:
        return call.connection.endpoint.workspace.read(path).version
    except RedraftError:
        return None


# The methods.


# Documents as resources: their addresses, and the list of them page by page.


SCHEME = "redraft://documents/"
PAGE = 500
KINDS = {"md": "text/markdown", "json": "application/json", "yaml": "application/yaml", "yml": "application/yaml"}


def address_of(path: str) -> str:
    return SCHEME + quote(path)


def path_of(uri: Any) -> str:
    """The path that an address names; whether it may be read is for the workspace to say."""
    if not isinstance(uri, str) or not uri.startswith(SCHEME):
        raise Refused(f"A document's URI begins with {SCHEME}.", code="not_found")
    return unquote(uri.removeprefix(SCHEME))


def mime_type(path: str) -> str:
    return KINDS.get(path.rpartition(".")[2].lower(), "text/plain")


def page_of(documents: list[str], cursor: Any) -> Message:
    """The documents after the one at which the page before ended, as they are now.

    A cursor names that document, so that what comes and goes meanwhile makes no page repeat or leave out another.
    """
    start = 0 if cursor is None else bisect_right(documents, _decode_cursor(cursor))
    chosen = documents[start : start + PAGE]
    listed = [{"uri": address_of(path), "name": path, "mimeType": mime_type(path)} for path in chosen]
    more = {"nextCursor": _encode_cursor(chosen[-1])} if start + PAGE < len(documents) else {}
    return {"resources": listed, **more}


def _encode_cursor(path: str) -> str:
    return base64.urlsafe_b64encode(path.encode()).decode()


def _decode_cursor(cursor: Any) -> str:
    try:
        return base64.b64decode(str(cursor).encode("ascii"), b"-_", validate=True).decode()
    except (binascii.Error, UnicodeError):
        raise ProtocolError(BAD_PARAMETERS, "This cursor is not valid.") from None


# Pieces of work that a person can choose from their client's list, in words that name the tools to use.


@dataclass(frozen=True, slots=True)
class McpPrompt:
    """A piece of work that a person can choose from their client's list."""

    name: str
    description: str
    arguments: dict[str, str]
    text: str

    def describe(self) -> Message:
        wanted = [{"name": name, "description": about, "required": True} for name, about in self.arguments.items()]
        return {"name": self.name, "description": self.description, "arguments": wanted}

    def message(self, given: Message) -> Message:
        text = self.text.format(**{name: str(given[name]) for name in self.arguments})
        return {"role": "user", "content": {"type": "text", "text": text}}


DOCUMENT = {"document": "the document's path"}
PROMPTS = {
    prompt.name: prompt
    for prompt in (
        McpPrompt(
            "rename",
            "Rename a person or a term throughout a document.",
            {**DOCUMENT, "old": "the name as it is", "new": "the name as it should be"},
            "Rename {old} to {new} in {document}. First call find_and_replace with preview=true and whole_word=true,"
            " look at the matches, then replace them; mind possessives and other forms of the name.",
        ),
        McpPrompt(
            "expand_section",
            "Add detail to one section of a document.",
            {**DOCUMENT, "section": "the section's title"},
            "In {document}, find the section {section} with get_outline, read it with read_document, and add "
            "detail with insert_lines. Leave every other section as it is.",
        ),
        McpPrompt(
            "proofread",
            "Correct spelling and grammar, and nothing else.",
            DOCUMENT,
            "Proofread {document}: read it, then correct spelling and grammar with edit_text, one small edit for each"
            " mistake, gathered in one batch. Do not change the wording otherwise.",
        ),
        McpPrompt(
            "edit_data",
            "Change a value in a YAML or JSON file.",
            {**DOCUMENT, "change": "what should change"},
            "In {document}: {change}. Use get_outline to find the place, read those lines, and change only them with"
            " replace_lines.",
        ),
    )
}


def initialize(call: McpCall) -> Message:
    call.connection.client = McpClient.from_handshake(call.given, call.connection.client.user)
    return {
        "protocolVersion": call.connection.client.protocol,
        "capabilities": CAPABILITIES,
        "serverInfo": SERVER,
        "instructions": INSTRUCTIONS,
    }


def discover(call: McpCall) -> Message:
    supported = [*ENVELOPE_VERSIONS, *HANDSHAKE_VERSIONS]
    return {"supportedVersions": supported, "capabilities": CAPABILITIES, "instructions": INSTRUCTIONS}


def ping(_: McpCall) -> Message:
    return {}


# Tools


def list_tools(call: McpCall) -> Message:
    endpoint = call.connection.endpoint
    output = endpoint.form in ("structured", "both")
    always = call.client.defers_tools
    return {"tools": [describe_tool(tool, output=output, always=always) for tool in endpoint.tools.tools]}


def call_tool(call: McpCall) -> Message:
    """A failure is an answer too: the model reads it and knows what to do next."""
    name = call.given.get("name")
    told: Any = call.given.get("arguments")
    arguments: Any = {} if told is None else told
    if not isinstance(name, str) or not isinstance(arguments, dict):
        raise ProtocolError(BAD_PARAMETERS, "A call needs a `name`, and `arguments` as a JSON object.")
    endpoint = call.connection.endpoint
    given = cast("Message", arguments)
    with endpoint.guard:
        context = _context(call)
        try:
            answer = CallTools(endpoint.tools, call, given).call(name, given, context)
        except InputRequired as required:
            return required.as_result()  # the answers so far are needed again
        except RedraftError as error:
            endpoint.questions.discard(call.consents)
            return tool_error(error.as_dict())
        endpoint.questions.discard(call.consents)
    return tool_result(answer, endpoint.form_for(call.client))


def _context(call: McpCall) -> ToolContext:
    """Where the caller's tools work, with this call's way to the person."""
    context = call.connection.context(call).copy_for_call()
    endpoint = call.connection.endpoint
    if endpoint.most is not None:
        context.mode = endpoint.mode
    context.confirm = partial(confirm, call)
    context.ask = partial(ask, call)
    return context


# Resources


def list_resources(call: McpCall) -> Message:
    """The list is followed from here on: a client that has never asked for it is not told that it changed."""
    following = call.connection.endpoint.resource_watcher()
    if not call.client.by_request:
        call.connection.follow().listing = True
    return page_of(following.documents(), call.given.get("cursor"))


def list_templates(_: McpCall) -> Message:
    template = {"uriTemplate": SCHEME + "{+path}", "name": "document", "description": "A document of the folder."}
    return {"resourceTemplates": [template]}


def read_resource(call: McpCall) -> Message:
    """As `read_document`, of the whole document: by the same rules, in the log, and remembered as read."""
    uri = call.given.get("uri")
    with call.connection.endpoint.guard:
        context = _context(call)
        try:
            with audit_call("resources/read", {"uri": uri}, context):
                document = context.read(path_of(uri))
        except InputRequired as required:
            return required.as_result()
        except RedraftError as error:
            raise _unreadable(call, error) from error
        call.connection.endpoint.questions.discard(call.consents)
    return {"contents": [{"uri": uri, "mimeType": mime_type(document.path), "text": str(document.text)}]}


def subscribe(call: McpCall) -> Message:
    uri: Any = call.given.get("uri")
    call.connection.follow().add(_subscription_path(call, uri), uri)
    return {}


def unsubscribe(call: McpCall) -> Message:
    call.connection.follow().remove(_subscription_path(call, call.given.get("uri")))
    return {}


def listen(call: McpCall) -> None:
    """Tell of what is asked for until the request is cancelled; there is no answer before that."""
    wanted = as_object(call.given.get("notifications"))
    uris: Any = wanted.get("resourceSubscriptions") or []
    if not isinstance(uris, list):
        raise ProtocolError(BAD_PARAMETERS, "`resourceSubscriptions` must be a list of URIs.")
    addresses = cast("list[Any]", uris)
    paths = {_subscription_path(call, uri): uri for uri in addresses}
    meta = {SUBSCRIPTION_KEY: call.number}

    def tell(method: str, parameters: Message) -> None:
        call.emit({"method": method, "params": {**parameters, "_meta": meta}})

    follower = call.connection.endpoint.resource_watcher().subscribe(tell)
    for path, uri in paths.items():
        follower.add(path, uri)
    honoured: Message = {"resourceSubscriptions": addresses} if addresses else {}
    if wanted.get("resourcesListChanged") is True:
        honoured["resourcesListChanged"] = True
    tell("notifications/subscriptions/acknowledged", {"notifications": honoured})
    follower.listing = "resourcesListChanged" in honoured
    call.connection.stream(call, follower)


def _subscription_path(call: McpCall, uri: Any) -> str:
    """The path of a document that may be followed, whether or not it is there yet."""
    try:
        return call.connection.endpoint.workspace.path(path_of(uri))
    except RedraftError as error:
        raise _unreadable(call, error) from error


def _unreadable(call: McpCall, error: RedraftError) -> ProtocolError:
    """A document that cannot be had: each era has a code of its own for that."""
    code = BAD_PARAMETERS if call.client.by_request else NOT_FOUND
    return ProtocolError(code, f"{error.message} {error.advice}", {"uri": call.given.get("uri")})


# Prompts


def list_prompts(_: McpCall) -> Message:
    return {"prompts": [prompt.describe() for prompt in PROMPTS.values()]}


def get_prompt(call: McpCall) -> Message:
    prompt = PROMPTS.get(str(call.given.get("name")))
    if prompt is None:
        raise ProtocolError(BAD_PARAMETERS, "There is no such prompt.")
    given = as_object(call.given.get("arguments"))
    missing = [name for name in prompt.arguments if name not in given]
    if missing:
        raise ProtocolError(BAD_PARAMETERS, f"The prompt needs {', '.join(missing)}.")
    return {"description": prompt.description, "messages": [prompt.message(given)]}


OF_BOTH_ERAS: dict[str, Method] = {
    "tools/list": list_tools,
    "tools/call": call_tool,
    "resources/list": list_resources,
    "resources/templates/list": list_templates,
    "resources/read": read_resource,
    "prompts/list": list_prompts,
    "prompts/get": get_prompt,
}
BY_HANDSHAKE: dict[str, Method] = {
    **OF_BOTH_ERAS,
    "initialize": initialize,
    "ping": ping,
    "resources/subscribe": subscribe,
    "resources/unsubscribe": unsubscribe,
}
BY_ENVELOPE: dict[str, Method] = {**OF_BOTH_ERAS, "server/discover": discover, "subscriptions/listen": listen}


def find_method(name: Any, client: McpClient) -> Method | None:
    """The method as the client's era knows it."""
    known = BY_ENVELOPE if client.by_request else BY_HANDSHAKE
    return known.get(name) if isinstance(name, str) else None


# The request itself, and the tools as it uses them.


PROGRESS_SECONDS = 0.1
STEPS = "calls of the batch done"
OWN_STEPS = "steps of the call done"
NO_OBJECT = ProtocolError(BAD_PARAMETERS, "The parameters must be a JSON object.")


class Cancelled(Exception):
    """The client has cancelled the request: nobody waits for an answer."""


class McpCall:
    """A request. `emit` sends what belongs to it, its answer last.

    `left` means that its sender is no longer listening; `consents` are the answers of the person that it used.
    """

    def __init__(self, connection: McpConnection, number: Number, method: Any, given: Any, emit: Emit) -> None:
        self.connection = connection
        self.number = number
        self.method = method
        self.given = as_object(given)
        self.emit = emit
        self._sender: McpClient | None = None
        self.cancelled = threading.Event()
        self.left = False
        self.consents: list[str] = []
        self._stops: list[Callable[[], object]] = []
        self._fault = None if given is None or isinstance(given, dict) else NO_OBJECT
        self._ended = False
        self._turn_to_speak = threading.Lock()
        token: Any = as_object(self.given.get("_meta")).get("progressToken")
        self._token: Number | None = token if isinstance(token, str | int) else None
        self.counts: str | None = None
        self._progress = 0
        self._told = 0.0

    @property
    def client(self) -> McpClient:
        """Who asks: the sender that the request names, else whoever shook hands on the connection."""
        return self._sender or self.connection.client

    def read_envelope(self, envelope: Message) -> None:
        """Take the sender from the request's own envelope."""
        try:
            self._sender = McpClient.from_envelope(envelope, self.connection.client.user)
        except ProtocolError as fault:
            self._fault = fault

    def run(self) -> None:
        """Do what is asked, and answer."""
        try:
            self.check()
            if self._fault is not None:
                raise self._fault
            act = find_method(self.method, self.client)
            if act is None:
                raise ProtocolError(NO_METHOD, f"There is no method {ascii(self.method)[:100]}.")
            result = act(self)
            if result is not None:
                self._end({"id": self.number, "result": self._add_envelope(result)})
        except Cancelled:
            self._ended = True
        except ProtocolError as fault:
            self._end(fault.as_error(self.number))
        except Exception:  # a bug of ours: the client must not wait forever, and it must be logged
            self._end(ProtocolError(INTERNAL, "Something went wrong; see the server's log.").as_error(self.number))
            raise
        finally:
            self.connection.remove_call(self)

    def check(self) -> None:
        """Raise `Cancelled` if the request was cancelled."""
        if self.cancelled.is_set():
            raise Cancelled

    def cancel(self) -> None:
        """End it where that can be done. Called from any thread."""
        self.cancelled.set()
        for stop in tuple(self._stops):
            stop()

    def on_cancel(self, stop: Callable[[], object]) -> None:
        """Call this when the request is cancelled; at once if it already was."""
        self._stops.append(stop)
        if self.cancelled.is_set():
            stop()

    def progress(self, done: int, total: int, about: str) -> None:
        """Send progress to a client that asked for it, at a limited rate."""
        now = time.monotonic()
        self.counts = self.counts or about
        if about != self.counts:  # one number cannot tell of two things
            return
        if self._token is None or done <= self._progress or (done < total and now - self._told < PROGRESS_SECONDS):
            return
        parameters = {"progressToken": self._token, "progress": done, "total": total, "message": about}
        with self._turn_to_speak:
            if not self._ended and not self.cancelled.is_set():
                self._progress, self._told = done, now
                self.emit({"method": "notifications/progress", "params": parameters})

    def _end(self, answer: Message) -> None:
        with self._turn_to_speak:
            ended, self._ended = self._ended, True
            if not ended and not self.cancelled.is_set():
                self.emit(answer)

    def _add_envelope(self, result: Message) -> Message:
        """What the envelope's era wants to be told with every result."""
        if not self.client.by_request:
            return result
        kept = KEPT_BY_NOBODY if self.method not in ("tools/call", "prompts/get", "subscriptions/listen") else {}
        meta = {SERVER_KEY: SERVER, **as_object(result.get("_meta"))}
        return {"resultType": "complete", **kept, **result, "_meta": meta}


class CallTools(Registry):
    """The tools as one call uses them: each step, such as the calls of a batch, is counted and can be the last."""

    def __init__(self, tools: Registry, call: McpCall, arguments: Mapping[str, Any]) -> None:
        super().__init__(tools.tools)
        self._call = call
        steps: Any = arguments.get("calls")
        self._total = len(cast("list[Any]", steps)) if isinstance(steps, list) else 0
        self._begun = 0
        if self._total:
            call.counts = STEPS

    def call(self, name: str, arguments: Mapping[str, Any], context: ToolContext) -> dict[str, Any]:
        self._call.check()
        self._begun += 1
        if self._begun > 1:
            self._call.progress(self._begun - 2, self._total, STEPS)
        needs, endpoint = self.needs(name), self._call.connection.endpoint
        if "index" in needs:
            endpoint.report_index_progress(self._call)
        if "editors" in needs or "model" in needs:
            context = context.copy_for_call(endpoint.editors, self._find_worker)
        if "editors" in needs:
            context.progress = lambda done, total: self._call.progress(done, total, OWN_STEPS)
        return super().call(name, arguments, context)

    def _find_worker(self, _path: str) -> DocumentWorker | None:
        from redraft.mcp_server.subagents import subagents_for

        return subagents_for(self._call)
