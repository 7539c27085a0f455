"""Why two numbers of the same name differ: a search over the conventions that can make them."""
