"""Other tools' names and habits over our engine, for programs that were written for them."""
