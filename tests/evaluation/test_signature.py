"""Signatures: one line with all conventions behind a number."""

from __future__ import annotations

import textwrap

import pytest

import gainful
from gainful import Policy, Signature, UsageError, evaluate, parse

PLAIN = (
    "order:score|ties:docid-desc|scores:float64|duplicates:error|parent:none|parent-of:run|spans:none|depth:all|unjudged:zero|negative:judged|grade-zero:0|"
    "judges:error|subtopics:no|missing:zero|undefined:zero|extra:ignore|recall-cut:exact"
)
FACTS = f"scale:3|queries:50|gainful:{gainful.__version__}"
OTHER = Policy(
    order="rank",
    ties="input",
    scores="float32",
    duplicates="first",
    depth=100,
    unjudged="condensed",
    negative="unjudged",
    grade_zero=1.5,
    judges="median",
    subtopics=True,
    missing="skip",
    undefined="error",
    extra="error",
    recall_cut="ceil0.9",
)


def test_the_line() -> None:
    assert str(Signature(parse("P@5"), Policy(), 3.0, 50)) == f"P@5|{PLAIN}|{FACTS}"


def test_the_measure_comes_with_all_its_parameters() -> None:
    line = str(Signature(parse("nDCG@10"), Policy(), 3.0, 50))
    assert line.startswith("nDCG(gain=linear, discount=burges2005, base=2)@10|order:score|")


def test_every_choice_has_its_place() -> None:
    assert str(Signature(None, OTHER, 2.5, 1, "9.9")) == (
        "order:rank|ties:input|scores:float32|duplicates:first|parent:none|parent-of:run|spans:none|depth:100|unjudged:condensed|negative:unjudged|"
        "grade-zero:1.5|judges:median|subtopics:yes|missing:skip|undefined:error|extra:error|recall-cut:ceil0.9|"
        "scale:2.5|queries:1|gainful:9.9"
    )


@pytest.mark.parametrize("policy", [Policy(), OTHER, Policy.like("trec_eval-9"), Policy.like("trec_eval-10")])
@pytest.mark.parametrize(
    "measure", [None, "P@5", "nDCG(gain={0:0,0.3:1,1:10}, base=e)@10", "AnCG(gain=0-1-10-100)@200", "IPrec@0.1", "NumQ"]
)
def test_round_trip(measure: str | None, policy: Policy) -> None:
    signature = Signature(None if measure is None else parse(measure), policy, 0.1, 12345)
    assert Signature.parse(str(signature)) == signature
    assert str(Signature.parse(str(signature))) == str(signature)
    assert Signature.parse(signature.short()) == signature
    wrapped = "\n".join(textwrap.wrap(signature.short(), 40, break_on_hyphens=False))
    assert Signature.parse(wrapped) == signature


def test_the_short_line_has_what_differs_and_the_facts() -> None:
    facts = FACTS.replace("|", " | ")
    assert Signature(None, Policy(), 3.0, 50).short() == f"conventions: all default | {facts}"
    changed = Policy(missing="skip", depth=10)
    assert Signature(None, changed, 3.0, 50).short() == f"conventions: depth:10, missing:skip | {facts}"
    assert Signature(parse("P@5"), Policy(), 3.0, 50).short() == f"P@5 | conventions: all default | {facts}"
    sessions = Signature(None, Policy(), 3.0, 50, judged_by="topic")
    assert " | judged-by:topic | sessions:50 | " in sessions.short()
    assert Signature.parse(sessions.short()) == sessions
    cut = Signature(None, Policy(), 3.0, 50, judged_by="text", session_gap=5400.0)
    assert cut.short().startswith("conventions: session-gap:90m | ") and "|session-gap:90m|" in str(cut)
    assert Signature.parse(cut.short()) == Signature.parse(str(cut)) == cut


def test_the_other_version_survives() -> None:
    assert Signature.parse(f"P@5|{PLAIN}|scale:3|queries:50|gainful:0.0.9").version == "0.0.9"


def test_choices_that_are_not_there_keep_their_defaults() -> None:
    assert Signature.parse("AP|missing:skip|scale:1|queries:2|gainful:1").policy == Policy(missing="skip")


def test_an_evaluation_signs_what_it_did() -> None:
    result = evaluate({"q1": {"a": 2}, "q2": {"a": 4}}, {"q1": {"a": 1.0}}, ["P@5", "MAP"], policy=Policy(depth=7))
    signature = result.signature("AP")
    assert signature == Signature(parse("AP"), Policy(depth=7), 4.0, 2)
    assert result.signature().measure is None
    assert str(result.signature("P@5")).startswith("P@5|order:score|")


def test_lists_without_scores_sign_that_their_order_is_the_input() -> None:
    assert evaluate({"q": {"a": 1}}, {"q": ["a"]}, "AP").signature().policy.order == "input"


def test_an_evaluation_can_be_repeated_from_its_signature() -> None:
    qrels, run = {"q1": {"a": 2, "b": 1}, "q2": {"a": 4}}, {"q1": {"b": 3.0, "x": 2.5, "a": 2.0}}
    first = evaluate(qrels, run, "nDCG(gain=scaled)@5", policy=Policy(unjudged="condensed", grade_zero=1))
    line = str(first.signature("nDCG(gain=scaled)@5"))
    read = Signature.parse(line)
    assert read.measure is not None
    again = evaluate(gainful.Qrels.from_dict(qrels, scale=read.scale), run, read.measure, policy=read.policy)
    assert str(again.signature(read.measure)) == line
    assert again.by_query(read.measure) == first.by_query(read.measure)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("AP", "signature: scale: is missing"),
        ("AP|scale:1|queries:2", "signature: gainful: is missing"),
        ("AP|scale:1|gainful:1", "signature: queries: is missing"),
        ("AP|scale:1|scale:1|queries:2|gainful:1", "signature: expected name:value once each, found 'scale:1'"),
        ("AP|what|scale:1|queries:2|gainful:1", "signature: expected name:value once each, found 'what'"),
        ("AP|scale:x|queries:2|gainful:1", "signature: scale: expected a number, found 'x'"),
        ("AP|scale:1|queries:x|gainful:1", "signature: expected a whole number of queries, found 'x'"),
        ("AP|mising:zero|scale:1|queries:2|gainful:1", "policy: unknown choice 'mising'\nhint: did you mean missing?"),
        ("AP|missing:nil|scale:1|queries:2|gainful:1", "missing: expected zero | skip | error, found 'nil'"),
        ("AQ|scale:1|queries:2|gainful:1", "unknown measure 'AQ'\nhint: did you mean Q or AP?"),
    ],
)
def test_mistakes(line: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        Signature.parse(line)
    assert str(caught.value) == message
