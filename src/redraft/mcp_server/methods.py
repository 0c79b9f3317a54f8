"""What a client may ask, method by method. Each takes the call and gives its result."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, cast

from redraft.errors import RedraftError
from redraft.mcp_server import asking
from redraft.mcp_server.answers import answered, described, failed
from redraft.mcp_server.call import Steps
from redraft.mcp_server.client import Client
from redraft.mcp_server.protocol import (
    BAD_PARAMETERS,
    CAPABILITIES,
    ENVELOPE_VERSIONS,
    HANDSHAKE_VERSIONS,
    INSTRUCTIONS,
    NOT_FOUND,
    SERVER,
    SUBSCRIPTION_KEY,
    Fault,
    as_object,
)
from redraft.mcp_server.resources import SCHEME, kind_of, page_of, path_of
from redraft.tools.prompts import PROMPTS
from redraft.tools.registry import recorded

if TYPE_CHECKING:
    from collections.abc import Callable

    from redraft.mcp_server.call import Call
    from redraft.mcp_server.protocol import Message
    from redraft.tools.context import ToolContext

    Method = Callable[[Call], Message | None]


def initialize(call: Call) -> Message:
    call.connection.client = Client.by_handshake(call.given, call.connection.client.user)
    return {
        "protocolVersion": call.connection.client.protocol,
        "capabilities": CAPABILITIES,
        "serverInfo": SERVER,
        "instructions": INSTRUCTIONS,
    }


def discover(call: Call) -> Message:
    supported = [*ENVELOPE_VERSIONS, *HANDSHAKE_VERSIONS]
    return {"supportedVersions": supported, "capabilities": CAPABILITIES, "instructions": INSTRUCTIONS}


def ping(_: Call) -> Message:
    return {}


# Tools


def list_tools(call: Call) -> Message:
    endpoint = call.connection.endpoint
    return {"tools": [described(tool, endpoint.form_for(call.client)) for tool in endpoint.tools.tools]}


def call_tool(call: Call) -> Message:
    """A failure is an answer too: the model reads it and knows what to do next."""
    name = call.given.get("name")
    told: Any = call.given.get("arguments")
    arguments: Any = {} if told is None else told
    if not isinstance(name, str) or not isinstance(arguments, dict):
        raise Fault(BAD_PARAMETERS, "A call has a `name` and `arguments`, a JSON object.")
    endpoint = call.connection.endpoint
    given = cast("Message", arguments)
    with endpoint.guard:
        context = _context(call)
        try:
            answer = Steps(endpoint.tools, call, given).call(name, given, context)
        except asking.InputRequired as required:
            return required.as_result()  # the answers so far are needed again
        except RedraftError as error:
            endpoint.questions.used(call.consents)
            return failed(error.as_dict())
        endpoint.questions.used(call.consents)
    return answered(answer, endpoint.form_for(call.client))


def _context(call: Call) -> ToolContext:
    """Where the caller's tools work, with this call's way to the person."""
    context = call.connection.context(call)
    endpoint = call.connection.endpoint
    if endpoint.most is not None:
        context.mode = endpoint.mode
    context.confirm = partial(asking.confirm, call)
    context.ask = partial(asking.ask, call)
    return context


# Resources


def list_resources(call: Call) -> Message:
    """The list is followed from here on: a client that has never asked for it is not told that it changed."""
    following = call.connection.endpoint.following()
    if not call.client.by_request:
        call.connection.follow().listing = True
    return page_of(following.documents(), call.given.get("cursor"))


def list_templates(_: Call) -> Message:
    template = {"uriTemplate": SCHEME + "{+path}", "name": "document", "description": "A document of the folder."}
    return {"resourceTemplates": [template]}


def read_resource(call: Call) -> Message:
    """As `read_document`, of the whole document: by the same rules, in the log, and remembered as read."""
    uri = call.given.get("uri")
    with call.connection.endpoint.guard:
        context = _context(call)
        try:
            with recorded("resources/read", {"uri": uri}, context):
                document = context.read(path_of(uri))
        except asking.InputRequired as required:
            return required.as_result()
        except RedraftError as error:
            raise _unread(call, error) from error
        call.connection.endpoint.questions.used(call.consents)
    return {"contents": [{"uri": uri, "mimeType": kind_of(document.path), "text": str(document.text)}]}


def subscribe(call: Call) -> Message:
    uri: Any = call.given.get("uri")
    call.connection.follow().add(_followed(call, uri), uri)
    return {}


def unsubscribe(call: Call) -> Message:
    call.connection.follow().remove(_followed(call, call.given.get("uri")))
    return {}


def listen(call: Call) -> None:
    """Tell of what is asked for until the request is called off; there is no answer before that."""
    wanted = as_object(call.given.get("notifications"))
    uris: Any = wanted.get("resourceSubscriptions") or []
    if not isinstance(uris, list):
        raise Fault(BAD_PARAMETERS, "`resourceSubscriptions` is a list of addresses.")
    addresses = cast("list[Any]", uris)
    paths = {_followed(call, uri): uri for uri in addresses}
    meta = {SUBSCRIPTION_KEY: call.number}

    def tell(method: str, parameters: Message) -> None:
        call.emit({"method": method, "params": {**parameters, "_meta": meta}})

    follower = call.connection.endpoint.following().follower(tell)
    for path, uri in paths.items():
        follower.add(path, uri)
    honoured: Message = {"resourceSubscriptions": addresses} if addresses else {}
    if wanted.get("resourcesListChanged") is True:
        honoured["resourcesListChanged"] = True
    tell("notifications/subscriptions/acknowledged", {"notifications": honoured})
    follower.listing = "resourcesListChanged" in honoured
    call.connection.stream(call, follower)


def _followed(call: Call, uri: Any) -> str:
    """The path of a document that may be followed, whether or not it is there yet."""
    try:
        return call.connection.endpoint.workspace.engine.documents.path(path_of(uri))
    except RedraftError as error:
        raise _unread(call, error) from error


def _unread(call: Call, error: RedraftError) -> Fault:
    """A document that cannot be had: each era has a code of its own for that."""
    code = BAD_PARAMETERS if call.client.by_request else NOT_FOUND
    return Fault(code, f"{error.message} {error.advice}", {"uri": call.given.get("uri")})


# Prompts


def list_prompts(_: Call) -> Message:
    return {"prompts": [prompt.listed() for prompt in PROMPTS.values()]}


def get_prompt(call: Call) -> Message:
    prompt = PROMPTS.get(str(call.given.get("name")))
    if prompt is None:
        raise Fault(BAD_PARAMETERS, "There is no such prompt.")
    given = as_object(call.given.get("arguments"))
    missing = [name for name in prompt.arguments if name not in given]
    if missing:
        raise Fault(BAD_PARAMETERS, f"The prompt needs {', '.join(missing)}.")
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


def method_named(name: Any, client: Client) -> Method | None:
    """The method as the client's era knows it."""
    known = BY_ENVELOPE if client.by_request else BY_HANDSHAKE
    return known.get(name) if isinstance(name, str) else None
