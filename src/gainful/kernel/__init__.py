"""Computation: the choice between the compiled core and its Python twin, arrays, exact sums, parallel work."""
