"""Subagents at work: in order, so many at a time, without growing, and with nothing lost that was paid for."""

from __future__ import annotations

import gc
import json
import re
import time
import tracemalloc
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from redraft.agent.run.prompts import INVISIBLE
from redraft.agent.store.database import AgentDatabase
from redraft.agent.subagents.analysis import analyse
from redraft.agent.subagents.chunks import chunks_of
from redraft.agent.subagents.long_documents import LongDocuments
from redraft.agent.subagents.pool import DAY, KEPT_DAYS, AnswerCache, PoolOptions, SubagentPool
from redraft.agent.subagents.question import SubagentQuestion
from redraft.agent.subagents.task_prompts import SUMMARY
from redraft.errors import RedraftError
from redraft.tools.long_documents.worker import Source
from tests.agent.long.model import Model
from tests.agent.long.writing import Writing, chapter
from tests.conftest import TORTURE
from tests.workspace.folder import fresh_folder

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from pathlib import Path

    from redraft.agent.subagents.pool import Progress
    from redraft.providers.contract import CancelToken, ProviderStepResult, StepRequest
    from tests.agent.long.model import Asked


def question(text: str) -> SubagentQuestion:
    return SubagentQuestion("analyser", SUMMARY.instructions, SUMMARY.schema, passage=text)


def echo(asked: Asked) -> dict[str, Any]:
    return {"summary": asked.passage}


def answers_at(place: Path) -> AnswerCache:
    return AnswerCache(AgentDatabase(str(place)), lambda: 1000.0)


def test_answers_come_in_the_order_of_the_questions_and_so_many_at_a_time(tmp_path: Path):
    model = Model(echo, seconds=0.01)
    with SubagentPool(PoolOptions(model, answers_at(tmp_path)), concurrency=3) as crew:
        found = [answer["summary"] for answer in crew.answer_all((question(f"number {at}") for at in range(20)), 20)]
    assert found == [f"number {at}" for at in range(20)]
    assert model.most_at_once == 3


def test_questions_are_taken_only_as_they_are_needed(tmp_path: Path):
    taken: list[int] = []

    def source() -> Iterator[SubagentQuestion]:
        for at in range(1000):
            taken.append(at)
            yield question(f"number {at}")

    with SubagentPool(PoolOptions(Model(echo), answers_at(tmp_path)), concurrency=4) as crew:
        answers = crew.answer_all(source(), 1000)
        for at in range(10):
            assert next(answers)["summary"] == f"number {at}"
            assert len(taken) <= at + 1 + 8


def test_the_first_failure_ends_the_work_and_what_was_answered_is_kept(tmp_path: Path):
    def says(asked: Asked) -> dict[str, Any]:
        return {"step": {"error": "auth"}} if asked.passage == "number 5" else echo(asked)

    kept = answers_at(tmp_path)
    asked = [question(f"number {at}") for at in range(50)]
    with SubagentPool(PoolOptions(Model(says), kept), concurrency=2) as crew, pytest.raises(RedraftError) as caught:
        list(crew.answer_all(asked, 50))
    assert (caught.value.code, caught.value.details["cause"]) == ("subagent_failed", "model_auth")
    again = Model(echo)
    with SubagentPool(PoolOptions(again, kept), concurrency=2) as crew:
        assert [answer["summary"] for answer in crew.answer_all(asked, 50)] == [each.passage for each in asked]
    assert not {f"number {at}" for at in range(5)} & {each.passage for each in again.asked}
    assert len(again.asked) == crew.asked == 50 - crew.known


def test_a_kept_answer_survives_the_program_and_goes_when_nobody_wanted_it_for_a_season(tmp_path: Path):
    now = 1000.0
    AnswerCache(AgentDatabase(str(tmp_path)), lambda: now).put("key", {"summary": "kept"})
    assert AnswerCache(AgentDatabase(str(tmp_path)), lambda: now + 80 * DAY).get("key") == {"summary": "kept"}
    later = now + 80 * DAY + (KEPT_DAYS - 1) * DAY
    assert AnswerCache(AgentDatabase(str(tmp_path)), lambda: later).get("key") is not None
    assert AnswerCache(AgentDatabase(str(tmp_path)), lambda: later + 2 * KEPT_DAYS * DAY).get("key") is None


def test_a_passage_that_only_moved_is_the_same_question():
    one, other = (
        SubagentQuestion("analyser", "x", {}, passage="text", about=about) for about in ("lines 1 to 2", "lines 8 to 9")
    )
    assert one.key("a", "b") == other.key("a", "b") != one.key("a", "c")
    assert one.messages() == SubagentQuestion.from_dict(one.as_dict()).messages()


@given(st.text(max_size=200))
def test_a_passage_cannot_end_its_own_block(text: str):
    told = question(text).messages()[1].as_dict()["text"] if text else ""
    if text:
        opening = told.partition("\n")[0]
        mark = opening.split()[1].rstrip(">")
        assert mark not in text
        assert told.endswith(f"\n{text}\n</passage {mark}>")


