"""Gates: freezing, checking, refusals, updates, formats, and the self-test."""

from __future__ import annotations

import json
import math
import re
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import jsonschema
import numpy as np
import pytest
import xmlschema
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from scipy import stats

import gainful
from gainful import (
    GainfulError,
    Gate,
    InputError,
    Policy,
    Qrels,
    Rule,
    UsageError,
    check_gate,
    freeze_gate,
    update_gate,
)
from gainful.data.judged import Judged
from gainful.tasks.gate import selftest as selftests
from gainful.tasks.gate.gate_report import FORMATS
from gainful.tasks.gate.selftest import selftest
from gainful.testing import assert_no_regression

N = 60


def collection(seed: int = 0) -> tuple[dict[str, dict[str, int]], dict[str, list[str]]]:
    """Queries with three relevant documents of ten, most of them ranked high."""
    generator = np.random.default_rng(seed)
    qrels, run = {}, {}
    for i in range(N):
        query = f"q{i:02}"
        documents = [f"d{i}-{k}" for k in range(10)]
        qrels[query] = {document: int(k < 3) * (3 - k) for k, document in enumerate(documents)}
        noise = generator.normal(0, 3, 10)
        run[query] = [documents[k] for k in np.argsort(np.arange(10) + noise)]
    return qrels, run


QRELS, RUN = collection()
LOOSE = Rule(margin=0.05)


def worse(run, share, seed=1):
    """The run with the first document moved to the end, in a share of the queries."""
    generator = np.random.default_rng(seed)
    return {q: [*r[1:], r[0]] if generator.random() < share else r for q, r in run.items()}


@pytest.fixture(scope="module")
def gate():
    table = {query: {"text": f"about {query}", "kind": "even" if i % 2 else "odd"} for i, query in enumerate(QRELS)}
    return freeze_gate(QRELS, RUN, ["nDCG@10", "RR"], rule=replace(LOOSE, by="kind"), queries=table)


def test_identical_input_passes_in_any_order(gate):
    turned = replace(gate, queries=dict(reversed(gate.queries.items())))
    judgments = {query: dict(reversed(QRELS[query].items())) for query in reversed(QRELS)}
    shuffled = {query: RUN[query] for query in reversed(RUN)}
    for frozen, qrels, run, threads in ((gate, QRELS, RUN, 1), (gate, QRELS, RUN, 5), (turned, judgments, shuffled, 2)):
        report = check_gate(frozen, qrels, run, threads=threads)
        assert (report.verdict, report.exit_code, report.queries, report.collapsed) == ("pass", 0, (), ())


def test_frozen_scores_are_those_of_an_evaluation(gate):
    found = gainful.evaluate(QRELS, RUN, ["nDCG@10", "RR"])
    for i, measure in enumerate(("nDCG@10", "RR")):
        assert {query: each.scores[i] for query, each in gate.queries.items()} == found.by_query(measure)
        assert gate.history[0].means[measure] == pytest.approx(found.mean(measure), abs=1e-15)


def test_regression_is_found_with_its_queries(gate):
    new = worse(RUN, 0.5)
    report = check_gate(gate, QRELS, new)
    assert (report.verdict, report.exit_code) == ("regression", 1)
    before, after = (gainful.evaluate(QRELS, run, "nDCG@10") for run in (RUN, new))
    change = report.findings[0].change
    assert change.difference == pytest.approx(after.mean("nDCG@10") - before.mean("nDCG@10"), abs=1e-12)
    old, now = before.by_query("nDCG@10"), after.by_query("nDCG@10")
    fell = min((each for each in report.queries if each.measure == "nDCG@10"), key=lambda each: each.gain)
    assert fell.gain == pytest.approx(min(now[q] - old[q] for q in old))
    assert fell.text == f"about {fell.query}"
    text = report.text()
    assert text.startswith("Regression: nDCG@10 fell by 0.")
    assert "worse in 2 of 2 groups, most in" in " ".join(text.split())


def test_a_group_alone_is_found(gate):
    new = {query: [*r[1:], r[0]] if gate.queries[query].group == "odd" else r for query, r in RUN.items()}
    report = check_gate(gate, QRELS, new)
    verdicts = {(each.measure, each.group): each.verdict for each in report.groups}
    assert verdicts["nDCG@10", "odd"] == "regression"
    assert verdicts["nDCG@10", "even"] == "pass"
    # The first sentence is of what decides.
    worst = next(each for each in (*report.findings, *report.groups) if each.verdict == "regression")
    assert report.text().startswith(f"Regression: {worst.name} fell by")


def test_a_group_is_judged_at_the_level_for_the_number_of_groups():
    # Eight of thirty queries fall, none rises: p = 1/256 lies between .01 / 4 and .01 / 2, as all queries have half.
    qrels = {f"q{i}": {"a": 1} for i in range(60)}
    run = {query: ["a"] for query in qrels}
    table = {query: {"kind": "odd" if i % 2 else "even"} for i, query in enumerate(qrels)}
    new = {**run, **{f"q{i}": ["x"] for i in range(1, 17, 2)}}
    two = freeze_gate(qrels, run, "RR", rule=Rule(0.5, by="kind"), queries=table)
    found = {each.group: each for each in check_gate(two, qrels, new).groups}
    assert found["odd"].change.p_fell == pytest.approx(1 / 256)
    assert {group: each.verdict for group, each in found.items()} == {"even": "pass", "odd": "pass"}
    one = freeze_gate(qrels, run, "RR", rule=Rule(0.2, by="kind"), queries={query: {"kind": "all"} for query in qrels})
    assert [each.verdict for each in check_gate(one, qrels, new).groups] == ["regression"]


