"""Watches documents and submits what changed in them."""
