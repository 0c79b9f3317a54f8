"""Shared by every test: where the real material lies, and how many examples a law is tried on."""

from __future__ import annotations

import gc
import os
import signal
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from tests.speaking.lines import STARTED, end_programs

if TYPE_CHECKING:
    from collections.abc import Generator
    from types import FrameType

TORTURE = bool(os.environ.get("REDRAFT_TORTURE"))
TESTS = Path(__file__).resolve().parent
MATERIAL = TESTS.parents[1] / "shared" / "material"

# No test reaches a model by accident, nor does a program that a test starts; one that wants to says so by itself.
os.environ["REDRAFT_MODEL_CALLS"] = "refuse"

# A shell that starts this in the background leaves Ctrl+C ignored; so would every program be that a test stops by it.
signal.signal(signal.SIGINT, signal.default_int_handler)

# A run says the same of the same code wherever it is made. New examples are looked for by `make torture`, and with
# `pytest --hypothesis-profile=explore`.
settings.register_profile(
    "ci", max_examples=100, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("fast", settings.get_profile("ci"), max_examples=10)
settings.register_profile("explore", settings.get_profile("ci"), derandomize=False, print_blob=True)
settings.register_profile("torture", max_examples=10_000, deadline=None, suppress_health_check=list(HealthCheck))
settings.load_profile("torture" if TORTURE else "ci")


# The longest takes two minutes. Whoever waits for what never comes would keep everybody's run from its end.
LONGEST_WAIT = 600.0
_EXCUSE = "this test was stopped after {:g} seconds: it waited for something that did not come"


@contextmanager
def deadline(seconds: float) -> Generator[None]:
    """Fail whatever in this thread is not through by then: a call of the system that waits is cut off too."""

    def stop(_signal: int, _frame: FrameType | None) -> None:
        pytest.fail(_EXCUSE.format(seconds))

    handler = signal.signal(signal.SIGALRM, stop)
    # Once more now and then, for what waits again while it cleans up.
    rest = signal.setitimer(signal.ITIMER_REAL, seconds, 60)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, *rest)
        signal.signal(signal.SIGALRM, handler)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol() -> Generator[None, object, object]:
    """Every test has a deadline, with its fixtures; at its full counts it may take hours."""
    if TORTURE:
        return (yield)
    with deadline(LONGEST_WAIT):
        return (yield)


# They begin first: whoever began with one of them when all the others are done would be waited for.
LONGEST = (
    "test_a_fresh_clone_runs_with_one_command",
    "test_the_larger_model_finds_more",
    "TestDesk::runTest",
    "test_a_half_sent_request_is_closed_after_a_while",
)


# The fixtures that start a program for each test, or for a few of them, by their folder.
PROGRAMS = {
    "acp": {"redraft"},
    "cli": {"redraft"},
    "doors": {"server", "tools"},
    "mcp": {"agent", "client", "folder", "server"},
    "programs": {"redraft", "overlaid", "notes"},
    "server": {"server", "standing"},
}
# What a test in these folders calls to start one by itself.
STARTERS = {"begun", "serving", "served", "agent_doc", "Lines", "Popen", "Program"}
AGENTS = {"agent", "proposer", "reader"}  # those of `tools`, which go through the program to show a requirement


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if _starts_a_program(item):
            item.add_marker("slow")
    items.sort(key=lambda item: not any(name in item.nodeid for name in LONGEST))


def _starts_a_program(item: pytest.Item) -> bool:
    folder = item.path.relative_to(TESTS).parts[0]
    used = set[str](getattr(item, "fixturenames", ()))
    if folder == "tools" and item.get_closest_marker("covers") and not item.get_closest_marker("engine"):
        return bool(used & AGENTS)
    code = getattr(getattr(item, "function", None), "__code__", None)
    called = STARTERS.intersection(code.co_names) if code and folder in PROGRAMS else set[str]()
    return bool(called or used & PROGRAMS.get(folder, set()))


def pytest_collection_finish() -> None:
    """What is here by now stays to the end: leave it out of every search for garbage."""
    gc.freeze()


@pytest.fixture
def material() -> Path:
    """The folder of real test data, which lies beside the project and is never part of it."""
    if not MATERIAL.is_dir():
        pytest.skip("the real test material is not beside this checkout")
    return MATERIAL


FAILED = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    item.stash[FAILED] = item.stash.get(FAILED, False) or report.failed
    return report


@pytest.fixture(autouse=True)
def programs(request: pytest.FixtureRequest) -> Generator[None]:
    """Whatever a test started and did not end, because it failed, ends with it. What a module shares goes on."""
    before = len(STARTED)
    yield
    if request.node.stash.get(FAILED, False):
        end_programs(STARTED[before:])
        del STARTED[before:]