def test_collapsed_queries_come_first():
    qrels = {f"q{i}": {"a": 1} for i in range(400)}
    run = {query: ["a", "b"] for query in qrels}
    gate = freeze_gate(qrels, run, "RR", rule=Rule(0.03))
    report = check_gate(gate, qrels, {**run, "q7": ["b"]})
    assert [each.query for each in report.collapsed] == ["q7"]
    assert "1 query collapsed" in report.text()
    assert report.verdict == "pass"  # by count alone it does not fail
    half = check_gate(gate, qrels, {**run, "q7": ["b", "a"]})
    assert not half.collapsed


def test_floors_and_queries_that_must_hold():
    gate = freeze_gate(QRELS, RUN, "RR", rule=Rule(0.5, floors={"rr": 0.3}, must_hold=["q00", "q01"]))
    one = {**RUN, "q00": [*RUN["q00"][::-1]]}
    before, after = (gainful.evaluate(QRELS, run, "RR").by_query("RR")["q00"] for run in (RUN, one))
    assert after < before
    fell = check_gate(gate, QRELS, one)
    assert fell.verdict == "regression"
    assert [each.broken is not None for each in fell.promises] == [False, True, False]
    assert fell.text().startswith("Regression: q00 must hold, but its RR went from")
    low = check_gate(gate, QRELS, {query: r[::-1] for query, r in RUN.items()})
    assert "below its floor of 0.3" in low.promises[0].broken
    for rule, error in (
        (Rule(0.2, must_hold=["q99"]), InputError),
        (Rule(0.2, floors={"AP": 0.1}), UsageError),
        (Rule(0.2, floors={"RR": 0.99}), InputError),  # the baseline breaks it
    ):
        with pytest.raises(error):
            freeze_gate(QRELS, RUN, "RR", rule=rule)


def test_forbidden_documents_fail_the_gate():
    qrels = {**QRELS, "q00": {**QRELS["q00"], "secret": -1}, "q07": {**QRELS["q07"], "secret": -2}}
    gate = freeze_gate(qrels, RUN, "RR", rule=Rule(0.5, forbid="Leak@5"))
    assert [each.name for each in check_gate(gate, qrels, RUN).promises] == ["Leak@5 = 0"]
    lists = {query: [*RUN[query][:4], "secret", *RUN[query][4:]] for query in ("q00", "q07", "q08")}
    leaking = {**RUN, **lists}  # in q08, the document is not judged
    report = check_gate(gate, qrels, leaking)
    assert report.verdict == "regression"
    assert report.text().startswith("Regression: Leak@5: forbidden documents in 2 queries (q00, q07).")
    below = {query: [*RUN[query][:5], "secret"] for query in lists}
    assert check_gate(gate, qrels, {**RUN, **below}).verdict == "pass"
    # Any of several repeats must not leak, and a query without results does not.
    assert check_gate(gate, qrels, [RUN, leaking]).verdict == "regression"
    lenient = freeze_gate(qrels, RUN, "RR", rule=Rule(0.5, missing_at_most=1, forbid="Leak@5"))
    without = {query: documents for query, documents in RUN.items() if query != "q00"}
    assert check_gate(lenient, qrels, without).verdict == "pass"
    assert Rule.of(forbid="Leak(forbidden=-2)@5").forbid == "Leak(forbidden=-2)@5"
    for run, judgments, forbid, message in (
        (leaking, qrels, "Leak@5", "breaks its own rule: Leak@5: forbidden documents in 2 queries"),
        (RUN, QRELS, "Leak@5", "Leak@5 is undefined: the judgments forbid no document"),
        (RUN, QRELS, "P@5", "forbid: expected Leak, such as Leak@10, found 'P@5'"),
    ):
        with pytest.raises(GainfulError, match=re.escape(message)):
            freeze_gate(judgments, run, "RR", rule=Rule(0.5, forbid=forbid))
    with pytest.raises(InputError, match="breaks its own rule: Leak@5"):
        update_gate(gate, qrels, leaking, "better ranks")


def test_update_keeps_to_the_rule_too():
    # Else the very run that was accepted would not pass.
    gate = freeze_gate(QRELS, RUN, "RR", rule=Rule(0.5, floors={"rr": 0.3}))
    with pytest.raises(InputError, match=r"below its floor of 0\.3"):
        update_gate(gate, QRELS, {query: r[::-1] for query, r in RUN.items()}, "worse is meant")
    with pytest.raises(InputError, match="the mean of the baseline is 0: it cannot fall"):
        update_gate(freeze_gate(QRELS, RUN, "RR", rule=Rule(0.5)), QRELS, {q: ["?"] for q in RUN}, "all is lost")


# -- What it refuses ---------------------------------------------------------------------------------------------------


