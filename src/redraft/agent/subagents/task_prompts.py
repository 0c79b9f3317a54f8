"""The prompts and schemas of subagents: one entry for each task of an analysis and pass of a transformation.

Every list and text in a schema has a limit, so no answer can be disproportionately large.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from redraft.providers.contract import JsonObject

QUOTE = 300
NAME = 80


def _text(most: int) -> JsonObject:
    return {"type": "string", "maxLength": most}


def _list(of: JsonObject, most: int) -> JsonObject:
    return {"type": "array", "items": of, "maxItems": most}


def _object(**properties: JsonObject) -> JsonObject:
    names: list[Any] = list(properties)
    return {"type": "object", "properties": properties, "required": names, "additionalProperties": False}


@dataclass(frozen=True, slots=True)
class TaskPrompt:
    """A prompt with its schema."""

    instructions: str
    schema: JsonObject


CHARACTERS = TaskPrompt(
    "List the people (or animals and things that act like people) who appear in the passage: the fullest name that the "
    "passage gives them, the other names by which it calls the same person, and their part in it in a few "
    "words. Write names as in the passage. Do not count anything.",
    _object(
        characters=_list(_object(name=_text(NAME), aliases=_list(_text(NAME), 8), role=_text(200)), 40),
    ),
)
PLOT = TaskPrompt(
    "List what happens in the passage, in its order: each event in one sentence, who takes part in it, and a short "
    "quotation from the place where it happens. Then retell the passage in at most 120 words.",
    _object(
        events=_list(_object(what=_text(300), who=_list(_text(NAME), 10), quote=_text(QUOTE)), 12),
        summary=_text(1200),
    ),
)
STYLE = TaskPrompt(
    "Describe how the passage is written: the person in which it is told, its tense, its tone in up to three words, "
    "and what is remarkable about its language, each with a short quotation.",
    _object(
        person={"enum": ["first", "second", "third", "mixed", "none"]},
        tense={"enum": ["past", "present", "mixed", "none"]},
        tone=_list(_text(30), 3),
        observations=_list(_object(note=_text(300), quote=_text(QUOTE)), 6),
    ),
)
SUMMARY = TaskPrompt("Summarise the passage in at most 120 words.", _object(summary=_text(1200)))
CUSTOM = TaskPrompt(
    "Answer the person's question as far as this passage allows, in at most 120 words, and list what in it the answer "
    "rests on, each with a short quotation. Where the passage says nothing about it, answer with an empty text.",
    _object(findings=_list(_object(finding=_text(300), quote=_text(QUOTE)), 12), summary=_text(1200)),
)
ANALYSES = {"characters": CHARACTERS, "plot": PLOT, "style": STYLE, "summary": SUMMARY, "custom": CUSTOM}

TOGETHER = TaskPrompt(
    "You are given what was written about successive parts of one document. Make one text of it, in at most 200 words, "
    "that says what matters and repeats nothing.",
    _object(summary=_text(2000)),
)

TARGETS = TaskPrompt(
    "A document is going to be changed as described below. List the names and expressions in the passage that the "
    "change concerns, as they are written there, and quote the places where it is doubtful whether or how it applies.",
    _object(
        terms=_list(_object(text=_text(NAME), what=_text(120)), 30),
        doubts=_list(_object(quote=_text(QUOTE), why=_text(200)), 10),
    ),
)
PLAN = TaskPrompt(
    "A document is going to be changed as described below, passage by passage, by assistants who do not see each "
    "other's work. You are given the expressions that the change concerns. Say what should replace each of "
    "them throughout, so that all do the same, and what else all should follow, in at most 150 words. Leave "
    "out the rest.",
    _object(
        replacements=_list(_object(old=_text(NAME), new=_text(NAME)), 60),
        guidance=_text(1500),
    ),
)
CHANGE = TaskPrompt(
    "Change the passage as described below, and keep to what is known of the whole. Give each change as an "
    "edit: `old` is quoted exactly from the passage and long enough to occur in it once, `new` replaces it. "
    "Change nothing that need not be changed; an empty list is a good answer. Where you cannot tell whether "
    "a place has to change, leave it out of the edits and put it among the doubts, with the new text it would have.",
    _object(
        edits=_list(_object(old=_text(4000), new=_text(8000)), 200),
        doubts=_list(_object(quote=_text(QUOTE), new=_text(QUOTE), why=_text(200)), 10),
    ),
)
CHECK = TaskPrompt(
    "A document was changed as described below. You are given the places that were changed, as they read now. Quote "
    "those that contradict one another or what is known, or in which it is no longer clear who or what is meant, and "
    "say why. Correct nothing. An empty list is a good answer.",
    _object(issues=_list(_object(quote=_text(QUOTE), problem=_text(200)), 12)),
)
