"""The sets in which tools are offered: one specification's own, the curated default, everything.

A tool says itself which it belongs to. Nothing else is here, so that the command line can name
them without loading a tool.
"""

from __future__ import annotations

PROFILES = ("tabs", "workspace", "project", "editor", "default", "all")
