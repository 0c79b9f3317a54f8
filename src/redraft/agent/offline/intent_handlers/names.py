"""Find names in a text by how they are written, and guess what each one names. Pure, and only a guess.

A name is a run of capitalised words that is not merely the start of a sentence. Whether it is a person or a place
is guessed from the words around it (titles, verbs of speech and motion, prepositions of place) and in it.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from redraft.agent.offline.documents import describe_unread, read_all, resolve_paths
from redraft.agent.offline.intents import Intent, parse_patterns
from redraft.agent.offline.prose import all_sentences
from redraft.agent.offline.tokens import word_list
from redraft.tools.long_documents.prose_stats import CAPITALISED, POSSESSIVE, mentions_of, word_set

if TYPE_CHECKING:
    from redraft.agent.offline.intents import Script, ScriptContext, SlotValues

Guess = Literal["person", "place", "unclear"]

_RUN = re.compile(rf"\b{CAPITALISED}(?:\s+(?:of the |of |the |de |von |van |la |le )?{CAPITALISED})*")
_NO_NAMES = word_set(
    """
    i i'm i'll i've i'd ok the a an and but or so if when then there here this that these those it its he she they
    we you my your his her our their what who where why how yes no not all some any one two three each every chapter
    part section figure table note notes todo draft god english french german spanish italian european american
    monday tuesday wednesday thursday friday saturday sunday january february march april may june july august
    september october november december christmas easter mr mrs ms dr prof sir lady lord saint st captain miss madam
    near toward towards across behind beside beyond along around through within since until about above below between
    against
    in on at by for from to of as with without after before under over into during while because although though
    nobody nothing everybody everything somebody something perhaps maybe never always now once only even still just
    whoever whatever give decide find check let make take go come see look read write say tell ask is are was were
    be been do does did have has had will would can could shall should may might must
    """
)
_TITLES = re.compile(
    r"(?:Mr|Mrs|Ms|Miss|Dr|Prof|Professor|Sir|Lady|Lord|Captain|Aunt|Uncle|King|Queen|Prince|Princess|Father|Mother|Sister|Brother)\.?\s+$"
)
_PLACE_BEFORE = re.compile(r"\b(?:in|at|near|across|outside|inside|into|via)\s+(?:the\s+)?$", re.IGNORECASE)
_PLACE_WORD = re.compile(
    r"\b(?:Point|Quay|Street|Road|Lane|Avenue|Square|River|Lake|Sea|Ocean|Bay|Island|Isle|Mount|Mountain|Hill|Valley|"
    r"Bridge|Harbour|Harbor|Port|Castle|Tower|Park|Forest|Wood|Woods|City|Town|Village|County|Kingdom|Republic|States|"
    r"North|South|East|West|Beach|Cape|Coast|House|Hall|Hotel|Inn|Abbey|Church|Station|Garden|Gardens|Palace)\b"
)
_KNOWN_PLACES = word_set(
    """
    London Paris Berlin Rome Madrid Vienna Lisbon Dublin Prague Warsaw Moscow Athens Oslo Stockholm Helsinki
    Brussels Amsterdam Zurich Geneva Munich Hamburg Venice Florence Naples Milan Barcelona Istanbul Cairo Delhi
    Mumbai Tokyo Kyoto Beijing Shanghai Sydney Melbourne Toronto Montreal Chicago Boston Seattle Washington Houston
    Dallas Edinburgh Glasgow England Scotland Ireland Wales Britain France Germany Spain Italy Portugal Austria
    Switzerland Belgium Netherlands Poland Russia Ukraine Greece Turkey Egypt India China Japan Korea Australia
    Canada America Mexico Brazil Argentina Europe Asia Africa Norway Sweden Finland Denmark Iceland Hungary Israel
    Iran Iraq California Texas Florida
    """
)
_VERB_AFTER = re.compile(
    r"^(?:['’]s?\s+(?:\w+\s+)?(?:hand|eyes?|face|voice|head|father|mother|sister|brother|wife|husband|son|daughter|"
    r"friend|heart|arm|mouth|hair|smile|keys?|name|mind)\b|\s+(?:\w+ly\s+)?(?:said|says|asked|asks|replied|answered|thought|"
    r"thinks|knew|knows|felt|feels|wanted|wants|laughed|smiled|cried|went|goes|came|walked|looked|looks|saw|sees|read|"
    r"reads|wrote|writes|told|tells|took|turned|stood|sat|began|heard|loved|loves|hated|whispered|shouted|nodded|ran|"
    r"believes?|believed|hopes?|hoped|asks?|brings?|brought|will|would|has|had|is|was|and (?:he|she|I))\b)"
)


@dataclass(slots=True)
class Name:
    """A name, how often it occurs, where first (document and line from 0), and the evidence of what it names."""

    text: str
    count: int = 0
    first: tuple[str, int] = ("", 0)
    signs: Counter[str] = field(default_factory=Counter[str])

    @property
    def guess(self) -> Guess:
        person, place = self.signs["person"], self.signs["place"]
        if place > person or (place and _PLACE_WORD.search(self.text)):
            return "place"
        return "person" if person else "unclear"


def find_names(documents: list[tuple[str, str, str]]) -> list[Name]:
    """The names in some documents, each given as path, text and format; most mentions first."""
    found: dict[str, Name] = {}
    inner: set[str] = set()
    for _, text, kind in documents:
        for sentence in all_sentences(text, kind):
            for match in _RUN.finditer(sentence.text):
                at_start = not re.search(r"\w", sentence.text[: match.start()])
                for piece, start in _pieces(match):
                    name = found.setdefault(piece, Name(piece))
                    if not (at_start and start == match.start()) or " " in piece:
                        inner.add(piece)
                    _count_signs(name, sentence.text, start)
    names = [name for name in found.values() if name.text in inner or name.signs["person"] > 1]
    for name in (joined := _merge_names(names)):
        _count(name, documents)
    return sorted(joined, key=lambda name: (-name.count, name.text))


def _count(name: Name, documents: list[tuple[str, str, str]]) -> None:
    """Count every occurrence of the name as whole words, headings and tables included."""
    for path, text, _ in documents:
        [found] = mentions_of(text, [(name.text,)])
        if not name.count and found.first_line is not None:
            name.first = (path, found.first_line)
        name.count += found.count


def _pieces(match: re.Match[str]) -> list[tuple[str, int]]:
    """The names in a run of capitalised words, without leading and trailing words that name nothing."""
    words = [(word.group(), match.start() + word.start()) for word in re.finditer(r"\S+", match.group())]
    while words and _bare(words[0][0]).casefold() in _NO_NAMES:
        words = words[1:]
    while words and _bare(words[-1][0]).casefold() in _NO_NAMES:
        words = words[:-1]
    if not words or (len(words) == 1 and (len(_bare(words[0][0])) < 2 or _bare(words[0][0]).isupper())):
        return []
    return [(" ".join(_bare(word) for word, _ in words), words[0][1])]


def _bare(word: str) -> str:
    return POSSESSIVE.sub("", word).strip("-'’")


def _count_signs(name: Name, sentence: str, start: int) -> None:
    before, after = sentence[:start], sentence[start + len(name.text) :]
    if _TITLES.search(before):
        name.signs["person"] += 3
    if _VERB_AFTER.match(after):
        name.signs["person"] += 1
    if _PLACE_WORD.search(name.text) or name.text in _KNOWN_PLACES:
        name.signs["place"] += 3
    if _PLACE_BEFORE.search(before):
        name.signs["place"] += 2
    elif re.search(r"\b(?:Present|Attendees|Participants|Attending)\b[^.]*$", before) or re.match(
        r"\s*,\s+(?:who|whose)\b", after
    ):
        name.signs["person"] += 1


def _merge_names(names: list[Name]) -> list[Name]:
    """Merge short names into the long ones that contain them: "Ines" into "Ines Havel", if only one name contains
    it."""
    by_text = {name.text: name for name in names}
    for name in list(by_text.values()):
        words = name.text.split()
        short = [by_text[word] for word in words if word in by_text and word != name.text]
        if len(words) > 1 and len(short) == 1:
            short[0].signs += name.signs
            del by_text[name.text]
    return list(by_text.values())


# People and places: how often each is mentioned, and where first.


MOST = 25

_PEOPLE = "(people|persons|characters|character names|names|names of people|who is who|cast|protagonists|persons named)"
_PLACES = "(places|locations|settings|place names|cities|towns|sites)"
_SHOW = "(list|show|find|give|name|extract|tell|get|collect|count|who are|what are|which are|identify)"
_WHERE = (
    "[(mentioned|named|appearing|that appear|occurring|that occur|there are|used)] [(in|of|from|across|within|"
    "for) <doc>]"
)
_AND = "(and|or|&|/|,)"

PATTERNS = parse_patterns(f"""
{_SHOW} [every] [(main|list of|important|different)] {_PEOPLE} {_AND} {_PLACES} {_WHERE} => what=both
{_SHOW} [every] [(main|list of|important|different)] {_PLACES} {_AND} {_PEOPLE} {_WHERE} => what=both
{_SHOW} [every] [(main|list of|important|different)] {_PEOPLE} {_WHERE} => what=people
{_SHOW} [every] [(main|list of|important|different)] {_PLACES} {_WHERE} => what=places
(which|what) {_PEOPLE} {_AND} {_PLACES} (is|are|appear|occur|do i have|there) [(there|mentioned|named)] {_WHERE} \
 => what=both
