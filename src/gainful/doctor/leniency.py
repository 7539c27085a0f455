"""What is an error elsewhere is a finding here. Loads nothing heavy: reading starts under this policy."""

from __future__ import annotations

from gainful.policy import Policy


def lenient(policy: Policy) -> Policy:
    """The same policy without refusals on the way to the findings.

    >>> lenient(Policy(judges="mean")).differences()
    {'duplicates': 'first', 'judges': 'mean'}
    """
    return policy.replace(duplicates="first", judges="max" if policy.judges == "error" else policy.judges)
