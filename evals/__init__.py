"""Measuring the agent: tasks as data, a person who is played, checks, figures, and the same tasks for every model.

A tool of the project, not of the installed package: `python -m evals` runs it. It uses `redraft`, which never uses it.
Only `__main__` reads settings and environment; the other modules are handed the models that there are.
"""
