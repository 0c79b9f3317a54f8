"""Who a change is by: the person, an agent by its name, or another program."""

from __future__ import annotations

from redraft.errors import Refused
from redraft.history.turns import Author

PERSON = Author("person", "you")
OUTSIDE = Author("outside", "outside")
UNSIGNED = "unsigned"


def agent_author(name: str) -> Author:
    """An agent by the name that it gives itself, which may not look like the person's or another program's."""
    if not name.isprintable():  # a mark that turns the reading around would let one name look like another
        raise Refused("An agent's name cannot contain invisible characters.", field="author")
    if name.strip().casefold() in (PERSON.name, OUTSIDE.name):
        raise Refused(f"An agent cannot be named {name.strip()!r}: the name is taken.", field="author")
    return Author("agent", name)


def suggester(name: str) -> Author:
    """A person who suggested something, by the name that a file gives them. A name that would pass for somebody who is
    here is not taken over."""
    known = name.isprintable() and name.strip().casefold() not in ("", PERSON.name, OUTSIDE.name)
    return Author("person", name.strip() if known else UNSIGNED)
