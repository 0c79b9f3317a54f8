"""Write an agent's answer into the document."""
