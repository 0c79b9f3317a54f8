"""The map of the project holds: ids are sound, `done` means shown by a test, and the page for people is current."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from pathlib import Path
from textwrap import dedent

import pytest

from tests.requirements import BY_ID, REQUIREMENTS, SPECS, STATUSES, spec_of
from tests.requirements.doors import Suite
from tests.requirements.entry import decided, done, law, out, planned
from tests.requirements.markers import Covers, find_covers
from tests.requirements.page import render

TESTS = Path(__file__).resolve().parents[1]
PAGE = TESTS.parent / "docs" / "requirements.md"


@cache
def markers() -> dict[str, Covers]:
    paths = sorted(TESTS.rglob("test_*.py"))
    return {path.relative_to(TESTS).as_posix(): find_covers(path.read_text(encoding="utf-8")) for path in paths}


@cache
def suite() -> Suite:
    return Suite.of(TESTS)


@cache
def covered() -> dict[str, str]:
    return {ref: name for name, found in markers().items() for ref in found.ids}


def test_every_id_is_unique():
    assert [ref for ref, count in Counter(entry.id for entry in REQUIREMENTS).items() if count > 1] == []


def test_every_id_is_well_formed_and_belongs_to_its_specification():
    form = re.compile(r"P[1-8]|(?:RD|TK|ML|SB|RT|AD)(?:-[a-z0-9]+)+")
    wrong = [entry.id for entry in REQUIREMENTS if not form.fullmatch(entry.id) or spec_of(entry.id) != entry.spec]
    assert wrong == []


def test_every_specification_has_requirements():
    assert {entry.spec for entry in REQUIREMENTS} == set(SPECS.values())


def test_every_sentence_is_one_line_that_ends_and_is_written_once():
    unfinished = [e.id for e in REQUIREMENTS if not re.fullmatch(r"\S.*[.)\"]", e.sentence) or not e.section]
    repeated = [key for key, n in Counter((e.spec, e.section, e.sentence) for e in REQUIREMENTS).items() if n > 1]
    assert (unfinished, repeated) == ([], [])


def test_every_planned_requirement_names_the_issue_that_delivers_it():
    assert [e.id for e in REQUIREMENTS if e.status == "planned" and not 2 <= e.issue <= 8] == []


def test_what_is_decided_or_out_says_why():
    assert [e.id for e in REQUIREMENTS if (e.status in {"decided", "out"}) != bool(e.note)] == []


@pytest.mark.covers("RD-house-requirements")
def test_every_done_requirement_is_named_by_a_test():
    assert [e.id for e in REQUIREMENTS if e.status == "done" and e.id not in covered()] == []


@pytest.mark.covers("RD-house-requirements")
def test_every_done_requirement_is_shown_through_a_door():
    hidden = [e.id for e in REQUIREMENTS if e.status == "done" and not e.is_law and not suite().doors_of(e.id)]
    assert hidden == [], "no covering test goes through a door: write one, or do not call it done"


@pytest.mark.covers("RD-house-requirements")
def test_every_id_that_a_test_names_is_known_and_done():
    unknown = {ref: name for ref, name in covered().items() if ref not in BY_ID}
    not_done = {ref: name for ref, name in covered().items() if ref in BY_ID and BY_ID[ref].status != "done"}
    assert (unknown, not_done) == ({}, {})


def test_no_marker_stands_where_no_test_carries_it():
    assert {name: found.stray for name, found in markers().items() if found.stray} == {}


def test_the_page_of_requirements_is_current():
    assert PAGE.read_text(encoding="utf-8") == render(suite().doors_of), (
        "python -m tests.requirements > docs/requirements.md"
    )


def test_the_page_counts_by_specification_and_status():
    page = render(
        lambda ref: ["mcp", "cli"] if ref == "TK-b" else [],
        [
            planned("TK-a", "1", 3, "A | b."),
            done("TK-b", "1", 2, "B."),
            law("TK-e", "1", 2, "E."),
            decided("SB-c", "2", 2, "C.", "Decided 1: ours."),
            out("SB-d", "2", "D.", "No need."),
        ],
    )
    assert "| specification | " + " | ".join(STATUSES) + " | all |" in page
    assert "| tinkerbell-toolset | 2 | 1 | 0 | 0 | 3 |\n| agent-sidebar | 0 | 0 | 1 | 1 | 2 |" in page
    assert "| all | 2 | 1 | 1 | 1 | 5 |" in page
    assert "| `TK-b` | 1 | B. | done: cli, mcp |" in page
    assert "| `TK-e` | 1 | E. | done: law |" in page
    assert "| `TK-a` | 1 | A \\| b. | planned, issue 3 |" in page
    assert "| `SB-c` | 2 | C. | decided: Decided 1: ours. |" in page


@pytest.mark.parametrize(
    "source",
    [
        '@pytest.mark.covers("A")\ndef test_x(): ...',
        '@pytest.mark.slow\n@pytest.mark.covers("A")\nasync def test_x(): ...',
        '@pytest.mark.covers("A")\nclass TestX:\n    def test_x(self): ...',
        'class TestX:\n    pytestmark = pytest.mark.covers("A")',
        'class TestX:\n    @pytest.mark.covers("A")\n    def test_x(self): ...',
        'pytestmark = pytest.mark.covers("A")',
        'pytestmark = [pytest.mark.slow, pytest.mark.covers("A")]',
        '@pytest.mark.parametrize("n", [1, pytest.param(2, marks=pytest.mark.covers("A"))])\ndef test_x(n): ...',
        'CASES = [pytest.param(2, marks=[pytest.mark.slow, pytest.mark.covers("A")])]',
        'TestMachine = pytest.mark.covers("A")(Machine.TestCase)',
        'TestMachine = Machine.TestCase\nTestMachine.pytestmark = [pytest.mark.covers("A")]',
    ],
)
def test_a_marker_is_found_wherever_pytest_would_attach_it(source: str):
    found = find_covers(source)
    assert (found.ids, found.stray) == ({"A"}, [])


@pytest.mark.parametrize(
    "source",
    [
        '@pytest.mark.covers("A")\ndef helper(): ...',
        'shown = pytest.mark.covers("A")',
        "@pytest.mark.covers(NAME)\ndef test_x(): ...",
        "@pytest.mark.covers()\ndef test_x(): ...",
        '@pytest.mark.skip\n@pytest.mark.covers("A")\ndef test_x(): ...',
        '@pytest.mark.xfail(reason="open")\n@pytest.mark.covers("A")\ndef test_x(): ...',
    ],
)
def test_a_marker_that_proves_nothing_is_stray(source: str):
    found = find_covers(source)
    assert not found.ids
    assert len(found.stray) == 1


def test_one_marker_may_name_several_ids_and_text_is_no_marker():
    source = '''
        """Never @pytest.mark.covers("Z") in words."""
        @pytest.mark.covers("A", "B")
        @pytest.mark.covers("C")
        def test_x(): ...
    '''
    assert find_covers(dedent(source)).ids == {"A", "B", "C"}


SERVING = """
import sys
import pytest
def start(folder): return [sys.executable, "-m", "redraft", "mcp", folder]
class Talk:
    def to(self): return start("x")
@pytest.fixture
def client(): return Talk()
"""


NONE: set[str] = set()


@pytest.mark.parametrize(
    ("source", "doors"),
    [
        ("def test_x(client): ...", {"mcp"}),
        ("from speaking import Talk\ndef test_x(): Talk().to()", {"mcp"}),
        ("import pytest\nfrom speaking import start\nCASES = [start]\ndef test_x(): CASES[0]()", {"mcp"}),
        ("from speaking import Talk\ndef test_x(talk: Talk): ...", NONE),
        ("import pytest\n@pytest.mark.engine\ndef test_x(client): ...", NONE),
        ("def test_x(): ...\ndef test_y(client): ...", NONE),
        ('import sys\ndef test_x(): run([sys.executable, "-m", "redraft", "status"])', {"cli"}),
        ('import sys\ndef test_x(): run([sys.executable, "-m", "evals", "--check"])', {"cli"}),
        ('import sys\ndef test_x(): run([sys.executable, "-m", "benchmarks"])', NONE),
    ],
)
def test_a_door_is_what_starts_the_program_over_any_number_of_steps(source: str, doors: set[str]):
    suite = Suite({"conftest": SERVING, "speaking": SERVING, "test_it": source})
    assert suite.doors(("test_it", "test_x")) == doors
