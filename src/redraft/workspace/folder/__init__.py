"""The folder on disk: its identity, its files, and what other programs did to them."""
