"""The assistant that works by rules, without a key, a model or a network."""

from __future__ import annotations

from redraft.agent.offline.provider import OfflineProvider

__all__ = ["OfflineProvider"]
