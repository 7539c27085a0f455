"""What may be wrong with judgments and runs: `gainful check`."""

from __future__ import annotations

from gainful.policy import Policy


def lenient(policy: Policy) -> Policy:
    """The same policy without refusals on the way to the findings: what is an error elsewhere is a finding here.

    >>> lenient(Policy(judges="mean")).differences()
    {'duplicates': 'first', 'judges': 'mean'}
    """
    return policy.replace(duplicates="first", judges="max" if policy.judges == "error" else policy.judges)
