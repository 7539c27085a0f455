"""Sequences of queries: `gainful sessions`."""
