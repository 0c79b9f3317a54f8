"""Documents to measure on: prose of any size, made the same way in every run."""

from __future__ import annotations

import random

VOCABULARY = """
    the of and a to in he was that it his her with as had for she not at but be on they have him which said from this
    all were by are my we one so is me there would when been could who them what will no an more out up into do any
    your river morning letter window garden silence between mountain kitchen remember harbour lantern whisper
"""
WORDS = VOCABULARY.split()


def prose(size: int, seed: int = 1) -> str:
    """About `size` code points of wrapped paragraphs."""
    chance = random.Random(seed)
    lines: list[str] = []
    length = 0
    while length < size:
        for _ in range(chance.randint(2, 7)):
            line = " ".join(chance.choices(WORDS, k=chance.randint(9, 14)))
            lines.append(line.capitalize())
            length += len(line) + 1
        lines.append("")
        length += 1
    return "\n".join(lines) + "\n"


def scattered(text: str, count: int = 100, seed: int = 2) -> str:
    """The text with words changed in `count` places."""
    chance = random.Random(seed)
    lines = text.split("\n")
    for number in sorted(chance.sample(range(len(lines)), count)):
        lines[number] = f"{lines[number]} changed {chance.randint(0, 9999)}"
    return "\n".join(lines)


def moved(text: str, count: int = 20, seed: int = 3) -> str:
    """The text with paragraphs at other places."""
    chance = random.Random(seed)
    paragraphs = text.split("\n\n")
    for _ in range(count):
        paragraphs.insert(chance.randrange(len(paragraphs)), paragraphs.pop(chance.randrange(len(paragraphs))))
    return "\n\n".join(paragraphs)
