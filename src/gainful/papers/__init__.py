"""The five papers that gainful implements, run again: their worked examples, and their experiments on any data."""
