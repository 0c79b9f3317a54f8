"""Unified diffs, parsed and written."""
