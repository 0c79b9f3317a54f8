"""Models and embeddings. Knows nothing of documents, folders or turns."""
