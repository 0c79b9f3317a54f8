"""Reviews: what agents propose, what the person typed, and what may be decided about it. Pure."""
