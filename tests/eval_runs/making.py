"""Tasks and models that tests make up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evals.contenders import EvalModel
from evals.tasks import Task, hashes_of
from redraft.providers.adapters.scripted import ScriptedProvider

if TYPE_CHECKING:
    from collections.abc import Mapping


def task(before: Mapping[str, str], after: Mapping[str, str], prompt: str = "Please.", **more: Any) -> Task:
    wanted = {path: text.encode() for path, text in after.items()}
    files = {path: text.encode() for path, text in before.items()}
    return Task(id="made-up", prompt=prompt, files=files, after=wanted, hashes=hashes_of(wanted), **more)


def playing(*steps: dict[str, Any], name: str = "played") -> EvalModel:
    """A model that plays the same steps in every task."""
    return EvalModel(name, lambda _task, _trace: ScriptedProvider(steps))


def call(tool: str, /, **arguments: Any) -> dict[str, Any]:
    return {"tool": tool, "arguments": arguments}


def edit(path: str, old: str, new: str) -> dict[str, Any]:
    return call("edit_text", path=path, old_text=old, new_text=new)


def says(text: str, *calls: dict[str, Any]) -> dict[str, Any]:
    return {"text": text, **({"calls": list(calls)} if calls else {})}
