"""What the lines of a document mean. Pure."""
