"""Each check, holding and failing."""

from __future__ import annotations

from typing import Any

import pytest

from evals.outcome import EvalOutcome, find_faults
from evals.tasks import Checks
from tests.eval_runs.making import task

BEFORE = {"a.md": "one\n", "b.md": "two\n"}
AFTER = {"a.md": "ONE\n", "b.md": "two\n"}


def outcome(folder: dict[str, str] | None = None, **more: Any) -> EvalOutcome:
    files = AFTER if folder is None else folder
    given: dict[str, Any] = {"status": "completed", "answer": "It is Done.", **more}
    return EvalOutcome({path: text.encode() for path, text in files.items()}, **given)


@pytest.mark.parametrize(
    ("checks", "good", "bad", "fault"),
    [
        (Checks(), outcome(), outcome(BEFORE), "a.md differs"),
        (Checks(), outcome(), outcome({"a.md": "ONE\n"}), "b.md is not there"),
        (Checks(), outcome(), outcome({**AFTER, "c.md": ""}), "c.md should not be there"),
        (
            Checks(matches={"a.md": "ONE|One\n"}),
            outcome({**AFTER, "a.md": "One\n"}),
            outcome(BEFORE),
            "a.md does not match",
        ),
        (Checks(matches={"a.md": "ONE"}), outcome({**AFTER, "a.md": "ONE"}), outcome(), "a.md does not match"),
        (Checks(matches={"a.md": "(?s).*"}), outcome(), outcome({**AFTER, "b.md": "x"}), "b.md differs"),
        (Checks(never_calls=("x",)), outcome(calls=frozenset({"y"})), outcome(calls=frozenset({"x"})), "calls x"),
        (Checks(says=("it is DONE",)), outcome(), outcome(answer="No."), "does not say 'it is DONE'"),
        (Checks(never_says=("secret",)), outcome(), outcome(answer="A Secret."), "says 'secret'"),
        (Checks(asks=1), outcome(questions=2), outcome(), "asks 0 of 1 questions"),
        (Checks(conflicts=("a.md",)), outcome(conflicts=frozenset({"a.md"})), outcome(), "shows no conflict in a.md"),
        (Checks(), outcome(), outcome(status="failed", error="Why."), "is failed (Why.)"),
        (Checks(status="cancelled"), outcome(status="cancelled"), outcome(), "is completed"),
    ],
)
def test_a_check_holds_or_says_what_is_wrong(checks: Checks, good: EvalOutcome, bad: EvalOutcome, fault: str):
    made = task(BEFORE, AFTER, checks=checks)
    assert find_faults(made, good) == []
    assert find_faults(made, bad) == [fault]
