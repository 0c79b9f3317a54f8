"""Laws of what the assistant computes: renaming touches whole words, contents settle, summaries quote, counts count."""

from __future__ import annotations

import re
import tarfile
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redraft.agent.offline.intent_handlers.names import find_names
from redraft.agent.offline.intent_handlers.rename import forms, plural, rename_in_text
from redraft.agent.offline.intent_handlers.style import count_style
from redraft.agent.offline.intent_handlers.summary import summarise
from redraft.agent.offline.intent_handlers.table_of_contents import slug, table_of
from redraft.agent.offline.intent_handlers.todos import items_of
from redraft.agent.offline.prose import all_sentences, lines_of
from redraft.agent.offline.topics import find_groups, find_shared_words
from redraft.providers import embeddings
from redraft.text.lines import split_lines

if TYPE_CHECKING:
    from pathlib import Path

WORDS = [
    "Anna",
    "anna",
    "ANNA",
    "Annas",
    "Anna's",
    "Annabel",
    "Hannah",
    "ship",
    "Ships",
    "SHIP",
    "shipment",
    "bay",
    "bays",
]
KEPT = ["`Anna`", "\n```\nAnna ship\n```\n", "[x](Anna/ship.md)", "https://x.y/Anna", "---\nAnna: ship\n---\n"]
SIGNS = [
    " ",
    "\n",
    "\n\n",
    ", ",
    "-",
    "_",
    "’s ",
    "é",
    "ship-bay",
    "# Anna\n",
    "- [ ] Anna ",
    "| Anna |",
    "[Anna](a.md)",
]
PIECES = st.sampled_from([*WORDS, *KEPT, *SIGNS])
TEXTS = st.lists(PIECES, max_size=25).map("".join)
NAMES = st.sampled_from([("Anna", "Marie"), ("ship", "boat"), ("bay", "cove"), ("Anna", "Mary Ann"), ("ship", "y")])


def check_only_whole_words_changed(text: str, old: str, new: str, result: str) -> None:
    """Walk both texts together: every difference is a form of the old name, standing alone, and its form of the new."""
    instead = forms(old, new)
    at = there = 0
    whole = re.compile(r"(?<!\w)(?:" + "|".join(sorted(map(re.escape, instead), key=len, reverse=True)) + r")(?!\w)")
    for match in whole.finditer(text):
        assert text[at : match.start()] == result[there : there + match.start() - at]
        there += match.start() - at
        found = result[there:]
        kept, changed = match.group(), instead[match.group()]
        assert found.startswith((kept, changed))
        there += len(changed) if found.startswith(changed) and not found.startswith(kept) else len(kept)
        at = match.end()
    assert text[at:] == result[there:]


@given(TEXTS, NAMES)
def test_rename_changes_nothing_but_whole_words(text: str, names: tuple[str, str]):
    old, new = names
    check_only_whole_words_changed(text, old, new, rename_in_text(text, old, new).text)


@given(TEXTS, NAMES)
def test_rename_counts_what_it_changes_and_what_it_leaves(text: str, names: tuple[str, str]):
    old, new = names
    result = rename_in_text(text, old, new)
    instead = forms(old, new)
    words = re.findall(
        r"(?<!\w)(?:" + "|".join(sorted(map(re.escape, instead), key=len, reverse=True)) + r")(?!\w)", text
    )
    assert result.count + result.left == len(words)
    assert (result.text == text) is (result.count == 0)


@given(TEXTS)
def test_rename_back_and_forth_gives_the_text_again(text: str):
    there = rename_in_text(text, "Anna", "Qwert")
    assert rename_in_text(there.text, "Qwert", "Anna").text == text


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("Anna saw Anna's dog and the Annas.", "Marie saw Marie's dog and the Maries."),
        ("ANNA! Anna’s, “Anna”, *Anna*, (Anna)", "MARIE! Marie’s, “Marie”, *Marie*, (Marie)"),
        ("Annabel, Hannah, anna, Anna_2", "Annabel, Hannah, anna, Anna_2"),
        ("`Anna` and\n```\nAnna\n```\nAnna", "`Anna` and\n```\nAnna\n```\nMarie"),
        ("---\nAnna: Anna\n---\nAnna", "---\nAnna: Marie\n---\nMarie"),
        ("[Anna](Anna.md) <https://a.b/Anna>", "[Marie](Anna.md) <https://a.b/Anna>"),
    ],
)
def test_rename_keeps_the_form_and_leaves_code_keys_and_targets(text: str, result: str):
    assert rename_in_text(text, "Anna", "Marie").text == result


