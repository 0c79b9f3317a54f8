"""What tools need to search by meaning: the model that the settings name, and the workspace's kept vectors.

Everything heavy is imported by the first search that wants it; a program that never searches by meaning never loads a
model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from redraft.errors import Refused
from redraft.tools.sections import outline_format

if TYPE_CHECKING:
    from redraft.providers.embeddings import Embedder
    from redraft.search.hybrid import Found
    from redraft.tools.context import ToolContext
    from redraft.workspace.document import Document


def by_meaning(document: Document, query: str, limit: int, context: ToolContext) -> Found:
    """The passages of a document that answer a description best; embeds the document if that is still to be done."""
    if not query.strip():
        raise Refused("There is nothing to search for.", code="content_required", field="query")
    model = _embedder(context)
    from redraft.search.hybrid import searchable
    from redraft.search.vectors import VectorCache

    engine = context.workspace.engine
    ready = searchable(str(document.text), outline_format(document), model)
    with VectorCache(engine.state, engine.clock()) as cache:
        return ready.search(query, cache, limit=limit)


def embedding_status(context: ToolContext) -> Literal["ready", "unavailable"]:
    """Whether a search by meaning could be answered; nothing is loaded to find out."""
    from redraft.providers.embeddings import installed

    if context.embedder is not None or installed(context.workspace.engine.settings.embeddings):
        return "ready"
    return "unavailable"


def _embedder(context: ToolContext) -> Embedder:
    if context.embedder is not None:
        return context.embedder
    from redraft.providers.embeddings import embedder

    return embedder(context.workspace.engine.settings.embeddings)
