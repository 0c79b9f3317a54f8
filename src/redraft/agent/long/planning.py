"""Before a document is changed: what the change is, which expressions it concerns, and what becomes of each.

The plan is what keeps subagents together who do not see each other's work: the same river gets the same new name in
every chapter. It holds only expressions that stand in the document; a model's other ideas are dropped.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from redraft.agent.long.analysis import place_of
from redraft.agent.long.subagents import Question
from redraft.agent.long.tasks import NAME, PLAN, TARGETS
from redraft.errors import Refused
from redraft.tools.counting import mentions_of, name_pattern
from redraft.tools.renaming import rename_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from redraft.agent.long.chunking import Chunk
    from redraft.agent.long.crew import Asking
    from redraft.tools.long import Source, Wish
    from redraft.tools.renaming import Rename

MAX_PROMPT = 4000
MAX_TERMS = 2000
TOLD_TERMS = 80


@dataclass(frozen=True, slots=True)
class Doubt:
    """A place of which a subagent could not tell what becomes of it."""

    chunk: Chunk
    quote: str
    why: str
    new: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """What all who change the document keep to."""

    replacements: dict[str, str] = field(default_factory=dict[str, str])
    guidance: str = ""

    def told(self) -> str:
        lines = [f"- {old} -> {new}" for old, new in self.replacements.items()]
        parts = ["Agreed for the whole document:", *lines] if lines else []
        return "\n".join([*parts, self.guidance] if self.guidance else parts)


def described(wish: Wish) -> str:
    """The change in words, as every subagent is told it; refused where something is missing."""
    extra = f"\nThe person adds: {_prompt(wish)}" if wish.prompt and wish.kind != "custom" else ""
    if wish.kind == "character_rename":
        return _rename_in_words(rename_of(wish.names)) + extra
    if wish.kind == "setting_change":
        old, new = (_setting(wish, key) for key in ("old_setting", "new_setting"))
        adapt = bool(wish.names.get("adapt_details", True))
        details = "Adapt what belongs to the place: names of streets, food, customs, weather." if adapt else ""
        return f"The setting moves from {old} to {new}. {details}{extra}"
    if wish.kind == "style_rewrite":
        style = str(wish.names.get("style") or wish.names.get("new_style") or "").strip()[:MAX_PROMPT]
        if not style and not wish.prompt:
            raise Refused("Say in `params.style` or `custom_prompt` how it shall read.", field="params.style")
        return f"The text is rewritten in another style. {style}{extra}"
    if not wish.prompt.strip():
        raise Refused("A custom transformation needs its instructions.", field="custom_prompt")
    return f"The person wishes: {_prompt(wish)}"


def _prompt(wish: Wish) -> str:
    if len(wish.prompt) > MAX_PROMPT:
        raise Refused(f"Instructions have at most {MAX_PROMPT} characters.", field="custom_prompt")
    return wish.prompt


def _setting(wish: Wish, key: str) -> str:
    value = " ".join(str(wish.names.get(key) or "").split())
    if not value or len(value) > NAME:
        raise Refused(f"`params.{key}` is a place of at most {NAME} characters.", field=f"params.{key}")
    return value


def _rename_in_words(rename: Rename) -> str:
    told = (
        f"The person who was called {rename.old} is now called {rename.new}. The name itself has been changed already."
    )
    if not rename.update_pronouns:
        return told
    who = f"{rename.new} is {rename.gender}. " if rename.gender else ""
    return (
        f"{told} {who}Change pronouns, titles and other words that tell the gender where they mean {rename.new} and do "
        "not agree, and nothing else. A pronoun that may mean somebody else is a doubt."
    )


def planned(source: Source, words: str, chunks: list[Chunk], crew: Asking, room: int) -> tuple[Plan, list[Doubt]]:
    """Find what the change concerns in these chunks, and agree on what becomes of it."""
    answers = crew.each(_targets(source, words, chunks, room), len(chunks))
    terms: Counter[str] = Counter()
    doubts: list[Doubt] = []
    for chunk, answer in zip(chunks, answers, strict=True):
        passage = chunk.of(source.text)
        found = {" ".join(term["text"].split()) for term in answer["terms"]}
        terms.update(term for term in found if _stands(term, passage) and (term in terms or len(terms) < MAX_TERMS))
        doubts += [Doubt(chunk, each["quote"], each["why"]) for each in answer["doubts"] if each["quote"] in passage]
    if not terms:
        return Plan(), doubts
    question = Question(
        "planner", f"{PLAN.instructions}\n\n{words}", PLAN.schema, known=_counted(source, terms), room=room
    )
    (answer,) = crew.each([question], 1)
    return _checked(answer, source), doubts


def _targets(source: Source, words: str, chunks: Iterable[Chunk], room: int) -> Iterator[Question]:
    for chunk in chunks:
        yield Question(
            "analyser",
            f"{TARGETS.instructions}\n\n{words}",
            TARGETS.schema,
            passage=chunk.of(source.text),
            about=place_of(chunk, source.text),
            room=room,
        )


def _counted(source: Source, terms: Counter[str]) -> str:
    most = [term for term, _ in terms.most_common(TOLD_TERMS)]
    counted = mentions_of(source.text, [(term,) for term in most])
    return "\n".join(f"- {each.name} ({each.count} times)" for each in counted)


def _checked(answer: dict[str, Any], source: Source) -> Plan:
    wanted = {" ".join(each["old"].split()): " ".join(each["new"].split()) for each in answer["replacements"]}
    kept = {old: new for old, new in wanted.items() if new and old != new and _stands(old, source.text)}
    return Plan(kept, answer["guidance"])


def _stands(term: str, text: str) -> bool:
    return bool(term) and re.search(name_pattern(term), text) is not None
