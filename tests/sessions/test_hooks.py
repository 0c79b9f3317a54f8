"""Hooks within their bounds: a megabyte both ways, a time that is over, and nothing left behind."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import pytest

from redraft.errors import RedraftError
from redraft.sessions.answers.component_patch import HookEnvironment, run_post_patch, run_pre_patch

if TYPE_CHECKING:
    from pathlib import Path

MEGABYTE = "0123456789abcdeä\n" * 65536


@pytest.fixture
def around(tmp_path: Path) -> HookEnvironment:
    return HookEnvironment(str(tmp_path), {"PATH": os.environ["PATH"]}, "log", str(tmp_path / "a b.md"))


@pytest.mark.parametrize("command", ["cat", "cat; true", "tee /dev/stderr", "sed s/x/y/"])
def test_a_megabyte_goes_through_without_a_deadlock(around: HookEnvironment, command: str):
    assert run_pre_patch(command, MEGABYTE, around, seconds=30) == MEGABYTE


def test_a_command_that_reads_nothing_may_still_answer(around: HookEnvironment):
    assert run_pre_patch('echo "$COMPONENT in $FILE"', MEGABYTE, around) == f"log in {around.file}\n"


@pytest.mark.parametrize("command", ["sleep 60", "sleep 60 & cat; wait", "yes"])
def test_a_command_that_does_not_end_is_ended(around: HookEnvironment, command: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("redraft.sessions.answers.component_patch.OUTPUT_BYTES", 1_000_000)
    started = time.monotonic()
    with pytest.raises(RedraftError, match=r"did not end within|wrote more than") as told:
        run_pre_patch(command, "x", around, seconds=0.5)
    assert time.monotonic() - started < 20
    assert told.value.code == "invalid_settings"


@pytest.mark.slow
def test_a_post_patch_is_not_waited_for_and_ended_when_its_time_is_over(around: HookEnvironment, tmp_path: Path):
    started = time.monotonic()
    run_post_patch("echo $$ > began; sleep 60; touch ended", around, seconds=4)
    assert time.monotonic() - started < 4
    began = tmp_path / "began"
    while not (began.exists() and began.read_text(encoding="utf-8").strip()) and time.monotonic() - started < 50:
        time.sleep(0.02)
    hook = int(began.read_text(encoding="utf-8"))
    while os.path.exists(f"/proc/{hook}") and time.monotonic() - started < 50:
        time.sleep(0.02)
    assert not os.path.exists(f"/proc/{hook}")
    assert not (tmp_path / "ended").exists()
