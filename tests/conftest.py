"""Shared by every test: where the real material lies, and how many examples a law is tried on."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

TORTURE = bool(os.environ.get("REDRAFT_TORTURE"))
MATERIAL = Path(__file__).resolve().parents[2] / "shared" / "material"

# No test reaches a model by accident, nor does a program that a test starts; one that wants to says so by itself.
os.environ["REDRAFT_MODEL_CALLS"] = "refuse"

# A shell that starts this in the background leaves Ctrl+C ignored; so would every program be that a test stops by it.
signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("ci", max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("torture", max_examples=10_000, deadline=None, suppress_health_check=list(HealthCheck))
settings.load_profile("torture" if TORTURE else "ci")


@pytest.fixture
def material() -> Path:
    """The folder of real test data, which lies beside the project and is never part of it."""
    if not MATERIAL.is_dir():
        pytest.skip("the real test material is not beside this checkout")
    return MATERIAL
