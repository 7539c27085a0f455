"""The version, as a literal: asking the installed metadata would cost more than all the rest of `gainful --version`."""

__version__ = "1.0.0rc1"
