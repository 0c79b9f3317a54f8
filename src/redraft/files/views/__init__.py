"""A private view of a folder for a program: what it sees, where it runs, and what it changed."""
