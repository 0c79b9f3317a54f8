"""Who may call the server, as whom, and how often."""
