"""The question that a session asks in its pane: numbered options, one of them marked, read from its text. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

# Colours, cursor moves, titles and links, and the single characters that select a character set.
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[()][A-Za-z0-9]|[=>78DEHM])")
_FRAME = re.compile(r"^[\s│┃|╎]+|[\s│┃|╎]+$")
_OPTION = re.compile(r"(?P<mark>[❯>▶›]\s*)?(?P<number>[0-9]{1,2})[.)]\s+(?P<label>\S.*)")
_RULE = re.compile(r"[─━╌╭╮╰╯┌┐└┘═\s]*")


@dataclass(frozen=True, slots=True)
class Question:
    """A question with its options; `marked` is the place of the one that Enter would take, counted from 0."""

    text: str
    options: tuple[str, ...]
    marked: int

    def as_json(self) -> dict[str, Any]:
        options = [{"index": number, "label": label} for number, label in enumerate(self.options, 1)]
        return {"active": True, "question": self.text, "options": options, "selected": self.marked + 1}


NONE: dict[str, Any] = {"active": False, "question": None, "options": []}


def without_colours(text: str) -> str:
    return _ESCAPES.sub("", text)


def find_question(pane: str) -> Question | None:
    """The last question in a pane's text that can be answered: options numbered from 1 on, one of them marked.

    A list that an agent merely wrote has no mark, and so is no question.
    """
    lines = [_FRAME.sub("", line) for line in without_colours(pane).replace("\r", "").split("\n")]
    end = len(lines)
    while end > 0:
        found = _options_before(lines, end)
        if found is None:
            return None
        start, options, marked = found
        if marked is not None:
            return Question(_question_above(lines, start), tuple(options), marked)
        end = start
    return None


def _options_before(lines: list[str], end: int) -> tuple[int, list[str], int | None] | None:
    """The last run of options that begins with 1: where, their labels, and which of them is marked."""
    for start in range(end - 1, -1, -1):
        first = _OPTION.fullmatch(lines[start])
        if first is None or first["number"] != "1":
            continue
        options: list[str] = []
        marked: int | None = None
        for line in lines[start:end]:
            option = _OPTION.fullmatch(line)
            if option is not None and option["number"] == str(len(options) + 1):
                if option["mark"]:
                    marked = len(options)
                options.append(option["label"].strip())
            elif _RULE.fullmatch(line) and line.strip():
                break  # the frame around the question ends
        return start, options, marked
    return None


def _question_above(lines: list[str], start: int) -> str:
    for line in reversed(lines[:start]):
        if not _RULE.fullmatch(line):
            return line
    return ""