def refused(report, *words):
    assert (report.verdict, report.exit_code) == ("refused", 3)
    for word in words:
        assert word in f"{report.refusal} {report.hint}"


def test_other_judgments_are_refused(gate):
    other = {**QRELS, "q03": {**QRELS["q03"], "d3-9": 3}, "new": {"x": 1}}
    del other["q05"]
    report = check_gate(gate, other, RUN)
    refused(
        report,
        "1 query added (new)",
        "1 query removed (q05)",
        "1 query with changed grades or documents (q03)",
        "update",
    )


def test_judgments_that_differ_in_their_second_column_are_refused():
    text = "".join(f"q{i} 0 a 1\n" for i in range(300))
    run = {f"q{i}": ["a"] for i in range(300)}
    gate = freeze_gate(Qrels.read(text.encode()), run, "RR")
    assert check_gate(gate, Qrels.read(text.encode()), run).verdict == "pass"
    other = Qrels.read(text.replace("q7 0", "q7 1").encode())
    refused(check_gate(gate, other, run), "1 query with changed grades or documents (q7)")


def test_missing_queries_are_refused(gate):
    some = {query: r for query, r in RUN.items() if query != "q01"}
    refused(check_gate(gate, QRELS, some), "no results for 1 of 60 queries (q01)", "allows none")
    lenient = freeze_gate(QRELS, RUN, "RR", rule=Rule(0.2, missing_at_most=1))
    assert check_gate(lenient, QRELS, some).verdict != "refused"


def test_unjudged_documents_that_cannot_change_the_verdict_are_not_refused():
    """Scores with the worst and the best grades come from judging the documents so."""
    rule = Rule(margin=0.15)
    frozen = freeze_gate(QRELS, RUN, "P@5", rule=rule)
    far_worse = {query: [f"{query}-unknown", *r[4:], *r[:4]] for query, r in RUN.items()}
    found = check_gate(frozen, QRELS, far_worse)
    means = {}
    for grade in (0, 3):
        judged = {query: {**of, f"{query}-unknown": grade} for query, of in QRELS.items()}
        means[grade] = gainful.evaluate(judged, far_worse, "P@5").mean("P@5")
    assert found.verdict == "regression" and means[3] > means[0]
    assert found.notices[-1] == (
        "only 80.0% of the documents in the top 5 are judged; the verdict is the same if the others have the worst or "
        f"the best grades: P@5 {means[0]:.4f} or {means[3]:.4f}"
    )
    slightly = {query: [*r[:4], f"{query}-unknown", *r[4:]] for query, r in RUN.items()}
    assert check_gate(frozen, QRELS, slightly).verdict == "refused"
    # Q has only its range as bounds, CG(average=ranks) none at all.
    for measure in ("Q", "CG(average=ranks)@5"):
        no_bounds = check_gate(freeze_gate(QRELS, RUN, measure, rule=replace(rule, margin=0.5)), QRELS, far_worse)
        assert no_bounds.verdict == "refused" and "are judged" in no_bounds.refusal


def test_unjudged_documents_may_be_forbidden():
    qrels = {**QRELS, "q00": {**QRELS["q00"], "secret": -1}}
    below = {query: [*r, f"{query}-unknown"] for query, r in RUN.items()}
    assert check_gate(freeze_gate(qrels, RUN, "R@20", rule=Rule(0.5)), qrels, below).verdict == "pass"
    forbidding = freeze_gate(qrels, RUN, "R@20", rule=Rule(0.5, forbid="Leak@20"))
    refused(check_gate(forbidding, qrels, below), "only 90.9% of the documents in the top 20 are judged")
    leaking = {**below, "q00": [*below["q00"], "secret"]}
    assert check_gate(forbidding, qrels, leaking).verdict == "regression"


def test_unjudged_documents_are_refused(gate):
    unjudged = {query: [*r[:9], "unknown"] for query, r in RUN.items()}
    refused(check_gate(gate, QRELS, unjudged), "90.0% of the documents in the top 10", "100.0% in the baseline")
    with pytest.raises(InputError, match="at least 95% are required"):
        freeze_gate(QRELS, unjudged, "RR", rule=Rule(0.2, judged_at_least=0.95))
    # By the smallest cut-off, whatever the order of measures.
    for measures in (["nDCG@5", "RR@9"], ["RR@9", "nDCG@5"]):
        top = freeze_gate(QRELS, RUN, measures, rule=Rule(0.2))
        assert check_gate(top, QRELS, unjudged).verdict == "pass"


def test_too_few_queries_for_the_margin_are_refused():
    with pytest.raises(InputError, match="60 queries can only detect drops above") as error:
        freeze_gate(QRELS, RUN, "RR", rule=Rule(0.02))
    # (2.326 * 0.13 / 0.02)^2
    assert "about 229 queries" in error.value.hint
    assert "margin=0.04" in error.value.hint


