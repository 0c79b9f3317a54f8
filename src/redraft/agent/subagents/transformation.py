"""Change a document: planned as a whole, made chunk by chunk, checked at the end. Returns edits and writes nothing.

A rename of the name itself is computed; subagents are asked only for what needs understanding. Each sees one chunk,
the end of the previous one, and the plan, and answers with edits of its chunk. The changed chunk is compared with the
original word by word, so that only changed words become edits of the document.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from redraft.agent.subagents.analysis import BEFORE, line_of, place_of
from redraft.agent.subagents.question import SubagentQuestion, change_of, faults_of_edits
from redraft.agent.subagents.task_prompts import CHANGE, CHECK, NAME, PLAN, TARGETS
from redraft.errors import Refused
from redraft.formats.outline.outline import outline
from redraft.text.diff.word_diff import word_edits
from redraft.text.edits import Change, Edit
from redraft.tools.long_documents.character_rename import (
    MAX_FLAGS,
    is_form_of,
    leftovers,
    make_flag,
    parse_rename,
    rename_edits,
    rename_flags,
)
from redraft.tools.long_documents.prose_stats import WORD, mentions_of, name_pattern, word_set
from redraft.tools.long_documents.worker import Flag

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from redraft.agent.subagents.chunks import DocumentChunk
    from redraft.agent.subagents.pool import AnswerSource
    from redraft.tools.long_documents.character_rename import Rename
    from redraft.tools.long_documents.worker import Ask, Source, TransformationRequest

# Is the changed document still consistent? Doubtful places are flagged for a person, never corrected.
#
# What can be computed is computed over the whole text: leftovers of old names, ambiguous new names, pronouns that
# do not fit. A subagent looks for contradictions; it sees the changed places of many chunks side by side, and what it
# does not quote from them does not count.


# How many characters around a changed place are shown, and how many in total to one checker.
AROUND = 160
TOGETHER = 12_000


def check_consistency(work: TransformState, words: str, change: Change, new: str) -> list[Flag]:
    """The flags of a change, at most `MAX_FLAGS` per kind of check."""
    computed = [*_syntax_flags(work, new), *_compute_flags(work, new)]
    if len(work.chunks) < 2 or change.is_empty:
        return computed
    return [*computed, *_ask_checkers(work, words, change, new)]


def _syntax_flags(work: TransformState, new: str) -> list[Flag]:
    """A data file that was valid before and no longer is."""
    if work.source.format not in ("json", "yaml"):
        return []
    before, after = (outline(text, work.source.format).error for text in (work.source.text, new))
    return [Flag("syntax", after.line, "", after.message)] if after is not None and before is None else []


def _compute_flags(work: TransformState, new: str) -> list[Flag]:
    if work.rename is not None:
        return [*_other_forms(work, new), *rename_flags(work.source.text, new, work.rename)][:MAX_FLAGS]
    wanted = dict(work.plan.replacements)
    if work.request.kind == "setting_change":
        wanted[str(work.request.names["old_setting"])] = str(work.request.names["new_setting"])
    return [flag for old, to in wanted.items() for flag in leftovers(new, old, to)][:MAX_FLAGS]


def _other_forms(work: TransformState, new: str) -> Iterator[Flag]:
    """What was renamed because the plan took it for a form of the name: it may be somebody else's."""
    for old, to in work.names.items():
        if work.rename is not None and old != work.rename.old and (found := re.search(name_pattern(to), new)):
            yield make_flag("other_form", new, found.start(), f"“{old}” was taken for {work.rename.old}: now “{to}”.")


def _ask_checkers(work: TransformState, words: str, change: Change, new: str) -> list[Flag]:
    passages = _passages(change, new)
    questions = (
        SubagentQuestion(
            "checker",
            f"{CHECK.instructions}\n\n{words}",
            CHECK.schema,
            passage="\n...\n".join(new[start:end] for start, end in places),
            known=work.plan.render(),
            room=work.room,
        )
        for places in passages
    )
    flags: list[Flag] = []
    for places, answer in zip(passages, work.pool.answer_all(questions, len(passages)), strict=True):
        for issue in answer["issues"]:
            at = _locate(issue["quote"], places, new)
            if at is not None and len(flags) < MAX_FLAGS:
                flags.append(make_flag("contradiction", new, at, issue["problem"]))
    return flags


def _passages(change: Change, new: str) -> list[list[tuple[int, int]]]:
    """The changed places of the new text with their surroundings, as offsets, grouped per checker."""
    packs: list[list[tuple[int, int]]] = [[]]
    size = 0
    for start, end in find_changed_places(change, len(new)):
        if size and size + end - start > TOGETHER:
            packs.append([])
            size = 0
        packs[-1].append((start, end))
        size += end - start
    return [pack for pack in packs if pack]


