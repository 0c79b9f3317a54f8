"""The set of tasks, and what its files may say."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from evals.task_files import load_tasks
from evals.task_validation import wrong_answers
from evals.tasks import MissingTask, Task
from redraft.errors import RedraftError
from tests.eval_runs.conftest import TASKS

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.covers("SB-eval-set")
def test_there_are_forty_tasks_with_or_without_the_material(every_task: list[Task | MissingTask], tmp_path: Path):
    assert len(every_task) == 40
    without = load_tasks(str(TASKS), str(tmp_path))
    assert [task.id for task in without] == [task.id for task in every_task]
    missing = [task for task in without if isinstance(task, MissingTask)]
    assert len(missing) == 16
    assert {task.why for task in missing} == {"doc-edit-tasks/dev.jsonl is not among the material"}


@pytest.mark.covers("SB-eval-task")
def test_every_task_has_a_prompt_files_one_right_folder_and_a_wrong_answer(tasks: dict[str, Task]):
    for task in tasks.values():
        assert task.prompt.strip()
        assert task.files
        assert task.hashes.keys() == task.after.keys()
        assert task.wrong or "real" in task.kinds, f"{task.id} carries no wrong answer"
        assert len(wrong_answers(task)) > 1, "a real commit's are derived from its own texts"


@pytest.mark.covers("SB-eval-hard-cases")
@pytest.mark.parametrize(
    ("kind", "at_least"),
    [
        ("conflict", 4),
        ("retry", 4),
        ("clarification", 3),
        ("consent", 2),
        ("injection", 1),
        ("budget", 1),
        ("mode", 1),
        ("several-documents", 3),
        ("bytes", 3),
        ("offline", 11),
    ],
)
def test_the_hard_cases_are_among_them(every_task: list[Task | MissingTask], kind: str, at_least: int):
    assert sum(kind in task.kinds for task in every_task) >= at_least


def test_real_commits_are_referred_to_and_never_copied(material: Path):
    records = (material / "doc-edit-tasks" / "dev.jsonl").read_text(encoding="utf-8").split("\n")
    lines = {
        line
        for record in filter(None, records)
        for text in json.loads(record)["files"].values()
        for line in text.splitlines()
        if len(line) > 40
    }
    written = "".join(path.read_text(encoding="utf-8") for path in sorted(TASKS.glob("*.yaml")))
    assert len(lines) > 1000
    assert [line for line in lines if line in written] == []


def test_a_real_commit_has_the_hash_of_its_record(material: Path, tasks: dict[str, Task]):
    records = (material / "doc-edit-tasks" / "dev.jsonl").read_text(encoding="utf-8").split("\n")
    for record in map(json.loads, filter(None, records)):
        task = tasks[record["id"]]
        assert record["expected_sha256"].items() <= task.hashes.items()
        assert task.after != task.files


GOOD = "- id: a\n  prompt: Do.\n  files: {a.md: x}\n"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("a: b\n", "no list of tasks"),
        ("- id: a\n", "entry 1"),
        (GOOD + GOOD, "two tasks 'a'"),
        (GOOD + "  oops: 1\n", "oops"),
        (GOOD + "  mode: wild\n", "mode"),
        (GOOD + "  limits: {wishes: 3}\n", "no limit 'wishes'"),
        (GOOD + "  checks: {status: perhaps}\n", "status"),
        (GOOD + "  checks: {says: ['(']}\n", "no pattern"),
        (GOOD + "  checks: {matches: {a.md: y}}\n", "does not match its own pattern"),
        (GOOD + "  checks: {matches: {b.md: y}}\n", "does not match its own pattern"),
        (GOOD + "  meanwhile: [{at: noon, path: a.md, old: x, new: y}]\n", "at"),
        ("- [\n", "tasks.yaml"),
    ],
)
def test_what_is_no_task_is_refused_with_its_file(tmp_path: Path, text: str, complaint: str):
    (tmp_path / "tasks.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(RedraftError, match=r"tasks\.yaml") as caught:
        load_tasks(str(tmp_path), str(tmp_path))
    assert caught.value.code == "invalid_settings"
    assert complaint in caught.value.message


def test_a_folder_without_tasks_is_refused(tmp_path: Path):
    for folder in (tmp_path, tmp_path / "gone"):
        with pytest.raises(RedraftError) as caught:
            load_tasks(str(folder), str(tmp_path))
        assert caught.value.code == "not_found"


def test_a_record_whose_patch_gives_another_hash_is_refused(tmp_path: Path):
    patch = "--- a/a.md\n+++ b/a.md\n@@ -1 +1 @@\n-x\n+y\n"
    record = {"id": "r", "instruction": "Do.", "files": {"a.md": "x\n"}, "expected_patch": patch}
    hashes = {"a.md": "0" * 64}
    (tmp_path / "r.jsonl").write_text(json.dumps({**record, "expected_sha256": hashes}) + "\n", encoding="utf-8")
    (tmp_path / "tasks.yaml").write_text("- {material: r.jsonl, ids: [r]}\n", encoding="utf-8")
    with pytest.raises(RedraftError, match="does not give its hash"):
        load_tasks(str(tmp_path), str(tmp_path))


def test_a_record_that_is_not_there_is_missing_by_name(tmp_path: Path):
    (tmp_path / "r.jsonl").write_text("", encoding="utf-8")
    (tmp_path / "tasks.yaml").write_text("- {material: r.jsonl, ids: [r], kinds: [k]}\n", encoding="utf-8")
    assert load_tasks(str(tmp_path), str(tmp_path)) == [MissingTask("r", "r.jsonl has no r", ("k",))]
