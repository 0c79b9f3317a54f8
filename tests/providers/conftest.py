"""Shared by the tests of providers: leave to reach this machine's own loopback, and an endpoint that answers there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.providers.endpoint import Endpoint

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def model_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let providers reach loopback addresses and start programs, in this test only."""
    monkeypatch.setenv("REDRAFT_MODEL_CALLS", "programs")


@pytest.fixture
def endpoint(model_calls: None) -> Iterator[Endpoint]:
    """An address that answers with what the test puts into it."""
    with Endpoint() as served:
        yield served
