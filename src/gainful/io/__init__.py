"""Reading and writing of bytes, rows and columns; no evaluation."""
