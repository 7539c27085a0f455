"""Warnings about legal but suspicious inputs."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from gainful.data.graded import JoinFacts
from gainful.data.lists import is_relevant
from gainful.data.qrels import unused_note
from gainful.errors import for_asker
from gainful.evaluation.results import ScoredRun
from gainful.frozen import replace
from gainful.io.rows import ALL_RATINGS_COUNT
from gainful.measures.base import Measure
from gainful.notation import count_of, grouped, lookalikes_of, number_text, printable, some_of, text_of_id, units
from gainful.policy import BY_GRADE, Policy

_SHOWN = 5
#: Mean relative position of relevant documents, from 0 to 1, above which lists look reversed.
_LATE = 0.65
#: Share of tied documents above which a ranking is mostly arbitrary.
_MOST = 0.5
#: Share of queries at the best score, of so many at least, and multiple of the score by chance, that tell little.
_SATURATED, _TELLING, _ABOVE = 0.9, 10, 1.25
#: An escaped byte of an ID that is not UTF-8.
_LATIN1 = re.compile(r"\\udc([0-9a-f]{2})")
#: Words of notices where queries are users.
_OF_USERS = {"query": "user", "queries": "users", "a document": "an item", "document": "item", "documents": "items"}
_DONE = {"zero": "given the worst score", "skip": "left out", "ignore": "ignored"}


def notices(evaluations: Iterable[ScoredRun]) -> list[str]:
    """Return one line per notable fact, run by run."""
    evaluations = list(evaluations)
    of_runs = [(printable(e.run, 80), _with_users(line, e.facts)) for e in evaluations for line in _of_one(e)]
    lines = _by_run(of_runs, len(evaluations))
    about = next((e for e in evaluations if e.about is not None), None)
    if about is not None and about.about is not None:
        lines += about.about.notices(about.queries)
    lines[:0] = dict.fromkeys(note for e in evaluations for note in e.facts.notes if _concerns(note, e.measures))
    lines[:0] = dict.fromkeys(
        f"no grade reaches {number_text(rel)}; the highest is {number_text(e.scale)}"
        for e in evaluations
        for m in e.measures
        if isinstance(rel := getattr(m, "rel", None), float) and rel > e.scale
    )
    if any(e.scale <= 0 for e in evaluations):
        none = "no relevant document in the judgments: every grade is 0 or less"
        lines.insert(0, _with_users(none, evaluations[0].facts))
    lines[:0] = dict.fromkeys(m.note for e in evaluations for m in e.measures if m.note)
    shares = [(e.run, e.facts.unjudged_share) for e in evaluations if e.facts.unjudged_at_10 and e.facts.unjudged_tells]
    if shares:
        if len(shares) > _SHOWN:
            shares.sort(key=lambda pair: -pair[1])
        shown = ", ".join(f"{printable(run, 80)} {share:.1%}" for run, share in shares[:_SHOWN])
        left = len(shares) - _SHOWN
        rest = f", {left} {'other' if left == 1 else 'others'} less" if left > 0 else ""
        # If nothing is judged, the IDs may be spelt differently.
        check = for_asker("`gainful check`", "gainful.examine(qrels, runs)")
        why = f"; {check} finds IDs that nearly match" if max(share for _, share in shares) == 1 else ""
        judged = next((str(m) for e in evaluations for m in e.measures if m.name == "Judged"), None)
        if judged and any(e.missing and e.policy.missing == "zero" for e in evaluations):
            why += f"; {judged} also counts queries without results, as 0"
        lines.append(_with_users(f"unjudged documents in the top 10: {shown}{rest}{why}", evaluations[0].facts))
    return lines


def _with_users(line: str, facts: JoinFacts) -> str:
    """Return a notice with users for queries and items for documents, if the data has these."""
    words, mark, ids = line.partition(": ")
    for word, other in _OF_USERS.items() if facts.has_users else ():
        words = re.sub(rf"\b{word}\b", other, words)
    return words + mark + ids


def _of_one(evaluation: ScoredRun) -> list[str]:
    facts, policy = evaluation.facts, evaluation.policy
    lines = []
    if evaluation.missing:
        # Measures without a worst value leave out unanswered queries.
        endless = [
            str(measure)
            for measure in evaluation.measures
            if measure.worst is None
            and measure.aggregate != "whole"
            and any(score.value is None for score in evaluation.scores(measure) if score.status == "missing")
        ]
        spared, size = [str(each) for each in evaluation.measures if _is_spared(each)], len(evaluation.measures)
        done = _done(policy.missing, len(endless) == size > 0, len(spared) == size > 0)
        for how, some in (("left out", endless), ("0", spared)):
            if policy.missing == "zero" and 0 < len(some) < size:
                done += f", {how} by {', '.join(some)}"
        noun = f"judged {evaluation.unit}"
        lines.append(_about(noun, evaluation.missing, evaluation.unanswered, f"{done} (missing={policy.missing})"))
    if facts.unanswered_turns:
        done = "counted as empty pages" if policy.missing == "zero" else _done(policy.missing)
        what = "after the ends of sessions, not answered"
        lines.append(_about("judged query", _texts(facts.unanswered_turns), what, f"{done} (missing={policy.missing})"))
    if facts.unplaced_turns:
        what = "not answered, of unknown sessions"
        lines.append(_about("judged query", _texts(facts.unplaced_turns), what, "ignored"))
    if facts.extra_ids:
        done = f"{_done(policy.extra)} (extra={policy.extra})"
        lines.append(_about(evaluation.unit, _texts(facts.extra_ids), "without judgments", done))
    if evaluation.missing and facts.extra_ids:
        pairs = lookalikes_of(_texts(facts.extra_ids), evaluation.missing)
        if pairs:
            lines.append(_lookalike_notice(pairs, evaluation.unit))
    if facts.extra_turns:
        # These queries keep their positions.
        done = f"gaining nothing (extra={policy.extra})"
        lines.append(_about("query", _texts(facts.extra_turns), "of scored sessions without judgments", done))
    # Group measures that are undefined for the same queries; separate those without a worst value.
    undefined: dict[tuple[tuple[str, ...], bool, bool], list[str]] = {}
    for measure in evaluation.measures:
        if queries := tuple(evaluation.undefined(measure)):
            undefined.setdefault((queries, measure.worst is None, _is_spared(measure)), []).append(str(measure))
    for (queries, *kind), measures in undefined.items():
        done = f"{_done(policy.undefined, *kind)} (undefined={policy.undefined})"
        lines.append(_about(evaluation.unit, list(queries), f"with {', '.join(measures)} undefined", done))
    if evaluation.lists is not None and evaluation.lists.unknown:
        missing = count_of(evaluation.lists.unknown, "retrieved document")
        lines.append(f"{missing} not in {evaluation.lists.source}: outside the catalogue, without attributes")
    return [
        *lines,
        *_of_exclusion(facts, evaluation.measures),
        *_of_join(facts, policy),
        *_of_ties(evaluation),
        *_of_range(evaluation),
    ]


def _of_range(evaluation: ScoredRun) -> Iterator[str]:
    """Yield notices on measures that are at their best on most queries, or hardly above random orders."""
    for measure in (each for each in evaluation.measures if each.better == "higher" and each.aggregate == "mean"):
        values, chance = evaluation.counted(measure)[0], evaluation.beside("chance", measure).get("chance", -math.inf)
        best, mean = np.count_nonzero(values == measure.bounds[1]), evaluation.mean(measure)
        if best >= _SATURATED * values.size and values.size >= _TELLING:
            yield f"{measure} is saturated: {best:,} of {units(values.size, evaluation.unit)} have its best score"
        if mean < _ABOVE * chance:
            place = "below" if mean < chance * (1 - 1e-9) else "hardly above"
            yield f"{measure} is {place} chance: {mean:.4f}, random orders {chance:.4f}"


def _of_ties(evaluation: ScoredRun) -> list[str]:
    """A notice about means that another order of equal scores would change in the digits of a table."""
    if evaluation.tied is None:
        return []
    ends, ranges = [replace(evaluation, raw=raw, ties=None) for raw in evaluation.tied], []
    for measure in evaluation.measures:
        low, high = (f"{mean:.4f}" for mean in sorted(end.mean(measure) for end in ends))
        if low != high:
            ranges.append(f"{measure} between {low} and {high}")
    return [f"ties leave {', '.join(ranges[:3])}{', ...' * (len(ranges) > 3)}"] if ranges else []


def _concerns(note: str, measures: Sequence[Measure]) -> bool:
    """Whether a note applies to these measures: the note on ratings if one has no lowest grade, the note on a table
    unless one uses it."""
    used = {unused_note(table) for measure in measures for table in measure.tables}
    return note not in used and (
        not note.startswith(ALL_RATINGS_COUNT)
        or any(
            {"rel", "level"} <= measure.parameters().keys()
            and "gain" not in measure.parameters()
            and getattr(measure, "rel", None) is getattr(measure, "level", None) is None
            for measure in measures
        )
    )


def _lookalike_notice(pairs: Sequence[tuple[str, str, str]], unit: str) -> str:
    """Return the notice on queries whose IDs nearly match judged IDs, with a fix for files in Latin-1."""
    what = "spelt differently in the judgments"
    for side, file in enumerate(("this run", "the judgments")):
        if all(_LATIN1.search(pair[side]) for pair in pairs):
            shown = [_LATIN1.sub(lambda byte: chr(int(byte[1], 16)), pair[side]) for pair in pairs]
            return _about(
                unit, shown, what, f"because the file of {file} is not UTF-8 (convert it with iconv -f latin1 -t utf-8)"
            )
    shown = [f"{of_run} (judged: {of_judged})" for of_run, of_judged, _ in pairs]
    return _about(unit, shown, what, f"different {pairs[0][2]}")


def _of_exclusion(facts: JoinFacts, measures: Sequence[Measure]) -> list[str]:
    """Return notices on excluded documents and their effect on these measures."""
    if not facts.exclusions:
        return []
    lines = [f"{count_of(facts.excluded_count, 'retrieved document')} removed (exclude)"]
    grades, counts = np.array([*facts.excluded_grades.items()], float).reshape(-1, 2).T
    levels = {(getattr(measure, "rel", None), getattr(measure, "level", None)) for measure in measures}
    if relevant := int(max((counts[is_relevant(grades, *level)].sum() for level in levels), default=0)):
        them = "it" if relevant == 1 else "them"
        lines.append(f"{count_of(relevant, 'relevant document')} excluded: no run can retrieve {them}")

    def shortened(cutoff: int) -> int:
        lengths = facts.excluded_lengths.items()
        return sum(count for (before, after), count in lengths if before >= cutoff > after)

    most = max((measure.rank_cutoff for measure in measures if measure.rank_cutoff), key=shortened, default=0)
    if most and (count := shortened(most)):
        left = f"{count_of(count, 'list')} with fewer than {most} documents remain"
        lines.append(f"{left}: let the system return more than {most}")
    return lines


def _of_join(facts: JoinFacts, policy: Policy) -> list[str]:
    """Return notices on dropped duplicates, suspicious rankings and ties."""
    lines = []
    if facts.duplicate_count:
        what, why = ("repeated document", "duplicates=first")
        if policy.credits_chunks:
            what = "chunk"
            why = "a span counts at its first chunk (spans)"
            if policy.has_parents:
                why = "a document counts at its first chunk (parent)"
        lines.append(f"{count_of(facts.duplicate_count, what)} dropped ({why})")
    place = facts.relevant_place
    if place is not None and place > _LATE:
        lines.append(
            f"relevant documents are late in their lists (on average at {place:.0%} of the length): if scores are "
            "distances or ranks, negate them; `gainful check` has details"
        )
    if facts.sampled:
        lines.append(
            f"every list has {count_of(facts.sampled, 'document')} besides all relevant documents: if these are "
            "sampled candidates, scores differ from those of a full ranking and may order systems differently "
            "(Krichene and Rendle 2020); rank all documents"
        )
    if facts.float32_ties:
        lines.append(f"{count_of(facts.float32_ties, 'document')} tied only because scores are float32")
    if facts.inexact_ties:
        lines.append(
            f"{count_of(facts.inexact_ties, 'document')} tied at scores of 2^53 or more, which 64-bit floats "
            f"cannot distinguish: their order is arbitrary (ties={policy.ties})"
        )
    # Chunks of one document are tied with each other as well.
    tied = 0 if policy.credits_chunks else facts.tied_count - facts.float32_ties
    if tied > _MOST * facts.ranked_count and policy.ties not in BY_GRADE:
        lines.append(
            f"{tied:,} of {facts.ranked_count:,} documents share their score with another in their list: their order "
            f"is arbitrary (ties={policy.ties})"
        )
    if facts.rank_conflicts:
        conflicts = count_of(facts.rank_conflicts, "line")
        order, what = ("", "scores") if policy.order == "score" else ("order of the ", "lines")
        goes = f"order={policy.order} uses the {what}"
        lines.append(f"the rank column contradicts the {order}{what} in {conflicts}; {goes}")
    return lines


def _by_run(lines: Sequence[tuple[str, str]], runs: int) -> list[str]:
    """Prefix each line with its run; lines shared by many runs appear once."""
    of_line = grouped((line, run) for run, line in lines)

    def name(run: str, alike: list[str]) -> str:
        if len(alike) <= _SHOWN:
            return run
        return f"all {runs} runs" if len(alike) == runs else f"{', '.join(alike[:_SHOWN])}, {len(alike) - _SHOWN} more"

    return list(dict.fromkeys(f"{name(run, of_line[line])}: {line}" for run, line in lines))


def _is_spared(measure: Measure) -> bool:
    """Whether a query without an answer or with an undefined score gets the best value instead of the worst."""
    return measure.better == "lower" and measure.worst == measure.bounds[0]


def _done(value: str, is_endless: bool = False, is_spared: bool = False) -> str:
    """Describe the treatment of a query; measures without a worst value leave it out."""
    ends = "left out, because the measure has no worst value" if is_endless else "counted as 0" if is_spared else None
    return ends if ends and value == "zero" else _DONE[value]


def _texts(identifiers: Iterable[bytes]) -> list[str]:
    return [text_of_id(identifier) for identifier in identifiers]


def _about(noun: str, queries: Sequence[str], what: str, done: str) -> str:
    return f"{units(len(queries), noun)} {what}, {done}: {some_of(queries)}"
