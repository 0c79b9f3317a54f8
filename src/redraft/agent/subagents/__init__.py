"""Documents larger than a model's context: cut into chunks, read and changed by subagents, and put together again.

`LongDocuments` is the entry point. No module here writes a document: the results are findings, or edits for the turn of
the tool that asked. A model's answer is checked before it counts: its shape, its size, and that it is about text that
exists. Whatever can be counted is counted, not asked.
"""