def test_spread_of_accepted_changes_is_said_and_identical_input_passes():
    gate = freeze_gate(QRELS, RUN, "RR", rule=LOOSE)
    accepted = [replace(gate.history[0], spreads={"RR": spread}) for spread in (0.1, 0.5, 0.5, 0.6, 0.7)]
    report = check_gate(replace(gate, history=accepted), QRELS, RUN)
    assert report.verdict == "pass"
    # The median, 0.5, times 2.326 / sqrt(60)
    assert report.blind is not None
    assert "(15.1%)" in report.blind
    assert check_gate(replace(gate, history=accepted[:4]), QRELS, RUN).blind is None


def test_large_harmless_change_is_no_regression_after_small_ones_were_accepted():
    """A drop larger than small changes cause, but within the noise of this one: not detectable."""
    gate = freeze_gate(QRELS, RUN, "nDCG@10", rule=LOOSE)
    accepted = [replace(gate.history[0], spreads={"nDCG@10": 0.05})] * 5
    gate = replace(gate, history=accepted, rule=Rule(margin=0.02))
    queries = list(RUN)
    new = RUN | {query: RUN[query][::-1] for query in queries[:7]}
    new |= {query: sorted(RUN[query], key=QRELS[query].get, reverse=True) for query in queries[7:15]}
    before, after = (np.array(list(gainful.evaluate(QRELS, run).by_query("nDCG@10").values())) for run in (RUN, new))
    assert (after.mean() - before.mean()) / before.mean() < -0.03
    assert stats.ttest_1samp(after - before, 0, alternative="less").pvalue > 0.1
    assert check_gate(gate, QRELS, new).verdict == "warning"


def hits(count, n=40):
    return {f"q{i}": ["a" if i < count else "x"] for i in range(n)}


GOLDEN = {f"q{i}": {"a": 1} for i in range(40)}


def test_margins_of_hits_are_detected():
    """27 of 40 questions are hits. Five lost hits have one-sided p = 2^-5 = 0.031, six 0.016, seven 0.008."""
    gate = freeze_gate(GOLDEN, hits(27), "Success@5")
    # Five and a half of 40 questions, of a mean of 27 / 40; (2.3263 sqrt(.05) / (.02 * 27 / 40))^2 are enough for 2%.
    assert gate.rule.margin == pytest.approx(0.204) and math.ceil(1000 * 5.5 / 27) == 204
    needed = math.ceil((stats.norm.ppf(0.99) * math.sqrt(0.05) / (0.02 * 27 / 40)) ** 2)
    assert gate.notices[0].endswith(
        f"the drop of Success@5 that 40 queries can detect; judge about {needed:,} queries for 2%"
    )
    found = {lost: check_gate(gate, GOLDEN, hits(27 - lost)).findings[0] for lost in (5, 6, 7)}
    assert {lost: each.verdict for lost, each in found.items()} == {5: "warning", 6: "regression", 7: "regression"}
    assert (found[6].change.clause, found[7].change.clause) == ("margin", "test")
    with pytest.raises(InputError, match=r"40 queries can only detect drops above 0\.138 \(20\.4%\)"):
        freeze_gate(GOLDEN, hits(27), "Success@5", rule=Rule(0.048))
    with pytest.raises(InputError, match="only 5 queries can fall, too few to detect a drop"):
        freeze_gate(GOLDEN, hits(5), "Success@5")


def test_sentences_name_the_clause_that_decided():
    gate = freeze_gate(GOLDEN, hits(27), "Success@5")
    for lost, words in (
        (6, "at least the margin, and one-sided p = 0.0156, at most 0.025."),
        (7, ": one-sided p = 0.0078, at"),
    ):
        assert words in " ".join(check_gate(gate, GOLDEN, hits(27 - lost)).text().split())


def test_numbers_of_another_version_are_refused(gate):
    refused(check_gate(replace(gate, numbers=0, version="0.0.1"), QRELS, RUN), "gainful 0.0.1", "gate init")


# -- The file ----------------------------------------------------------------------------------------------------------


