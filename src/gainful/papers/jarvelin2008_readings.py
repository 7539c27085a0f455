"""What Järvelin et al. 2008 read off their figures, and what is to be read off the same figures of other sessions."""

from __future__ import annotations

import math
from collections.abc import Iterator
from statistics import median

from gainful.curves.averages import MEAN_OF_RATIOS, RATIO_OF_MEANS
from gainful.curves.session_curves import SessionCurve, SessionCurves
from gainful.notation import count_of
from gainful.papers.claims import Claim, beside, statement, undecided
from gainful.papers.settled_comparison import settled
from gainful.sessions.positions import LastAgainstBest
from gainful.sessions.study import SessionStudy, SystemQueries

#: What words of the paper are taken to mean.
_LITTLE, _NEARLY_ALWAYS, _LEVEL = 0.5, 0.9, 0.95
_LEVEL_RANK = 20
#: Of fewer sessions in a group that is compared nothing is concluded.
LEAST_SESSIONS = 5
ABOUT_FEW = f"Of fewer than {LEAST_SESSIONS} sessions in a group nothing is concluded (not seen)."
_FEW = f"fewer than {LEAST_SESSIONS} sessions in a group decide nothing"
ABOUT_LAST = (
    "Gaining little: less than half of what last queries give. Nearly always: in at least 90 % of the sessions that "
    "have several queries and gain anything; as a list: without the discount by query. Levelling off: 95 % of the gain "
    "of 100 ranks."
)
ABOUT_SUBSETS = "Very ineffective: after the first query less than half of what all sessions have then."
ABOUT_EACH = (
    "Great variability: the best and the worst session are further apart than the median is high. Far more effective: "
    "more than twice of what earlier queries give."
)


def last_readings(found: SessionStudy, longest_list: int) -> Iterator[Claim]:
    """Figure 1: the last query of sessions and the earlier ones."""
    for name, queries in found.queries.items():
        yield _little(name, queries, "until the last query they gain little")
    for name, queries in found.queries.items():
        yield from _nearly_always(name, queries.last_against_best)
    for curve in found.curves.curves if found.curves else ():
        if curve.of == "last query":
            yield _levels_off(curve, longest_list)
    if len(found.queries) > 1:
        yield beside(
            "last queries by system",
            "System 2 somewhat better than System 1",
            _in_order({name: queries.last for name, queries in found.queries.items()}, 2),
        )


def _decided(what: str, says: str, finds: str, holds: bool, sessions: int) -> Claim:
    """The statement, if the smallest group that is compared has so many sessions that it can be made."""
    return statement(what, says, finds, holds) if sessions >= LEAST_SESSIONS else undecided(what, says, finds, _FEW)


def _below(value: float, limit: float) -> bool:
    """Whether a value is below a limit by more than rounding."""
    one, other = settled([value, limit])
    return one < other


def _little(name: str, queries: SystemQueries, says: str) -> Claim:
    what, last, earlier = f"{name}: earlier and last", queries.last_queries, queries.earlier_queries
    if not earlier.number or not last.number:
        return undecided(what, says, "no session has several queries")
    finds = f"earlier {earlier.mean:.2f}, last {last.mean:.2f}"
    several = int(queries.session_counts[1:].sum())
    sessions = min(last.number, earlier.number, several)
    return _decided(what, says, finds, _below(earlier.mean, _LITTLE * last.mean), sessions)


def _nearly_always(name: str, found: LastAgainstBest) -> Iterator[Claim]:
    says = "nearly always the best"
    for how, count in (("", found.last_is_best), (" as a list", found.last_is_best_list)):
        what = f"{name}: the last query{how}"
        if not found.sessions:
            yield undecided(what, says, "no session of several queries gains")
            continue
        finds = f"{count} of {count_of(found.sessions, 'session')}, {count / found.sessions:.0%}"
        yield _decided(what, says, finds, not _below(count, _NEARLY_ALWAYS * found.sessions), found.sessions)


def _levels_off(curve: SessionCurve, longest_list: int) -> Claim:
    what, says = f"{curve.run}: last queries", f"level off at rank {_LEVEL_RANK}"
    if longest_list <= _LEVEL_RANK:
        return undecided(what, says, f"no list is longer than {longest_list}")
    whole = float(curve.values[-1])
    if not whole > 0:
        return undecided(what, says, "nothing is gained")
    share = float(curve.values[_LEVEL_RANK - 1]) / whole
    finds = f"{share:.1%} of the gain by rank {_LEVEL_RANK}"
    return _decided(what, says, finds, not _below(share, _LEVEL), curve.count)


def average_readings(curves: SessionCurves) -> Iterator[Claim]:
    """Figure 2: all sessions of every system, where there are several."""
    if len(curves.runs) < 2:
        return
    for average in (MEAN_OF_RATIOS, RATIO_OF_MEANS):
        ends = {run: float(curves.curve(run, average=average).values[-1]) for run in curves.runs}
        yield beside(f"at the end, {average}", "System 2 is better on average", _in_order(ends, 4))


def subset_readings(found: SessionStudy) -> Iterator[Claim]:
    """Figure 3: all sessions, and those with several queries."""
    curves, says = found.curves, "initially very ineffective"
    assert curves is not None
    k = curves.measures[0].cutoff or 1
    for name in curves.runs:
        whole, several = (curve for curve in curves.curves if curve.run == name)
        what = f"{name}: after Q1, {several.of}"
        if several.count in (0, whole.count):
            yield undecided(what, says, "all sessions are" if several.count else "there is no such session")
            continue
        first, first_of_all = (float(curve.values[k - 1]) for curve in (several, whole))
        finds = f"{first:.2f} (of {several.count}), all {first_of_all:.2f} (of {whole.count})"
        yield _decided(what, says, finds, _below(first, _LITTLE * first_of_all), several.count)


def individual_readings(found: SessionStudy, curves: SessionCurves) -> Iterator[Claim]:
    """Figure 4: every session of one system."""
    ends = [float(curve.values[-1]) for curve in curves.curves if not math.isnan(curve.values[-1])]
    (name,) = curves.runs
    what, says = "where sessions end", "great variability"
    if len(ends) > 1 and max(ends) > 0:
        finds = f"from {min(ends):.2f} to {max(ends):.2f}, median {median(ends):.2f}"
        yield _decided(what, says, finds, _below(median(ends), max(ends) - min(ends)), len(ends))
    else:
        yield undecided(what, says, "one session" if len(ends) == 1 else "nothing is gained")
    yield _little(name, found.queries[name], "the last query far more effective")


def _in_order(values: dict[str, float], places: int) -> str:
    """The systems, best first, with their values."""
    ordered = sorted(values, key=lambda name: (-values[name] if values[name] == values[name] else math.inf, name))
    return ", ".join(f"{name} {values[name]:.{places}f}" for name in ordered)
