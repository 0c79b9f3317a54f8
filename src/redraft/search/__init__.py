"""Search for words and patterns, in one document and across the folder."""
