"""Tasks from files: YAML lists in one folder, and records of real commits that they refer to by id.

    - id: rename-a-harbour
      kinds: [rename, offline]
      prompt: Rename Amble to Craster everywhere.
      files: {a.md: "...", b.md: "..."}
      after: {a.md: "..."}                     # what differs from `files`; null takes a file away
      checks: {says: [Craster]}                # see `tasks.Checks`; none: the folder must be `after` to the byte
      meanwhile: [{at: read, path: a.md, old: x, new: y}]
      answers: [...]   allows: false   mode: apply   limits: {tool_calls: 4}   solution: [steps of a script]
      wrong: {only the first: [steps of a script that must not pass]}

    - material: doc-edit-tasks/dev.jsonl       # one JSON object a line: id, instruction, files, expected_patch and
      ids: [d00, d01]                          # expected_sha256; where the file is missing, so are these tasks

What is not a task is refused with the file's name, and so is a record whose patch does not give its own hash.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import fields
from typing import TYPE_CHECKING, Any, cast, get_args

from evals.tasks import Checks, ConcurrentEdit, MissingTask, Moment, Task, WrongAnswer, hashes_of
from redraft.config import AgentLimits
from redraft.errors import RedraftError
from redraft.providers.json_output import violations
from redraft.text.patch.unified_diff import apply_patch, parse_patch
from redraft.workspace.turns.modes import MODES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from redraft.providers.contract import JsonObject

_TEXTS: JsonObject = {"type": "array", "items": {"type": "string"}}
_STEPS: JsonObject = {"type": "array", "items": {"type": "object"}}
_CHECKS: JsonObject = {
    "type": "object",
    "properties": {
        "matches": {"type": "object", "additionalProperties": {"type": "string"}},
        "says": _TEXTS,
        "never_says": _TEXTS,
        "never_calls": _TEXTS,
        "asks": {"type": "integer", "minimum": 0},
        "conflicts": _TEXTS,
        "status": {"enum": ["completed", "failed", "cancelled"]},
    },
    "additionalProperties": False,
}
_MEANWHILE: JsonObject = {
    "type": "object",
    "properties": {
        "at": {"enum": list(get_args(Moment))},
        "path": {"type": "string"},
        "old": {"type": "string"},
        "new": {"type": "string"},
        "by": {"enum": ["person", "program"]},
    },
    "required": ["at", "path", "old", "new"],
    "additionalProperties": False,
}
_WRITTEN: JsonObject = {
    "type": "object",
    "properties": {
        "id": {"type": "string"},
        "kinds": _TEXTS,
        "prompt": {"type": "string"},
        "files": {"type": "object", "additionalProperties": {"type": "string"}},
        "after": {"type": "object", "additionalProperties": {"type": ["string", "null"]}},
        "checks": _CHECKS,
        "mode": {"enum": sorted(MODES)},
        "limits": {"type": "object", "additionalProperties": {"type": "integer", "minimum": 1}},
        "answers": _TEXTS,
        "allows": {"type": "boolean"},
        "meanwhile": {"type": "array", "items": _MEANWHILE},
        "solution": _STEPS,
        "wrong": {"type": "object", "additionalProperties": _STEPS},
    },
    "required": ["id", "prompt", "files"],
    "additionalProperties": False,
}
_REFERRED: JsonObject = {
    "type": "object",
    "properties": {"material": {"type": "string"}, "ids": _TEXTS, "kinds": _TEXTS},
    "required": ["material", "ids"],
    "additionalProperties": False,
}
_RECORD: JsonObject = {
    "type": "object",
    "properties": {
        "id": {"type": "string"},
        "instruction": {"type": "string"},
        "files": {"type": "object", "additionalProperties": {"type": "string"}},
        "expected_patch": {"type": "string"},
        "expected_sha256": {"type": "object", "additionalProperties": {"type": "string"}},
    },
    "required": ["id", "instruction", "files", "expected_patch", "expected_sha256"],
}


def load_tasks(folder: str, material: str) -> list[Task | MissingTask]:
    """Every task of the YAML files of a folder, in the order of their names; no two have one id."""
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith((".yaml", ".yml")))
    except OSError as error:
        raise RedraftError(f"{folder}: {error.strerror}.", code="not_found", path=folder) from error
    found: dict[str, Task | MissingTask] = {}
    for name in names:
        for task in _tasks_of(os.path.join(folder, name), material):
            if task.id in found:
                raise _task_error(name, f"there are two tasks {task.id!r}")
            found[task.id] = task
    if not found:
        raise RedraftError(f"There are no tasks in {folder}.", code="not_found", path=folder)
    return list(found.values())


def _tasks_of(path: str, material: str) -> Iterator[Task | MissingTask]:
    entries = _read_yaml(path)
    if not isinstance(entries, list):
        raise _task_error(path, "it is no list of tasks")
    for number, entry in enumerate(cast("list[object]", entries), start=1):
        refers = _is_reference(entry)
        if complaints := violations(entry, _REFERRED if refers else _WRITTEN):
            raise _task_error(path, f"entry {number}: {'; '.join(complaints)}")
        if refers:
            yield from _tasks_from_material(cast("JsonObject", entry), material)
        else:
            yield _parse_task(path, cast("JsonObject", entry))


def _is_reference(entry: object) -> bool:
    return isinstance(entry, dict) and "material" in entry


def _read_yaml(path: str) -> object:
    import yaml

    try:
        with open(path, encoding="utf-8") as file:
            return cast("object", yaml.safe_load(file))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise _task_error(path, str(error)) from error


def _task_error(path: str, why: str) -> RedraftError:
    return RedraftError(f"{os.path.basename(path)}: {why}.", code="invalid_settings", path=path)


def _parse_task(path: str, entry: JsonObject) -> Task:
    files = _encode_files(entry["files"])
    after = {**entry["files"], **entry.get("after", {})}
    wanted = _encode_files({name: text for name, text in after.items() if text is not None})
    known = {each.name for each in fields(AgentLimits)}
    if unknown := sorted(set(entry.get("limits", {})) - known):
        raise _task_error(path, f"{entry['id']}: there is no limit {unknown[0]!r}")
    return Task(
        id=entry["id"],
        prompt=entry["prompt"],
        files=files,
        after=wanted,
        hashes=hashes_of(wanted),
        checks=_checks(path, entry["id"], wanted, entry.get("checks", {})),
        kinds=tuple(entry.get("kinds", ())),
        mode=entry.get("mode", "propose"),
        limits=entry.get("limits", {}),
        answers=tuple(entry.get("answers", ())),
        allows=entry.get("allows", True),
        meanwhile=tuple(ConcurrentEdit(**each) for each in entry.get("meanwhile", ())),
        solution=tuple(entry.get("solution", ())),
        wrong=tuple(WrongAnswer(why, tuple(steps)) for why, steps in entry.get("wrong", {}).items()),
    )


def _encode_files(texts: Mapping[str, str]) -> dict[str, bytes]:
    return {path: text.encode() for path, text in texts.items()}


def _checks(path: str, task: str, after: Mapping[str, bytes], entry: JsonObject) -> Checks:
    matches: dict[str, str] = entry.get("matches", {})
    for pattern in (*matches.values(), *entry.get("says", ()), *entry.get("never_says", ())):
        try:
            re.compile(pattern)
        except re.error as error:
            raise _task_error(path, f"{task}: {pattern!r} is no pattern: {error}") from error
    for name, pattern in matches.items():
        if name not in after or not re.fullmatch(pattern, after[name].decode()):
            raise _task_error(path, f"{task}: {name} as it is afterwards does not match its own pattern")
    listed: dict[str, Any] = {
        name: tuple(entry[name]) for name in ("says", "never_says", "never_calls", "conflicts") if name in entry
    }
    return Checks(**{**entry, **listed})


def _tasks_from_material(entry: JsonObject, material: str) -> Iterator[Task | MissingTask]:
    path = os.path.join(material, entry["material"])
    kinds = tuple(entry.get("kinds", ()))
    try:
        with open(path, encoding="utf-8") as file:
            records = _records(path, file.read().split("\n"))
    except OSError:
        why = f"{entry['material']} is not among the material"
        yield from (MissingTask(name, why, kinds) for name in entry["ids"])
        return
    for name in entry["ids"]:
        record = records.get(name)
        yield (
            MissingTask(name, f"{entry['material']} has no {name}", kinds)
            if record is None
            else _task_from_record(record, kinds)
        )


def _records(path: str, lines: Sequence[str]) -> dict[str, JsonObject]:
    found: dict[str, JsonObject] = {}
    for line in filter(None, lines):
        try:
            record: Any = json.loads(line)
        except ValueError as error:
            raise _task_error(path, str(error)) from error
        if complaints := violations(record, _RECORD):
            raise _task_error(path, "; ".join(complaints))
        found[record["id"]] = record
    return found


def _task_from_record(record: JsonObject, kinds: tuple[str, ...]) -> Task:
    """A real commit as a task: the right folder is what its patch makes of the files, and must have its hashes."""
    files: dict[str, str] = record["files"]
    after = dict(files)
    for patch in parse_patch(record["expected_patch"]):
        after[patch.path] = apply_patch(files[patch.path], patch)
    encoded = _encode_files(after)
    hashes = {**hashes_of(encoded), **record["expected_sha256"]}
    if hashes != hashes_of(encoded):
        raise _task_error(record["id"], "its patch does not give its hash")
    return Task(
        id=record["id"],
        prompt=record["instruction"],
        files=_encode_files(files),
        after=encoded,
        hashes=hashes,
        kinds=("real", *kinds),
    )
