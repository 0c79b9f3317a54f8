"""Redraft: a workspace for documents that people and AI agents write together.

This module stays empty but for the version: every command imports it, and start-up is felt.
"""

__version__ = "0.1.0"
