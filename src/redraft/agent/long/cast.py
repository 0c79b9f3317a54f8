"""Who is who: the people that many analysers named, each for their own passage, as one list.

Two entries are one person where they have a full name in common, or one's name is another's alias. A name that two
different people would share is nobody's proof: it joins no one, and is told. Only names that stand in the passage they
were found in are taken. Pure.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from redraft.tools.counting import name_pattern, word_set

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_PEOPLE = 2000
# Words that stand for many: no alias tells people apart by them.
_NOT_NAMES = word_set("he she they it him her them his hers their i me we us you mr mrs ms miss sir")


@dataclass(frozen=True, slots=True)
class Person:
    """One of the cast."""

    name: str
    aliases: tuple[str, ...]
    role: str


class Cast:
    """People, gathered passage by passage."""

    def __init__(self) -> None:
        self._roles: dict[str, str] = {}
        self._seen: Counter[str] = Counter()
        self._aliases: defaultdict[str, set[str]] = defaultdict(set)

    def add(self, passage: str, found: Iterable[dict[str, Any]]) -> None:
        """Take what an analyser found, as far as the passage has it."""
        for entry in found:
            name = _standing(entry["name"], passage)
            if not name or (name not in self._seen and len(self._seen) >= MAX_PEOPLE):
                continue
            self._seen[name] += 1
            if len(entry["role"]) > len(self._roles.get(name, "")):
                self._roles[name] = entry["role"]
            aliases = (_standing(alias, passage) for alias in entry["aliases"])
            self._aliases[name].update(alias for alias in aliases if alias and alias != name)

    def shared_names(self) -> list[dict[str, Any]]:
        """The names that several people go by."""
        return [{"name": name, "people": sorted(owners)} for name, owners in self._owners() if len(owners) > 1]

    def _owners(self) -> list[tuple[str, set[str]]]:
        """Every alias and whose it is, by the names that are no alias of anybody else's."""
        owners: defaultdict[str, set[str]] = defaultdict(set)
        for name, aliases in self._aliases.items():
            for alias in aliases:
                owners[alias].add(name)
        # "John Smith alias John" and "John alias John Smith" say the same thing twice.
        for alias in list(owners):
            owners[alias] = {name for name in owners[alias] if not self._is_same(name, owners[alias] - {name})}
        return sorted(owners.items())

    def _is_same(self, name: str, others: set[str]) -> bool:
        """Whether a name is the shorter form of another one of those."""
        return any(name in self._aliases[other] and len(name) < len(other) for other in others)

    def people(self) -> list[Person]:
        """The cast, by the names under which they were found most often; a shared name joins nobody."""
        leads = {name: name for name in self._seen}
        for alias, owners in self._owners():
            if len(owners) == 1 and alias in leads:
                self._join(leads, alias, next(iter(owners)))
        shared = {entry["name"] for entry in self.shared_names()}
        groups: defaultdict[str, list[str]] = defaultdict(list)
        for name in leads:
            groups[_lead(leads, name)].append(name)
        return [self._person(names, shared) for names in groups.values()]

    def _join(self, leads: dict[str, str], one: str, other: str) -> None:
        first, second = _lead(leads, one), _lead(leads, other)
        if first != second:
            # The fuller name leads, so that a person is called by it.
            short, full = sorted((first, second), key=lambda name: (len(name), name))
            leads[short] = full

    def _person(self, names: list[str], shared: set[str]) -> Person:
        name = max(names, key=lambda each: (len(each), self._seen[each], each))
        others = {alias for each in names for alias in self._aliases[each]} | set(names)
        aliases = sorted(others - {name} - (shared - set(names)))
        return Person(name, tuple(aliases), max((self._roles.get(each, "") for each in names), key=len))


def _lead(leads: dict[str, str], name: str) -> str:
    while leads[name] != name:
        name = leads[name]
    return name


def _standing(name: str, passage: str) -> str:
    """The name, tidied, if the passage has it as whole words; else nothing."""
    tidy = " ".join(name.split())
    if not tidy or tidy.casefold() in _NOT_NAMES or not re.search(name_pattern(tidy), passage):
        return ""
    return tidy
