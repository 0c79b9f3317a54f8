"""Jobs that another agent program does: Claude Code, Codex, Gemini CLI, opencode, or any that speaks the Agent Client
Protocol.

The program works in a private view of the folder, so whatever it does there, with its own edit tool or in a shell,
comes back as one turn of its name, in the job's mode. `AgentPrograms` knows which programs there are, `AgentConnection`
is a program that runs and the protocol spoken with it, and `HostedJob` is one job. Everything that a program says is
hostile: its messages are bounded, its text is shown as text, and it names no path of ours.
"""
