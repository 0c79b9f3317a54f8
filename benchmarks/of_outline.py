"""Outlining 10 MB of markdown, start-up included, against the outline of agent-doc."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from typing import TYPE_CHECKING

from benchmarks.measure import Note, Result, side_by_side
from benchmarks.peers import OutOfReach, agent_doc

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from benchmarks.measure import Line

BYTES = 10_000_000
ROUNDS = 9

WORDS = "the of and a lantern river harbour morning under without letter window quiet voice never since".split()  # noqa: SIM905

# The same table that the peer prints: each section with its lines and tokens.
OURS = """
import sys
from redraft.formats.markdown_headings import sections
with open(sys.argv[1], encoding="utf-8", newline="") as file:
    found = sections(file.read())
lines = [f"{'  ' * section.depth}{section.heading}  {section.lines} {section.tokens}\\n" for section in found]
sys.stdout.write("".join(lines))
"""


def results(folder: Path) -> Iterator[Line]:
    try:
        peer = str(agent_doc())
    except (OutOfReach, OSError) as reason:
        yield Note(f"     outline: left out, {reason}")
        return
    document = folder / "large.md"
    document.write_text(markdown(), encoding="utf-8")
    # It keeps what it likes in the home folder, and finds nothing of the person's there.
    home = {**os.environ, "HOME": str(folder)}

    def ours() -> object:
        return subprocess.run([sys.executable, "-c", OURS, str(document)], capture_output=True, check=True)

    def theirs() -> object:
        return subprocess.run([peer, "outline", str(document)], env=home, cwd=folder, capture_output=True, check=True)

    mine, other = side_by_side(ours, theirs, ROUNDS)
    yield Result("outline of 10 MB of markdown, with start-up", mine, "agent-doc", other, 1.0)


def markdown() -> str:
    """Sections of paragraphs, with some lists, code and quotations, as notes have them."""
    chance = random.Random(3)
    parts: list[str] = []
    size = 0
    while size < BYTES:
        parts.append(f"{'#' * chance.randint(1, 4)} Section {len(parts)}\n\n")
        parts += [_block(chance) for _ in range(chance.randint(2, 6))]
        size = sum(map(len, parts)) if len(parts) % 1000 < 5 else size
    return "".join(parts)


def _block(chance: random.Random) -> str:
    def words(count: int) -> str:
        return " ".join(chance.choices(WORDS, k=count))

    kind = chance.random()
    if kind < 0.7:
        return "\n".join(words(14) for _ in range(chance.randint(2, 8))) + "\n\n"
    if kind < 0.85:
        return "".join(f"- {words(8)}\n" for _ in range(5)) + "\n"
    if kind < 0.93:
        return "```python\n# no heading\nx = 1\n```\n\n"
    return f"> {words(20)}\n\n"
