"""What computes: which core runs and its Python twin, arrays, exact sums, work side by side."""
