"""What can be shown, as data: pages of tables, charts and words, without any layout."""
