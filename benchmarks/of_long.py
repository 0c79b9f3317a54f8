"""A novel of 1 MB read by subagents: time beside that of the model alone, what a second run asks, what is held."""

from __future__ import annotations

import gc
import json
import random
import time
import tracemalloc
from typing import TYPE_CHECKING

from benchmarks.measure import Note, Result
from redraft.agent.store.database import AgentDatabase
from redraft.agent.subagents.long_documents import LongDocuments
from redraft.agent.subagents.pool import AnswerCache, PoolOptions
from redraft.providers.adapters.scripted import ScriptedProvider
from redraft.tools.long_documents.worker import Source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from benchmarks.measure import Line
    from redraft.agent.subagents.pool import Progress
    from redraft.tools.long_documents.worker import WorkerUsage

CHAPTERS, WORDS = 80, 2200
CONCURRENCY = 8
STEP_SECONDS = 0.2
# The bar of the plan: three times the model's own time, shared by the subagents. What is held follows the questions
# that are under way in each round, not the chunks: eight times as many mean one more round, and at most twice as much.
TIME, MEMORY = 3.0, 2.0
SYLLABLES = "ba ce di fo gu ha ke li mo nu pa re si to vu wa ze ran tel mis nor lac".split()  # noqa: SIM905


def results(folder: Path) -> Iterator[Line]:
    text = _novel(CHAPTERS)
    provider = _provider(STEP_SECONDS)
    long = _long(folder / "time", provider)
    started, cpu = time.perf_counter(), time.process_time()
    effort = _read(long, text)
    took, cpu = time.perf_counter() - started, time.process_time() - cpu
    alone = STEP_SECONDS * effort.asked / CONCURRENCY
    name = f"summary of {len(text) / 1e6:.1f} MB in {effort.chunks} chunks"
    yield Result(name, took, f"the model alone, / {CONCURRENCY}", alone, TIME)
    yield Note(f"     of which our own: {cpu:.2f} s of processor time, {1000 * cpu / effort.asked:.1f} ms a question")
    yield _second_run(long, text)
    few, many = _held(folder / "few", 40), _held(folder / "many", 320)
    yield Result("memory held for 320 chunks", many, "for 40 chunks", few, MEMORY, unit="KB")


def _second_run(long: LongDocuments, text: str) -> Note:
    """One chapter changed: its chunks are asked about, and the summaries that they are part of."""
    before = {chunk.of(text) for chunk in long.chunks(_source(text))}
    changed = text.replace("# Chapter 40\n\n", "# Chapter 40\n\nA new sentence stands here.\n\n")
    new = sum(chunk.of(changed) not in before for chunk in long.chunks(_source(changed)))
    effort = _read(long, changed)
    good = new <= 2 and effort.asked <= new
    words = f"a second run, one chapter changed: {effort.asked} asked, {effort.known} known, {new} chunks are new"
    return Note(f"{'ok  ' if good else 'SLOW'} {words}", good)


def _held(folder: Path, chapters: int) -> float:
    """The most that an analysis holds beyond its text, in kilobytes. The script's own memory of what it was asked is
    emptied, and garbage collected, before each look."""
    provider = _provider(0.0)
    held = [0]

    def told(progress: Progress) -> None:
        provider.asked.clear()
        if progress.done % 10 == 0:
            gc.collect()
            held.append(tracemalloc.get_traced_memory()[0])

    long = _long(folder, provider, told)
    text = _novel(chapters)
    tracemalloc.start()
    _read(long, text)
    tracemalloc.stop()
    return max(held) / 1024


def _read(long: LongDocuments, text: str) -> WorkerUsage:
    return long.analyse(_source(text), "summary", "").effort


def _source(text: str) -> Source:
    return Source("novel.md", text, "markdown")


def _long(folder: Path, provider: ScriptedProvider, told: Callable[[Progress], None] = lambda _: None) -> LongDocuments:
    folder.mkdir()
    answers = AnswerCache(AgentDatabase(str(folder)), time.time)
    return LongDocuments(PoolOptions(provider, answers, on_progress=told), concurrency=CONCURRENCY)


def _provider(seconds: float) -> ScriptedProvider:
    step = {"text": json.dumps({"summary": "They went on. " * 40}), "delay_ms": 1000 * seconds}
    return ScriptedProvider([step], repeat=True)


def _novel(chapters: int) -> str:
    chance = random.Random(7)
    lexicon = ["".join(chance.choices(SYLLABLES, k=chance.randint(1, 3))) for _ in range(3000)]

    def paragraph() -> str:
        return " ".join(chance.choices(lexicon, k=60)).capitalize() + ".\n\n"

    return "".join(f"# Chapter {at}\n\n{''.join(paragraph() for _ in range(WORDS // 60))}" for at in range(chapters))
