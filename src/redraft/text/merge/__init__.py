"""Three-way merge by lines and words, and its conflicts."""
