"""An agent's answer on its way into the document."""
