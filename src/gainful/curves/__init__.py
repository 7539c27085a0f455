"""Curves: what is gained by each rank, precision by recall, and how to read them."""
