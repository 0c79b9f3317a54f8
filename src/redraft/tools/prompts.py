"""Pieces of work that a person can choose from their client's list, in words that name the tools to use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    Message = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Prompt:
    """A piece of work that a person can choose from their client's list."""

    name: str
    description: str
    arguments: dict[str, str]
    text: str

    def listed(self) -> Message:
        wanted = [{"name": name, "description": about, "required": True} for name, about in self.arguments.items()]
        return {"name": self.name, "description": self.description, "arguments": wanted}

    def message(self, given: Message) -> Message:
        text = self.text.format(**{name: str(given[name]) for name in self.arguments})
        return {"role": "user", "content": {"type": "text", "text": text}}


DOCUMENT = {"document": "the document's path"}
PROMPTS = {
    prompt.name: prompt
    for prompt in (
        Prompt(
            "rename",
            "Rename a person or a term throughout a document.",
            {**DOCUMENT, "old": "the name as it is", "new": "the name as it should be"},
            "Rename {old} to {new} in {document}. First call find_and_replace with preview=true and whole_word=true,"
            " look at the matches, then replace them; mind possessives and other forms of the name.",
        ),
        Prompt(
            "expand_section",
            "Add detail to one section of a document.",
            {**DOCUMENT, "section": "the section's title"},
            "In {document}, find the section {section} with get_outline, read it with read_document, and add detail"
            " with insert_lines. Leave every other section as it is.",
        ),
        Prompt(
            "proofread",
            "Correct spelling and grammar, and nothing else.",
            DOCUMENT,
            "Proofread {document}: read it, then correct spelling and grammar with edit_text, one small edit for each"
            " mistake, gathered in one batch. Do not change the wording otherwise.",
        ),
        Prompt(
            "edit_data",
            "Change a value in a YAML or JSON file.",
            {**DOCUMENT, "change": "what should change"},
            "In {document}: {change}. Use get_outline to find the place, read those lines, and change only them with"
            " replace_lines.",
        ),
    )
}
