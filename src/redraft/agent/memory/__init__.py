"""What the person told the agent once, for every job: notes, permissions, macros."""
