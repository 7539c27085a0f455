"""Whole sessions: from judgments and sequences of queries to scores, positions and what stands below them."""
