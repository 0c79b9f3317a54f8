"""Watch documents and submit what changed in them."""
