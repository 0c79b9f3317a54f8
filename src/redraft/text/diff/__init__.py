"""The differences between two texts, cut into hunks as a person would mark them."""
