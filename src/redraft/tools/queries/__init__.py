"""The tools that read."""
