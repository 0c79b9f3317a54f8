"""The disk, treated as hostile. Only `history` and `workspace` open documents through this package."""
