"""Is the difference of two systems, or of several, real: `gainful compare`."""
