"""What few systems can tell of Kendall's tau: conclusions of Della Mea and Mizzaro (2004) and one exchange."""

from __future__ import annotations

from gainful.papers.claims import Claim, statement, undecided

#: A margin of one exchange is one, however it was rounded.
EPSILON = 1e-9


def exchange(systems: int) -> float:
    """By how much tau changes when two neighbours change places.

    >>> exchange(5)
    0.2
    """
    return 4 / (systems * (systems - 1))


def exchange_rule(systems: int) -> str:
    """The rule for all that is concluded from tau, in words."""
    return (
        "tau: a conclusion is not seen if its margin is less than one exchange of neighbours, 4 / (m (m - 1)) = "
        f"{exchange(systems):.3f} for m = {systems} systems"
    )


def concluded(what: str, says: str, finds: str, margin: float, rule: str, systems: int, fine: float) -> Claim:
    """What holds by a rule, by so much (or fails, where that is negative); undecided within one exchange.

    ``fine`` is how fine the steps of tau have to be for the rule: where one exchange changes tau by more, the statement
    could fail and hardly hold, so that nothing is told at all.

    >>> concluded("a part", "resembles the whole", "tau 0.852", 0.852 - 0.9, "from 0.9 on", 7, 0.1).verdict
    'not seen'
    >>> concluded("a part", "resembles the whole", "tau 0.852", 0.852 - 0.9, "from 0.9 on", 20, 0.1).verdict
    'fails'
    """
    step = exchange(systems)
    if step > fine:
        few = f"with {systems} systems one exchange of neighbours changes tau by {step:.3f}: too much to tell"
        return undecided(what, says, finds, few)
    if abs(margin) < step - EPSILON:
        return undecided(what, says, finds, f"{rule}; here the margin is {abs(margin):.3f}, less than one exchange")
    return statement(what, says, finds, margin > 0, rule)
