"""What the offline assistant can do, one module per intent."""
