"""The one door through which a document changes."""
