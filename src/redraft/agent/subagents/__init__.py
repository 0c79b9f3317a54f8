"""Documents larger than a model's context: cut into chunks, read and changed by subagents, put together again.

`LongDocuments` is the door. No module here writes a document: what comes out are findings, or edits for the one turn of
the tool that asked. What a model says is checked before it counts: its shape, its size, and that it speaks of text that
is there. Whatever can be counted is counted and not asked.
"""
