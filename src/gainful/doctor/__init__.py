"""The doctor: everything suspicious about judgments and runs, said before anything is scored."""
