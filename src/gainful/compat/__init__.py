"""Interfaces of other tools, implemented by gainful."""
