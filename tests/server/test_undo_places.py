"""Words that an undo brings back, over HTTP: they stand at their own place among typing that is not saved, and apart
from the words beside them, on the screen and on the disk."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.promises.doors import Folder, Json, served

if TYPE_CHECKING:
    from collections.abc import Generator


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Generator[Folder]:
    with served(tmp_path_factory.mktemp("undo"), mode="propose") as shared:
        yield shared


class Page:
    """A document, what agents and the person do to it, and what is seen and saved of it then."""

    def __init__(self, folder: Folder, name: str, text: str) -> None:
        self.folder = folder
        self.name = name
        folder.put(name, text)

    @property
    def seen(self) -> str:
        return self.folder.text(self.name)[0]

    @property
    def saved(self) -> str:
        return self.folder.bytes_of(self.name).decode()

    @property
    def hunks(self) -> list[Json]:
        """All that waits, the person's own edits included."""
        shown = self.folder.server.get("/api/review", path=self.name)["documents"]
        return [hunk for draft in shown for hunk in draft["hunks"]]

    def propose(self, content: str) -> int:
        call = {"path": self.name, "content": content, "version": self.folder.text(self.name)[1], "allow_shrink": True}
        done, answer = self.folder.tool("write_document", "propose", **call)
        assert done, answer
        assert self.seen == content
        return answer["turn"]

    def type(self, words: str, before: str) -> None:
        text, version = self.folder.text(self.name)
        assert self.folder.type(self.name, text.index(before), "", words, version)

    def accept(self, *hunks: int) -> int:
        """Accept these of the agents' hunks, from the top; without any, all there is."""
        waiting = self.folder.hunks(self.name)
        chosen = [waiting[index]["hunk_id"] for index in hunks] if hunks else None
        done, answer = self.folder.decide("accept", self.name, chosen)
        assert done, answer
        return answer["turn"]["turn"]

    def roll_back(self, decision: int) -> None:
        """Take back every hunk that a decision took."""
        checkpoint = f"/api/agent/checkpoints/{decision}"
        files = self.folder.server.get(checkpoint)["affected_files"]
        chosen = [hunk["hunk_id"] for file in files for hunk in file["hunks"]]
        answer = self.folder.server.post(f"{checkpoint}/rollback", {"mode": "scoped_selected", "hunk_ids": chosen})
        assert answer["conflicts"] == []

    def undo(self, *turns: int) -> None:
        for turn in turns:
            done, answer = self.folder.undo(turn)
            assert done, answer


@pytest.mark.covers("P6")
def test_words_come_back_apart_from_the_one_before_where_a_later_turn_took_out_the_blank_and_all_behind(folder: Folder):
    page = Page(folder, "amid.md", "one two three\nfour five\n")
    first = page.propose("one two four five\n")
    second = page.propose("one two NEW MORE five\n")
    third = page.propose("one two\n")
    page.accept()
    page.undo(first)
    assert page.seen == page.saved == "one two three\n"
    page.undo(third, second)
    assert page.seen == page.saved == "one two three\nfour five\n"


@pytest.mark.covers("P5", "P6")
def test_typing_comes_back_apart_from_the_word_before_where_words_around_it_were_undone(folder: Folder):
    page = Page(folder, "around.md", "one two\n")
    added = page.propose("one two NEW MORE\n")
    page.accept()
    page.type("TYPED ", before="NEW")
    taken = page.propose("one two NEW MORE\n")
    page.accept(0)
    page.undo(added, taken)
    assert page.seen == page.saved == "one two TYPED\n"


@pytest.mark.covers("P5", "P6")
@pytest.mark.parametrize(
    ("texts", "typed", "left"),
    [
        (("one two three four\nfive\n", "one two three five\n", "one two\n"), True, "one two four\n"),
        (
            ("one two three\nfour five\n", "one two five\n", "one two NEW five\n", "one two\n"),
            False,
            "one two three\nfour\n",
        ),
    ],
)
def test_words_of_a_pending_turn_come_back_apart_from_the_word_before(
    folder: Folder, texts: tuple[str, ...], typed: bool, left: str
):
    page = Page(folder, f"pending-{typed}.md", texts[0])
    first = page.propose(texts[1])
    if typed:
        page.type("TYPED ", before="three")
    later = [page.propose(text) for text in texts[2:]]
    page.undo(first)
    assert (page.seen, page.saved) == (left, texts[0])
    page.undo(*reversed(later))
    assert page.seen.replace("TYPED ", "") == page.saved == texts[0]


@pytest.mark.covers("P5", "P6")
def test_typing_that_a_turn_took_out_is_no_conflict_when_that_is_undone(folder: Folder):
    page = Page(folder, "doubt.md", "one two\nthree\nfour\n")
    page.type("TYPED ", before="four")
    page.undo(page.propose("one NEW MORE four\n"))
    assert page.seen == "one two\nthree\nTYPED four\n"
    assert [hunk["conflict"] for hunk in page.hunks] == [False] * len(page.hunks)


