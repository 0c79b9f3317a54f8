"""The assistant at work in the example notes: real tools, real turns, and what is on disk afterwards."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from redraft.agent.offline import OfflineProvider
from redraft.agent.offline.documents import is_everything, is_this, match_choice
from redraft.agent.offline.provider import INTENTS
from tests.agent.offline.conversing import TODAY, Assistant

if TYPE_CHECKING:
    from tests.workspace.folder import Folder


def changed(folder: Folder, before: dict[str, bytes]) -> set[str]:
    after = folder.tree()
    return {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}


def test_search_quotes_the_lines_where_the_words_stand(assistant: Assistant, folder: Folder):
    said = assistant.asked("Where is the harbour mentioned?")
    for path in ("places.json", "todo.md", "story/chapter-1.md"):
        assert path in said.text
    for quoted in (line for line in said.text.splitlines() if line.startswith("  > line ")):
        number, _, words = quoted.removeprefix("  > line ").partition(": ")
        texts = [folder.text(path).splitlines() for path in folder.tree()]
        assert any(len(lines) >= int(number) and words.strip(" .")[:40] in lines[int(number) - 1] for lines in texts)


def test_search_by_meaning_says_that_it_is_by_meaning(assistant: Assistant):
    said = assistant.asked("find passages about vessels in chapter 3")
    assert "does not have the words" in said.text or "are closest" in said.text
    assert said.names[-1] == "search_document"


def test_search_for_what_is_nowhere_invents_nothing(assistant: Assistant):
    assert "neither in a text nor in a name" in assistant.asked("find xylophone").text


def test_rename_everywhere_changes_every_document_and_says_how_often(assistant: Assistant, folder: Folder):
    before = folder.tree()
    said = assistant.asked("Rename Ines to Marta everywhere")
    assert changed(folder, before) == {"meeting.md", "story.yaml", "story/chapter-1.md", "story/chapter-2.md"}
    for path, data in before.items():
        assert folder.bytes(path) == data.replace(b"Ines", b"Marta")
    assert "6 places" in said.text


def test_rename_in_one_document_leaves_the_others(assistant: Assistant, folder: Folder):
    before = folder.tree()
    assistant.asked("replace cat with dog in chapter 1")
    assert changed(folder, before) == {"story/chapter-1.md"}
    assert folder.text("story/chapter-1.md") == before["story/chapter-1.md"].decode().replace("cat", "dog")


def test_rename_leaves_code_alone_and_says_so(assistant: Assistant, folder: Folder):
    folder.put("code.md", "The lamp.\n\n```\nlamp = 1\n```\n\nLamps and a LAMP, `lamp`.\n")
    said = assistant.asked("rename lamp to light in code.md")
    assert folder.text("code.md") == "The light.\n\n```\nlamp = 1\n```\n\nLights and a LIGHT, `lamp`.\n"
    assert "2 more in code" in said.text


def test_a_proposed_rename_waits_for_the_person(folder: Folder):
    assistant = Assistant.at(folder, "propose")
    before = folder.tree()
    assistant.asked("Rename Ines to Marta")
    assert folder.tree() == before
    assert "Marta" in str(assistant.workspace.read("story/chapter-1.md").text)


def test_a_section_goes_to_the_end_of_the_one_it_belongs_to(assistant: Assistant, folder: Folder):
    assistant.asked('Add a section "Open points" under "What we said" in meeting.md with the text "None yet."')
    assert "a lot.\n\n### Open points\n\nNone yet.\n\n## What we decided\n" in folder.text("meeting.md")


def test_a_section_without_a_heading_goes_to_the_end(assistant: Assistant, folder: Folder):
    before = folder.text("meeting.md")
    assistant.asked("add a section Sources to meeting.md")
    assert folder.text("meeting.md") == f"{before}\n## Sources\n"


@pytest.mark.covers("ML-sample-section")
def test_a_section_with_tasks_only_adds_lines(assistant: Assistant, folder: Folder):
    before = folder.text("meeting.md")
    tasks = "- [ ] Call Ruth\n- [ ] Buy biscuits"
    assistant.asked(f'add a section "Tasks" under "What we said" in meeting.md with the text "{tasks}"')
    after = folder.text("meeting.md")
    added = f"### Tasks\n\n{tasks}\n\n"
    assert after.count(added) == 1
    assert after.replace(added, "") == before


def test_a_heading_that_is_not_there_is_not_guessed(assistant: Assistant, folder: Folder):
    before = folder.tree()
    said = assistant.asked("add a section X under Budget in meeting.md")
    assert "no heading “Budget”" in said.text
    assert folder.tree() == before


def test_text_is_added_at_the_end_and_the_beginning(assistant: Assistant, folder: Folder):
    before = folder.text("meeting.md")
    assistant.asked('append "Ruth was late." to meeting.md')
    assert folder.text("meeting.md") == f"{before}\nRuth was late.\n"
    assistant.asked('add "Draft." at the top of meeting.md')
    assert folder.text("meeting.md").startswith("# Reading group, 14 September\n\nDraft.\n\nPresent:")


def test_text_under_a_heading_stays_above_the_next_one(assistant: Assistant, folder: Folder):
    assistant.asked('add "Nobody minded." under "What we said" in meeting.md')
    assert "a lot.\n\nNobody minded.\n\n## What we decided" in folder.text("meeting.md")


def test_a_todo_is_added_after_the_last_one(assistant: Assistant, folder: Folder):
    before = folder.text("todo.md")
    assistant.asked('add "buy biscuits" to my todo list')
    assert folder.text("todo.md") == f"{before}- [ ] buy biscuits\n"


def test_a_todo_is_checked_off_and_opened_again(assistant: Assistant, folder: Folder):
    before = folder.text("todo.md")
    assistant.asked("check off the harbour board name")
    assert folder.text("todo.md") == before.replace("[ ] Give the harbour", "[x] Give the harbour")
    assistant.asked("uncheck give the harbour board a name")
    assert folder.text("todo.md") == before


def test_two_todos_that_could_be_meant_are_asked_about_once(assistant: Assistant, folder: Folder):
    folder.put("todo.md", "- [ ] call Ruth about cake\n- [ ] call Ruth about tea\n")
    before = folder.tree()
    said = assistant.asked("check off call Ruth")
    assert len(said.questions) == 1
    assert folder.tree() == before
    assistant.answer = "the one about tea"
    assistant.asked("check off call Ruth")
    assert folder.text("todo.md") == "- [ ] call Ruth about cake\n- [x] call Ruth about tea\n"


def test_a_first_todo_makes_the_list(assistant: Assistant, folder: Folder):
    assistant.asked("delete todo.md")
    assistant.asked("remind me to feed the cat")
    assert folder.text("todo.md") == "# To do\n\n- [ ] feed the cat\n"


def test_contents_are_made_below_the_title_and_kept_up_to_date(assistant: Assistant, folder: Folder):
    assistant.asked("make a table of contents for meeting.md")
    once = folder.text("meeting.md")
    links = "- [What we said](#what-we-said)\n- [What we decided](#what-we-decided)\n"
    assert f"September\n\n<!-- toc -->\n\n{links}\n<!-- tocstop -->\n\nPresent" in once
    assert "up to date" in assistant.asked("refresh the toc in meeting.md").text
    assert folder.text("meeting.md") == once
    folder.put("meeting.md", once + "\n## More\n")
    assistant.asked("refresh the toc in meeting.md")
    assert folder.text("meeting.md") == once.replace("decided)\n", "decided)\n- [More](#more)\n") + "\n## More\n"


@pytest.mark.covers("ML-future-summary")
def test_a_summary_quotes_as_many_sentences_as_were_asked_for(assistant: Assistant, folder: Folder):
    said = assistant.asked("summarise chapter 1 in 3 sentences")
    quoted = [line.removeprefix("> ").rpartition(" (line ")[0] for line in said.text.splitlines() if line[:1] == ">"]
    assert len(quoted) == 3
    assert all(each in " ".join(folder.text("story/chapter-1.md").split()) for each in quoted)


def test_a_section_alone_can_be_summed_up(assistant: Assistant):
    said = assistant.asked("summarise the section What we said in meeting.md in 2 sentences")
    assert "Tomasz" in said.text or "Chapter" in said.text
    assert "biscuits" not in said.text


def test_people_and_places_are_counted_with_their_first_line(assistant: Assistant):
    said = assistant.asked("list the people and places everywhere")
    assert "- Ines: 6 mentions, first in meeting.md, line 3" in said.text
    assert "- Sallow Point: 5 mentions, first in places.json, line 2" in said.text


def test_style_figures_are_counted(assistant: Assistant):
    said = assistant.asked("how many words does chapter 3 have?")
    assert "97 words" in said.text or "words in" in said.text
    assert "words per sentence" in said.text


LOOSE = {
    "bread.md": "# Bread\n\nFeed the starter with flour and water. Bake the bread in the oven.\n",
    "pizza.md": "# Pizza dough\n\nMix flour, yeast, water and salt. Bake in a very hot oven.\n",
    "lisbon.md": "# Trip to Lisbon\n\nFlight on Friday, hotel near the river. Take the tram.\n",
    "norway.md": "# Norway trip\n\nTrain from Oslo to Bergen, hotel by the harbour. Book the flight.\n",
}


@pytest.mark.covers("ML-sample-organise")
def test_loose_notes_are_moved_into_folders_by_topic(assistant: Assistant, folder: Folder):
    for path, text in LOOSE.items():
        folder.put(path, text)
    before = folder.tree()
    said = assistant.asked("organise my loose notes into folders")
    places = {path.rpartition("/")[2]: path.rpartition("/")[0] for path in folder.tree()}
    assert places["bread.md"] == places["pizza.md"] != ""
    assert places["lisbon.md"] == places["norway.md"] not in ("", places["bread.md"])
    assert sorted(folder.tree().values()) == sorted(before.values())
    assert "share" in said.text
    [turn] = assistant.workspace.turns()
    assert set(LOOSE) <= set(turn.paths)


@pytest.mark.covers("ML-sample-organise-correct")
def test_a_note_put_into_the_wrong_folder_is_moved_on_in_a_turn_of_its_own(assistant: Assistant, folder: Folder):
    for path, text in LOOSE.items():
        folder.put(path, text)
    assistant.asked("organise my loose notes into folders")
    organised = folder.tree()
    assistant.asked("move pizza.md to the folder italy")
    assert "italy/pizza.md" in folder.tree()
    assistant.asked("undo")
    assert folder.tree() == organised


def test_organising_overwrites_nothing(assistant: Assistant, folder: Folder):
    for path, text in LOOSE.items():
        folder.put(path, text)
        for topic in ("flour", "bake", "oven", "water", "trip", "flight", "hotel", "book"):
            folder.put(f"{topic}/{path}", f"Already here: {topic}.\n")
    before = sorted(folder.tree().values())
    assistant.asked("sort the notes by topic")
    assert sorted(folder.tree().values()) == before


def test_the_daily_note_is_made_once(assistant: Assistant, folder: Folder):
    assistant.asked("create today's note")
    made = folder.text(f"{TODAY}.md")
    assert made.startswith(f"# {TODAY}\n")
    assert "already" in assistant.asked("create today's note").text
    assert folder.text(f"{TODAY}.md") == made


def test_own_templates_come_before_the_built_in_ones(assistant: Assistant, folder: Folder):
    folder.put("templates/daily.md", "Day {{title}}\n\n- slept:\n")
    folder.put("journal/old.md", "x\n")
    assistant.asked("new daily note")
    assert folder.text(f"journal/{TODAY}.md") == f"Day {TODAY}\n\n- slept:\n"


def test_a_template_that_is_not_there_is_not_made_up(assistant: Assistant, folder: Folder):
    before = folder.tree()
    said = assistant.asked("create a note Week from the template quarterly")
    assert "no template" in said.text
    assert folder.tree() == before


def test_meeting_notes_carry_the_day_and_the_name(assistant: Assistant, folder: Folder):
    assistant.asked("create meeting notes for the reading group")
    assert f"# {TODAY} reading group\n" in folder.text(f"{TODAY} reading group.md")


def test_documents_are_moved_and_renamed(assistant: Assistant, folder: Folder):
    before = folder.tree()
    assistant.asked("move todo.md into the folder story")
    assistant.asked("rename the file meeting.md to reading-group")
    after = folder.tree()
    assert after["story/todo.md"] == before["todo.md"]
    assert after["reading-group.md"] == before["meeting.md"]
    assert "todo.md" not in after
    assert "meeting.md" not in after


def test_a_move_never_overwrites(assistant: Assistant, folder: Folder):
    before = folder.tree()
    said = assistant.asked("rename the file todo.md to meeting.md")
    assert "could not" in said.text
    assert folder.tree() == before


def test_nothing_is_deleted_without_the_person(assistant: Assistant, folder: Folder):
    asked: list[list[str]] = []

    def refuse(_what: str, paths: list[str]) -> bool:
        asked.append(paths)
        return False

    assistant.confirm = refuse
    before = folder.tree()
    said = assistant.asked("delete todo.md")
    assert asked == [["todo.md"]]
    assert folder.tree() == before
    assert "todo.md was not deleted" in said.text


def test_what_the_person_agrees_to_delete_goes(assistant: Assistant, folder: Folder):
    assistant.asked("delete todo.md and meeting.md")
    assert not {"todo.md", "meeting.md"} & set(folder.tree())


def test_undo_takes_back_its_own_last_turn(assistant: Assistant, folder: Folder):
    before = folder.tree()
    assistant.asked("rename Ines to Marta")
    assert folder.tree() != before
    said = assistant.asked("undo the last change")
    assert folder.tree() == before
    assert "is undone" in said.text


def test_what_was_done_is_told_from_the_history(assistant: Assistant):
    assistant.asked("rename Ines to Marta")
    said = assistant.asked("what changed?")
    assert "rename Ines to Marta" in said.text
    assert "turn 1" in said.text


def test_two_documents_of_one_name_are_asked_about(assistant: Assistant, folder: Folder):
    folder.put("old/todo.md", "- [ ] old\n")
    assistant.answer = "old/todo.md"
    said = assistant.asked("delete todo")
    assert len(said.questions) == 1
    assert "old/todo.md" not in folder.tree()
    assert "todo.md" in folder.tree()


@pytest.mark.parametrize(
    ("answer", "meant"),
    [
        ("old/todo.md", "old/todo.md"),
        ("the one in old", "old/todo.md"),
        ("the second", "b/todo.md"),
        ("2", "b/todo.md"),
        ("todo", ""),
        ("neither", ""),
        ("no_user_answer", ""),
    ],
)
def test_an_answer_is_taken_by_name_by_a_word_or_by_its_place(answer: str, meant: str):
    assert match_choice(answer, ["a/todo.md", "b/todo.md", "old/todo.md"]) == meant


def test_where_nobody_answers_nothing_is_deleted_on_a_guess(assistant: Assistant, folder: Folder):
    folder.put("old/todo.md", "- [ ] old\n")
    before = folder.tree()
    said = assistant.asked("delete todo")
    assert "I do not know which" in said.text
    assert folder.tree() == before


def test_this_document_is_the_one_that_is_pinned(assistant: Assistant):
    said = assistant.asked("summarise this document", pinned="story/chapter-2.md")
    assert "story/chapter-2.md" in said.text
    assert said.questions == []


def test_this_document_is_the_one_that_is_open(assistant: Assistant):
    assistant.workspace.open_tab("story/chapter-3.md")
    assert "story/chapter-3.md" in assistant.asked("how many words are there in this document?").text


def test_all_chapters_are_the_documents_called_so(assistant: Assistant, folder: Folder):
    before = folder.tree()
    said = assistant.asked("rename cat to dog in every chapter")
    assert changed(folder, before) == {f"story/chapter-{number}.md" for number in (1, 2, 3)}
    assert len(assistant.asked("summarise all chapters").made("read_document")) == 3
    assert "meeting.md" not in said.text


@pytest.mark.parametrize(
    ("phrase", "this", "everything"),
    [
        ("this document", True, False),
        ("the document", True, False),
        ("it", True, False),
        ("", True, False),
        ("all documents", False, True),
        ("every file", False, True),
        ("my notes", False, True),
        ("the whole folder", False, True),
        ("everywhere", False, True),
        ("story", False, False),
        ("the meeting notes", False, False),
        ("all chapters", False, False),
    ],
)
def test_words_for_this_document_and_for_all_are_told_apart(phrase: str, this: bool, everything: bool):
    assert (is_this(phrase), is_everything(phrase)) == (this, everything)


def test_an_unknown_document_is_not_replaced_by_another(assistant: Assistant):
    assert "no document called" in assistant.asked("summarise chapter 17").text


def test_in_a_mode_that_only_reads_it_says_what_it_found_and_changes_nothing(folder: Folder):
    assistant = Assistant.at(folder, "read")
    before = folder.tree()
    said = assistant.asked("rename Ines to Marta")
    assert "only read" in said.text
    assert "story/chapter-1.md (2)" in said.text
    assert folder.tree() == before


def test_it_says_that_it_is_no_model_and_what_it_can_do(assistant: Assistant):
    said = assistant.asked("what can you do?").text
    assert "not a language model" in said
    assert all(intent.examples[0] in said for intent in INTENTS[:-1])


def test_what_it_does_not_understand_it_says_with_three_examples(assistant: Assistant, folder: Folder):
    before = folder.tree()
    said = assistant.asked("translate chapter 1 into French")
    assert "did not understand" in said.text
    assert said.text.count("\n- ") == 3
    assert said.calls == []
    assert folder.tree() == before


@pytest.mark.slow
@pytest.mark.parametrize("example", [example for intent in INTENTS for example in intent.examples])
def test_every_example_that_is_shown_works_in_the_example_notes(assistant: Assistant, example: str):
    said = assistant.asked(example)
    assert said.text
    assert "did not understand" not in said.text
    wrong = [result.error for _, result in said.calls if not result.ok and result.name != "undo_turn"]
    assert wrong == []


def test_the_clock_of_a_job_is_read_once(folder: Folder):
    days = iter([TODAY])
    assistant = Assistant.at(folder)
    assistant.provider = OfflineProvider(clock=lambda: next(days))
    assistant.asked("create today's note")
    assert f"{TODAY}.md" in folder.tree()
