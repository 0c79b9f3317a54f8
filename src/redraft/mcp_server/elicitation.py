"""Ask the person a question through the client.

In the handshake's era it is a request of ours, and the call waits for what comes back. In the envelope's era the call
ends with the question, and is repeated with the answer. There a consent is good once, for the call that it was given
to and for the documents as they were then: a question has a name that cannot be guessed, and is kept with what it was
about until a call has used its answer. Where nobody can be asked, the answer is None, and the tool refuses in words.
"""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from redraft.errors import ConfirmationRequired, RedraftError
from redraft.mcp_server.protocol import as_object
from redraft.workspace.turns.modes import describe_action

if TYPE_CHECKING:
    from redraft.mcp_server.call import McpCall
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
        answer = _supplied_answer(call, parameters, paths)
    else:
        answer = call.connection.ask_client(call, parameters)
    return as_object(answer.get("content")) if answer.get("action") == "accept" else None


def _supplied_answer(call: McpCall, parameters: Message, paths: list[str]) -> Message:
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
