"""The rule-based assistant: no key, no model, no network."""

from __future__ import annotations

from redraft.agent.offline.provider import OfflineProvider

__all__ = ["OfflineProvider"]
