"""The command line: one file per command, and one place that reports errors."""
