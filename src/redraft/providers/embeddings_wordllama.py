"""WordLlama: the mean of the tokens' vectors, which were trained for that. There is no neural network, so it is fast.

The weights and the tokenizer are inside the package `wordllama`; they are read directly, so that nothing can look for
them elsewhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from safetensors import safe_open
from tokenizers import Tokenizer

from redraft.providers.embeddings import file_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from redraft.providers.embeddings import Vectors

# Tokens whose vectors are in memory at one time: 16 MB, however long a text is.
_TOKENS = 16_384


class WordLlama:
    """The model `l2_supercat` with 256 dimensions."""

    name = "wordllama-l2-supercat-256"

    def __init__(self) -> None:
        opener: Any = safe_open
        with opener(file_of("wordllama", "weights", "l2_supercat_256.safetensors"), framework="np") as weights:
            self._weights: Any = weights.get_tensor("embedding.weight")
        self._tokenizer = Tokenizer.from_file(file_of("wordllama", "tokenizers", "l2_supercat_tokenizer_config.json"))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()

    @property
    def dimension(self) -> int:
        return int(self._weights.shape[1])

    def embed(self, texts: Sequence[str]) -> Vectors:
        rows = np.zeros((len(texts), self.dimension), np.float32)
        for at, text in enumerate(texts):
            # One by one: a batch would run on the tokenizer's own threads, which do not survive a fork.
            tokens = self._tokenizer.encode(text, add_special_tokens=False).ids
            for start in range(0, len(tokens), _TOKENS):
                rows[at] += self._weights[tokens[start : start + _TOKENS]].sum(axis=0, dtype=np.float32)
        return normalize(rows)


def normalize(rows: Vectors) -> Vectors:
    """Every row scaled to length 1; a zero row stays."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths > 0, lengths, 1).astype(np.float32)
