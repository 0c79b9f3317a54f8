"""`agent-doc ...` and `redraft doc ...`: conversations inside a document, one module per group of commands."""