@pytest.mark.covers("P5", "P6")
def test_undo_of_a_turn_whose_acceptance_left_the_file_as_it_was_brings_back_what_was_typed(folder: Folder):
    page = Page(folder, "same.md", "one two three\n")
    page.type("TYPED ", before="three")
    first = page.propose("one two TYPED\n")
    second = page.propose("one two\n")
    page.accept(0)
    assert page.saved == "one two three\n"
    page.accept(0)
    page.undo(second)
    assert page.seen == page.saved == "one two TYPED\n"
    page.undo(first)
    assert page.seen == page.saved == "one two TYPED three\n"


@pytest.mark.covers("P5", "P6")
def test_words_come_back_before_what_was_typed_behind_them_when_their_acceptance_is_undone(folder: Folder):
    page = Page(folder, "order.md", "one two three four\n")
    page.type("TYPED ", before="three")
    turn = page.propose("one TYPED three four\n")
    decision = page.accept(0)
    page.type("LATER ", before="four")
    page.undo(decision)
    assert (page.seen, page.saved) == ("one TYPED three LATER four\n", "one two three four\n")
    page.undo(turn)
    assert page.seen == "one two TYPED three LATER four\n"


@pytest.mark.covers("P5", "P6")
def test_two_hunks_side_by_side_come_back_in_their_order_when_their_acceptance_is_undone(folder: Folder):
    page = Page(folder, "beside.md", "one two three\n")
    page.propose("one two NEW three\n")
    page.type("TYPED ", before="NEW")
    turn = page.propose("one NEW three\n")
    decision = page.accept()
    page.type("LATER ", before="one")
    page.undo(decision, turn)
    assert (page.seen, page.saved) == ("LATER one two TYPED NEW three\n", "one two three\n")


@pytest.mark.covers("P5", "P6")
def test_words_come_back_apart_from_a_proposal_whose_blank_a_later_turn_takes_out(folder: Folder):
    page = Page(folder, "proposed.md", "one two three\n")
    first = page.propose("one three\n")
    page.accept()
    page.propose("one NEW three\n")
    page.propose("one NEW\n")
    page.undo(first)
    assert (page.seen, page.saved) == ("one NEW two\n", "one two three\n")


@pytest.mark.covers("P6")
def test_a_pending_turn_that_cannot_be_undone_names_the_one_to_undo_first(folder: Folder):
    page = Page(folder, "first.md", "one two three\n")
    first = page.propose("one NEW three\n")
    second = page.propose("one NEWER three\n")
    done, answer = folder.undo(first)
    assert (done, f"undo turn {second} first" in str(answer)) == (False, True)
    page.undo(second, first)
    assert page.seen == "one two three\n"


@pytest.mark.covers("P5", "P6")
def test_a_proposal_comes_back_between_what_was_typed_on_both_sides_of_it(folder: Folder):
    page = Page(folder, "between.md", "one two\n")
    page.propose("NEW one two\n")
    decision = page.accept()
    page.type("BEHIND ", before="one")
    page.type("BEFORE ", before="NEW")
    page.undo(decision)
    assert (page.seen, page.saved) == ("BEFORE NEW BEHIND one two\n", "one two\n")


@pytest.mark.covers("P6")
def test_undo_of_a_turn_accepted_in_part_finds_its_letters_in_the_hunk_that_was_accepted(folder: Folder):
    page = Page(folder, "letters.md", "da1a da2a\n")
    page.type("Ka4t ", before="da1a")
    page.propose("Aa5t Aa6a da2a\n")
    turn = page.propose("Aa7a At8t da2a\n")
    page.accept(1)
    assert page.saved == "At8t da2a\n"
    page.undo(turn)
    assert (page.seen, page.saved) == ("Aa5t Aa6a da2a\n", "Aa6a da2a\n")


@pytest.mark.covers("P6")
def test_undo_of_a_turn_brings_nothing_back_twice_that_a_rollback_brought_back(folder: Folder):
    page = Page(folder, "twice.md", "one dt4a da5a\n")
    page.propose("one Aa6t Aa7a\n")
    second = page.propose("one Aa9a At10t\n")
    decision = page.accept()
    page.roll_back(decision)
    assert page.seen == page.saved == "one dt4a da5a\n"
    folder.undo(second)
    assert page.seen == page.saved == "one dt4a da5a\n"


@pytest.mark.covers("P6")
def test_of_two_turns_on_the_same_words_that_were_rolled_back_neither_sends_to_the_other(folder: Folder):
    page = Page(folder, "neither.md", "one two\n")
    turns = [page.propose("one NEW two\n"), page.propose("one OTHER two\n")]
    page.roll_back(page.accept())
    for turn in turns:
        done, answer = folder.undo(turn)
        assert not done
        assert [conflict["reason"] for conflict in answer["conflicts"]] == ["nothing of the turn is left here"]
    assert page.seen == page.saved == "one two\n"


