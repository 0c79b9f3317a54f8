"""Markdown as a document that a rich-text editor shows, and back, byte for byte where nothing was changed. Pure."""
