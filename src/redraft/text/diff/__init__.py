"""What differs between two texts, cut into hunks that a person would mark."""
