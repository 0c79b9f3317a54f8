"""Three-way merge: its laws, what separates two changes, conflict markers, real merges, and git beside it."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from redraft.text.diff.word_diff import tokens
from redraft.text.lines import split_lines
from redraft.text.merge.three_way import CleanRegion, Conflict, Merge, merge
from tests.conftest import TORTURE

if TYPE_CHECKING:
    from pathlib import Path

WORDS = ["the", "cat", "sat", "on", "mat", "a", "dog", "ran", "far"]
BLOCKS = re.compile(r"^<{7} ours\n(.*?)^>{7} theirs\n", re.DOTALL | re.MULTILINE)
SEPARATORS = [" ", " ", " ", "\n", ", ", ". ", "\n\n", "\n- ", "\r\n", "-", "  "]
TEXTS = st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(SEPARATORS)), max_size=14).map(
    lambda parts: "".join(word + separator for word, separator in parts)
)


@st.composite
def edited(draw: st.DrawFn) -> tuple[str, str, str]:
    """A text, and two others made from it by a few changes of words, blanks and lines."""
    base = draw(st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(SEPARATORS)), min_size=1, max_size=30))
    sides = ["".join(map("".join, base))]
    for _ in range(2):
        side = list(base)
        for _ in range(draw(st.integers(1, 4))):
            at = draw(st.integers(0, len(side)))
            length = draw(st.sampled_from([0, 1, 1, 2, 8]))
            new = st.tuples(st.sampled_from([*WORDS, "new", "something"]), st.sampled_from(SEPARATORS))
            side[at : at + length] = draw(st.lists(new, max_size=draw(st.sampled_from([0, 1, 2, 8]))))
        sides.append("".join(map("".join, side)))
    return sides[0], sides[1], sides[2]


def check_laws(base: str, ours: str, theirs: str) -> Merge:
    """Every law of a merge, on one example."""
    merged = merge(base, ours, theirs)
    assert "".join(piece.base for piece in merged.pieces) == base
    assert "".join(piece.ours for piece in merged.pieces) == ours
    assert "".join(piece.theirs for piece in merged.pieces) == theirs
    swapped = merge(base, theirs, ours)
    assert [sides(piece) for piece in merged.pieces] == [sides(piece, swap=True) for piece in swapped.pieces]
    assert [Conflict(c.base, c.theirs, c.ours) for c in merged.conflicts] == list(swapped.conflicts)
    for conflict in merged.conflicts:
        assert len({conflict.base, conflict.ours, conflict.theirs}) == 3
    assert merged.clean == (not merged.conflicts)
    if merged.clean:
        assert merged.mark_conflicts() == merged.text
        check_both_present(base, ours, theirs, merged)
    return merged


def sides(piece: CleanRegion | Conflict, *, swap: bool = False) -> tuple[str, str, str, str | None]:
    """What a piece says: before, on either side, and merged if it is clean."""
    ours, theirs = (piece.theirs, piece.ours) if swap else (piece.ours, piece.theirs)
    return piece.base, ours, theirs, piece.text if isinstance(piece, CleanRegion) else None


def check_both_present(base: str, ours: str, theirs: str, merged: Merge) -> None:
    """Every word that a side put in is there, every one that it took out is gone, and no other has come or gone."""
    before, left, right, after = (word_counts(text) for text in (base, ours, theirs, merged.text))
    shared: Counter[str] = Counter()
    for piece in filter(is_shared, merged.pieces):
        shared.update(word_counts(piece.ours))
        shared.subtract(word_counts(piece.base))
    for word in before | left | right | after:
        if word not in before:
            assert after[word] >= max(left[word], right[word])
        assert word in before or word in left or word in right
        # What both sides did alike is done once.
        assert after[word] == left[word] + right[word] - before[word] - shared[word]


def word_counts(text: str) -> Counter[str]:
    return Counter(filter(str.strip, tokens(text)))


def is_shared(piece: CleanRegion | Conflict) -> bool:
    return isinstance(piece, CleanRegion) and piece.side == "both"


@pytest.mark.covers("RD-text-merge", "RD-decided-merge-base")
@pytest.mark.slow
@given(edited())
@example(("a b\n", "a\nb\n", "a c\n"))
@example(("", "x", "y"))
@example(("a\r\n", "a\rb\r\n", "\n"))
def test_a_merge_keeps_its_laws(texts: tuple[str, str, str]) -> None:
    check_laws(*texts)


@given(TEXTS, TEXTS, TEXTS)
def test_a_merge_of_unrelated_texts_keeps_the_laws_too(base: str, ours: str, theirs: str) -> None:
    check_laws(base, ours, theirs)


@pytest.mark.covers("RD-text-merge-same")
@given(TEXTS, TEXTS)
def test_a_side_that_changed_nothing_takes_the_other_and_the_same_change_stands_once(base: str, new: str) -> None:
    assert (merge(base, base, new).text, merge(base, base, new).clean) == (new, True)
    assert (merge(base, new, base).text, merge(base, new, base).clean) == (new, True)
    assert (merge(base, new, new).text, merge(base, new, new).clean) == (new, True)


CLEAN = {
    "words of one line": (
        "The quick brown fox\n",
        "The slow brown fox\n",
        "The quick brown dog\n",
        "The slow brown dog\n",
    ),
    "neighbouring words": (
        "the quick brown fox\n",
        "the slow brown fox\n",
        "the quick red fox\n",
        "the slow red fox\n",
    ),
    "neighbouring lines": ("one two\nthree four\n", "1 two\nthree four\n", "one two\nthree 4\n", "1 two\nthree 4\n"),
    "a word taken out beside a new one": ("a b c d\n", "a c d\n", "a b X d\n", "a X d\n"),
    "a word put in beside a new one": (
        "a big dog ran\n",
        "a big bad dog ran\n",
        "a huge dog ran\n",
        "a huge bad dog ran\n",
    ),
    "an item put in below a changed one": (
        "- one x\n- two\n",
        "- one y\n- two\n",
        "- one x\n- new\n- two\n",
        "- one y\n- new\n- two\n",
    ),
    "the same change": ("a b c\n", "a X c\n", "a X c\n", "a X c\n"),
    "the same change beside another": ("a b c d e\n", "a X c d e\n", "a X c d Y\n", "a X c d Y\n"),
    "a line both put in": ("a\nb\n", "a\nnew line\nb\n", "a\nnew line\nb\n", "a\nnew line\nb\n"),
    "wrapped anew and reworded": (
        "one two three four five six\n",
        "one two three\nfour five six\n",
        "one two 3 four five six\n",
        "one two 3\nfour five six\n",
    ),
    "wrapped anew and shortened": (
        "one two three four five six\n",
        "one two three\nfour five six\n",
        "one two three five six\n",
        "one two three\nfive six\n",
    ),
    "wrapped anew within what was reworded": (
        "it was one of those days on which nothing happens\n",
        "it was one of those\ndays on which nothing happens\n",
        "it was some kind of holiday on which nothing happens\n",
        "it was some kind of holiday on which nothing happens\n",
    ),
    "wrapped anew and lengthened": (
        "one two three\nfour five six\n",
        "one two three four\nfive six\n",
        "one two three\nfour NEW five six\n",
        "one two three four\nNEW five six\n",
    ),
    "a cell of a row": ("| a | b | c |\n", "| A | b | c |\n", "| a | b | C |\n", "| A | b | C |\n"),
    "no line end": ("a b c", "X b c", "a b Y", "X b Y"),
    "crlf": ("a b\r\nc d\r\n", "X b\r\nc d\r\n", "a b\r\nc Y\r\n", "X b\r\nc Y\r\n"),
}


@pytest.mark.parametrize("name", CLEAN)
def test_changes_with_common_ground_between_them_merge(name: str) -> None:
    base, ours, theirs, result = CLEAN[name]
    merged = merge(base, ours, theirs)
    assert (merged.text, merged.clean) == (result, True)
    assert merge(base, theirs, ours).text == result


CONFLICTS = {
    "the same word": ("a b c\n", "a X c\n", "a Y c\n"),
    "words put in at one place": ("a c\n", "a x c\n", "a y c\n"),
    "items put in at one place": ("- a\n- b\n", "- a\n- x\n- b\n", "- a\n- y\n- b\n"),
    "more of the same put in": ("- a\n- b\n", "- a\n- x\n- b\n", "- a\n- x\n- y\n- b\n"),
    "taken out and changed": ("a b c\n", "a c\n", "a X c\n"),
    "a line taken out and changed": ("one\ntwo three\nfour\n", "one\nfour\n", "one\ntwo 3\nfour\n"),
    "a word put in before one taken out": ("a big dog\n", "a very big dog\n", "a dog\n"),
    "an item put in where one was taken out": ("- a\n- b\n- c\n", "- a\n- b\n- x\n- c\n", "- a\n- c\n"),
    "changes that touch": ("a-b\n", "ax-b\n", "a+b\n"),
    "a comma and a blank": ("a, b\n", "a b\n", "a,b\n"),
    "both written anew": ("alpha beta gamma\n", "one of the others\n", "two of the others\n"),
    "everything taken out": ("one two\nthree four\nfive six\n", "", "one two\nthree 4\nfive six\n"),
    "the end of the text": ("a", "a\n", "b"),
    "two texts from nothing": ("", "mine\n", "yours\n"),
}


@pytest.mark.parametrize("name", CONFLICTS)
def test_changes_of_the_same_words_are_a_conflict(name: str) -> None:
    base, ours, theirs = CONFLICTS[name]
    merged = check_laws(base, ours, theirs)
    assert not merged.clean
    assert merged.text == ours


def test_a_conflict_is_no_larger_than_the_words_in_question() -> None:
    base = "We met at noon in the old harbour on Monday.\n"
    merged = merge(base, base.replace("noon", "one"), base.replace("noon", "two").replace("Monday", "Friday"))
    assert merged.conflicts == (Conflict("noon", "one", "two"),)
    assert merged.text == "We met at one in the old harbour on Friday.\n"


def join_additions_naively(base: str, ours: str, theirs: str) -> set[str]:
    """What a reader would write who has both additions to a sentence without an end: each mark that both put behind
    the sentence once, then what is left of the one, then that of the other."""
    first, second = ours.removeprefix(base), theirs.removeprefix(base)
    ending = ""
    while first[:1] == second[:1] != "" and first[0] in ".,;:!?":
        ending, first, second = ending + first[0], first[1:], second[1:]
    return {base + ending + first + second, base + ending + second + first}


@given(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join),
    *(st.tuples(st.sampled_from([".", "!", ",", "?!", "..."]), st.lists(st.sampled_from(WORDS), max_size=3)),) * 2,
    st.sampled_from(["", "\n", "\n\nThe next line.\n"]),
)
def test_a_mark_that_both_sides_put_behind_a_sentence_stands_once(
    base: str, one: tuple[str, list[str]], other: tuple[str, list[str]], rest: str
) -> None:
    ours, theirs = (base + mark + "".join(f" {word}." for word in words) for mark, words in (one, other))
    merged = check_laws(base + rest, ours + rest, theirs + rest)
    if one[0] != other[0]:
        return
    both = "".join(
        piece.text if isinstance(piece, CleanRegion) else piece.ours + piece.theirs for piece in merged.pieces
    )
    assert both in {text + rest for text in join_additions_naively(base, ours, theirs)} or ours == theirs


def test_lines_that_both_sides_put_in_at_the_head_of_a_conflict_stand_once() -> None:
    merged = merge("a\nz\n", "a\nshared\nmine\nz\n", "a\nshared\nyours\nz\n")
    assert merged.conflicts == (Conflict("", "mine\n", "yours\n"),)
    assert merged.text == "a\nshared\nmine\nz\n"


def test_a_passage_written_anew_is_not_merged_into_through_words_kept_by_chance() -> None:
    base = "The boxes hold the data that the program keeps on the heap.\nThe rest of it is on the stack.\n"
    ours = "This edition of the book is no longer kept here: read the new one.\n"
    theirs = base.replace("the stack", "the call stack")
    assert not merge(base, ours, theirs).clean


def test_a_line_in_a_rewritten_list_is_not_doubled() -> None:
    base = "- first thing\n- second thing\n\nend\n"
    ours = "- first thing\n- second thing\n- fix the gate\n\nend\n"
    theirs = "- quite another list\n- fix the gate\n- with many things\n\nend\n"
    assert merge(base, ours, theirs).text.count("fix the gate") == 1


def test_a_passage_moved_by_one_side_meets_the_other_sides_change_where_it_now_is() -> None:
    paragraphs = [f"Paragraph {number} of the text.\n\n" for number in range(12)]
    base = "".join(paragraphs)
    moved = "".join([paragraphs[0], *paragraphs[9:11], *paragraphs[1:9], paragraphs[11]])
    changed = base.replace("Paragraph 4", "Section 4")
    merged = check_laws(base, moved, changed)
    assert (merged.text, merged.clean) == (moved.replace("Paragraph 4", "Section 4"), True)


def test_pieces_say_whose_change_they_are() -> None:
    merged = merge("a b c d e f g\n", "A b c d e f g\n", "a b c D e f g\n")
    changes = [(p.base, p.text, p.side) for p in merged.pieces if isinstance(p, CleanRegion) and p.side != "base"]
    assert changes == [("a", "A", "ours"), ("d", "D", "theirs")]


# Markers


def test_markers_stand_around_whole_lines() -> None:
    merged = merge("x\none two three\ny\n", "x\none 2 three\ny\n", "x\none II three\ny\n")
    assert merged.mark_conflicts(("mine", "was", "yours")) == (
        "x\n<<<<<<< mine\none 2 three\n||||||| was\none two three\n=======\none II three\n>>>>>>> yours\ny\n"
    )
    assert merged.mark_conflicts(style="merge") == (
        "x\n<<<<<<< ours\none 2 three\n=======\none II three\n>>>>>>> theirs\ny\n"
    )


def test_markers_end_as_the_lines_of_the_text_do_also_after_a_last_line_without_end() -> None:
    for newline in ("\n", "\r\n", "\r"):
        merged = merge(f"x{newline}a", f"x{newline}b", f"x{newline}c")
        assert merged.mark_conflicts().split(newline) == [
            *("x", "<<<<<<< ours", "b", "||||||| base", "a", "=======", "c", ">>>>>>> theirs", "")
        ]


def test_markers_are_longer_than_what_looks_like_them() -> None:
    merged = merge("Title\n========\n\na\n", "Title\n========\n\nb\n", "Title\n========\n\nc\n")
    assert "\n" + "<" * 9 + " ours\nb\n" in merged.mark_conflicts()
    assert "\n" + "=" * 9 + "\nc\n" in merged.mark_conflicts()
    assert "\n========\n" in merged.mark_conflicts()


def test_git_reads_the_markers_as_its_own(tmp_path: Path) -> None:
    texts = ("a\nb\nc\n", "a\nX\nc\n", "a\nY\nc\n")
    assert merge(*texts).mark_conflicts() == run_git(tmp_path, *texts)[1]


@pytest.mark.slow
@given(edited())
def test_marked_sections_are_lines_of_their_texts_in_order(texts: tuple[str, str, str]) -> None:
    base, ours, theirs = (text.replace("\r", "") for text in texts)
    merged = merge(base, ours, theirs)
    columns = [
        re.split(r"^[|=]{7}.*\n", block, flags=re.MULTILINE) for block in BLOCKS.findall(merged.mark_conflicts())
    ]
    assert merged.clean == (not columns)
    assert len(columns) <= len(merged.conflicts)
    for which, text in enumerate((ours, base, theirs)):
        at = 0
        for column in columns:
            # Where the text ends without a line end, the section was given one.
            at = (text + "\n").index(column[which], at) + len(column[which])


# Real merges, and git


def real_merges(material: Path) -> list[dict[str, Any]]:
    with gzip.open(material / "real-merges" / "dev.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


@pytest.mark.covers("RD-text-merge-real")
def test_what_people_merged_without_conflict_is_merged_the_same(material: Path) -> None:
    records = [record for record in real_merges(material) if record["kind"] == "clean"]
    assert records
    for record in records:
        merged = check_laws(record["base"], record["ours"], record["theirs"])
        assert (merged.clean, merged.text) == (True, record["human"]), record["id"]


def test_what_git_calls_a_conflict_is_reported_or_solved_with_both_sides_present(material: Path) -> None:
    records = [record for record in real_merges(material) if record["kind"] == "conflict"]
    solved = [record["id"] for record in records if check_laws(*(record[k] for k in ("base", "ours", "theirs"))).clean]
    # Each was read: 48 and 51 are what people made of them, but for a blank; in 87 they wrote the passage anew.
    assert solved == [48, 51, 87]


def run_git(folder: Path, base: str, ours: str, theirs: str) -> tuple[bool, str]:
    for name, text in (("base", base), ("ours", ours), ("theirs", theirs)):
        (folder / name).write_bytes(text.encode())
    command = ["git", "merge-file", "-p", "--diff3", "ours", "base", "theirs"]
    done = subprocess.run(command, cwd=folder, capture_output=True)
    return done.returncode == 0, done.stdout.decode()


@st.composite
def edited_lines(draw: st.DrawFn) -> tuple[str, str, str]:
    """Distinct lines, and two others made from them by changing, putting in, taking out and repeating lines."""
    base = [f"line {number} of the text\n" for number in range(draw(st.integers(0, 15)))]
    sides = ["".join(base)]
    for name in ("ours", "theirs"):
        side = list(base)
        for number in range(draw(st.integers(0, 4))):
            at = draw(st.integers(0, len(side)))
            new = [f"{draw(st.sampled_from([name, 'both']))} {number}\n", *side[at : at + 1]]
            side[at : at + draw(st.integers(0, 3))] = draw(st.sampled_from([[], new[:1], new]))
        sides.append("".join(side))
    return sides[0], sides[1], sides[2]


@pytest.mark.slow
@settings(max_examples=3000 if TORTURE else 150)
@given(texts=edited_lines())
def test_what_git_merges_by_lines_is_merged_the_same(
    tmp_path_factory: pytest.TempPathFactory, texts: tuple[str, str, str]
) -> None:
    clean, result = run_git(tmp_path_factory.mktemp("git"), *texts)
    merged = check_laws(*texts)
    assert not clean or (merged.clean, merged.text) == (True, result)


@pytest.mark.slow
def test_every_reading_of_the_real_texts_that_git_merges_is_merged_the_same(material: Path, tmp_path: Path) -> None:
    for record in real_merges(material):
        base, ours, theirs, human = (record[key] for key in ("base", "ours", "theirs", "human"))
        for texts in ((ours, base, human), (theirs, human, base), (human, ours, theirs), (base, human, theirs)):
            clean, result = run_git(tmp_path, *texts)
            merged = check_laws(*texts)
            assert not clean or (merged.clean, merged.text) == (True, result), record["id"]


def test_lines_are_cut_at_line_ends_only() -> None:
    assert split_lines("a\x0cb\u2028c\n") == ["a\x0cb\u2028c\n"]
    merged = merge("a\x0cb\u2028c\n", "A\x0cb\u2028c\n", "a\x0cb\u2028C\n")
    assert merged.text == "A\x0cb\u2028C\n"


def test_a_large_stretch_that_both_sides_rewrote_is_one_conflict() -> None:
    base, ours, theirs = (
        "".join(f"{word} {number}\n" for number in range(8000)) for word in ("base", "ours", "theirs")
    )
    merged = merge(f"start\n{base}end\n", f"start\n{ours}end\n", f"start\n{theirs}end\n")
    assert [(c.base, c.ours, c.theirs) for c in merged.conflicts] == [(base, ours, theirs)]


def test_a_line_put_beside_its_like_and_one_put_above_it_are_no_conflict():
    merged = merge("again\n", "again\nagain\n", "first\nagain\n")
    assert (merged.clean, merged.text) == (True, "first\nagain\nagain\n")