(which|what) {_PEOPLE} (is|are|appear|occur|do i have|come up|play) [(there|mentioned|named|a role)] {_WHERE} \
 => what=people
(which|what) {_PLACES} (is|are|appear|occur|do i have|come up) [(there|mentioned|named)] {_WHERE} => what=places
who (is|are|appears|occurs|comes up|gets mentioned|plays a role) [(mentioned|named|there|in it)] {_WHERE} \
 => what=people
who is (who|everyone|everybody) [(in|of) <doc>] => what=people
who are they all [(in|of) <doc>] => what=people
how often (is|are) (each|every|the) (person|character|people|characters) (mentioned|named) [(in|of) <doc>] \
 => what=people
how often (is|are) (each|every|the) (place|location|places) (mentioned|named) [(in|of) <doc>] => what=places
how many {_PEOPLE} (is|are|appear|occur|do i have) [(there|mentioned)] {_WHERE} => what=people
how many {_PLACES} (is|are|appear|occur|do i have) [(there|mentioned)] {_WHERE} => what=places
[(list|overview) of] {_PEOPLE} {_AND} {_PLACES} {_WHERE} => what=both
[(list|overview) of] {_PLACES} {_AND} {_PEOPLE} {_WHERE} => what=both
[(list|overview) of] {_PEOPLE} {_WHERE} => what=people
[(list|overview) of] {_PLACES} {_WHERE} => what=places
(make|create|write|give|show|build) [list of] (cast|cast list|character list|list of characters|dramatis \
 personae) [(for|of|from) <doc>] => what=people