def test_file_comes_back_as_it_was(gate, tmp_path):
    gate.save(tmp_path / "gate.json")
    assert Gate.read(tmp_path / "gate.json") == gate
    assert Gate.read(tmp_path / "gate.json").text() == gate.text()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda v: v.update(extra=1), "unknown key 'extra'"),
        (lambda v: v["rule"].update(margn=1), "rule: unknown key 'margn'"),
        (lambda v: v["rule"].update(margin="x"), "margin: expected a number"),
        (lambda v: v.pop("measures"), "missing key 'measures'"),
        (lambda v: v.update({"gainful-gate": 99}), "expected gate format 1 or older"),
        (lambda v: v.pop("gainful-gate"), "not a gate file"),
        (lambda v: v["queries"]["q00"].update(scores=[1]), "expected a score by each measure"),
        (lambda v: v["queries"]["q00"].update(scores=["a", "b"]), "q00: scores: 1: expected a number"),
        (lambda v: v.update(queries=[]), "queries: expected a map"),
        (lambda v: v.update(history=[1]), "history: 1: expected a map"),
        (lambda v: v["policy"].update(odd="x"), "gate.json: policy: unknown choice 'odd'"),
        (
            lambda v: v["policy"].update(order="\ud800"),
            r"gate.json: expected JSON, found unpaired surrogate \\ud800",
        ),
        (lambda v: v.update(measures=["odd", "RR"]), "gate.json: unknown measure 'odd'"),
        (lambda v: v.update(history=5), "history: expected a list"),
        (lambda v: v.update(judgments=5), "judgments: expected a map"),
        (lambda v: v.update(version="1"), "unknown key 'version'"),
        (lambda v: v.update({"gainful-gate": True}), "expected gate format 1 or older"),
        (lambda v: v["rule"].update(margin=0), "margin: expected a number above 0"),
        (lambda v: v["rule"].update(margin=10**400), "margin: expected a number"),
        (lambda v: v.update(runs=10**400), "runs: expected a whole number"),
        (lambda v: v["rule"].update(floors={"AP": 0.5}), "rule: AP: not in the gate"),
        (lambda v: v["rule"].update(must_hold=["x"]), "rule: x: not in the gate"),
        (lambda v: v["rule"].update(weights="visits"), "expected a weight"),
        (lambda v: v["rule"].update(missing_at_most=-3), "missing-at-most: expected a whole number"),
        (lambda v: v["queries"].pop("q00"), "the hashes of their judgments have changed"),
        (lambda v: v["queries"].update(extra=v["queries"]["q00"]), "the hashes of their judgments have changed"),
        (lambda v: v["queries"]["q00"].update(judgments=""), "the hashes of their judgments have changed"),
    ],
)
def test_damaged_files_are_errors(gate, tmp_path, change, message):
    value = json.loads(gate.text())
    change(value)
    path = tmp_path / "gate.json"
    path.write_text(json.dumps(value))
    with pytest.raises(GainfulError, match=message):
        check_gate(path, QRELS, RUN)


@pytest.mark.parametrize("has_hash", [True, False])
def test_other_scores_than_the_frozen_ones_are_errors(gate, tmp_path, has_hash):
    path = tmp_path / "gate.json"
    value = json.loads(gate.text())
    if not has_hash:  # as older versions wrote it
        del value["scores"]
        path.write_text(json.dumps(value))
        assert Gate.read(path) == gate
    for each in value["queries"].values():
        each["scores"] = [0.0, 0.0]
    path.write_text(json.dumps(value))
    mean = gainful.evaluate(QRELS, RUN, "nDCG@10").mean("nDCG@10")
    with pytest.raises(InputError, match=rf"nDCG@10: expected scores with the mean {mean:.4f} of the last baseline"):
        check_gate(path, QRELS, worse(RUN, 1.0))


def test_scores_that_changed_places_are_errors(gate, tmp_path):
    value = json.loads(gate.text())
    one, other = (value["queries"][query] for query in ("q00", "q03"))
    assert one["scores"] != other["scores"]
    one["scores"], other["scores"] = other["scores"], one["scores"]
    (tmp_path / "gate.json").write_text(json.dumps(value))
    with pytest.raises(InputError, match="the scores have changed since they were frozen"):
        Gate.read(tmp_path / "gate.json")


def test_of_updates_at_the_same_time_none_is_lost(gate, tmp_path):
    path = tmp_path / "gate.json"
    gate.save(path)
    changed = [update_gate(path, QRELS, worse(RUN, 0.1, seed), f"reason {seed}") for seed in range(8)]

    def save(each):
        try:
            each.save(path)
        except InputError as error:
            assert "gate.json: the file has changed since it was read, so nothing was written" in error.message
            return 0
        return 1

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(save, changed)) == 1
    [kept] = [each for each in changed if each.history == Gate.read(path).history]
    kept.save(path)  # the same once more
    update_gate(path, QRELS, RUN, "after the others").save(path)
    assert [each.reason for each in Gate.read(path).history] == [*(e.reason for e in kept.history), "after the others"]


def test_a_file_without_what_came_later_is_read(gate, tmp_path):
    value = json.loads(gate.text())
    for name in ("judged_drop", "spread", "missing_at_most", "weights"):
        del value["rule"][name]
    del value["history"][0]["spreads"]
    (tmp_path / "gate.json").write_text(json.dumps(value))
    assert Gate.read(tmp_path / "gate.json") == gate


def test_other_conventions_are_refused(gate):
    judged = Judged(Qrels.from_dict(QRELS), Policy(depth=5))
    refused(check_gate(gate, judged, RUN), "the conventions differ")


def test_a_new_baseline_overwrites_no_gate(gate, tmp_path):
    path = tmp_path / "gate.json"
    gate.save(path)
    with pytest.raises(UsageError, match=r"gate\.json: file already exists"):
        gate.save(path)
    update_gate(Gate.read(path), QRELS, RUN, "the same again").save(path)
    Gate.read(path).save(path)
    assert len(Gate.read(path).history) == 2


def test_ids_that_are_not_utf8(tmp_path):
    qrels = {b"\xff%d" % i: {b"d": 1} for i in range(300)}
    run = {query: [b"d"] for query in qrels}
    freeze_gate(qrels, run, "RR").save(tmp_path / "gate.json")
    assert check_gate(tmp_path / "gate.json", qrels, run).verdict == "pass"