@pytest.mark.parametrize(
    ("text", "format_", "result"),
    [
        ('{"ship": "ship", "a": ["ship"]}', "json", '{"ship": "boat", "a": ["boat"]}'),
        ("ship: a ship\nlist:\n  - ship\n", "yaml", "ship: a boat\nlist:\n  - boat\n"),
        ("`ship`", "text", "`boat`"),
    ],
)
def test_rename_in_data_leaves_keys_alone(text: str, format_: str, result: str):
    assert rename_in_text(text, "ship", "boat", format_).text == result


@pytest.mark.parametrize(
    ("name", "many"), [("ship", "ships"), ("box", "boxes"), ("city", "cities"), ("Ines", ""), ("bay", "bays")]
)
def test_plurals_are_the_regular_ones(name: str, many: str):
    assert plural(name) == many


HEADINGS = st.lists(
    st.sampled_from(
        ["# Title", "## One", "## One", "### Deep", "## Contents", "text", "", "- [x](#x)", "```\n## no\n```"]
    )
    | st.sampled_from(["<!-- toc -->", "<!-- tocstop -->", "---\na: b\n---", "## `Code` and *more*", "Set\n---"]),
    max_size=14,
)


def with_table(text: str) -> str:
    """The naive twin of the edit that the tools make."""
    table = table_of(text)
    if table is None:
        return text
    lines = [line.rstrip("\r\n") for line in split_lines(text)]
    return "".join(f"{line}\n" for line in (*lines[: table.start], *table.lines, *lines[table.stop :]))


@given(HEADINGS)
def test_a_table_of_contents_made_twice_is_made_once(pieces: list[str]):
    once = with_table("\n".join(pieces))
    assert with_table(once) == once


@given(HEADINGS)
def test_a_table_of_contents_takes_away_nothing_but_an_old_one(pieces: list[str]):
    text = "\n".join(pieces)
    table = table_of(text)
    lines = split_lines(text)
    replaced_lines = [] if table is None else [line.rstrip("\n") for line in lines[table.start : table.stop]]
    assert all(line.strip().startswith("- [") or not line.strip() for line in replaced_lines)


def test_addresses_are_as_sites_make_them():
    assert slug("What we said, *again*") == "what-we-said-again"
    assert slug("`Option<T>` & you") == "optiont--you"


def flat(text: str) -> str:
    return " ".join(text.split())


def check_quotes(text: str, count: int) -> None:
    sentences = all_sentences(text, "markdown", ("prose", "item"))
    chosen = summarise(sentences, count)
    assert len(chosen) == min(count, len(sentences))
    assert [each.line for each in chosen] == sorted(each.line for each in chosen)
    lines = [flat(line) for line in split_lines(text)]
    for each in chosen:
        assert each.text in flat(text)
        assert each.text.split()[0] in lines[each.line]


@given(
    st.lists(
        st.sampled_from(
            ["It was dark. ", "Mr. Bell said: “No.” ", "Then!\n", "- an item. Two\n", "\n\n", "e.g. this "]
        ),
        max_size=20,
    )
)
def test_summary_sentences_occur_verbatim(pieces: list[str]):
    check_quotes("".join(pieces), 3)


