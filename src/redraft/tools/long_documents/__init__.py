"""The tools that work through a document of any length."""
