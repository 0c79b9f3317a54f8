"""The result of an analysis as a document: markdown, written from the details. Text from a document or a model is put
on one line and cannot make headings or links of its own. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Iterable

    from redraft.tools.long_documents.worker import Analysis, Source

TITLES = {
    "characters": "Characters",
    "plot": "Plot",
    "style": "Style",
    "summary": "Summary",
    "custom": "Analysis",
}
_MARKS = re.compile(r"([\\`*_\[\]<>|#])")


def render_report(source: Source, task: str, analysis: Analysis, prompt: str = "") -> str:
    """The whole document."""
    parts = [f"# {TITLES[task]} of {escape_markdown(source.title)}"]
    if prompt:
        parts.append(f"> {escape_markdown(prompt)}")
    parts.append(paragraphs(analysis.summary))
    details = analysis.details
    if people := details.get("characters"):
        parts.append(_people(people))
    parts += [_entries(details.get(name, ())) for name in ("events", "observations", "findings")]
    if figures := details.get("figures"):
        parts.append("\n".join(f"- {key.replace('_', ' ')}: {value}" for key, value in figures.items()))
    for shared in details.get("shared_names", ()):
        people = ", ".join(map(escape_markdown, shared["people"]))
        parts.append(f"Several people are called {escape_markdown(shared['name'])}: {people}.")
    if note := details.get("note"):
        parts.append(escape_markdown(note))
    return "\n\n".join(part for part in parts if part) + "\n"


def _people(people: Iterable[dict[str, Any]]) -> str:
    rows = ["| name | mentions | first on line | also called | |", "| --- | --- | --- | --- | --- |"]
    for each in people:
        aliases = ", ".join(map(escape_markdown, each.get("aliases", ())))
        cells = [
            escape_markdown(each["name"]),
            each["mentions"],
            each["first_appearance"] + 1,
            aliases,
            escape_markdown(each.get("role", "")),
        ]
        rows.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(rows)


def _entries(entries: Iterable[dict[str, Any]]) -> str:
    lines: list[str] = []
    for entry in entries:
        said = next(cast("str", entry[name]) for name in ("what", "note", "finding") if name in entry)
        lines.append(f"- Line {entry['line'] + 1}: {escape_markdown(said)} (“{escape_markdown(entry['quote'])}”)")
    return "\n".join(lines)


def paragraphs(text: str) -> str:
    """Text of a model as paragraphs of its own words, and nothing but words."""
    return "\n\n".join(escape_markdown(part) for part in re.split(r"(?:\r\n?|\n)\s*", text) if part.strip())


def escape_markdown(text: str) -> str:
    """Text on one line, in which nothing is markup."""
    return _MARKS.sub(r"\\\1", " ".join(text.split()))
