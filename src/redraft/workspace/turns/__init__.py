"""The life of a turn: staged, planned, committed, decided."""
