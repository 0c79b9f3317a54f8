"""Long work that can be ended by whoever asked for it.

What lies here is pure and knows no clock. The caller gives a function that raises when it has waited long enough; the
loops that a long document makes long call `check_interrupt`. It holds for the thread that gave it, while it waits.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

_CHECK: ContextVar[Callable[[], None] | None] = ContextVar("check", default=None)


@contextmanager
def interrupt_by(check: Callable[[], None]) -> Generator[None]:
    """Whatever is worked on in here ends when `check` raises."""
    token = _CHECK.set(check)
    try:
        yield
    finally:
        _CHECK.reset(token)


def check_interrupt() -> None:
    """Raise what the caller's check raises, if there is one."""
    check = _CHECK.get()
    if check is not None:
        check()
