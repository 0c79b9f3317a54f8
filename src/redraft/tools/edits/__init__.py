"""The tools that write."""