MALFORMED = st.one_of(
    st.text(max_size=60),
    st.sampled_from(["{", "[]", "null", '{"edits": 7}', '{"edits": [{"old": 1}], "doubts": []}', "{}" * 3]),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=8),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["edits", "doubts", "old"]), inner),
    ).map(json.dumps),
    st.lists(
        st.fixed_dictionaries(
            {"old": st.sampled_from(["John", "came", "a", "", "not there", "in."]), "new": st.text()}
        ),
        max_size=3,
    ).map(lambda edits: json.dumps({"edits": edits, "doubts": []})),
)


TEXT = "John came in. Nobody sat down.\n"
NUMBERS = count()


def carried_out(output: str) -> str | None:
    """The text that an output makes of it, by the rules: quoted once, no overlap, nothing invisible."""
    try:
        said = json.loads(output)
        edits = [(TEXT.index(edit["old"]), edit["old"], edit["new"]) for edit in said["edits"]]
        listed = isinstance(said["edits"], list) and said["doubts"] == [] and len(said) == 2
        if not listed or any(len(edit) != 2 for edit in said["edits"]):
            return None
    except (ValueError, TypeError, KeyError, AttributeError):
        return None
    new, last = TEXT, len(TEXT) + 1
    for at, old, to in sorted(edits, reverse=True):
        if not old or TEXT.count(old) != 1 or at + len(old) > last or not shown(to):
            return None
        new, last = new[:at] + re.sub(r"\r\n?", "\n", to) + new[at + len(old) :], at
    return new


def shown(text: str) -> bool:
    return not INVISIBLE.search(text) and all(c in "\t\n\r" or not (c < " " or c == "\x7f") for c in text)


@pytest.fixture(scope="module")
def listening() -> Generator[Writing]:
    """One folder for many examples; each asks something that was never asked before."""
    with fresh_folder() as folder:
        writing = Writing.at(folder)
        yield writing
        writing.close()


@pytest.mark.slow
@settings(max_examples=500 * (10 if TORTURE else 1))
@given(st.lists(MALFORMED, min_size=3, max_size=3), st.sampled_from(["stop", "stop", "cut_off", "refused"]))
def test_whatever_a_model_says_the_document_is_whole_and_only_the_passage_changed(
    listening: Writing, outputs: list[str], finish: str
):
    folder = listening.caller.folder
    folder.put("story.md", TEXT)
    listening.with_model(lambda asked: {"step": {"text": outputs[asked.attempt], "finish": finish}})
    version = listening.caller.version("story.md")
    failure = ""
    try:
        question = f"Question {next(NUMBERS)}"
        listening.transform("story.md", "custom", custom_prompt=question, output_mode="in_place", version=version)
    except RedraftError as error:
        failure = error.code
    usable = [made for made in map(carried_out, outputs) if made is not None] if finish == "stop" else []
    assert failure == ("" if usable else "subagent_failed")
    assert folder.tree() == {"story.md": (usable[0] if usable else TEXT).encode()}


class Forgetful(Model):
    """Does not remember what it was asked."""

    async def run_step(self, request: StepRequest, *, cancel: CancelToken | None = None) -> ProviderStepResult:
        self.asked.clear()
        return await super().run_step(request, cancel=cancel)


def lengthy(asked: Asked) -> dict[str, Any]:
    """As long as an answer may be, and no two alike, so that whoever keeps them is seen."""
    return {"summary": f"{asked.passage[:40]}{asked.known[:40]} {'word ' * 220}"}


def peak(chapters: int, place: Path) -> int:
    """How much an analysis holds beyond the text and the places of its chunks, at its most. What is garbage already is
    not held, so it is collected first."""
    place.mkdir()
    text = "".join(chapter(at, filler=12) for at in range(chapters))
    chunks = chunks_of(text, "markdown", 400)
    assert len(chunks) == chapters
    source = Source("novel.md", text, "markdown")
    held = [0]

    def told(progress: Progress) -> None:
        if progress.done % 10 == 0:
            gc.collect()
            held.append(tracemalloc.get_traced_memory()[0])

    with SubagentPool(PoolOptions(Forgetful(lengthy), answers_at(place), on_progress=told), 4) as crew:
        gc.collect()
        gc.freeze()  # what thousands of other tests have left here is not looked through each time
        tracemalloc.start()
        try:
            analyse(source, "summary", "", chunks, crew, 2000)
        finally:
            tracemalloc.stop()
            gc.unfreeze()
    return max(held)


@pytest.mark.slow
def test_memory_does_not_grow_with_the_number_of_chunks(tmp_path: Path):
    peak(80, tmp_path / "warm")
    few, many = peak(80, tmp_path / "few"), peak(640, tmp_path / "many")
    assert many < 2.5 * few  # the answers alone would be five times as much


@pytest.mark.slow
def test_a_novel_takes_little_more_than_its_model_takes(tmp_path: Path):
    text = "".join(chapter(at, filler=150) for at in range(90))
    assert len(text) > 1_000_000
    model = Model(seconds=0.2)
    work = LongDocuments(PoolOptions(model, answers_at(tmp_path)), concurrency=8)
    started = time.perf_counter()
    analysis = work.analyse(Source("novel.md", text, "markdown"), "summary", "")
    took = time.perf_counter() - started
    assert analysis.effort.chunks == 90
    assert took <= 3 * model.spent_seconds / 8
