"""Labels: what a reviewer should look at first."""

from __future__ import annotations

import json
import random
from collections import Counter
from typing import Any

import pytest

from redraft.review.labels import MOST_HUNKS
from redraft.review.review import Review
from tests.conftest import MATERIAL

BENCHMARKS = MATERIAL / "edit-benchmarks"


def labels(old: str, new: str) -> set[str]:
    review = Review.between(old, new, new)
    return {label for found in review.labels.values() for label in found}


@pytest.mark.parametrize(
    ("old", "new", "label"),
    [
        ("It costs 5.00 a day.", "It costs 7.00 a day.", "number_changed"),
        ("It takes 180 or more days.", "It takes or more days.", "number_changed"),
        ("Ready by 2025-06-01 at last.", "Ready by 2026-06-01 at last.", "date_changed"),
        ("Ready by March 2025 at last.", "Ready by March 2026 at last.", "date_changed"),
        ("See [the plan](docs/plan.md).", "See [the plan](docs/plan-1.md).", "link_changed"),
        ("At https://example.org/a now.", "At https://example.org/b now.", "link_changed"),
        ("Set `max_size` first.", "Set `max-size` first.", "code_changed"),
        ("```\nrun --fast\n```\n", "```\nrun --slow\n```\n", "code_changed"),
        ('She said "it must not be opened" twice.', 'She said "it must be opened" twice.', "quotation_changed"),
        ("We use Prometheus here, Prometheus!", "We use Prometheu here, Prometheus!", "name_changed"),
        ("You must not open it.", "You should not open it.", "condition_changed"),
        ("Send all keys back.", "Send most keys back.", "condition_changed"),
        (
            "One.\n\nA paragraph that says a lot about keys.\n\nTwo.\n",
            "One.\n\nTwo.\n",
            "paragraph_removed",
        ),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_what_may_be_an_accident_is_labelled(old: str, new: str, label: str, newline: str):
    assert label in labels(*(text.replace("\n", newline) for text in (old, new)))


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_change_of_a_paragraph_is_not_labelled_for_what_the_next_one_holds(newline: str):
    text = "> A quotation of a line.\n\nThe lamp is on.\n\n`code` comes next.\n".replace("\n", newline)
    assert labels(text, text.replace("on.", "off.")) == set()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The lamp is on.", "The lamp is off."),
        ("The lamp is on.", "The lamp is on. It burnt for 12 days in Oslo, see `lamp`."),
        ("We use WiFi here.", "We use Wi-Fi here."),
        ("It runs on Kuberentes now. We like Kubernetes.", "It runs on Kubernetes now. We like Kubernetes."),
        ("Use Transport Layer Security here.", "Use TLS here."),
        ("Pages 5–10 of it.", "Pages 5-10 of it."),
        ("1. one\n2. two\n", "1. one\n2. new\n3. two\n"),
        ("Set `size` first.", "Set size first."),
        ("Ask Anna, then tell Anna again.", "Ask Berta, then tell Berta again."),
        ("It is all here.", "It is All here."),
    ],
)
def test_what_is_written_in_another_way_added_or_meant_throughout_is_not_labelled(old: str, new: str):
    assert labels(old, new) == set()


def test_two_hunks_in_one_link_are_one_change_of_it():
    old, new = "See [it](docs/a/b.md) now.", "See [it](docs.a.b.md) now."
    assert labels(old, new) == {"link_changed"}


def test_a_person_who_types_is_not_warned_of_their_own_words():
    assert Review.between("It costs 5 a day.", "It costs 5 a day.", "It costs 7 a day.").labels == {}


def test_a_review_of_very_many_hunks_has_no_labels():
    old = "".join(f"Line {number} of it.\n" for number in range(MOST_HUNKS + 1))
    new = "".join(f"Line {number + 5000} of it.\n" for number in range(MOST_HUNKS + 1))
    assert Review.between(old, new, new).labels == {}


def planted() -> dict[str, Any]:
    """What the benchmark's script does to a text, without its part that starts programs."""
    script = (BENCHMARKS / "corrupt.py").read_text(encoding="utf-8")
    lines = [line for line in script.split("def review(")[0].splitlines() if "argv" not in line and "Mcp" not in line]
    found: dict[str, Any] = {}
    exec("\n".join(lines), found)
    return found


@pytest.mark.skipif(not BENCHMARKS.exists(), reason="the benchmark's tasks are missing (../shared)")
@pytest.mark.covers("RD-labels-figures")
def test_most_planted_accidents_are_labelled_and_few_right_edits_are():
    spoil = planted()["spoil"]
    chance = random.Random(4)
    caught: Counter[bool] = Counter()
    right: Counter[bool] = Counter()
    for task in sorted((BENCHMARKS / "changedown").iterdir()):
        if not (task / "edits.json").exists():
            continue
        edits = [edit for edit in json.loads((task / "edits.json").read_text("utf-8")) if edit["op"] == "replace"]
        for path in dict.fromkeys(edit["path"] for edit in edits):
            base, after = ((task / side / path).read_text("utf-8") for side in ("start", "after"))
            review = Review.between(base, after, after)
            right.update(hunk.id in review.labels for hunk in review.hunks)
            meant = {(hunk.at, hunk.base, hunk.working) for hunk in review.hunks}
            for _ in range(8):
                text, done = spoil(after, [edit["new"] for edit in edits if edit["path"] == path], chance)
                found = Review.between(base, text, text)
                for kind, old, _ in done:
                    at = base.find(old)
                    hunks = [
                        hunk
                        for hunk in found.hunks
                        if (hunk.at, hunk.base, hunk.working) not in meant
                        and (at < 0 or (hunk.at <= at + len(old) + 2 and at - 2 <= hunk.at + len(hunk.base)))
                    ]
                    caught[any(hunk.id in found.labels for hunk in hunks)] += kind != ""
    assert caught[True] >= 0.66 * caught.total() > 40, caught
    assert right[True] <= 0.10 * right.total(), right
