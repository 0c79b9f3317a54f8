"""People and places: how often each is mentioned, and where first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from redraft.agent.offline.documents import paths_meant
from redraft.agent.offline.intents import Intent, patterns
from redraft.agent.offline.names import names_in
from redraft.agent.offline.reading import left_out, read_all
from redraft.agent.offline.wording import word_list

if TYPE_CHECKING:
    from redraft.agent.offline.intents import Desk, Script, Slots
    from redraft.agent.offline.names import Name

MOST = 25

_PEOPLE = "(people|persons|characters|character names|names|names of people|who is who|cast|protagonists|persons named)"
_PLACES = "(places|locations|settings|place names|cities|towns|sites)"
_SHOW = "(list|show|find|give|name|extract|tell|get|collect|count|who are|what are|which are|identify)"
_WHERE = (
    "[(mentioned|named|appearing|that appear|occurring|that occur|there are|used)] [(in|of|from|across|within|"
    "for) <doc>]"
)
_AND = "(and|or|&|/|,)"

PATTERNS = patterns(f"""
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


def script(slots: Slots, desk: Desk) -> Script:
    paths = yield from paths_meant(slots["doc"], desk, default_everything=True)
    readings = yield from read_all(paths, desk)
    found = names_in([(each.path, each.text, each.format) for each in readings if each.pieces])
    lines: list[str] = []
    if slots["what"] in ("people", "both"):
        lines += _listed("People", [name for name in found if name.guess == "person"])
    if slots["what"] in ("places", "both"):
        lines += _listed("Places", [name for name in found if name.guess == "place"])
    unclear = [name for name in found if name.guess == "unclear"]
    if unclear:
        lines += _listed("Other names, of which I cannot tell what they are", unclear)
    if not found:
        lines = ["I find no names."]
    head = "Told by how names are written and the words around them, so look it over; the counts are exact."
    return "\n".join([head, *desk.notes, *lines]) + left_out(readings)


def _listed(title: str, names: list[Name]) -> list[str]:
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
    "list people and places with how often each is mentioned and where first",
    ("List the people and places in chapter 2", "Who appears in the story?", "Which places are mentioned?"),
    PATTERNS,
    script,
    word_list("people characters persons places locations cast names everyone"),
)
