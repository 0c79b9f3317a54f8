"""Measuring the agent: tasks as data, a person who is played, checks, figures, and the same tasks for every model.

The room lies above `agent` because a task runs through the real loop, and below `runtime` because it reads no settings
and no environment: which models there are is handed in.
"""
