"""What people ask: a folder for each question, with what it computes and its page."""
