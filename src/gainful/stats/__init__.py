"""Statistics over judgments and evaluations: how far two of them agree, and how sure one can be of it."""
