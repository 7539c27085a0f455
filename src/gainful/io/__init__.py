"""Bytes to columns and back. No science here."""
