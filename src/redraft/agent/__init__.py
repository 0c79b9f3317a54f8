"""The agent: sessions, jobs and the loop in which a model works on documents through the tools."""
