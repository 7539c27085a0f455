"""Back from a number to the conventions that made it: `gainful whydiff`."""
