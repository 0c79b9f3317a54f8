"""The history: snapshots, turns, the journal and the audit log, in one SQLite database per folder."""
