"""From runs to scores: evaluations, their signature and notices, how a score comes about, simulated collections."""