def find_changed_places(change: Change, length: int) -> list[tuple[int, int]]:
    """Where the new text differs, with its surroundings, neighbours joined; none is longer than a checker takes."""
    found: list[tuple[int, int]] = []
    growth = 0
    for edit in change.edits:
        start = edit.at + growth
        end = start + min(len(edit.new), TOGETHER // 2)
        growth += edit.growth
        start, end = max(0, start - AROUND), min(length, end + AROUND)
        if found and start <= found[-1][1] and end - found[-1][0] <= TOGETHER:
            start = found.pop()[0]
        found.append((start, end))
    return found


def _locate(quote: str, places: list[tuple[int, int]], new: str) -> int | None:
    if not quote.strip():
        return None
    return next((at for start, end in places if (at := new.find(quote, start, end)) >= 0), None)


# Before a document is changed: what the change is, which expressions it affects, and what replaces each.
#
# The plan keeps subagents consistent that do not see each other's work: the same river gets the same new name in
# every chapter. It contains only expressions that occur in the document; a model's other ideas are dropped.


MAX_PROMPT = 4000
MAX_TERMS = 2000
TOLD_TERMS = 80


@dataclass(frozen=True, slots=True)
class DoubtfulPlace:
    """A place where a subagent could not decide what to change."""

    chunk: DocumentChunk
    quote: str
    why: str
    new: str = ""


@dataclass(frozen=True, slots=True)
class TransformPlan:
    """What everyone who changes the document follows."""

    replacements: dict[str, str] = field(default_factory=dict[str, str])
    guidance: str = ""

    def render(self) -> str:
        lines = [f"- {old} -> {new}" for old, new in self.replacements.items()]
        parts = ["Agreed for the whole document:", *lines] if lines else []
        return "\n".join([*parts, self.guidance] if self.guidance else parts)


def describe_change(request: TransformationRequest) -> str:
    """The change in words, as every subagent gets it; refused if something is missing."""
    extra = f"\nThe person adds: {_prompt(request)}" if request.prompt and request.kind != "custom" else ""
    if request.kind == "character_rename":
        return _describe_rename(parse_rename(request.names)) + extra
    if request.kind == "setting_change":
        old, new = (_setting(request, key) for key in ("old_setting", "new_setting"))
        adapt = bool(request.names.get("adapt_details", True))
        belongs = "names of streets, food, customs, weather"
        details = (
            f"Adapt what belongs to the place: {belongs}."
            if adapt
            else f"Change only where the place itself is named; what belongs to it ({belongs}) stays as it is."
        )
        return f"The setting moves from {old} to {new}. {details}{extra}"
    if request.kind == "style_rewrite":
        style = str(request.names.get("style") or request.names.get("new_style") or "").strip()[:MAX_PROMPT]
        if not style and not request.prompt:
            raise Refused("Describe the style in `params.style` or `custom_prompt`.", field="params.style")
        return f"The text is rewritten in another style. {style}{extra}"
    if not request.prompt.strip():
        raise Refused("A custom transformation needs instructions.", field="custom_prompt")
    return f"The person wishes: {_prompt(request)}"


def _prompt(request: TransformationRequest) -> str:
    if len(request.prompt) > MAX_PROMPT:
        raise Refused(f"Instructions may have at most {MAX_PROMPT} characters.", field="custom_prompt")
    return request.prompt


def _setting(request: TransformationRequest, key: str) -> str:
    value = " ".join(str(request.names.get(key) or "").split())
    if not value or len(value) > NAME:
        raise Refused(f"`params.{key}` must be a place of at most {NAME} characters.", field=f"params.{key}")
    return value


def _describe_rename(rename: Rename) -> str:
    text = (
        f"The person who was called {rename.old} is now called {rename.new}. The name itself has already been changed."
    )
    if not rename.update_pronouns:
        return text
    who = f"{rename.new} is {rename.gender}. " if rename.gender else ""
    return (
        f"{text} {who}Change pronouns, titles and other words that tell the gender where they mean {rename.new} and do "
        "not agree, and nothing else. A pronoun that may mean somebody else is a doubt."
    )


def make_plan(
    source: Source, words: str, chunks: list[DocumentChunk], pool: AnswerSource, max_tokens: int
) -> tuple[TransformPlan, list[DoubtfulPlace]]:
    """Find what the change affects in these chunks, and agree on the replacements."""
    answers = pool.answer_all(_targets(source, words, chunks, max_tokens), len(chunks))
    terms: Counter[str] = Counter()
    doubts: list[DoubtfulPlace] = []
    for chunk, answer in zip(chunks, answers, strict=True):
        passage = chunk.of(source.text)
        found = {" ".join(term["text"].split()) for term in answer["terms"]}
        terms.update(term for term in found if _is_in_text(term, passage) and (term in terms or len(terms) < MAX_TERMS))
        doubts += [
            DoubtfulPlace(chunk, each["quote"], each["why"]) for each in answer["doubts"] if each["quote"] in passage
        ]
    if not terms:
        return TransformPlan(), doubts
    question = SubagentQuestion(
        "planner", f"{PLAN.instructions}\n\n{words}", PLAN.schema, known=_count_terms(source, terms), room=max_tokens
    )
    (answer,) = pool.answer_all([question], 1)
    return _check_plan(answer, source), doubts


def _targets(
    source: Source, words: str, chunks: Iterable[DocumentChunk], max_tokens: int
) -> Iterator[SubagentQuestion]:
    for chunk in chunks:
        yield SubagentQuestion(
            "analyser",
            f"{TARGETS.instructions}\n\n{words}",
            TARGETS.schema,
            passage=chunk.of(source.text),
            about=place_of(chunk, source.text),
            room=max_tokens,
        )


def _count_terms(source: Source, terms: Counter[str]) -> str:
    most = [term for term, _ in terms.most_common(TOLD_TERMS)]
    counted = mentions_of(source.text, [(term,) for term in most])
    return "\n".join(f"- {each.name} ({each.count} times)" for each in counted)


def _check_plan(answer: dict[str, Any], source: Source) -> TransformPlan:
    wanted = {" ".join(each["old"].split()): " ".join(each["new"].split()) for each in answer["replacements"]}
    names = {old: new for old, new in wanted.items() if new and old != new and _is_in_text(old, source.text)}
    return TransformPlan(names, answer["guidance"])


def _is_in_text(term: str, text: str) -> bool:
    return bool(term) and re.search(name_pattern(term), text) is not None


# Does an edit of a rename stay within what a rename may change: pronouns, titles, and the verbs that go with them?
#
# A model that is asked about pronouns and rewrites a sentence has done something else than it was asked; such an edit
# is dropped. Pure.


GENDERED = word_set(
    """he him his himself she her hers herself they them their theirs themself themselves it its itself
    he's she's they're he’s she’s they’re he'd she'd they'd he’d she’d they’d he'll she'll they'll he’ll she’ll they’ll
    mr mrs ms miss mister sir madam ma'am ma’am lord lady master mistress king queen prince princess duke duchess
    count countess baron baroness emperor empress man woman men women gentleman gentlewoman gentlemen ladies boy girl
    boys girls lad lass husband wife father mother son daughter brother sister uncle aunt nephew niece grandfather
    grandmother grandson granddaughter stepfather stepmother widow widower bride bridegroom groom hero heroine actor
    actress waiter waitress host hostess heir heiress guy gal bachelor spinster spouse parent child sibling
    is are was were has have does do 's ’s 're ’re"""
)


def is_gender_only(old: str, new: str) -> bool:
    """Whether two wordings differ only in words that say who is meant, and in the endings of their verbs."""
    for edit in word_edits(old, new):
        removed, added = _others(edit.old), _others(edit.new)
        if removed != added:
            return False
    return True


def _others(text: str) -> list[str]:
    words = (word.casefold() for word in WORD.findall(text))
    return [word.removesuffix("es").removesuffix("s") for word in words if word not in GENDERED]


MAX_QUESTIONS = 5
YES = frozenset({"y", "yes", "ja", "oui", "si", "ok", "true", "change it"})


@dataclass(slots=True)
class TransformState:
    """One transformation in progress."""

    source: Source
    request: TransformationRequest
    chunks: list[DocumentChunk]
    pool: AnswerSource
    room: int
    ask: Ask | None = None
    plan: TransformPlan = field(default_factory=TransformPlan)
    rename: Rename | None = None
    edits: list[Edit] = field(default_factory=list[Edit])
    doubts: list[DoubtfulPlace] = field(default_factory=list[DoubtfulPlace])
    refused: list[DoubtfulPlace] = field(default_factory=list[DoubtfulPlace])
    questions: int = 0

    @property
    def names(self) -> dict[str, str]:
        """What is replaced without a model: the person's name, and the plan's replacements for other forms of it. A
        plan comes from a model: what is not a form of the name is never replaced throughout a document because of
        it."""
        if self.rename is None:
            return {}
        forms = self.plan.replacements.items()
        others = {old: new for old, new in forms if is_form_of(old, self.rename.old, self.source.text)}
        return {**others, self.rename.old: self.rename.new}


def transform(work: TransformState) -> tuple[tuple[Edit, ...], tuple[Flag, ...]]:
    """The edits of the whole document and the places to check."""
    words = describe_change(work.request)
    if work.request.kind == "character_rename":
        work.rename = parse_rename(work.request.names)
    concerned = _find_affected_chunks(work)
    if len(work.chunks) > 1:
        work.plan, found = make_plan(work.source, words, concerned, work.pool, work.room)
        work.doubts += found
    _change_all(work, words, concerned)
    change = Change(tuple(work.edits))
    new = change.apply(work.source.text)
    flags = [*_doubt_flags(work, change, new), *check_consistency(work, words, change, new)]
    return change.edits, tuple(flags[: 2 * MAX_FLAGS])


def _find_affected_chunks(work: TransformState) -> list[DocumentChunk]:
    """The chunks that a subagent has to see: for a rename, those with the name and those right after one."""
    if work.rename is None:
        return work.chunks
    name = re.compile(f"{name_pattern(work.rename.old)}|{name_pattern(work.rename.old.upper())}")
    holds = [name.search(work.source.text, chunk.start, chunk.end) is not None for chunk in work.chunks]
    return [chunk for chunk in work.chunks if holds[chunk.index] or (chunk.index and holds[chunk.index - 1])]


def _change_all(work: TransformState, words: str, concerned: list[DocumentChunk]) -> None:
    answers = work.pool.answer_all(_questions(work, words, concerned), len(concerned))
    asked = {chunk.index for chunk in concerned}
    for chunk in work.chunks:
        passage = chunk.of(work.source.text)
        named = _apply_names(work, passage)
        new = _apply_answer(work, chunk, named, next(answers)) if chunk.index in asked else named
        work.edits += [edit.shift(chunk.start) for edit in word_edits(passage, new)]


def _apply_names(work: TransformState, passage: str) -> str:
    return Change(rename_edits(passage, work.names)).apply(passage)


def _questions(work: TransformState, words: str, chunks: Iterable[DocumentChunk]) -> Iterator[SubagentQuestion]:
    for chunk in chunks:
        before = work.source.text[max(0, chunk.start - BEFORE) : chunk.start]
        yield SubagentQuestion(
            "transformer",
            f"{CHANGE.instructions}\n\n{words}",
            CHANGE.schema,
            passage=_apply_names(work, chunk.of(work.source.text)),
            known=work.plan.render(),
            before=_apply_names(work, before),
            about=place_of(chunk, work.source.text),
            edits=True,
            room=work.room,
        )


def _apply_answer(work: TransformState, chunk: DocumentChunk, passage: str, answer: dict[str, Any]) -> str:
    """The passage with a subagent's edits, and with those that the person agreed to."""
    edits: list[dict[str, Any]] = []
    for edit in answer["edits"]:
        if work.rename is None or is_gender_only(edit["old"], edit["new"]):
            edits.append(edit)
        else:
            work.refused.append(
                DoubtfulPlace(chunk, edit["old"], "The rename would have changed more than names and pronouns.")
            )
    for each in answer["doubts"]:
        if each["quote"].strip() and each["quote"] in passage and not _ask_about(work, chunk, passage, each, edits):
            work.doubts.append(DoubtfulPlace(chunk, each["quote"], each["why"], each["new"]))
    return change_of(passage, edits).apply(passage)


def _ask_about(
    work: TransformState, chunk: DocumentChunk, passage: str, doubt: dict[str, Any], edits: list[dict[str, Any]]
) -> bool:
    """Ask the person about a doubtful place; if they want it changed, add that to the edits. Returns whether they
    did."""
    edit = {"old": doubt["quote"], "new": doubt["new"]}
    if work.ask is None or not doubt["new"].strip() or work.questions >= MAX_QUESTIONS:
        return False
    if doubt["new"] == doubt["quote"] or faults_of_edits(passage, [*edits, edit]):
        return False
    work.questions += 1
    line = line_of(doubt["quote"], chunk, work.source.text)
    place = f" on line {line + 1}" if line is not None else f" in {place_of(chunk, work.source.text)}"
    answer = work.ask(f"“{doubt['quote']}”{place}: {doubt['why']} Change it to “{doubt['new']}”? (yes or no)")
    if answer is None or answer.strip().rstrip(".!").casefold() not in YES:
        return False
    edits.append(edit)
    return True


def _doubt_flags(work: TransformState, change: Change, new: str) -> Iterator[Flag]:
    """The places where subagents were in doubt, located in the new text."""
    for kind, doubts in (("ambiguous", work.doubts), ("refused", work.refused)):
        for doubt in doubts[:MAX_FLAGS]:
            start, end = change.map(doubt.chunk.start, after=False), change.map(doubt.chunk.end)
            at = new.find(doubt.quote, start, end)
            at = new.find(_apply_names(work, doubt.quote), start, end) if at < 0 else at
            wanted = f" It could become “{doubt.new}”." if doubt.new else ""
            yield make_flag(kind, new, max(at, start), f"{doubt.why}{wanted}")
