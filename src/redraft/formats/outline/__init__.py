"""The outline of a document, whatever its format."""
