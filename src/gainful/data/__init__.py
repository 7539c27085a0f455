"""Judgments, runs and their join, as immutable columns."""
