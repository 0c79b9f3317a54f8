"""Documents that come with suggested changes: accepted one text, rejected the other; exported they come back."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redraft.errors import Refused
from redraft.formats.criticmarkup import CriticComment, CriticEdit, CriticText, parse, read_marks, write
from redraft.text.edits import Edit, Span
from redraft.workspace.suggestions import import_suggestions, pending_suggestions
from tests.conftest import MATERIAL

if TYPE_CHECKING:
    from tests.workspace.folder import Folder

SAMPLES = MATERIAL / "tracked-changes" / "critic.json"
PIECES = st.text(alphabet="ab {}+-~=<>`@\n", max_size=12)


def samples() -> list[dict[str, Any]]:
    if not SAMPLES.exists():
        pytest.skip("../shared/material/tracked-changes is not here")
    return json.loads(SAMPLES.read_text(encoding="utf-8"))


def marked(sample: dict[str, Any]) -> str:
    return (SAMPLES.parent / sample["file"]).read_bytes().decode()


def expected(sample: dict[str, Any], what: str) -> str:
    return sample.get(f"{what}_if_code_is_literal", sample[what])


@pytest.mark.covers("RD-critic-real")
def test_real_criticmarkup_is_accepted_and_rejected_as_its_authors_meant(folder: Folder):
    work = folder.open()
    for index, sample in enumerate(samples()):
        for act, what in ((work.accept, "accepted"), (work.reject, "rejected")):
            path = f"{what}/{index}.md"
            if import_suggestions(work, path, parse(marked(sample))).turns[1:]:
                act({path: None})
            assert folder.text(path) == expected(sample, what), sample["file"]


@pytest.mark.covers("RD-critic-real")
def test_real_criticmarkup_comes_back_from_a_review(folder: Folder):
    work = folder.open()
    for index, sample in enumerate(samples()):
        path = f"{index}.md"
        given = parse(marked(sample))
        import_suggestions(work, path, given)
        again = parse(write(pending_suggestions(work, path)))
        assert (again.base, again.accepted) == (given.base, given.accepted), sample["file"]
        assert [each.says for each in again.comments] == [each.says for each in given.comments if each.says]


@st.composite
def critic_texts(draw: st.DrawFn) -> CriticText:
    base = draw(st.text(alphabet="abc {}+-~=<>`\n", max_size=60))
    cuts = sorted(draw(st.sets(st.integers(0, len(base)), max_size=6)))
    edits = [
        CriticEdit(Edit(start, base[start:end], draw(PIECES)), draw(st.sampled_from(["", "anna", "ben"])))
        for start, end in zip(cuts[::2], cuts[1::2], strict=False)
    ]
    changing = tuple(each for each in edits if each.edit.old != each.edit.new)
    accepted = CriticText(base, changing).accepted
    words = [at for at, sign in enumerate(accepted) if sign.isalnum()]
    spans = [Span(at, at + 1) for at in draw(st.sets(st.sampled_from(words), max_size=3))] if words else []
    return CriticText(base, changing, tuple(CriticComment(span, "why") for span in sorted(spans)))


@given(critic_texts(), st.booleans())
def test_what_is_written_reads_the_same_or_is_refused(critic: CriticText, markdown: bool):
    try:
        text = write(critic, markdown=markdown)
    except Refused:
        return
    again = parse(text, markdown=markdown)
    assert (again.base, again.accepted) == (critic.base, critic.accepted)


@given(st.text(alphabet="ab \n.", max_size=40), st.text(alphabet="ab {+-~=}<>", max_size=12))
def test_a_text_without_marks_of_its_own_is_never_refused(base: str, new: str):
    critic = CriticText(base, (CriticEdit(Edit(0, base[:3], new)),) if base[:3] != new else ())
    if not read_marks(critic.accepted):
        assert parse(write(critic)).accepted == critic.accepted


@pytest.mark.parametrize(
    "text",
    [
        "`{++code++}` and ``{--`--}``\n",
        "```\n{++code++}\n```\n",
        "{++not closed\n",
        "{~~no arrow~~}\n",
        "\\`{==\n",
    ],
)
def test_marks_in_code_and_marks_that_do_not_end_are_text(text: str):
    assert parse(text) == CriticText(text)


def test_a_change_knows_its_author_by_a_note_behind_it_or_a_footnote():
    text = "{++one++}{>>@anna<<} {--two--}[^1] {++three[^2]++}\n\n[^1]: @ben 2026-02-11 | deletion\n[^2]: @cem\n"
    assert [each.author for each in parse(text).edits] == ["anna", "ben", "cem"]


def test_a_name_in_a_file_does_not_make_a_turn_of_the_person_who_reads_it(folder: Folder):
    work = folder.open()
    done = import_suggestions(work, "a.md", parse("{++one++}{>>@you<<}{++ two++}{>>@outside<<}"))
    assert {str(turn.author) for turn in done.turns[1:]} == {"unsigned"}


def test_suggestions_of_several_people_are_decided_apart(folder: Folder):
    work = folder.open()
    text = "We {~~met~>saw each other~~}{>>@anna<<} in {--rainy --}{>>@ben<<}Lisbon{++ in May++}{>>@anna<<}.\n"
    done = import_suggestions(work, "a.md", parse(text))
    anna, ben = done.turns[1:]
    assert [str(anna.author), str(ben.author)] == ["anna", "ben"]
    work.reject(work.hunks_of_turn(anna.id), turn=anna.id)
    work.accept(work.hunks_of_turn(ben.id), turn=ben.id)
    assert folder.text("a.md") == "We met in Lisbon.\n"
