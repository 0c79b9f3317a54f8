"""`python -m evals`, as a person runs it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest

from tests.agent.desk import call, edit, says
from tests.eval_runs.running import EvalProgram

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
def program(tmp_path: Path) -> EvalProgram:
    folder = tmp_path / "folder"
    (folder / "evals" / "tasks").mkdir(parents=True)
    (folder / "evals" / "tasks" / "some.yaml").write_text(TASKS, encoding="utf-8")
    return EvalProgram(folder, {"REDRAFT_MODEL_CALLS": "refuse"})


@pytest.mark.slow
@pytest.mark.covers("SB-eval-matrix")
def test_models_are_compared_as_a_table_and_a_picture(program: EvalProgram):
    result = program.run("--plot", str(program.folder / "comparison.svg"))
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


LINES = "Colours.\n\nOne red line.\n\nOne blue line.\n"
BOTH = "Colours.\n\nOne green line.\n\nOne black line.\n"
# The model changes two lines in each: the first task wants that, the second one line only; in the third another program
# writes while the proposal waits, so that the job runs again.
MEASURED: list[dict[str, Any]] = [
    {"id": "both", "after": {"a.md": BOTH}},
    {"id": "one", "after": {"a.md": LINES.replace("red", "green")}},
    {
        "id": "met",
        "after": {"a.md": "Some colours" + BOTH.removeprefix("Colours")},
        "meanwhile": [{"at": "review", "path": "a.md", "old": "Colours", "new": "Some colours", "by": "program"}],
    },
]


@pytest.mark.slow
@pytest.mark.covers(
    "SB-eval-success",
    "SB-eval-accepted",
    "SB-eval-calls",
    "SB-eval-clarifications",
    "SB-eval-conflicts",
    "SB-eval-cost",
    "SB-eval-latency",
    "SB-eval-matrix",
)
def test_remote_local_and_hybrid_are_measured_over_the_same_tasks(tmp_path: Path):
    folder = tmp_path / "folder"
    (folder / "evals" / "tasks").mkdir(parents=True)
    tasks = [{"prompt": "Please.", "files": {"a.md": LINES}, **task} for task in MEASURED]
    (folder / "evals" / "tasks" / "some.yaml").write_text(json.dumps(tasks), encoding="utf-8")
    program = EvalProgram(folder, {"REDRAFT_MODEL_CALLS": "refuse"})
    priced = {"price_usd": "0.25", "usage": {"input_tokens": 90, "output_tokens": 10}}
    change = says("", edit("a.md", "red", "green"), edit("a.md", "blue", "black"))
    run = [says("", call("clarify_user", question="Which?")), change, says("Done.")]
    big = [{**step, **priced} for step in (*run, *run)]
    for name, steps in {"small": [{"error": "unavailable"}], "big": big}.items():
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(step) + "\n" for step in steps), encoding="utf-8")
    program.settings(
        '[routing]\nlocal = "small"\nremote = "big"\n'
        + "".join(
            f'[models.{name}]\nkind = "scripted"\nfile = "{tmp_path}/{name}.jsonl"\n' for name in ("small", "big")
        )
    )
    told = program.json("--model", "remote", "--model", "local", "--model", "hybrid_auto")
    results = {(each["task"], each["model"]): each for each in told["results"]}
    counted = ("passed", "hunks", "accepted", "conflicts", "questions", "calls", "price_usd")
    for model in ("remote", "hybrid_auto"):
        assert {task["id"]: tuple(results[task["id"], model][name] for name in counted) for task in tasks} == {
            "both": (True, 2, 2, 0, 1, 3, "0.75"),
            "one": (False, 2, 1, 0, 1, 3, "0.75"),
            "met": (True, 2, 2, 1, 2, 6, "1.50"),
        }
    remote, local, hybrid = told["models"]
    assert [each["model"] for each in told["models"]] == ["remote", "local", "hybrid_auto"]
    figures = {"tasks": 3, "solved": 2, "success": 2 / 3, "accepted_hunks": 5 / 6, "conflicts": 1 / 3}
    figures |= {"clarifications": 1.0, "calls": 4.5, "cost_usd": "1.00"}
    for found in (remote, hybrid):
        assert {name: found[name] for name in figures} == figures
        seconds = sorted(each["seconds"] for each in told["results"] if each["model"] == found["model"])
        assert (found["p50"], found["p95"]) == (seconds[1], seconds[2])
    nothing = {"solved": 0, "success": 0.0, "accepted_hunks": None, "conflicts": 0.0, "clarifications": 0.0}
    assert {name: local[name] for name in nothing} == nothing
    lines = program.ok("--model", "remote", "--model", "local", "--model", "hybrid_auto").splitlines()
    start = lines.index("task  remote   local  hybrid_auto")
    assert lines[start + 1 : start + 4] == [
        "both  solved  failed       solved",
        "one   failed  failed       failed",
        "met   solved  failed       solved",
    ]
    heads = "model solved success hunks accepted conflicts asks calls p50 p95 cost"
    [head] = [at for at, line in enumerate(lines) if line.split() == heads.split()]
    row = lines[head + 1].split()
    assert (row[:7], row[-1]) == (["remote", "2/3", "67%", "83%", "33%", "100%", "4.5"], "$1.0000")


@pytest.mark.slow
def test_the_same_as_json_of_one_kind(program: EvalProgram):
    told = program.json("--model", "offline", "--kind", "offline", "--material", str(program.folder))
    assert [(each["task"], each["model"], each["passed"]) for each in told["results"]] == [("greet", "offline", True)]
    [model] = told["models"]
    assert (model["success"], model["solved"], model["cost_usd"]) == (1.0, 1, "0")


@pytest.mark.slow
@pytest.mark.covers("SB-eval-golden")
def test_traces_are_recorded_and_played_again(program: EvalProgram):
    traces = program.folder / "traces"
    program.ok("--model", "offline", "--kind", "greet", "--record", str(traces))
    [trace] = traces.rglob("*.jsonl")
    steps = [json.loads(line) for line in trace.read_text(encoding="utf-8").splitlines()]
    assert all("asked" in step for step in steps)
    told = program.json("--model", "offline", "--kind", "greet", "--replay", str(traces))
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
def test_a_wrong_call_runs_nothing(program: EvalProgram, arguments: list[str], status: int, said: str):
    result = program.run(*arguments)
    assert (result.status, result.out) == (status, "")
    assert said in result.err


@pytest.mark.slow
def test_the_help_shows_calls_that_can_be_copied(program: EvalProgram):
    examples = program.ok("--help").partition("\nexamples:\n")[2].splitlines()
    assert "  python -m evals --check" in examples
    assert all(line.startswith("  python -m evals") for line in examples)
