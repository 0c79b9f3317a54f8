"""Run a program to its end: text in, text out, with limits on time and size, and leave nothing of it behind."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_ERROR_BYTES = 4096


class TooMuchOutput(Exception):
    """The program wrote more than it may."""


@dataclass(frozen=True, slots=True)
class ProgramResult:
    """How a program ended, its output, and the end of its error output."""

    status: int
    output: bytes
    complaint: str


@dataclass(frozen=True, slots=True)
class ProcessOptions:
    """Where a program runs, its environment, its time limit and its output limit."""

    folder: str
    environ: dict[str, str]
    seconds: float
    output_bytes: int


async def run_program(words: Sequence[str], prompt: str, bounds: ProcessOptions) -> ProgramResult:
    """Run a command (never a shell command line) with `prompt` on its standard input.

    Raises `OSError` or `ValueError` if it cannot be started, `TimeoutError` and `TooMuchOutput`. However it ends, also
    by cancellation, the program and its children are gone afterwards.
    """
    process = await asyncio.create_subprocess_exec(
        *words,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=bounds.folder,
        env=bounds.environ,
        start_new_session=True,
    )
    if process.stdin is None or process.stdout is None or process.stderr is None:
        raise OSError("no pipes")
    talking = [
        asyncio.ensure_future(_read_output(process.stdout, bounds.output_bytes)),
        asyncio.ensure_future(_read_tail(process.stderr, _ERROR_BYTES)),
        asyncio.ensure_future(_write_prompt(process.stdin, prompt)),
    ]
    try:
        async with asyncio.timeout(bounds.seconds):
            output, complaint, _ = await asyncio.gather(*talking)
            status = await process.wait()
    finally:
        await _kill(process, talking)
    return ProgramResult(status, output, " ".join(complaint.decode("utf-8", "replace").split()))


async def _read_output(stream: asyncio.StreamReader, limit: int) -> bytes:
    chunks: list[bytes] = []
    size = 0
    while chunk := await stream.read(65536):
        chunks.append(chunk)
        size += len(chunk)
        if size > limit:
            raise TooMuchOutput
    return b"".join(chunks)


async def _read_tail(stream: asyncio.StreamReader, limit: int) -> bytes:
    tail = b""
    while chunk := await stream.read(65536):
        tail = (tail + chunk)[-limit:]
    return tail


async def _write_prompt(stream: asyncio.StreamWriter, prompt: str) -> bytes:
    # A program may answer without reading all of its prompt.
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        stream.write(prompt.encode("utf-8", "replace"))
        await stream.drain()
        stream.close()
        await stream.wait_closed()
    return b""


async def _kill(process: asyncio.subprocess.Process, talking: Sequence[asyncio.Future[bytes]]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    for task in talking:
        task.cancel()
    await asyncio.gather(*talking, return_exceptions=True)
    # The wait ends only when the pipes are closed too, and a program that left the group may hold its end open.
    process._transport.close()  # type: ignore[attr-defined]  # noqa: SLF001 - there is no other way to our own side
    await process.wait()
