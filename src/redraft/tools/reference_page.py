"""Write the reference page of the tools from the registry: `python -m redraft.tools.reference_page > docs/tools.md`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from redraft.config import PROFILES
from redraft.tools.registry import load_registry

if TYPE_CHECKING:
    from redraft.tools.registry import Registry, Tool

INTRODUCTION = """\
# The tools

What an agent can do here. Every tool is declared once, and is the same over the command line
(`redraft tool NAME --json '{...}'`), MCP, HTTP and in the agent's own loop: the same arguments, the same answer, the
same [errors](errors.md). This page is generated from those declarations.

- **Documents** are named by `path`, relative to the folder, or by `tab_id`; without either, the active tab is used.
- **Versions** are opaque and stand for a document's content. An edit names the version that it was made for; if the
  document has changed since, the edit is moved to where its text is now, and the answer says where it landed. It is
  refused, with the new version and the changed lines, if that text or a line next to it changed; a write of the whole
  document is refused if anything changed. A refused call writes nothing.
- **Lines** are counted from 0 and ranges include both ends, except in `read_file`, `propose_edits`, `search_project`
  and `edit_document`, which count from 1.
- **Every call that writes is a turn** that the person can see, decide and undo; `state` says whether it is `applied`,
  waits for a decision (`proposed`), or is only `staged` in a `batch`. The person sets the mode, not an argument.
- **Arguments** under common other names, in camel case, or with numbers sent as text are accepted if the meaning is
  clear. An unknown argument is refused, with the nearest known name.
- **Risk** is what a tool may do: `read`, `create`, `modify`, or `destroy`, which asks the person first or waits for
  their decision.
- **Profiles** are the sets in which tools are offered: `tabs`, `workspace`, `project` and `editor` follow one
  specification each, `default` is a curated set without overlapping tools, `all` is everything.
"""


def render(tools: Registry | None = None) -> str:
    """The whole page."""
    known = tools or load_registry()
    parts = [INTRODUCTION, _profiles(known), *(_section(tool) for tool in known.tools)]
    return "\n".join(parts)


def _profiles(tools: Registry) -> str:
    rows = ["| profile | tools |", "| --- | --- |"]
    for name in PROFILES[:-1]:
        names = sorted(tool.name for tool in tools.profile(name).tools)
        rows.append(f"| `{name}` | {', '.join(f'[`{each}`](#{each})' for each in names) or 'none yet'} |")
    return "\n".join(rows) + "\n"


def _section(tool: Tool) -> str:
    profiles = ", ".join(f"`{name}`" for name in sorted(tool.profiles)) or "only `all`"
    lines = [f"## `{tool.name}`", "", tool.description, "", f"Risk: `{tool.risk}`. Profiles: {profiles}.", ""]
    lines += _fields(tool.input_schema, "argument")
    lines += _fields(tool.output_schema, "answer")
    return "\n".join(lines)


def _fields(schema: dict[str, Any], head: str) -> list[str]:
    rows = list(_rows(schema, ""))
    if not rows:
        return ["It takes no arguments.", ""]
    return [f"| {head} | type | |", "| --- | --- | --- |", *rows, ""]


def _rows(schema: dict[str, Any], within: str) -> list[str]:
    rows: list[str] = []
    required = schema.get("required", [])
    for name, field in schema.get("properties", {}).items():
        notes = [field.get("description", "")]
        if name in required and not within and schema.get("additionalProperties") is False:
            notes.insert(0, "Required.")
        if "default" in field:
            notes.append(f"Default: `{_default_text(field['default'])}`.")
        words = " ".join(note for note in notes if note).replace("|", "\\|")
        rows.append(f"| `{within}{name}` | {_type(field)} | {words} |")
        inner = field.get("items", field)
        if "properties" in inner:
            rows += _rows(inner, f"{within}{name}{'[]' if 'items' in field else ''}.")
    return rows


def _default_text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _type(field: dict[str, Any]) -> str:
    if "enum" in field:
        return ", ".join(f"`{value}`" for value in field["enum"])
    if "anyOf" in field:
        return " or ".join(_type(option) for option in field["anyOf"])
    kinds: Any = field.get("type", "any")
    if isinstance(kinds, str):
        return f"list of {_type(field['items'])}" if kinds == "array" else kinds
    return " or ".join(kinds)


if __name__ == "__main__":
    sys.stdout.write(render())