def test_rules_from_texts(tmp_path):
    (tmp_path / "ids.txt").write_text("q00\nq01\n")
    rule = Rule.of("5%", ["rr>=0.3"], str(tmp_path / "ids.txt"), missing_at_most=2)
    assert rule == Rule(0.05, floors={"RR": 0.3}, must_hold=["q00", "q01"], missing_at_most=2)
    for wrong, message in (
        ({"margin": "0%"}, "margin: expected a margin above 0"),
        ({"floors": ["RR"]}, "floors: expected a floor such as nDCG@10>=0.40"),
        ({"floors": ["RR<=0.3"]}, "RR: higher is better"),
        ({"floors": ["RR>=0.3", "rr>=0.4"]}, "duplicate floor of RR"),
    ):
        with pytest.raises(UsageError, match=message):
            Rule.of(**wrong)
    for how in ({"margin": float("nan")}, {"margin": -1}, {"margin": "2%"}, {"judged_at_least": 90}):
        with pytest.raises(UsageError):
            Rule(**how)


def test_update_by_the_judgments_of_the_baseline(tmp_path):
    lines = [f"{query} 0 {document} {grade}\n" for query, judged in QRELS.items() for document, grade in judged.items()]
    (tmp_path / "qrels.txt").write_text("".join(lines))
    freeze_gate(str(tmp_path / "qrels.txt"), RUN, "RR", rule=LOOSE).save(tmp_path / "gate.json")
    assert len(update_gate(tmp_path / "gate.json", None, worse(RUN, 0.1), "accepted").history) == 2
    (tmp_path / "qrels.txt").unlink()
    with pytest.raises(UsageError, match=r"judgments .* not found"):
        update_gate(tmp_path / "gate.json", None, RUN, "again")


def test_queries_without_a_score_now_are_refused():
    gate = freeze_gate(QRELS, RUN, "ESL", rule=Rule(0.5, is_relative=False))
    nothing = {query: r if i > 3 else r[-1:] for i, (query, r) in enumerate(RUN.items())}
    report = check_gate(gate, QRELS, nothing)
    undefined = gainful.evaluate(QRELS, nothing, "ESL").undefined("ESL")
    assert undefined
    refused(report, f"ESL: {len(undefined)} quer", "without a score")


def test_lower_is_better():
    perfect = {query: sorted(grades, key=grades.get, reverse=True) for query, grades in QRELS.items()}
    gate = freeze_gate(QRELS, perfect, "ESL", rule=Rule(0.5, is_relative=False, floors={"ESL": 3}))
    report = check_gate(gate, QRELS, {query: r[::-1] for query, r in perfect.items()})
    assert report.verdict == "regression"
    assert "ESL rose by" in report.text()
    assert "lower is better" in " ".join(report.text().split())
    with pytest.raises(InputError, match="a relative margin is impossible"):
        freeze_gate(QRELS, perfect, "ESL", rule=Rule(0.5))


def test_small_groups_are_called_small_and_raise_no_alarm():
    table = {query: {"kind": "rare" if i == 7 else "usual"} for i, query in enumerate(QRELS)}
    gate = freeze_gate(QRELS, RUN, "RR", rule=replace(LOOSE, by="kind"), queries=table)
    report = check_gate(gate, QRELS, {**RUN, "q07": RUN["q07"][::-1]})
    verdicts = {each.group: each.verdict for each in report.groups}
    assert verdicts == {"rare": "too few queries", "usual": "pass"}


def test_weights_make_fewer_queries_of_many():
    table = {query: {"visits": 1000 if i < 3 else 1} for i, query in enumerate(QRELS)}
    with pytest.raises(InputError, match=r"60 queries, effective sample size 3\.1, can only detect"):
        freeze_gate(QRELS, RUN, "RR", rule=LOOSE, queries=gainful.Queries(table, weights="visits"))


def test_new_judgments_keep_what_was_left_out_and_what_must_hold():
    chosen = gainful.Queries(exclude=["q00", "q01"])
    gate = freeze_gate(QRELS, RUN, "RR", rule=Rule(0.1, must_hold=["q05"]), queries=chosen)
    other = {**QRELS, "new": {"x": 1}}
    changed = update_gate(gate, other, {**RUN, "new": ["x"]}, "more", new_judgments=True)
    assert set(changed.queries) == set(QRELS) - {"q00", "q01"} | {"new"}
    assert changed.history[-1].spreads == {}
    del other["q05"]
    with pytest.raises(InputError, match="must-hold"):
        update_gate(gate, other, {**RUN, "new": ["x"]}, "more", new_judgments=True)


def test_noise_of_the_baselines_runs_is_frozen():
    runs = [worse(RUN, share, seed) for seed, share in ((1, 0.0), (2, 0.4), (3, 0.8))]
    gate = freeze_gate(QRELS, runs, "RR", rule=LOOSE)
    assert gate.runs == 3
    means = [gainful.evaluate(QRELS, run, "RR").mean("RR") for run in runs]
    assert 0 < gate.run_variances["RR"] <= np.var(means, ddof=1)
    alone = freeze_gate(QRELS, runs[0], "RR", rule=LOOSE)
    changes = [check_gate(each, QRELS, worse(RUN, 0.4, 5)).findings[0].change for each in (gate, alone)]
    several, one = (each.interval[1] - each.interval[0] for each in changes)
    assert several > one


