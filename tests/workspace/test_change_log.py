"""The log of changes is a memory with an end: it keeps the last steps, and forgets the oldest."""

from __future__ import annotations

from redraft.text.edits import MAX_CHARACTERS, MAX_DOCUMENTS, MAX_STEPS, Change, ChangeLog, ChangeStep, Edit


def step(number: int, characters: int = 1) -> ChangeStep:
    change = Change((Edit(0, "", "x" * characters),))
    return ChangeStep(f"v{number}", f"v{number + 1}", change, f"v{number}", change)


def test_the_last_steps_are_known_however_many_there_were():
    log = ChangeLog()
    last = 5 * MAX_STEPS
    for number in range(last):
        log.add("a.md", [step(number)])
        first = max(0, number + 1 - MAX_STEPS)
        if number % 97 == 0 or number > last - 5:
            assert len(log.since("a.md", f"v{first}", f"v{number + 1}")) == number + 1 - first
    assert log.since("a.md", "v0", f"v{last}") == []


def test_large_steps_are_forgotten_sooner():
    log = ChangeLog()
    for number in range(5):
        log.add("a.md", [step(number, MAX_CHARACTERS // 3)])
    assert [each.before for each in log.since("a.md", "v2", "v5")] == ["v2", "v3", "v4"]
    assert log.since("a.md", "v1", "v5") == []
    log.add("a.md", [step(5, MAX_CHARACTERS + 1)])
    assert log.since("a.md", "v4", "v6") == []
    log.add("a.md", [step(6)])
    assert len(log.since("a.md", "v6", "v7")) == 1


def test_documents_that_nobody_changed_for_long_are_forgotten_and_begin_anew():
    log = ChangeLog()
    for number in range(MAX_DOCUMENTS + 1):
        log.add(f"{number}.md", [step(0, MAX_CHARACTERS // 2)])
    assert log.since("0.md", "v0", "v1") == []
    log.add("0.md", [step(1, MAX_CHARACTERS // 2)])
    assert len(log.since("0.md", "v1", "v2")) == 1
