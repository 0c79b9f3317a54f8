"""Random session documents, what a person types into them, and what agents answer, each insertion with a word."""

from __future__ import annotations

import re
from dataclasses import dataclass

from hypothesis import strategies as st

from redraft.formats.components import parse_answer
from redraft.sessions.answers.fills import AppliedAnswer, apply_answer

MODES = {"status": "replace", "log": "append", "notes": "prepend", "exchange": "append"}
PROSE = (
    "Plain words stand here.",
    "",
    "- an item",
    "```",
    "~~~ py",
    "Zwölf Boxkämpfer 日本語 😀",
    "## User",
    "One. Two! Three?",
    "    indented",
    "a `<!-- agent:log -->` b",
)
# Nobody types into a marker, nor into a word that is to be found again.
TAKEN = re.compile(r"<!-- /?agent:[^>]*-->|[A-Z][0-9]q")
lines = st.sampled_from(PROSE)


@dataclass(frozen=True, slots=True)
class Answered:
    """An agent's answer, and the words that it alone has."""

    text: str
    words: tuple[str, ...]


def word(author: str, number: int) -> str:
    return f"{author}{number}q"


@st.composite
def bases(draw: st.DrawFn, newline: str = "\n") -> str:
    """A document with some of the components, in any order, and prose between and within."""
    parts: list[str] = []
    if draw(st.booleans()):
        parts.append("---\nagent: claude # mine\n---\n")
    for name in draw(st.permutations(sorted(MODES)))[: draw(st.integers(0, 4))]:
        parts += [f"{draw(lines)}\n" for _ in range(draw(st.integers(0, 2)))]
        # A fence that a component leaves open would swallow the next marker, for us as for every reader.
        inner = [line for line in draw(st.lists(lines, max_size=4)) if not line.startswith(("```", "~~~"))]
        if draw(st.integers(0, 3)) == 0:
            inner += ["```", "code", "```"]
        body = "".join(f"{line}\n" for line in inner)
        parts.append(f"<!-- agent:{name} mode={MODES[name]} -->\n{body}<!-- /agent:{name} -->\n")
    parts += [f"{draw(lines)}\n" for _ in range(draw(st.integers(0, 2)))]
    text = "".join(part for part in parts if part.strip("\n") not in ("```", "~~~ py"))
    return text if draw(st.booleans()) else text.rstrip("\n")


@st.composite
def typed_into(draw: st.DrawFn, base: str, author: str = "U") -> tuple[str, list[str]]:
    """What a person makes of the text: words and lines added, lines taken away; markers are left alone."""
    text, words = base, list[str]()
    for number in range(draw(st.integers(0, 4))):
        taken = [match.span() for match in TAKEN.finditer(text)]
        at = draw(st.integers(0, len(text)))
        if any(start < at < end for start, end in taken):
            continue
        mine = word(author, number)
        kind = draw(st.sampled_from(["word", "line", "line", "cut"]))
        if kind == "cut":
            end = text.find("\n", at) + 1 or len(text)
            cut = text[at:end]
            if "<!--" not in cut and "-->" not in cut and not any(each in cut for each in words) and "`" not in cut:
                text = text[:at] + text[end:]
            continue
        new = f" {mine} " if kind == "word" else f"\n{mine} typed this.\n"
        words.append(mine)
        text = text[:at] + new + text[at:]
    return text, words


@st.composite
def answers(draw: st.DrawFn, author: str) -> Answered:
    """An answer with blocks for some components, twice for one perhaps, and some text around them."""
    pieces, words = list[str](), list[str]()
    for number in range(draw(st.integers(1, 3))):
        name = draw(st.sampled_from([*MODES, "missing"]))
        words.append(word(author, number))
        more = draw(st.sampled_from(["", "", "\n```\n<!-- /agent:log -->\n```", "\n<!-- agent:log -->", "\n- 日本"]))
        pieces.append(f"<!-- patch:{name} -->\n{words[-1]} says so.{more}\n<!-- /patch:{name} -->\n")
    if draw(st.integers(0, 2)) == 0:
        words.append(word(author, 9))
        pieces.insert(draw(st.integers(0, len(pieces))), f"{words[-1]} beside it.\n")
    return Answered("".join(pieces), tuple(words))


def applied(base: str, answer: Answered) -> AppliedAnswer:
    return apply_answer(base, parse_answer(answer.text), {}, "2026-01-01T00:00:00Z", inline=False)
