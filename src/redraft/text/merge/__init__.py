"""Three-way merge by lines and words, and what a conflict looks like."""
