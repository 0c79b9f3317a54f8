"""`redraft eval`, as a person runs it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

from cli.running import Program

if TYPE_CHECKING:
    from pathlib import Path

TASKS = """\
- id: greet
  kinds: [offline]
  prompt: Replace "Hello" with "Welcome" in a.md
  files: {a.md: "Hello there.\\n"}
  after: {a.md: "Welcome there.\\n"}
- id: think
  kinds: [hard]
  prompt: Make it rhyme.
  files: {a.md: "Roses.\\n"}
  after: {a.md: "Roses, and noses.\\n"}
- {material: gone.jsonl, ids: [real]}
"""


@pytest.fixture
def program(tmp_path: Path) -> Program:
    folder = tmp_path / "folder"
    (folder / "evals" / "tasks").mkdir(parents=True)
    (folder / "evals" / "tasks" / "some.yaml").write_text(TASKS, encoding="utf-8")
    return Program(folder, {"REDRAFT_MODEL_CALLS": "refuse"})


@pytest.mark.slow
def test_models_are_compared_as_a_table_and_a_picture(program: Program):
    result = program.run("eval", "--plot", "comparison.svg")
    assert result.status == 0
    lines = result.out.splitlines()
    assert "task   solutions  offline" in lines
    assert "greet     solved   solved" in lines
    assert "think     solved   failed" in lines
    assert "real     skipped  skipped" in lines
    assert any(line.startswith("solutions") and "2/2" in line and "100%" in line for line in lines)
    assert "1 task could not be run here" in result.err
    assert ET.fromstring(program.read("comparison.svg")).tag.endswith("svg")
    assert not (program.folder / ".redraft").exists()


@pytest.mark.slow
def test_the_same_as_json_of_one_kind(program: Program):
    told = program.json("eval", "--model", "offline", "--kind", "offline", "--material", ".")
    assert [(each["task"], each["model"], each["passed"]) for each in told["results"]] == [("greet", "offline", True)]
    [model] = told["models"]
    assert (model["success"], model["solved"], model["cost_usd"]) == (1.0, 1, "0")


@pytest.mark.slow
def test_traces_are_recorded_and_played_again(program: Program):
    program.ok("eval", "--model", "offline", "--kind", "greet", "--record", "traces")
    [trace] = (program.folder / "traces").rglob("*.jsonl")
    steps = [json.loads(line) for line in trace.read_text(encoding="utf-8").splitlines()]
    assert all("asked" in step for step in steps)
    told = program.json("eval", "--model", "offline", "--kind", "greet", "--replay", "traces")
    assert [(each["passed"], each["steps"]) for each in told["results"]] == [(True, len(steps))]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["--model", "nobody"], 2, "no model 'nobody'"),
        (["--model", "hybrid_auto"], 2, "No model is set up for 'hybrid_auto'"),
        (["--kind", "easy"], 2, "The kinds are: hard, offline"),
        (["--tasks", "nowhere"], 4, "nowhere"),
        (["--record", "a", "--replay", "b"], 2, "not both"),
        (["--plot", "no/such/place.svg"], 2, "no/such/place.svg cannot be written"),
    ],
)
def test_a_wrong_call_runs_nothing(program: Program, arguments: list[str], status: int, said: str):
    result = program.run("eval", *arguments)
    assert (result.status, result.out) == (status, "")
    assert said in result.err
