"""One module per command, named after it. Only the module of the command that runs is loaded."""
