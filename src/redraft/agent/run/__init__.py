"""One job, from its first prompt to its turn."""
