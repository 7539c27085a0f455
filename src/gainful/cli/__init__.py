"""The command line: one file a command, one funnel for errors."""
