"""Documents to compare: short repeated lines, every line ending, the shapes of markdown, versions of one another."""

from __future__ import annotations

from hypothesis import strategies as st

SHAPES = (
    "",
    "",
    " ",
    "a",
    "b",
    "c",
    "}",
    "- one",
    "- two things",
    "  - deeper",
    "1. first",
    "# Heading",
    "===",
    "---",
    "```",
    "~~~~",
    "    code",
    "| a | b |",
    "|---|---|",
    "> quoted words",
    "<!-- note",
    "-->",
    "title: A name",
    "tags: [x]",
    "Some plain words stand here.",
    "Some other words stand here, and more of them.",
    "One sentence. Another one! A third? “Yes.” Then e.g. a fourth. " * 5,
    "日本語の文です。もう一つ。",
    "😀 astral 👨‍👩‍👧 e\u0301",
    "odd\u2028ends\x0bin\x85side",
)
lines = st.sampled_from(SHAPES)
endings = st.sampled_from(["\n", "\n", "\n", "\r\n", "\r"])


@st.composite
def documents(draw: st.DrawFn, most: int = 12) -> str:
    """A document, with or without a last line ending."""
    text = "".join(line + draw(endings) for line in draw(st.lists(lines, max_size=most)))
    return text + draw(st.sampled_from(["", "", "end without a line ending"]))


@st.composite
def versions(draw: st.DrawFn, most: int = 12) -> tuple[str, str]:
    """A document and another version of it: edited here and there, or something else altogether."""
    old = draw(documents(most))
    if draw(st.integers(0, 5)) == 0:
        return old, draw(documents(most))
    new = old
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0, len(new)))
        end = min(len(new), start + draw(st.sampled_from([0, 0, 1, 3, 9, 40])))
        new = new[:start] + draw(st.sampled_from(["", "x", " ", "\n", "\r\n", "word ", "\n\n", *SHAPES])) + new[end:]
    return old, new
