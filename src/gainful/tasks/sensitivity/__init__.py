"""What if gains, discounts or depths were others: `gainful sensitivity`."""
