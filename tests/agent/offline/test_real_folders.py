"""Folders and documents that are larger than a job: what was done is right, and what was left out is said."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from redraft.agent.offline import OfflineProvider
from redraft.agent.offline.intent_handlers.rename import rename_in_text
from tests.agent.offline.conversing import Assistant
from tests.workspace.folder import Folder

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow


def test_a_rename_over_a_hundred_documents_goes_on_where_it_stopped(book: Assistant):
    before = {path: data.decode() for path, data in book.folder.tree().items() if path.endswith(".md")}
    due = {path for path, text in before.items() if rename_in_text(text, "borrow", "loan").count}
    jobs, said = 1, book.asked("rename borrow to loan everywhere")
    while "Not done yet" in said.text:
        assert len(said.made("find_and_replace", "write_document")) >= 1
        said = book.asked("rename borrow to loan everywhere", before=said.text)
        jobs += 1
    assert len(due) / 5 <= jobs <= len(due) / 2
    for path, text in before.items():
        assert book.folder.text(path) == rename_in_text(text, "borrow", "loan").text


def test_with_a_larger_budget_it_takes_fewer_jobs(book: Assistant):
    book.provider = OfflineProvider(tool_calls=200, actions=20)
    before = {path: data.decode() for path, data in book.folder.tree().items() if path.endswith(".md")}
    total = sum(rename_in_text(text, "ownership", "possession").count for text in before.values())
    counts: list[int] = []
    said = book.asked("rename ownership to possession", tool_calls=200)
    while counts.append(int(re.findall(r"(\d+) places?,", said.text)[0])) or "Not done yet" in said.text:
        said = book.asked("rename ownership to possession", tool_calls=200, before=said.text)
    assert sum(counts) == total
    assert len(counts) <= 4
    assert [path for path in before if rename_in_text(book.folder.text(path), "ownership", "possession").count] == []


def test_a_long_chapter_is_read_to_its_end(book: Assistant):
    path = max((path for path in book.folder.tree() if path.endswith(".md")), key=lambda p: len(book.folder.bytes(p)))
    said = book.asked(f"summarise {path} in 8 sentences")
    assert len(said.made("read_document")) > 1
    assert "Not counted" not in said.text
    flat = " ".join(book.folder.text(path).split())
    quoted = re.findall(r"^> (.*) \(line \d+\)$", said.text, re.MULTILINE)
    assert len(quoted) == 8
    assert all(each in flat for each in quoted)


def test_what_the_budget_did_not_reach_is_said(book: Assistant):
    said = book.asked("list the people in all documents")
    assert "Not counted:" in said.text
    assert "and " in said.text.rpartition("Not counted:")[2]


def test_a_search_over_the_book_quotes_true_lines(book: Assistant):
    said = book.asked("where is the borrow checker mentioned?")
    path = ""
    quotes = 0
    for line in said.text.splitlines():
        if match := re.match(r"- (\S+\.md)", line):
            path = match[1]
        elif match := re.match(r"  > line (\d+): (?:\.\.\.)?(.*?)(?:\.\.\.)?$", line):
            stands = book.folder.text(path).splitlines()[int(match[1]) - 1]
            assert match[2].strip() in stands
            quotes += 1
    assert quotes > 5


def test_a_novel_too_long_to_read_is_renamed_all_the_same(tmp_path: Path, material: Path):
    novel = max((material / "novel-outlines-dev").rglob("*.txt"), key=lambda path: path.stat().st_size)
    text = novel.read_text(encoding="utf-8", errors="replace").replace("\r\n", "\n")
    name = max(set(re.findall(r"(?<=[a-z] )[A-Z][a-z]{4,}\b", text)), key=text.count)
    folder = Folder(tmp_path)
    folder.put("novel.txt", text)
    said = Assistant.at(folder).asked(f'rename "{name}" to "Xanthippe"')
    assert "too long to read in full" in said.text
    assert folder.text("novel.txt") == re.sub(rf"(?<!\w){name}(?!\w)", "Xanthippe", text)
    folder.close()


def test_figures_of_a_novel_say_how_far_they_reach(tmp_path: Path, material: Path):
    novel = max((material / "novel-outlines-dev").rglob("*.txt"), key=lambda path: path.stat().st_size)
    folder = Folder(tmp_path)
    folder.put("novel.txt", novel.read_bytes())
    said = Assistant.at(folder).asked("how many words does novel.txt have?")
    assert re.search(r"Not counted: novel\.txt from line \d+ on\.", said.text)
    folder.close()
