"""Turns that were proposed and accepted, taken back one by one over HTTP: each brings back just what it took out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.promises.doors import Folder, served

if TYPE_CHECKING:
    from collections.abc import Generator


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Generator[Folder]:
    with served(tmp_path_factory.mktemp("undo"), mode="propose") as shared:
        yield shared


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    return f"{abs(hash(request.node.name))}.md"


def propose(folder: Folder, name: str, content: str) -> int:
    """Let an agent write a document anew; the number of the turn that waits."""
    call = {"path": name, "content": content, "version": folder.text(name)[1], "allow_shrink": True}
    done, answer = folder.tool("write_document", "propose", **call)
    assert done, answer
    return answer["turn"]


def accept_all(folder: Folder, name: str) -> int:
    done, answer = folder.decide("accept", name, None)
    assert done, answer
    return answer["turn"]["turn"]


def propose_all(folder: Folder, name: str, texts: tuple[str, ...]) -> list[int]:
    """One turn for each text after the first, all of them accepted at once at the end."""
    folder.put(name, texts[0])
    turns = [propose(folder, name, text) for text in texts[1:]]
    accept_all(folder, name)
    assert folder.bytes_of(name).decode() == texts[-1]
    return turns


@pytest.fixture
def typed(folder: Folder, name: str) -> int:
    """A proposal that takes out words that the person typed and did not save."""
    folder.put(name, "The old man went home.\n")
    text, version = folder.text(name)
    assert folder.type(name, text.index("man"), "", "TIRED ", version)
    done, answer = folder.tool("edit_text", "propose", path=name, old_text="old TIRED man", new_text="young woman")
    assert done, answer
    return answer["turn"]


@pytest.mark.covers("P5", "P6")
def test_undo_of_an_accepted_turn_brings_back_what_the_person_typed_and_it_took_out(
    folder: Folder, name: str, typed: int
):
    accept_all(folder, name)
    assert folder.text(name)[0] == "The young woman went home.\n"
    done, answer = folder.undo(typed)
    assert done, answer
    assert folder.text(name)[0] == "The old TIRED man went home.\n"
    done, answer = folder.undo(answer["turn"]["turn"])
    assert done, answer
    assert folder.text(name)[0] == "The young woman went home.\n"


@pytest.mark.covers("P5", "P6")
def test_undo_of_a_turn_whose_hunks_were_accepted_one_by_one_brings_back_what_the_person_typed(
    folder: Folder, name: str, typed: int
):
    while waiting := folder.hunks(name):
        done, answer = folder.decide("accept", name, [waiting[0]["hunk_id"]])
        assert done, answer
    done, answer = folder.undo(typed)
    assert done, answer
    assert folder.text(name)[0] == "The old TIRED man went home.\n"


@pytest.mark.covers("P5", "P6")
@pytest.mark.parametrize("new", ["The old man went home.\n", "The old man went far.\n"])
def test_undo_of_an_accepted_turn_brings_back_typing_where_the_file_did_not_change(folder: Folder, name: str, new: str):
    folder.put(name, "The old man went home.\n")
    text, version = folder.text(name)
    assert folder.type(name, text.index("man"), "", "TIRED ", version)
    turn = propose(folder, name, new)
    accept_all(folder, name)
    assert folder.bytes_of(name).decode() == new
    done, answer = folder.undo(turn)
    assert done, answer
    assert folder.text(name)[0] == "The old TIRED man went home.\n"


@pytest.mark.covers("P6")
@pytest.mark.parametrize(
    "texts",
    [
        ("start one two three end\n", "start two three end\n", "start end\n", "start NEW end\n"),
        ("First part. Second part.\n", "Second part.\n", "\n", "New.\n"),
        ("one two three four five\n", "one three four five\n", "one four five\n", "one X four five\n"),
        ("Price: ten EUR\n", "Price: 150 EUR\n", "Price: 170 EUR\n", "Price: 170 dollars\n"),
        ("one two three\n", "one two three NEW\n", "one three NEW\n", "one three\n"),
    ],
)
def test_accepted_turns_undone_from_the_last_to_the_first_give_each_text_there_was(
    folder: Folder, name: str, texts: tuple[str, ...]
):
    turns = propose_all(folder, name, texts)
    undone: list[int] = []
    for turn, text in reversed(list(zip(turns, texts, strict=False))):
        done, answer = folder.undo(turn)
        assert done, answer
        assert folder.bytes_of(name).decode() == text
        undone.append(answer["turn"]["turn"])
    for turn, text in reversed(list(zip(undone, reversed(texts), strict=False))):
        done, answer = folder.undo(turn)
        assert done, answer
        assert folder.bytes_of(name).decode() == text


@pytest.mark.covers("P6")
def test_turns_that_changed_words_beside_each_other_are_undone_in_any_order(folder: Folder, name: str):
    first, second, third = propose_all(
        folder,
        name,
        ("one two six four five\n", "one six four five\n", "one four five\n", "one X four five\n"),
    )
    for turn, left in (
        (first, "one X two four five\n"),
        (third, "one two four five\n"),
        (second, "one two six four five\n"),
    ):
        done, answer = folder.undo(turn)
        assert done, answer
        assert folder.bytes_of(name).decode() == left


@pytest.mark.covers("P6")
def test_a_turn_whose_words_a_later_one_changed_names_that_one_and_can_be_undone_after_it(folder: Folder, name: str):
    first, second = propose_all(folder, name, ("Price: ten EUR\n", "Price: 150 EUR\n", "Price: 170 EUR\n"))
    done, answer = folder.undo(first)
    assert not done
    assert f"undo turn {second} first" in str(answer)
    assert folder.bytes_of(name) == b"Price: 170 EUR\n"
    for turn, left in ((second, b"Price: 150 EUR\n"), (first, b"Price: ten EUR\n")):
        done, answer = folder.undo(turn)
        assert done, answer
        assert folder.bytes_of(name) == left


def accept_one(folder: Folder, name: str, working: str) -> int:
    """Accept the one hunk that says this."""
    [hunk] = [hunk for hunk in folder.hunks(name) if hunk["working"] == working]
    done, answer = folder.decide("accept", name, [hunk["hunk_id"]])
    assert done, answer
    return answer["turn"]["turn"]


def type_before(folder: Folder, name: str, word: str, new: str) -> None:
    text, version = folder.text(name)
    assert folder.type(name, text.index(word), "", new, version)


@pytest.mark.covers("P5", "P6")
def test_undo_brings_words_back_to_their_place_among_typing_that_is_not_saved(folder: Folder, name: str):
    folder.put(name, "one two three\n")
    type_before(folder, name, "two", "OLD ")
    type_before(folder, name, "three", "NEW ")
    turn = propose(folder, name, "one OLD NEW three\n")
    accept_one(folder, name, "")
    assert folder.bytes_of(name) == b"one three\n"
    done, answer = folder.undo(turn)
    assert done, answer
    assert folder.text(name)[0] == "one OLD two NEW three\n"
    assert folder.bytes_of(name) == b"one two three\n"


@pytest.mark.covers("P6")
@pytest.mark.parametrize("first", [0, 1])
def test_deletions_beside_each_other_that_were_accepted_one_by_one_are_undone_in_any_order(
    folder: Folder, name: str, first: int
):
    folder.put(name, "one two three four\n")
    turns: list[int] = []
    for text in ("one three four\n", "one four\n"):
        turns.append(propose(folder, name, text))
        accept_all(folder, name)
    left = ("one two four\n", "one three four\n")[first]
    for turn, text in ((turns[first], left), (turns[1 - first], "one two three four\n")):
        done, answer = folder.undo(turn)
        assert done, answer
        assert folder.bytes_of(name).decode() == text


@pytest.mark.covers("P5")
def test_accepting_a_word_in_the_place_of_a_typed_one_saves_the_blank_behind_it_and_no_other_typing(
    folder: Folder, name: str
):
    folder.put(name, "alpha mat\n")
    type_before(folder, name, "mat", "typed ")
    type_before(folder, name, "alpha", "mine ")
    turn = propose(folder, name, "mine alpha delta mat\n")
    accept_one(folder, name, "delta")
    assert folder.bytes_of(name) == b"alpha delta mat\n"
    assert folder.text(name)[0] == "mine alpha delta mat\n"
    done, answer = folder.undo(turn)
    assert done, answer
    assert folder.text(name)[0] == "mine alpha typed mat\n"


@pytest.mark.covers("P5", "P6")
def test_a_rollback_of_a_hunk_that_took_out_unsaved_typing_is_refused_and_changes_nothing(
    folder: Folder, name: str, typed: int
):
    decision = accept_one(folder, name, "woman")
    where = f"/api/agent/checkpoints/{decision}"
    [file] = folder.server.get(where)["affected_files"]
    before = folder.text(name)[0], folder.bytes_of(name)
    body = {"mode": "scoped_selected", "hunk_ids": [hunk["hunk_id"] for hunk in file["hunks"]]}
    answer = folder.server.post(f"{where}/rollback", body)
    assert answer["turn"] is None
    assert f"undo turn {decision} instead" in answer["conflicts"][0]["reason"]
    assert (folder.text(name)[0], folder.bytes_of(name)) == before
    done, told = folder.undo(typed)
    assert done, told
    assert folder.text(name)[0] == "The old TIRED man went home.\n"


@pytest.mark.covers("P5", "P6")
def test_a_rollback_of_a_hunk_keeps_typing_beside_it_that_is_not_saved(folder: Folder, name: str):
    folder.put(name, "one two three\n")
    propose(folder, name, "one TWO three\n")
    decision = accept_one(folder, name, "TWO")
    type_before(folder, name, "TWO", "mine ")
    where = f"/api/agent/checkpoints/{decision}"
    [file] = folder.server.get(where)["affected_files"]
    body = {"mode": "scoped_selected", "hunk_ids": [hunk["hunk_id"] for hunk in file["hunks"]]}
    assert folder.server.post(f"{where}/rollback", body)["conflicts"] == []
    assert folder.text(name)[0] == "one mine two three\n"
    assert folder.bytes_of(name) == b"one two three\n"


@pytest.mark.covers("P5", "P6")
def test_accepting_a_word_saves_the_blank_behind_it_that_another_proposal_takes_out(folder: Folder, name: str):
    folder.put(name, "one two three four\n")
    type_before(folder, name, "three", "first second ")
    removals = [propose(folder, name, text) for text in ("one two first second\n", "one two first\n")]
    turn = propose(folder, name, "one two NEW WORDS\n")
    accept_one(folder, name, "NEW WORDS")
    assert folder.bytes_of(name) == b"one two NEW WORDS three four\n"
    accept_all(folder, name)
    assert folder.bytes_of(name) == b"one two NEW WORDS\n"
    for each in (turn, *removals):
        done, answer = folder.undo(each)
        assert done, answer
    assert folder.text(name)[0] == "one two first second three four\n"


@pytest.mark.covers("P5")
def test_saving_a_word_that_was_typed_among_proposed_ones_keeps_it_apart_from_the_words_on_the_disk(
    folder: Folder, name: str
):
    folder.put(name, "one two\n")
    propose(folder, name, "one two NEW WORDS\n")
    type_before(folder, name, "WORDS", "mine ")
    folder.save(name)
    assert folder.bytes_of(name) == b"one two mine\n"
    assert folder.text(name)[0] == "one two NEW mine WORDS\n"


@pytest.mark.covers("P6")
def test_a_turn_is_undone_whole_after_a_decision_on_its_words_was_taken_back(folder: Folder, name: str):
    folder.put(name, "one two\nda8t\n")
    first = propose(folder, name, "one two\nAt9a\n")
    accept_all(folder, name)
    second = propose(folder, name, "one Aa12a\n")
    for turn in (accept_all(folder, name), second, first):  # `a`, with which both end, is another in each of them
        done, answer = folder.undo(turn)
        assert done, answer
    assert folder.bytes_of(name) == b"one two\nda8t\n"


@pytest.mark.covers("P6")
def test_a_turn_is_undone_whole_after_a_rollback_of_a_later_change_of_its_words(folder: Folder, name: str):
    folder.put(name, "one db6t dt7a\n")
    first = propose(folder, name, "one Aa8t dt7a\n")
    accept_all(folder, name)
    propose(folder, name, "one At10a Aa11a\n")
    where = f"/api/agent/checkpoints/{accept_all(folder, name)}"
    hunks = [hunk["hunk_id"] for file in folder.server.get(where)["affected_files"] for hunk in file["hunks"]]
    folder.server.post(f"{where}/rollback", {"mode": "scoped_selected", "hunk_ids": hunks})
    assert folder.bytes_of(name) == b"one Aa8t dt7a\n"
    done, answer = folder.undo(first)
    assert done, answer
    assert folder.bytes_of(name) == b"one db6t dt7a\n"


@pytest.mark.covers("P5", "P6")
def test_a_typed_word_comes_back_whole_beside_another_that_begins_alike(folder: Folder, name: str):
    folder.put(name, "one two\n")
    for word in ("Ka5t ", "Ka4a ", "Kb6t "):
        type_before(folder, name, folder.text(name)[0].split()[1], word)
    turn = propose(folder, name, "one Kb6t Ka5t two\n")
    accept_one(folder, name, "")
    done, answer = folder.undo(propose(folder, name, "Ka5t two\n"))
    assert done, answer
    done, answer = folder.undo(turn)
    assert done, answer
    assert folder.text(name)[0] == "one Kb6t Ka4a Ka5t two\n"


@pytest.mark.covers("P6")
def test_words_that_come_back_amid_what_a_later_proposal_takes_out_run_into_none(folder: Folder, name: str):
    folder.put(name, "one two three four\n")
    turn = propose(folder, name, "one two four\n")
    accept_all(folder, name)
    later = propose(folder, name, "one\n")
    done, answer = folder.undo(turn)
    assert done, answer
    assert folder.text(name)[0] == "one three\n"
    assert folder.bytes_of(name) == b"one two three four\n"
    done, answer = folder.undo(later)
    assert done, answer
    assert folder.text(name)[0] == "one two three four\n"


@pytest.mark.covers("P6")
def test_words_that_came_back_between_others_stay_apart_from_them_when_those_are_undone(folder: Folder, name: str):
    folder.put(name, "one two\nthree four\n")
    first = propose(folder, name, "one two\nfour\n")
    accept_all(folder, name)
    second = propose(folder, name, "one NEW WORDS\n")
    accept_all(folder, name)
    for turn in (first, second):
        done, answer = folder.undo(turn)
        assert done, answer
    assert folder.bytes_of(name) == b"one two\nthree four\n"


@pytest.mark.covers("P5", "P6")
def test_a_rollback_takes_the_words_of_its_own_hunk_back_and_not_a_blank_of_another(folder: Folder, name: str):
    folder.put(name, "one two three\n")
    propose(folder, name, "one two\n")
    type_before(folder, name, "two", "mine ")
    second = propose(folder, name, "one mine\n")
    proposed = {hunk["hunk_id"] for hunk in folder.hunks(name)}
    where = f"/api/agent/checkpoints/{accept_all(folder, name)}"
    hunks = [hunk["hunk_id"] for file in folder.server.get(where)["affected_files"] for hunk in file["hunks"]]
    chosen = [hunk for hunk in hunks if hunk in proposed]
    folder.server.post(f"{where}/rollback", {"mode": "scoped_selected", "hunk_ids": chosen})
    assert folder.text(name)[0] == "one mine three\n"
    done, answer = folder.undo(second)
    assert done, answer
    assert folder.text(name)[0] == "one mine two three\n"


@pytest.mark.covers("P6")
def test_a_rollback_of_a_hunk_whose_turn_was_undone_brings_nothing_back_twice(folder: Folder, name: str):
    folder.put(name, "one two three four\n")
    turn = propose(folder, name, "one three four\n")
    where = f"/api/agent/checkpoints/{accept_all(folder, name)}"
    hunks = [hunk["hunk_id"] for file in folder.server.get(where)["affected_files"] for hunk in file["hunks"]]
    propose(folder, name, "one NEW WORDS four\n")
    accept_all(folder, name)
    done, answer = folder.undo(turn)
    assert done, answer
    folder.server.post(f"{where}/rollback", {"mode": "scoped_selected", "hunk_ids": hunks})
    assert folder.bytes_of(name) == b"one two NEW WORDS four\n"


@pytest.mark.covers("P6")
def test_an_undo_brings_nothing_back_twice_that_a_rollback_put_before_what_was_typed_there(folder: Folder, name: str):
    folder.put(name, "one two three\n")
    turn = propose(folder, name, "two three\n")
    where = f"/api/agent/checkpoints/{accept_all(folder, name)}"
    hunks = [hunk["hunk_id"] for file in folder.server.get(where)["affected_files"] for hunk in file["hunks"]]
    type_before(folder, name, "two", "mine ")
    folder.save(name)
    propose(folder, name, "mine NEW WORDS\n")
    accept_all(folder, name)
    folder.server.post(f"{where}/rollback", {"mode": "scoped_selected", "hunk_ids": hunks})
    assert folder.bytes_of(name) == b"one mine NEW WORDS\n"
    folder.undo(turn)
    assert folder.bytes_of(name) == b"one mine NEW WORDS\n"


@pytest.mark.covers("P5", "P6")
def test_words_come_back_apart_from_the_word_before_where_another_turn_took_out_the_blank_between(
    folder: Folder, name: str
):
    folder.put(name, "one two\nthree four\n")
    type_before(folder, name, "three", "mine ")
    turn = propose(folder, name, "one three four\n")
    accept_all(folder, name)
    later = propose(folder, name, "one\n")
    accept_one(folder, name, "")
    for each, text in ((turn, "one two\nmine\n"), (later, "one two\nmine three four\n")):
        done, answer = folder.undo(each)
        assert done, answer
        assert folder.text(name)[0] == text


@pytest.mark.covers("P5", "P6")
def test_words_come_back_apart_from_a_proposed_word_where_a_typed_blank_was_taken_out(folder: Folder, name: str):
    folder.put(name, "one two three\n")
    turn = propose(folder, name, "one three\n")
    accept_one(folder, name, "")
    type_before(folder, name, "three", "mine ")
    propose(folder, name, "one mine\n")
    accept_one(folder, name, "")
    propose(folder, name, "one mine NEW WORDS\n")
    done, answer = folder.undo(turn)
    assert done, answer
    assert folder.text(name)[0] == "one mine NEW WORDS two\n"


@pytest.mark.covers("P5", "P6")
def test_a_decision_taken_back_leaves_its_words_behind_what_was_saved_and_typed_before_them(folder: Folder, name: str):
    folder.put(name, "one two\n")
    propose(folder, name, "one two NEW\n")
    type_before(folder, name, "NEW", "mine ")
    decision = accept_one(folder, name, " NEW")
    folder.save(name)
    type_before(folder, name, "NEW", "more ")
    done, answer = folder.undo(decision)
    assert done, answer
    assert folder.text(name)[0] == "one two mine more NEW\n"
    assert folder.bytes_of(name) == b"one two mine\n"


@pytest.mark.covers("P6")
def test_words_that_were_put_in_before_the_blank_of_others_stay_apart_when_those_are_undone(folder: Folder, name: str):
    folder.put(name, "one two three\n")
    first = propose(folder, name, "one NEW two three\n")
    removal = propose(folder, name, "one NEW\n")
    accept_one(folder, name, "NEW")
    propose(folder, name, "one NEW WORDS\n")
    accept_all(folder, name)
    for turn, text in ((removal, "one NEW WORDS two three\n"), (first, "one WORDS two three\n")):
        done, answer = folder.undo(turn)
        assert done, answer
        assert folder.text(name)[0].split() == text.split()


def roll_back(folder: Folder, turn: int) -> int:
    """Take every hunk of a turn back; the number of the turn that did it."""
    where = f"/api/agent/checkpoints/{turn}"
    hunks = [hunk["hunk_id"] for file in folder.server.get(where)["affected_files"] for hunk in file["hunks"]]
    answer = folder.server.post(f"{where}/rollback", {"mode": "scoped_selected", "hunk_ids": hunks})
    assert answer["conflicts"] == [], answer
    return answer["turn"]["turn"]


def undo(folder: Folder, turn: int) -> int:
    done, answer = folder.undo(turn)
    assert done, answer
    return answer["turn"]["turn"]


def state_of(folder: Folder, turn: int) -> str:
    return next(each["state"] for each in folder.turns() if each["turn"] == turn)


@pytest.mark.covers("P5", "P6")
@pytest.mark.parametrize("by", ["undo", "rollback"])
def test_a_turn_that_came_back_before_what_was_typed_there_is_undone_whole(folder: Folder, name: str, by: str):
    folder.put(name, "alpha beta gamma\n")
    turn = propose(folder, name, "alpha NEW WORDS gamma\n")
    accepted = accept_all(folder, name)
    back = undo(folder, turn) if by == "undo" else roll_back(folder, accepted)
    type_before(folder, name, " gamma", "66")
    folder.save(name)
    undo(folder, back)
    assert folder.bytes_of(name) == b"alpha NEW WORDS66 gamma\n"
    undo(folder, turn)
    assert folder.bytes_of(name) == b"alpha beta66 gamma\n"
    assert state_of(folder, turn) == "undone"


@pytest.mark.covers("P6")
@pytest.mark.parametrize("by", ["undo", "rollback"])
def test_a_written_turn_that_a_rollback_brought_back_stands_and_can_be_undone(folder: Folder, name: str, by: str):
    folder.put(name, "alpha beta gamma\n")
    done, answer = folder.tool("edit_text", "apply", path=name, old_text="beta", new_text="NEW")
    assert done, answer
    turn = answer["turn"]
    roll_back(folder, undo(folder, turn) if by == "undo" else roll_back(folder, turn))
    assert folder.bytes_of(name) == b"alpha NEW gamma\n"
    assert state_of(folder, turn) == "applied"
    undo(folder, turn)
    assert folder.bytes_of(name) == b"alpha beta gamma\n"
    assert state_of(folder, turn) == "undone"


@pytest.mark.covers("P6")
def test_a_rejected_turn_whose_words_an_undo_brought_back_stands_and_can_be_undone(folder: Folder, name: str):
    folder.put(name, "alpha beta gamma\n")
    turn = propose(folder, name, "alpha NEW gamma\n")
    accepted = accept_all(folder, name)
    back = undo(folder, turn)
    again = folder.server.post("/api/turns/redo")["turn"]["turn"]
    undo(folder, accepted)
    done, answer = folder.decide("reject", name, None)
    assert done, answer
    assert state_of(folder, turn) == "discarded"
    undo(folder, again)
    undo(folder, back)
    assert folder.bytes_of(name) == b"alpha NEW gamma\n"
    assert state_of(folder, turn) == "applied"
    undo(folder, turn)
    assert folder.bytes_of(name) == b"alpha beta gamma\n"


@pytest.mark.covers("P6")
def test_undo_of_a_turn_of_which_nothing_is_left_says_so_and_what_comes_back_can_be_undone(folder: Folder, name: str):
    folder.put(name, "alpha beta gamma\n")
    done, answer = folder.tool("edit_text", "apply", path=name, old_text="beta", new_text="NEW")
    assert done, answer
    turn = answer["turn"]
    back = roll_back(folder, turn)
    done, answer = folder.undo(turn)
    assert not done
    assert [(clash["path"], clash["reason"]) for clash in answer["conflicts"]] == [
        (name, "nothing of the turn is left here")
    ]
    assert folder.turns()[0]["turn"] == back
    undo(folder, back)
    assert folder.bytes_of(name) == b"alpha NEW gamma\n"
    undo(folder, turn)
    assert folder.bytes_of(name) == b"alpha beta gamma\n"
