"""Other tools' names and habits over our engine."""
