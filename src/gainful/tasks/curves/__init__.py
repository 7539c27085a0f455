"""Gain by rank, precision by recall, the URS-SRS plane: `gainful curves`."""
