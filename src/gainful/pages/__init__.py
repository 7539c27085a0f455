"""Pages of tables, charts and texts as data, without layout."""
