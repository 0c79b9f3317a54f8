"""The disk, treated as hostile. Only `history` and `workspace` import this room."""
