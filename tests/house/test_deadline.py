"""No test can keep the others from their end."""

from __future__ import annotations

import os
import signal
import time
from typing import TYPE_CHECKING

import pytest

from tests.conftest import LONGEST_WAIT, TORTURE, deadline

if TYPE_CHECKING:
    from pathlib import Path


def test_what_waits_for_a_writer_that_never_comes_fails(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(pytest.fail.Exception, match="did not come"), deadline(0.05):
        (tmp_path / "pipe").open("rb")


def test_a_deadline_within_a_deadline_leaves_the_outer_one():
    def nest() -> None:
        with deadline(0.2):
            with deadline(60):
                pass
            time.sleep(60)

    with pytest.raises(pytest.fail.Exception, match=r"after 0\.2 seconds"):
        nest()


@pytest.mark.skipif(TORTURE, reason="at their full counts tests may take hours")
def test_this_test_has_a_deadline():
    assert 0 < signal.getitimer(signal.ITIMER_REAL)[0] <= LONGEST_WAIT