who (gets|is) mentioned (most|often|most often) [(in|of) <doc>] => what=people
(index|register|list|table|overview) of {_PEOPLE} [{_AND} {_PLACES}] {_WHERE} => what=both
[(see|show|list)] [every] {_PEOPLE} with [their] [first] (appearance|appearances|mentions|counts|number of \
 mentions) {_WHERE} => what=people
who was (there|present|at meeting|at the meeting) [(in|of) <doc>] => what=people
where is <doc> set => what=places
(what|which) are names of (characters|people|persons) [(in|of) <doc>] => what=people
[give|show|list] (everyone|everybody|anyone|each person) [who|that] [is] (appears|mentioned|occurs|named) \
 [(in|of) <doc>] => what=people
where does <doc> (take place|happen|play) => what=places
where (does|do) it all (take place|happen|play) => what=places
(make|create|write) [(list|index|register|cast list) of] {_PEOPLE} [{_AND} {_PLACES}] {_WHERE} => what=both
""")


def script(slots: SlotValues, context: ScriptContext) -> Script:
    paths = yield from resolve_paths(slots["doc"], context, default_everything=True)
    readings = yield from read_all(paths, context)
    found = find_names([(each.path, each.text, each.format) for each in readings if each.pieces])
    lines: list[str] = []
    if slots["what"] in ("people", "both"):
        lines += _list_names("People", [name for name in found if name.guess == "person"])
    if slots["what"] in ("places", "both"):
        lines += _list_names("Places", [name for name in found if name.guess == "place"])
    unclear = [name for name in found if name.guess == "unclear"]
    if unclear:
        lines += _list_names("Other names", unclear)
    if not found:
        lines = ["I found no names."]
    head = "Judged by spelling and the words around each name, so please check; the counts are exact."
    return "\n".join([head, *context.notes, *lines]) + describe_unread(readings)


def _list_names(title: str, names: list[Name]) -> list[str]:
    if not names:
        return [f"{title}: none found."]
    rows = [
        f"- {name.text}: {name.count} mention{'' if name.count == 1 else 's'}, "
        f"first in {name.first[0]}, line {name.first[1] + 1}"
        for name in names[:MOST]
    ]
    return [f"{title}:", *rows, *([f"- and {len(names) - MOST} more"] if len(names) > MOST else [])]


INTENT = Intent(
    "people",
    "list people and places, how often each is mentioned, and where first",
    ("List the people and places in chapter 2", "Who appears in the story?", "Which places are mentioned?"),
    PATTERNS,
    script,
    word_list("people characters persons places locations cast names everyone"),
)
