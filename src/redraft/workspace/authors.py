"""Who a change is by: the person, an agent by its name, or another program."""

from __future__ import annotations

from redraft.errors import Refused
from redraft.history.turns import Author

PERSON = Author("person", "you")
OUTSIDE = Author("outside", "outside")


def agent_author(name: str) -> Author:
    """An agent by the name that it gives itself, which may not look like the person's or another program's."""
    if not name.isprintable():  # a mark that turns the reading around would let one name look like another
        raise Refused("An agent's name cannot contain invisible characters.", field="author")
    if name.strip().casefold() in (PERSON.name, OUTSIDE.name):
        raise Refused(f"An agent cannot be named {name.strip()!r}: the name is taken.", field="author")
    return Author("agent", name)
