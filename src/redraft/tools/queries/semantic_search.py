"""What tools need to search by meaning: the model that the settings name, and the workspace's cached vectors.

The first search imports everything heavy; a program that never searches by meaning never loads a model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from redraft.errors import Refused
from redraft.tools.anchors import outline_format

if TYPE_CHECKING:
    from redraft.providers.embeddings import Embedder
    from redraft.search.passages.hybrid import PassageResults
    from redraft.tools.context import ToolContext
    from redraft.workspace.document import Document


def search_by_meaning(document: Document, query: str, limit: int, context: ToolContext) -> PassageResults:
    """The passages of a document that answer a description best; embeds the document first if necessary. It may take a
    while, during which others can use the workspace."""
    if not query.strip():
        raise Refused("The query is empty.", code="content_required", field="query", query="")
    workspace = context.workspace
    with context.release_guard():
        model = _embedder(context)
        from redraft.search.passages.hybrid import passage_index
        from redraft.search.passages.vector_cache import VectorCache

        ready = passage_index(str(document.text), outline_format(document), model)
        with VectorCache(workspace.state, workspace.now()) as cache:
            return ready.search(query, cache, limit=limit)


def available_embedder(context: ToolContext) -> Embedder | None:
    """The model, or None for a search that works without one."""
    return _embedder(context) if embedding_status(context) == "ready" else None


def embedding_status(context: ToolContext) -> Literal["ready", "unavailable"]:
    """Whether search by meaning is available; nothing is loaded to find out."""
    from redraft.providers.embeddings import is_installed

    if context.embedder is not None or is_installed(context.workspace.settings.embeddings):
        return "ready"
    return "unavailable"


def _embedder(context: ToolContext) -> Embedder:
    if context.embedder is not None:
        return context.embedder
    from redraft.providers.embeddings import load_embedder

    return load_embedder(context.workspace.settings.embeddings)
