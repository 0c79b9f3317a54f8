"""How close the passages of a document are to a question in meaning.

A passage is embedded tile by tile (see `chunks`). Its closeness is the mean of two cosines: of its best tile, which is
about as short as a question, and of all its tiles together, which know what the passage is about. A document is
embedded when it is first searched, the most promising passages first. Vectors are kept (see `vectors`) in half
precision, and compared as they are kept, so that an answer does not depend on which of them were at hand. Where time
runs out, some passages have none yet; the next search goes on from there.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from redraft.search.chunks import Tile, tiles
from redraft.search.vectors import key_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from redraft.providers.embeddings import Embedder, Vectors
    from redraft.search.chunks import Chunk
    from redraft.search.vectors import VectorCache

    Progress = Callable[[int, int], object]

BATCH = 32


@dataclass(frozen=True, slots=True)
class Closeness:
    """Of one passage, as cosines: its own, and that of each of its tiles."""

    score: float
    tiles: tuple[float, ...]


class Meaning:
    """The passages of one document under one model."""

    def __init__(self, chunks: Sequence[Chunk], embedder: Embedder) -> None:
        self._embedder = embedder
        self.tiles: list[list[Tile]] = [tiles(chunk) for chunk in chunks]
        self._keys = [key_of(embedder.name, chunk.text) for chunk in chunks]
        # By key: one row a tile, and last the direction of them all.
        self._vectors: dict[bytes, Vectors] = {}

    def prepare(
        self, cache: VectorCache, order: Sequence[int], seconds: float, progress: Progress | None = None
    ) -> bool:
        """Embed what is not embedded yet, in this order, for about so long; gives whether all is done.

        `progress` hears how many of how many passages are done.
        """
        self._load(cache)
        waiting = [at for at in order if self._keys[at] not in self._vectors]
        deadline = time.monotonic() + seconds
        for start in range(0, len(waiting), BATCH):
            if start and time.monotonic() > deadline:
                return False
            self._embed(cache, waiting[start : start + BATCH])
            if progress is not None:
                progress(len(order) - max(0, len(waiting) - start - BATCH), len(order))
        if waiting:
            cache.prune()
        return True

    def _load(self, cache: VectorCache) -> None:
        wanted = {key: at for at, key in enumerate(self._keys) if key not in self._vectors}
        for key, data in (cache.get(wanted) if wanted else {}).items():
            rows = np.frombuffer(data, np.float16)
            if rows.size == len(self.tiles[wanted[key]]) * self._embedder.dimension:
                self._vectors[key] = _with_all(rows.reshape(-1, self._embedder.dimension).astype(np.float32))

    def _embed(self, cache: VectorCache, some: Sequence[int]) -> None:
        texts = [tile.text for at in some for tile in self.tiles[at]]
        rows = self._embedder.embed(texts).astype(np.float16)
        kept: dict[bytes, bytes] = {}
        end = 0
        for at in some:
            start, end = end, end + len(self.tiles[at])
            key = self._keys[at]
            self._vectors[key] = _with_all(rows[start:end].astype(np.float32))
            kept[key] = rows[start:end].tobytes()
        cache.put(kept)

    def closeness(self, query: str) -> list[Closeness | None]:
        """To a question, of each passage; None for those not embedded yet."""
        wanted = self._embedder.embed([query])[0]
        known = [at for at, key in enumerate(self._keys) if key in self._vectors]
        found: list[Closeness | None] = [None] * len(self._keys)
        if not known:
            return found
        groups = [self._vectors[self._keys[at]] for at in known]
        cosines: list[float] = (np.concatenate(groups) @ wanted).tolist()
        end = 0
        for at, group in zip(known, groups, strict=True):
            start, end = end, end + len(group)
            *parts, whole = cosines[start:end]
            found[at] = Closeness((whole + max(parts)) / 2, tuple(parts))
        return found


def _with_all(rows: Vectors) -> Vectors:
    together = rows.mean(axis=0, keepdims=True)
    length = float(np.linalg.norm(together))
    return np.concatenate([rows, together / length if length > 0 else together])
