"""Patterns and texts to try laws on: small alphabets, so that matches are frequent."""

from __future__ import annotations

from hypothesis import strategies as st

LETTERS = "abAB é𝒳Kkſ.-_1\n"
TEXTS = st.text(alphabet=LETTERS, max_size=40)
LITERALS = st.text(alphabet=LETTERS.replace("\n", ""), min_size=1, max_size=5)

_atoms = st.sampled_from(["a", "b", "é", "𝒳", "k", "-", "_", "1", r"\.", ".", "[ab]", "[^a]", r"\w", r"\s", " ", r"\d"])
_repeats = st.sampled_from(["", "", "", "*", "+", "?", "{2}", "{0,2}", "{1,}", "*?", "+?"])


def _grown(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map("|".join),
        st.tuples(inner, _repeats).map(lambda pair: f"(?:{pair[0]}){pair[1]}"),
        inner.map(lambda part: f"({part})"),
    )


# Understood alike by RE2, by ripgrep and by Python.
PATTERNS = st.recursive(st.tuples(_atoms, _repeats).map("".join), _grown, max_leaves=8)
