"""The loop of one watched document: what a person changes goes out once, and no loop is longer than allowed."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redraft.sessions.watch.submit_loop import LoopLimits, SubmitLoop, WatchedContent

DEBOUNCE = 0.5
AGENT_SECONDS = 2.0


@dataclass(slots=True)
class World:
    """A document that a person and an agent change, with a clock that only we move."""

    pace: LoopLimits
    reactive: bool
    now: float = 100.0
    content: int = 0
    known: int = 0
    sent: list[int] = field(default_factory=list[int])
    run_end: float | None = None
    loop: SubmitLoop = field(init=False)

    def __post_init__(self) -> None:
        self.loop = SubmitLoop(self.pace)
        self.loop.observe(self.look(), self.now)

    def look(self) -> WatchedContent:
        return WatchedContent(str(self.content).encode(), self.content != self.known, self.reactive)

    def edit(self) -> None:
        self.content += 1
        self.loop.observe(self.look(), self.now)

    def touch(self) -> None:
        self.loop.observe(self.look(), self.now)

    def pass_time(self, seconds: float, echoes: bool = False) -> None:
        """Let time pass in small steps; with `echoes`, something changes the document after each answer."""
        end = self.now + seconds
        while self.now < end:
            self.now += 0.05
            if self.run_end is not None and self.now >= self.run_end:
                self.run_end = None
                if self.known == self.sent[-1]:
                    self.known = self.content = self.content + (self.content == self.known)
                self.loop.finish(self.look(), self.now)
                if echoes:
                    self.edit()
            if not self.loop.running and self.loop.due is not None and self.loop.due <= self.now:
                sending = self.content
                if self.loop.begin(self.look(), self.now) == "submit":
                    self.sent.append(sending)
                    self.known = sending
                    self.run_end = self.now + AGENT_SECONDS


steps = st.lists(st.tuples(st.sampled_from(["edit", "touch", "wait"]), st.floats(0, 6)), max_size=15)


@given(steps, st.booleans(), st.integers(0, 3))
def test_what_a_person_changes_outside_the_window_goes_out_exactly_once(
    does: list[tuple[str, float]], reactive: bool, cap: int
):
    world = World(LoopLimits(DEBOUNCE, cap), reactive)
    for act, seconds in does:
        if act == "edit":
            world.edit()
        elif act == "touch":
            world.touch()
        world.pass_time(seconds)
    world.pass_time(20)
    world.edit()  # after a quiet time, so it is a person's beyond doubt
    world.pass_time(20)
    assert world.known == world.content, "nothing waits any more"
    assert len(set(world.sent)) == len(world.sent), "no state of the document was sent twice"


@pytest.mark.covers("AD-watch-own-changes", "AD-watch-cap")
@given(st.integers(0, 6), st.booleans())
def test_a_document_that_changes_after_every_answer_is_sent_no_more_often_than_the_cap_allows(cap: int, reactive: bool):
    world = World(LoopLimits(DEBOUNCE, cap), reactive)
    world.edit()
    world.pass_time(100, echoes=True)
    assert len(world.sent) == 1 + cap
    world.edit()
    world.pass_time(100)
    assert len(world.sent) == 2 + cap, "a person's change begins anew, and takes along what was held back"
    assert world.known == world.content


@pytest.mark.covers("AD-watch-convergence")
def test_content_that_was_just_submitted_is_not_submitted_again():
    loop = SubmitLoop(LoopLimits(DEBOUNCE, 3))
    loop.observe(WatchedContent(b"a", news=False), 1.0)
    loop.observe(WatchedContent(b"b", news=True), 2.0)
    assert loop.begin(WatchedContent(b"b", news=True), 2.0) == "submit"
    loop.finish(WatchedContent(b"b", news=True), 3.0)  # the agent failed, or put everything back
    assert loop.due is not None
    assert loop.begin(WatchedContent(b"b", news=True), 3.5) == "converged"
    assert loop.due is None


@pytest.mark.covers("AD-watch-submits", "AD-watch-reactive")
def test_a_change_settles_first_unless_the_document_is_reactive():
    slow, fast = SubmitLoop(LoopLimits()), SubmitLoop(LoopLimits())
    for loop, reactive in ((slow, False), (fast, True)):
        loop.observe(WatchedContent(b"a", news=False, reactive=reactive), 1.0)
        loop.observe(WatchedContent(b"b", news=True, reactive=reactive), 10.0)
    assert (slow.due, fast.due) == (10.5, 10.0)
    slow.observe(WatchedContent(b"c", news=True, reactive=False), 10.4)
    assert slow.due == 10.9, "every further change settles anew"


def test_what_an_agent_wrote_itself_is_no_change():
    loop = SubmitLoop(LoopLimits())
    loop.observe(WatchedContent(b"a", news=False), 1.0)
    loop.observe(WatchedContent(b"b", news=False), 2.0)
    assert loop.due is None


def test_a_person_who_types_after_the_answer_is_no_echo_though_the_program_has_not_ended_yet():
    """Its commit hooks may take long."""
    loop = SubmitLoop(LoopLimits(DEBOUNCE, 0))
    loop.observe(WatchedContent(b"a", news=False), 1.0)
    loop.observe(WatchedContent(b"b", news=True), 2.0)
    assert loop.begin(WatchedContent(b"b", news=True), 2.0) == "submit"
    loop.observe(WatchedContent(b"b, answered", news=False), 5.0)
    loop.observe(WatchedContent(b"c", news=True), 6.0)
    loop.finish(WatchedContent(b"c", news=True), 7.0)
    assert loop.begin(WatchedContent(b"c", news=True), 7.0) == "submit"
    loop.observe(WatchedContent(b"d", news=True), 8.0)
    loop.finish(WatchedContent(b"d", news=True), 9.0)
    assert loop.begin(WatchedContent(b"d", news=True), 9.0) == "held", "it changed before any answer was there"
