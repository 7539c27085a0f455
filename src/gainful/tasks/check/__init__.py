"""What may be wrong with judgments and runs: `gainful check`."""
