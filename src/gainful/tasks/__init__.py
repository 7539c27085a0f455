"""One folder per task, with its computation and its page."""
