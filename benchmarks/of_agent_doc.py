"""Our `agent-doc` beside the original: processor time without start-up, and how soon a small call answers.

Start-up is what the same call takes for a document of a few lines. The original's build that merged by lines is not to
be had any more; the time that was measured on it is the peer of `write`, and its newest release is shown beside it,
which asks for a repository, a `preflight` and a background process. The time of that process counts as its own, and it
is ended here.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.measure import Note, Result, processor_time, shown
from benchmarks.of_outline import markdown
from benchmarks.peers import AGENT_DOC, OutOfReach, agent_doc
from benchmarks.texts import prose

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from benchmarks.measure import Line

OURS = str(Path(sys.executable).parent / "agent-doc")
ROUNDS = 9
SMALL_ROUNDS = 15
# What the original's build that merged by lines took to write an answer into 1 MB.
BY_LINES = 0.038

HEAD = "---\nagent_doc_session: bench\nagent_doc_format: template\nagent_doc_write: crdt\n---\n\n# Plan\n\n"
EXCHANGE = "\n<!-- agent:exchange mode=append -->\nA question?\n<!-- /agent:exchange -->\n"
ANSWER = b"<!-- patch:exchange -->\nAn answer.\n<!-- /patch:exchange -->\n"
SMALL = "Some words.\n\n## A heading\n\nMore words.\n"


def results(folder: Path) -> Iterator[Line]:
    yield Note(f"     agent-doc: the least processor time of {ROUNDS} calls or more, without start-up where it says so")
    yield from _starting(folder)
    try:
        peer = str(agent_doc())
    except (OutOfReach, OSError) as reason:
        peer = None
        yield Note(f"     the original agent-doc: left out, {reason}")
    if peer is not None:
        yield _outline(folder, peer)
    ours = _writing(folder)
    yield Result("agent-doc write, 1 MB, typed into meanwhile", ours, "the original by lines", BY_LINES, 1.5)
    if peer is not None:
        yield _newest_writing(folder, peer)


def _starting(folder: Path) -> Iterator[Line]:
    """How soon our program answers, start-up and all."""
    small = folder / "small.md"
    small.write_text(HEAD + SMALL, encoding="utf-8")
    for name, words in (("--version", ["--version"]), ("outline, small", ["outline", str(small)])):
        ours, bare = _least(
            SMALL_ROUNDS,
            lambda words=words: processor_time([OURS, *words], folder),
            lambda: processor_time([sys.executable, "-c", "pass"], folder),
        )
        yield Result(f"agent-doc {name}", ours, "python -c pass", bare, 3.0)


def _outline(folder: Path, peer: str) -> Result:
    large, small = folder / "large.md", folder / "small.md"
    large.write_text(markdown(), encoding="utf-8")

    def outlining(program: str, document: Path) -> Callable[[], float]:
        words = [program, "outline", str(document), "--json"]
        return lambda: processor_time(words, folder, _at_home(folder))

    with _without_daemon(folder):
        ours, ours_small, theirs, theirs_small = _least(
            ROUNDS, *(outlining(program, document) for program in (OURS, peer) for document in (large, small))
        )
    name = "agent-doc outline --json, 10 MB, without start-up"
    return Result(name, ours - ours_small, f"agent-doc {AGENT_DOC}", theirs - theirs_small, 1.0)


def _writing(folder: Path) -> float:
    """An answer into a document that was typed into since its baseline, in two places."""
    place = folder / "ours"
    place.mkdir()

    def write(body: str) -> float:
        (place / "before.md").write_text(_document(body), encoding="utf-8")
        (place / "plan.md").write_text(_typed(_document(body)), encoding="utf-8")
        words = [OURS, "write", "plan.md", "--baseline-file", "before.md"]
        took = processor_time(words, place, _at_home(folder), ANSWER)
        text = (place / "plan.md").read_text(encoding="utf-8")
        assert text.count("An answer.") == text.count("And another?") == text.count("meanwhile") == 1
        return took

    body = prose(1_000_000)
    large, small = _least(ROUNDS, lambda: write(body), lambda: write(SMALL))
    return large - small


def _newest_writing(folder: Path, peer: str) -> Note:
    """The same in the newest release, once: it takes seconds."""
    place = folder / "newest"
    environ = {**_at_home(folder), "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    git = ["git", "-c", "user.name=Bench", "-c", "user.email=bench@example.org"]
    (place / ".agent-doc").mkdir(parents=True)
    document = place / "plan.md"
    document.write_text(_document(prose(1_000_000)), encoding="utf-8")
    for words in (["init", "--quiet"], ["add", "plan.md"], ["commit", "--quiet", "--message=Begin"]):
        subprocess.run([*git, *words], cwd=place, env=environ, check=True)
    for key, value in (("user.name", "Bench"), ("user.email", "bench@example.org")):
        subprocess.run(["git", "config", key, value], cwd=place, env=environ, check=True)
    name = "the same in its newest release, git and all"
    try:
        with _without_daemon(folder) as daemons:
            processor_time([peer, "preflight", str(document)], place, environ)
            document.write_text(_typed(document.read_text(encoding="utf-8")), encoding="utf-8")
            before = sum(map(_used, daemons()))
            words = [peer, "write", "--template", "--stream", "--commit", "--force-disk", str(document)]
            took = processor_time(words, place, environ, ANSWER) + sum(map(_used, daemons())) - before
    except subprocess.CalledProcessError as error:
        return Note(f"     {name}: it failed with status {error.returncode}")
    return Note(f"     {name:<48} {shown(took):>9}")


def _document(body: str) -> str:
    return HEAD + body + EXCHANGE


def _typed(text: str) -> str:
    """What a person makes of it meanwhile: one line changed in the middle, one added after the question."""
    middle = text.index("\n", len(text) // 2) if len(text) > 10_000 else text.index("\n", text.index("# Plan"))
    text = f"{text[:middle]} meanwhile{text[middle:]}"
    return text.replace("A question?\n", "A question?\nAnd another?\n")


def _least(rounds: int, *acts: Callable[[], float]) -> list[float]:
    """The least time of each, taken in turns."""
    taken = [[act() for act in acts] for _ in range(rounds)]
    return [min(times) for times in zip(*taken, strict=True)]


def _at_home(folder: Path) -> dict[str, str]:
    """An environment in which neither finds or leaves anything of the person's."""
    own = {"HOME": str(folder), "XDG_STATE_HOME": f"{folder}/state", "XDG_CONFIG_HOME": f"{folder}/config"}
    return {**os.environ, **own}


@contextmanager
def _without_daemon(folder: Path) -> Generator[Callable[[], list[int]]]:
    """Gives the background processes that work in this folder, and ends them afterwards, each by its id."""
    mark = os.fsencode(folder)

    def daemons() -> list[int]:
        found: list[int] = []
        for entry in Path("/proc").iterdir():
            with suppress(OSError):
                words = (entry / "cmdline").read_bytes().split(b"\0") if entry.name.isdigit() else []
                if words[1:3] == [b"controller", b"serve"] and any(word.startswith(mark) for word in words):
                    found.append(int(entry.name))
        return found

    try:
        yield daemons
    finally:
        ending = time.monotonic() + 10
        while (left := daemons()) and time.monotonic() < ending:
            for process in left:
                with suppress(ProcessLookupError):
                    os.kill(process, signal.SIGTERM)
            time.sleep(0.1)


def _used(process: int) -> float:
    """The processor time that a process has used so far."""
    try:
        after_name = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(after_name[11]) + int(after_name[12])) / os.sysconf("SC_CLK_TCK")