@pytest.mark.slow
def test_summaries_of_real_chapters_quote_them(material: Path):
    with tarfile.open(material / "workspace-tree" / "rust-book-src-md.tar.gz") as archive:
        texts = [archive.extractfile(member).read().decode() for member in archive if member.name.endswith(".md")]  # type: ignore[union-attr]
    for text in texts:
        check_quotes(text, 5)
        once = with_table(text)
        assert with_table(once) == once


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("Mr. Bell met Dr. Crane. They left.", ["Mr. Bell met Dr. Crane.", "They left."]),
        ("He said “Go.” She went.", ["He said “Go.”", "She went."]),
        (
            "At 3.5 m it ends, e.g. here. J. R. Stone wrote it.",
            ["At 3.5 m it ends, e.g. here.", "J. R. Stone wrote it."],
        ),
        ("broken\nover lines. And on", ["broken over lines.", "And on"]),
    ],
)
def test_sentences_are_cut_where_people_end_them(text: str, parts: list[str]):
    assert [each.text for each in all_sentences(text)] == parts


def test_what_is_no_prose_is_told_apart():
    text = "---\na: b\n---\n# T\n\nProse.\n\n```\ncode\n```\n| a |\n> quote\n- item\n"
    kinds = [line.kind for line in lines_of(text)]
    assert kinds == "meta meta meta heading blank prose blank code code code table quote item".split()  # noqa: SIM905


STORY = """# The Lamp

Ines went up. "No," said Mr. Bell in London. Ines laughed. Near Sallow Point Mr. Bell saw Ines's cat.

Then Tom said nothing. In London it rained, and Ines Havel knew it.
"""


def test_names_are_counted_as_often_as_they_stand():
    found = {name.text: name for name in find_names([("story.md", STORY, "markdown")])}
    for name in found.values():
        assert name.count == len(re.findall(rf"(?<!\w){re.escape(name.text)}(?!\w)", STORY))
        line = STORY.split("\n")[name.first[1]]
        assert name.text in line
    assert {name: found[name].guess for name in ("Ines", "Bell", "London", "Sallow Point")} == {
        "Ines": "person",
        "Bell": "person",
        "London": "place",
        "Sallow Point": "place",
    }
    assert not {"Then", "In", "Near", "No", "The"} & set(found)


def test_figures_are_what_a_person_counts():
    figures = count_style(
        all_sentences("She ran quickly. The door was opened by Tom. She ran, she ran.\n\n## Not this\n")
    )
    assert (figures.words, figures.sentences) == (13, 3)
    assert dict(figures.adverbs) == {"quickly": 1}
    assert [each.text for each in figures.passive] == ["The door was opened by Tom."]
    assert figures.longest[0].text == "The door was opened by Tom."


def test_todo_items_are_found_with_their_lines():
    found = items_of("# T\n\n- [ ] one\n- [x] two\n* [ ] three\nnot [ ] this\n")
    assert [(each.line, each.done, each.text) for each in found] == [
        (2, False, "one"),
        (3, True, "two"),
        (4, False, "three"),
    ]


NOTES = {
    "sourdough.md": "# Sourdough bread\nFeed the starter with flour and water.\nBake the bread in the oven.",
    "pizza.md": "# Pizza dough\nMix flour, yeast, water and salt.\nBake in a very hot oven.",
    "lisbon.md": "# Trip to Lisbon\nFlight on Friday, hotel near the river.\nTake the tram to the castle.",
    "norway.md": "# Norway trip\nTrain from Oslo to Bergen, hotel by the harbour.\nBook the flight early.",
    "heron.md": "The heron stands alone\nand does not mind",
}


def nothing_is_installed(_name: str) -> bool:
    return False


@pytest.mark.parametrize("has_embedder", [True, False])
def test_notes_on_one_topic_come_together(has_embedder: bool, monkeypatch: pytest.MonkeyPatch):
    if not has_embedder:
        monkeypatch.setattr(embeddings, "is_installed", nothing_is_installed)
    found, by = find_groups(NOTES)
    assert by == ("meaning" if has_embedder else "words")
    assert sorted(each.members for each in found) == [("lisbon.md", "norway.md"), ("sourdough.md", "pizza.md")]


def test_the_reason_given_is_in_the_notes():
    shared = find_shared_words([NOTES["lisbon.md"], NOTES["norway.md"]], NOTES)
    assert shared
    for word in shared:
        assert all(word in NOTES[name].casefold() for name in ("lisbon.md", "norway.md"))