def test_scale_of_the_gate_is_taken_in_python(gate):
    scaled = freeze_gate(Qrels.from_dict(QRELS, scale=5), RUN, "RR", rule=LOOSE)
    assert check_gate(scaled, QRELS, RUN).verdict == "pass"


def test_update_keeps_history_and_learns_the_spread(gate):
    new = worse(RUN, 0.1)
    changed = update_gate(gate, QRELS, new, "reranker v3")
    assert [each.reason for each in changed.history] == ["first baseline", "reranker v3"]
    before, after = (np.array(list(gainful.evaluate(QRELS, run, "RR").by_query("RR").values())) for run in (RUN, new))
    assert changed.history[1].spreads["RR"] == pytest.approx(np.std(after - before, ddof=1) / before.mean())
    assert check_gate(changed, QRELS, new).verdict == "pass"
    assert update_gate(gate, QRELS, RUN, "again").history[-1].spreads == {}  # what changes nothing teaches nothing
    assert changed.queries["q00"].text == "about q00"
    with pytest.raises(UsageError, match="reason: must not be empty"):
        update_gate(gate, QRELS, new, " ")


def test_weights_are_frozen():
    table = {query: {"visits": i + 1} for i, query in enumerate(QRELS)}
    gate = freeze_gate(QRELS, RUN, "RR", rule=LOOSE, queries=gainful.Queries(table, weights="visits"))
    weighted = gainful.evaluate(QRELS, RUN, "RR", queries=gainful.Queries(table, weights="visits")).mean("RR")
    assert gate.history[0].means["RR"] == pytest.approx(weighted, abs=1e-14)
    assert check_gate(gate, QRELS, RUN).findings[0].change.baseline == pytest.approx(weighted, abs=1e-14)


def test_several_runs_are_repeats_whatever_they_are_called(gate, tmp_path):
    objects = [{"query": query, "results": r} for query, r in RUN.items()]
    assert check_gate(gate, QRELS, objects).runs == ("run 1",)
    repeats = [worse(RUN, 0.02, seed) for seed in (1, 2, 3)]
    report = check_gate(gate, QRELS, repeats)
    means = [gainful.evaluate(QRELS, run, "RR").mean("RR") for run in repeats]
    assert report.runs == ("run 1", "run 2", "run 3")
    assert report.findings[1].change.new == pytest.approx(np.mean(means), abs=1e-12)
    files = [tmp_path / name / "r.run" for name in "ab"]
    for path, run in zip(files, repeats, strict=False):
        path.parent.mkdir()
        path.write_text("".join(f"{q} Q0 {d} {k} {-k} t\n" for q, r in run.items() for k, d in enumerate(r)))
    assert check_gate(gate, QRELS, files).runs == ("r.run (1)", "r.run (2)")


# -- Formats -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def reports(gate):
    some = {query: r for query, r in RUN.items() if query != "q01"}
    return {
        "pass": check_gate(gate, QRELS, RUN),
        "regression": check_gate(gate, QRELS, worse(RUN, 0.5)),
        "refused": check_gate(gate, QRELS, some),
    }


@pytest.mark.parametrize("verdict", ["pass", "regression", "refused"])
def test_json(reports, verdict):
    value = json.loads(FORMATS["json"](reports[verdict]))
    schema = json.loads((Path(__file__).parents[2] / "docs" / "reference" / "gate-check.schema.json").read_text())
    jsonschema.validate(value, schema)
    code = {"pass": 0, "regression": 1, "refused": 3}[verdict]
    assert (value["schema"], value["verdict"], value["exit"]) == ("gainful-gate-check/1", verdict, code)
    assert [each["measure"] for each in value["measures"]] == ([] if verdict == "refused" else ["nDCG@10", "RR"])


def test_junit(reports):
    schema = xmlschema.XMLSchema(Path(__file__).parent / "gate" / "junit.xsd")
    for verdict, report in reports.items():
        text = FORMATS["junit"](report)
        schema.validate(text)
        suite = ElementTree.fromstring(text).find("testsuite")
        assert int(suite.get("tests")) == len(suite.findall("testcase"))
        regressions = sum(each.verdict == "regression" for each in (*report.findings, *report.groups))
        assert int(suite.get("failures")) == len(suite.findall("testcase/failure")) == regressions
        assert int(suite.get("errors")) == len(suite.findall("testcase/error")) == int(verdict == "refused")


def test_openmetrics(reports):
    for report in reports.values():
        families = {each.name: each for each in text_string_to_metric_families(FORMATS["openmetrics"](report))}
        assert families["gainful_gate_exit_code"].samples[0].value == report.exit_code
        means = {tuple(s.labels.items()): s.value for s in families["gainful_gate_mean"].samples}
        assert len(means) == len(report.findings) + len(report.groups)
        for each in report.findings:
            assert means[(("measure", each.measure),)] == each.change.new


def test_markdown(reports):
    text = FORMATS["markdown"](reports["regression"])
    assert text.startswith("<!-- gainful gate -->\n## ❌ gainful gate: regression\n\nRegression: nDCG@10 fell by")
    assert text.count("<details>") == text.count("</details>") == 1
    assert "### Largest losses" in text.partition("<details>")[2]
    assert "### Measures" in text.partition("<details>")[0]


