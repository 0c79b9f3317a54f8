"""A private view of a folder, in which a program works: what it is shown, where it runs, and what it changed."""
