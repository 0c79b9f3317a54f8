"""What the person tells the agent once, for every job: notes, permissions, macros."""