def test_markdown_is_bounded_and_says_how_many_collapsed_queries_are_not_shown():
    qrels = {f"q{i}": {"a": 1, "b": 0} for i in range(1500)}
    gate = freeze_gate(qrels, {query: ["a"] for query in qrels}, "RR")
    report = check_gate(gate, qrels, {query: ["x"] if i < 29 else ["b", "a"] for i, query in enumerate(qrels)})
    assert len(report.collapsed) == 29
    text = FORMATS["markdown"](report)
    table = text.partition("### Collapsed queries")[2].partition("###")[0]
    assert table.count("| RR") == 20 and "… 9 more" in table
    assert len(text) < 20_000


def test_github(reports, tmp_path, monkeypatch):
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    text = FORMATS["github"](reports["regression"])
    lines = text.splitlines()
    assert lines[0].startswith("::error title=gainful gate%3A nDCG@10::nDCG@10 fell by")
    assert (tmp_path / "summary.md").read_text().startswith("<!-- gainful gate -->\n## ❌")
    assert FORMATS["github"](reports["refused"]).startswith("::error title=gainful gate%3A cannot be measured::")


def test_hostile_names_do_not_leave_their_place():
    name = 'x"><script>\n::error::|\x1b[31m'
    qrels = {name: {"a": 1, "b": 0}, **{f"q{i}": {"a": 1, "b": 0} for i in range(300)}}
    run = {query: ["a"] for query in qrels}
    table = {query: {"kind": name, "text": name} for query in qrels}
    gate = freeze_gate(qrels, run, "RR", rule=Rule(by="kind"), queries=table)
    report = check_gate(gate, qrels, {**{query: ["b", "a"] for query in qrels}})
    assert report.verdict == "regression"
    ElementTree.fromstring(FORMATS["junit"](report))
    json.loads(FORMATS["json"](report))
    assert all(line.startswith("::") for line in FORMATS["github"](report).splitlines())
    assert "<script>" not in FORMATS["markdown"](report)


# -- In tests of others, and on itself ---------------------------------------------------------------------------------


def test_assertion(gate, tmp_path, gainful_gate):
    gate.save(tmp_path / "gate.json")
    assert gainful_gate(tmp_path / "gate.json", QRELS, RUN).verdict == "pass"
    with pytest.raises(AssertionError, match=r"^Regression: nDCG@10 fell by"):
        assert_no_regression(tmp_path / "gate.json", QRELS, worse(RUN, 0.5))
    with pytest.raises(AssertionError, match=r"^Cannot be measured"):
        assert_no_regression(tmp_path / "gate.json", QRELS, {"q00": RUN["q00"]})


def test_selftest_is_of_the_baseline(gate):
    with pytest.raises(InputError, match="the run is not the baseline"):
        selftest(gate, QRELS, worse(RUN, 0.3))
    with pytest.raises(InputError, match="1 query removed"):
        selftest(gate, {query: grades for query, grades in QRELS.items() if query != "q03"}, RUN)


def test_selftest_finds_large_faults_and_is_rarely_alarmed(gate, monkeypatch):
    monkeypatch.setattr("gainful.tasks.gate.selftest._HARMLESS", 200)
    monkeypatch.setattr("gainful.tasks.gate.selftest._DRAWS", 10)
    found = selftest(gate, Qrels.from_dict(QRELS), RUN)
    for test in found.measures:
        assert [kind for kind, _, _ in test.alarms] == ["small changes", "larger ones", "larger ones in one group"]
        # At most .025 of all queries, and as much of the groups.
        assert all(alarms <= 0.08 * draws for _, alarms, draws in test.alarms)
        dropped = [each for each in test.trials if each.fault == "top document dropped" and each.share == 1.0]
        assert sum(each.is_caught for each in dropped) >= 0.6 * len(dropped)
        untouched = [each for each in test.trials if each.drop == 0]
        assert sum(each.is_caught for each in untouched) <= 0.1 * len(untouched)
    assert found.tie_alarms == 0
    assert "detects 9 of 10 drops above" in found.text()


def test_selftest_turns_hits_over(monkeypatch):
    monkeypatch.setattr("gainful.tasks.gate.selftest._HARMLESS", 300)
    monkeypatch.setattr("gainful.tasks.gate.selftest._DRAWS", 10)
    seen = []
    fires = selftests._fires
    monkeypatch.setattr(selftests, "_fires", lambda *of: seen.append(of) or fires(*of))
    found = selftest(freeze_gate(GOLDEN, hits(27), "Success@5"), Qrels.from_dict(GOLDEN), hits(27))
    assert [kind for kind, _, _ in found.measures[0].alarms] == ["small changes", "larger ones"]
    assert all(alarms <= 0.05 * draws and draws == 300 for _, alarms, draws in found.measures[0].alarms)
    for number, (first, last) in ((0.05, (0, 300)), (0.05 * 2.5**2, (300, 600))):
        differences = np.concatenate([new - compared.baseline[rows] for _, compared, rows, new in seen[first:last]])
        assert set(differences) <= {-1.0, 0.0, 1.0}
        assert np.mean(differences != 0) == pytest.approx(number, rel=0.1)
        assert abs(np.mean(differences)) < 0.01
