"""Texts and their algebra: pure values, no file, no clock."""
