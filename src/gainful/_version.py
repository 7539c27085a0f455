"""The version, as a literal: asking the installed metadata would cost more than all the rest of `gainful --version`."""

__version__ = "0.1.0"
