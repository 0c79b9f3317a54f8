"""Comments: a thread's passage is where its own characters are, or the thread is orphaned; threads merge."""

from __future__ import annotations

import random
import subprocess
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from redraft.errors import RedraftError, Refused
from redraft.history.turns import PERSON, agent_author
from redraft.text.edits import Change, Edit, Span
from tests.conftest import TORTURE
from tests.workspace.folder import Folder

if TYPE_CHECKING:
    from pathlib import Path

    from redraft.workspace.workspace import Workspace

BOT = agent_author("bot")
HISTORIES = 10_000 if TORTURE else 60
BLANKS = {" ", "\n"}
FIRST = 0x4E00  # characters that stand nowhere else: each is known again by itself


class MarkedText:
    """The oracle: every character that is ever written is a different one, so the text shows where each has gone."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self._next = FIRST
        self._edits: list[Edit] = []

    def words(self, count: int) -> str:
        signs = [chr(self._next + each) for each in range(count)]
        self._next += count
        return "".join(sign + self.dice.choice(("", "", " ", "\n")) for sign in signs)

    def edit(self, text: str) -> Edit:
        start = self.dice.randrange(len(text) + 1)
        end = min(len(text), start + self.dice.choice((0, 0, 1, 3, 8)))
        new = self.words(self.dice.choice((0, 1, 2, 5))) if start < end else self.words(self.dice.choice((1, 2, 5)))
        self._edits.append(Edit(start, text[start:end], new))
        return self._edits[-1]

    def put_in_place_of(self, commented: set[str]) -> set[str]:
        """What was written over commented characters and nothing else: the passage, put in other words."""
        edits = (edit for edit in self._edits if edit.old and set(edit.old) - BLANKS <= commented)
        return {sign for edit in edits for sign in edit.new} - BLANKS


def act_at_random(marked: MarkedText, work: Workspace, path: str) -> None:
    """One act, as anybody could do it."""
    dice = marked.dice
    text = str(work.read(path).text)
    act = dice.choice(("type", "type", "agent", "agent", "accept", "reject", "undo", "save", "redo", "move", "hunk"))
    if act == "type":
        work.type(path, Change((marked.edit(text),)))
    elif act == "agent":
        with work.turn(BOT, "edit", mode=dice.choice(("propose", "propose", "apply"))) as turn:
            found = turn.read(path)
            turn.edit(path, [marked.edit(str(found.text))], found.version)
    elif act in ("accept", "reject"):
        getattr(work, act)({path: None})
    elif act == "hunk":
        draft = work.draft(path)
        ids = [] if draft is None else draft.hunk_ids(of_agents=True)
        getattr(work, dice.choice(("accept", "reject")))({path: [dice.choice(ids)]} if ids else {})
    elif act == "save":
        work.save(path)
    elif act == "move":
        with work.turn(PERSON, "move") as turn:
            to = f"{dice.choice('abc')}/{dice.randrange(1000)}.txt"
            turn.move(path, to, turn.read(path).version)
    else:
        getattr(work, act)()


def where_it_is(work: Workspace) -> str:
    """The one document of the folder, wherever the acts have left it."""
    (place,) = {entry.path for entry in work.list() if entry.path.endswith(".txt")}
    return place


@pytest.mark.covers("RD-comments-place")
@pytest.mark.parametrize("part", range(4))
def test_a_comment_is_at_its_own_characters_after_any_history_or_is_orphaned(tmp_path: Path, part: int):
    for seed in range(part, HISTORIES, 4):
        base = tmp_path / str(seed)
        base.mkdir()
        marked = MarkedText(seed)
        folder = Folder(base)
        folder.put("a.txt", marked.words(60))
        work, path = folder.open(), "a.txt"
        text = str(work.read(path).text)
        start = marked.dice.randrange(len(text) - 12)
        passage = Span(start, start + marked.dice.choice((4, 8, 12)))
        commented = set(text[passage.start : passage.end]) - BLANKS
        thread = work.comments.add(path, passage, "Is that so?", author=PERSON).id
        for _ in range(12):
            with suppress(RedraftError):  # there may be nothing to undo, or something in its way
                act_at_random(marked, work, path)
            path = where_it_is(work)
            now = work.comments.thread(thread)
            text = str(work.read(path).text)
            places = [at for at, sign in enumerate(text) if sign in commented]
            commented |= set(text[min(places) : max(places)]) - BLANKS if places else set()  # put in between them
            if now.span is None:
                assert not places, f"seed {seed}: orphaned, though some of its characters are there"
                continue
            found = text[now.span.start : now.span.end]
            assert now.document == path, f"seed {seed}"
            instead = marked.put_in_place_of(commented)
            assert (commented | instead) & set(found), f"seed {seed}: a comment on {commented} is at {found!r}"
        folder.close()


def test_a_comment_is_never_taken_to_an_equal_passage(folder: Folder):
    folder.put("list.md", "- milk\n- bread\n- milk\n- eggs\n")
    work = folder.open()
    thread = work.comments.add("list.md", Span(17, 21), "Two?", author=PERSON).id
    work.type("list.md", Change((Edit(15, "- milk\n", ""),)))
    assert work.comments.thread(thread).orphaned
    assert work.comments.thread(thread).passage.quote == "milk"


def test_a_passage_that_comes_back_has_its_comment_again(folder: Folder):
    folder.put("a.md", "We met in Lisbon.\nIt rained.\n")
    work = folder.open()
    thread = work.comments.add("a.md", Span(10, 16), "Really?", author=PERSON).id
    with work.turn(BOT, "shorten", mode="apply") as turn:
        turn.edit("a.md", [Edit(7, "in Lisbon", "abroad")], turn.read("a.md").version)
    assert work.comments.thread(thread).orphaned
    work.undo()
    assert work.comments.thread(thread).span == Span(10, 16)


def test_another_program_that_moves_a_sentence_takes_its_comment_along(folder: Folder):
    folder.put("a.md", "First of all, the weather was bad.\nThen we left the house at noon.\nDone.\n")
    work = folder.open()
    thread = work.comments.add("a.md", Span(35, 66), "When exactly?", author=PERSON).id
    folder.put("a.md", "Then we left the house at noon.\nDone.\nFirst of all, the weather was bad.\n")
    work.refresh()
    assert work.comments.thread(thread).span == Span(0, 31)


@pytest.mark.covers("RD-comments-merge")
def test_two_people_who_comment_apart_and_merge_lose_nothing(tmp_path: Path):
    def git(place: Path, *words: str) -> None:
        name = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
        subprocess.run(["git", *name, *words], cwd=place, check=True, capture_output=True)

    for name in ("anna", "ben"):
        (tmp_path / name).mkdir()
    anna, ben = Folder(tmp_path / "anna"), Folder(tmp_path / "ben")
    anna.put("a.md", "We met in Lisbon.\nIt rained.\n")
    thread = anna.open().comments.add("a.md", Span(10, 16), "Really?", author=PERSON).id
    git(anna.path, "init", "-q", "-b", "main")
    (anna.path / ".gitignore").write_text(".redraft/id\n", encoding="utf-8")
    git(anna.path, "add", "-A")
    git(anna.path, "commit", "-qm", "start")
    subprocess.run(["git", "clone", "-q", str(anna.path), str(ben.path)], check=True, capture_output=True)
    for folder, says in ((anna, "from anna"), (ben, "from ben")):
        folder.open().comments.reply(thread, says, author=PERSON)
        folder.open().comments.add("a.md", Span(18, 20), f"new {says}", author=PERSON)
        git(folder.path, "add", "-A")
        git(folder.path, "commit", "-qm", says)
    git(anna.path, "pull", "-q", "--no-rebase", "--no-edit", str(ben.path), "main")
    said = {entry.says for found in anna.open().comments.threads() for entry in found.messages}
    assert said == {"Really?", "from anna", "from ben", "new from anna", "new from ben"}
    assert all(not found.orphaned for found in anna.open().comments.threads())


def test_a_hostile_file_of_comments_is_passed_over(folder: Folder):
    folder.put("a.md", "We met in Lisbon.\n")
    folder.put("outside.txt", "not a document of the thread")
    work = folder.open()
    place = folder.path / ".redraft" / "comments"
    place.mkdir()
    good = '{"thread": "aaaaaaaaaaaa", "document": "a.md", "quote": "Lisbon", "before": "", "after": ""}\n'
    (place / "aaaaaaaaaaaa.jsonl").write_text(good + '<<<<<<< ours\n[1]\n{"id": 3}\n{"says": {"a": 1}}\n', "utf-8")
    escape = good.replace("a.md", "../../etc/passwd").replace("aaaaaaaaaaaa", "bbbbbbbbbbbb")
    (place / "bbbbbbbbbbbb.jsonl").write_text(escape, encoding="utf-8")
    (place / "cccccccccccc.jsonl").symlink_to("/etc/passwd")
    (place / "..jsonl").write_text(good, encoding="utf-8")
    assert [thread.id for thread in work.comments.threads()] == ["aaaaaaaaaaaa"]
    with pytest.raises(Refused):
        work.comments.thread("../id")
