"""Undo, rollback and the trash."""