@pytest.mark.covers("P6")
def test_a_turn_is_undone_beside_typing_after_two_restores_were(folder: Folder):
    page = Page(folder, "restored.md", "one\r\ntwo\r\n")
    first = page.propose("one\r\ntwo ab\r\nab\r\n")
    decision = page.accept()
    restored = folder.server.post(f"/api/turns/{decision}/restore")["turn"]["turn"]
    second = page.propose("one NEW\r\ntwo ab\r\nab\r\n")
    both = page.accept()
    again = folder.server.post(f"/api/turns/{first}/restore")["turn"]["turn"]
    assert page.seen == page.saved == "one\r\ntwo\r\n"
    page.type("TYPED ", before="one")
    page.undo(again, both, second, restored)
    assert page.saved == "one\r\ntwo ab\r\nab\r\n"
    page.undo(decision, first)
    assert (page.seen, page.saved) == ("TYPED one\r\ntwo\r\n", "one\r\ntwo\r\n")


@pytest.mark.covers("P6")
def test_a_proposal_made_within_accepted_words_stays_there_when_their_acceptance_is_undone(folder: Folder):
    page = Page(folder, "within.md", "one two\n")
    page.propose("one two A B\n")
    decision = page.accept()
    page.propose("one two X A B\n")
    assert folder.undo(decision)[0]
    assert (page.seen, page.saved) == ("one two X A B\n", "one two\n")
    assert [hunk["working"].strip() for hunk in page.hunks] == ["X", "A B"]


@pytest.mark.covers("P5", "P6")
@pytest.mark.parametrize("way", ["applied", "accepted", "rolled back"])
@pytest.mark.parametrize(("before", "typed"), [("00 EUR", "2500"), (" EUR", "2005"), ("200 EUR", "5200")])
def test_undo_of_a_number_is_refused_while_unsaved_digits_stand_in_it(
    folder: Folder, way: str, before: str, typed: str
):
    page = Page(folder, f"price-{way}-{typed}.md", "Price: 100 EUR\n")
    if way == "applied":
        _, answer = folder.tool("edit_text", "apply", path=page.name, old_text="100", new_text="200")
        turn = answer["turn"]
    else:
        proposal = page.propose("Price: 200 EUR\n")
        decision = page.accept()
        turn = decision if way == "rolled back" else proposal
    page.type("5", before=before)
    if way == "rolled back":
        checkpoint = f"/api/agent/checkpoints/{turn}"
        [hunk] = folder.server.get(checkpoint)["affected_files"][0]["hunks"]
        answer = folder.server.post(
            f"{checkpoint}/rollback", {"mode": "scoped_selected", "hunk_ids": [hunk["hunk_id"]]}
        )
    else:
        done, answer = folder.undo(turn)
        assert not done
    assert "unsaved typing" in answer["conflicts"][0]["reason"]
    assert (page.seen, page.saved) == (f"Price: {typed} EUR\n", "Price: 200 EUR\n")


@pytest.mark.covers("P6")
def test_a_refused_undo_names_a_way_out_that_works(folder: Folder):
    page = Page(folder, "way-out.md", "Price: 100 EUR\n")
    applied: list[int] = []
    for tool, call in (
        ("move_document", {"from_path": "way-out.md", "to_path": "moved.md"}),
        ("edit_text", {"path": "moved.md", "old_text": "100", "new_text": "200"}),
    ):
        done, answer = folder.tool(tool, "apply", **call)
        assert done, answer
        applied.append(answer["turn"])
    page.name = "moved.md"
    moved, edited = applied
    done, answer = folder.undo(moved)
    assert (done, f"undo turn {edited} first" in answer["conflicts"][0]["reason"]) == (False, True)
    page.type("5", before="00 EUR")
    done, answer = folder.undo(edited)
    assert (done, "`redraft discard moved.md`" in answer["conflicts"][0]["reason"]) == (False, True)
    folder.server.post(f"/api/tabs/{folder.tab('moved.md')['tab_id']}/discard")
    page.undo(edited, moved)
    assert folder.bytes_of("way-out.md") == b"Price: 100 EUR\n"


@pytest.mark.covers("P5", "P6")
def test_undo_of_a_number_leaves_unsaved_words_beside_it(folder: Folder):
    page = Page(folder, "price.md", "Price: 100 EUR\n")
    turn = page.propose("Price: 200 EUR\n")
    page.accept()
    page.type("about ", before="200")
    page.undo(turn)
    assert (page.seen, page.saved) == ("Price: about 100 EUR\n", "Price: 100 EUR\n")
