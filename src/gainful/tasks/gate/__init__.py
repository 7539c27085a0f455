"""A gate for CI: a frozen baseline, and whether a new run has fallen from it: `gainful gate`."""
