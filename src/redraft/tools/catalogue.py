"""Every tool there is. A new one is declared in its family's module and thereby in every surface."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from redraft.tools.registry import Registry, Tool

FAMILIES = (
    "reading",
    "finding",
    "creating",
    "lines",
    "whole",
    "passages",
    "replacing",
    "moving",
    "listing",
    "across",
    "proposing",
    "past",
    "analysing",
    "transforming",
    "editor",
    "batching",
)


@cache
def registry() -> Registry:
    """The one registry, loaded when it is first asked for."""
    modules = [import_module(f"redraft.tools.{family}") for family in FAMILIES]
    return Registry(entry for module in modules for entry in vars(module).values() if isinstance(entry, Tool))
