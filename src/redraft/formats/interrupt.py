"""Long work that its caller can interrupt.

The code here is pure and reads no clock. The caller passes a function that raises when it has waited long enough; loops
whose length depends on the document call `check_interrupt`. It applies to the caller's thread, while it waits.
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
    """Work inside this block ends when `check` raises."""
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
