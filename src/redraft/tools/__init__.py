"""The one toolset: each tool declared once, offered on every surface."""
