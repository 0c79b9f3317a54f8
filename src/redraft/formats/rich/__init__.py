"""Markdown as a document of a rich-text editor, and back, byte for byte where nothing was changed. Pure."""
