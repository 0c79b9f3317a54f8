"""The three texts of a review and what a person may decide about them. Pure."""
