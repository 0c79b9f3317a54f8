"""Passages ranked by words and by meaning."""
