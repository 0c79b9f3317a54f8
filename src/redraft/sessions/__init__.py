"""Conversations inside a document: what agent-doc does, through the workspace."""
