"""One requirement, as data: where it stands in its specification, what it asks, and how far we are.

The constructors are named after the status, so that a requirement is moved on by changing one word. Nothing here knows
of the tests; `markers` finds the ids that tests name, and tests/house/test_requirements.py holds both sides together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

Status = Literal["done", "planned", "decided", "out"]
STATUSES: tuple[Status, ...] = get_args(Status)

# The first part of an id names the specification that asks for it.
SPECS = {
    "P": "design",
    "RD": "design",
    "TK": "tinkerbell-toolset",
    "ML": "midlight-agent",
    "SB": "agent-sidebar",
    "RT": "ritemark-replace-text",
    "AD": "agent-doc",
}


@dataclass(frozen=True, slots=True)
class Requirement:
    """One testable fact that a specification (or our own design) asks for.

    `section` is the specification's own number or heading. `issue` delivers it; 0 where nobody will. `note` says, for
    `decided`, by which point of the design ours differs and how, and for `out`, why it is not built. `is_law` says that
    no door can show it: a law about a pure function, or a rule about the code base.
    """

    id: str
    spec: str
    section: str
    sentence: str
    status: Status
    issue: int = 0
    note: str = ""
    is_law: bool = False


def spec_of(ref: str) -> str:
    """The specification that an id belongs to; `KeyError` where its prefix is unknown."""
    prefix = ref.partition("-")[0].rstrip("0123456789")
    return SPECS[prefix]


def planned(ref: str, section: str, issue: int, sentence: str) -> Requirement:
    """To be delivered by `issue`."""
    return Requirement(ref, spec_of(ref), section, sentence, "planned", issue)


def done(ref: str, section: str, issue: int, sentence: str) -> Requirement:
    """Delivered by `issue`, and shown by a test that names the id and goes through a door that a user has."""
    return Requirement(ref, spec_of(ref), section, sentence, "done", issue)


def law(ref: str, section: str, issue: int, sentence: str) -> Requirement:
    """The same for a law about a pure function, or a rule about the code base: there is no door to go through."""
    return Requirement(ref, spec_of(ref), section, sentence, "done", issue, is_law=True)


def decided(ref: str, section: str, issue: int, sentence: str, note: str) -> Requirement:
    """Changed by the design or the issue that carries it out; `issue` delivers what stands in its place."""
    return Requirement(ref, spec_of(ref), section, sentence, "decided", issue, note)


def out(ref: str, section: str, sentence: str, note: str) -> Requirement:
    """Deliberately not built."""
    return Requirement(ref, spec_of(ref), section, sentence, "out", 0, note)
