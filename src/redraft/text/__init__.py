"""Texts and operations on them: pure values, no files, no clock."""
