"""Whether other gains, discounts and depths would put systems into another order: a walk over evaluations."""
