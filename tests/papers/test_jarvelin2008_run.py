"""`gainful papers jarvelin2008`: its examples against the printed numbers, its study against plain loops."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gainful import Policy, Qrels, Sessions, parse
from gainful.data.judged import Judged
from gainful.errors import InputError, UsageError
from gainful.measures.session_gain import SDCG
from gainful.pages.charts import Plot
from gainful.pages.page import Page, Table
from gainful.render import text as render_text
from gainful_papers.claims import Study
from gainful_papers.jarvelin2008 import examples, study

GAINS = [3, 2, 3, 0, 0, 1, 2, 2, 3, 0]
#: Documents by topic, and sessions of two systems: topic, and what each query showed.
GRADES = {"t": {"a": 3, "b": 2, "c": 1, "n": 0}, "u": {"d": 3, "e": 1}}
SESSIONS: dict[str, dict[str, tuple[str, list[list[str]]]]] = {
    "one": {
        "s1": ("t", [["x", "c"], [], ["n", "b"], ["a", "b", "c"]]),
        "s2": ("t", [["a"]]),
        "s3": ("u", [["x"], ["e", "d"]]),
        "s4": ("t", [["b", "c"], ["c"]]),
    },
    "two": {
        "s5": ("t", [["c"], ["b"], ["x"], ["a", "n"], ["a"]]),
        "s6": ("u", [["d", "e"]]),
        "s7": ("u", [["x"], ["y"]]),
    },
}
WEIGHTS = {0: 0, 1: 1, 2: 10, 3: 100}


#: In every group that is compared there have to be as many sessions.
LEAST = 5


def records(system: str, times: int = 1) -> list[dict[str, Any]]:
    """The sessions of a system, each so many times, which changes no mean."""
    return [
        {
            "session": session + "'" * i,
            "topic": topic,
            "system": system,
            "queries": [{"results": page} for page in pages],
        }
        for i in range(times)
        for session, (topic, pages) in SESSIONS[system].items()
    ]


def found(times: int = 1, **settings: Any) -> Study:
    log = records("one", times) + records("two", times)
    return study(Judged(Qrels.of(GRADES), Policy()), {"log": log}, **settings)


# -- what needs no data ------------------------------------------------------------------------------------------------


def test_the_appendix(reading: Any) -> None:
    notes = [
        note for part in reading.section(examples(), "Appendix").parts if isinstance(part, Table) for note in part.notes
    ]
    assert any("the increments at ranks 2 8 do not follow the formula" in note for note in notes)
    literal = [sum(GAINS[:i]) / (1 + math.log(i, 4)) for i in range(1, 11)]
    assert any(" ".join(f"{value:.2f}" for value in literal) in note for note in notes)


def test_what_is_found_is_computed(reading: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a discount by query, the results of the claims differ."""
    monkeypatch.setattr(SDCG, "compute_sessions", lambda self, block: np.ones(block.size))
    anew = examples.__wrapped__()
    assert reading.claims(anew, "Section 2.2")["later queries"][1:] == ("0 of 30 below the previous one", "fails")
    assert reading.claims(anew, "Section 3")["the same rank"][1:] == ("Q1 above Q2 at 0 of 10 ranks", "fails")


# -- on sessions -------------------------------------------------------------------------------------------------------


def by_rank(page: list[str], topic: str, q: int, k: int) -> list[float]:
    """The gain of a query at each rank, discounted by its position."""
    gains = [WEIGHTS[GRADES[topic].get(document, 0)] / (1 + math.log2(r)) for r, document in enumerate(page[:k], 1)]
    gains += [0.0] * (k - len(gains))
    return [math.fsum(gains[:i]) / (1 + math.log(q, 4)) for i in range(1, k + 1)]


def vector(pages: list[list[str]], topic: str, queries: int) -> list[float]:
    """The session's vector, ten positions a query."""
    values: list[float] = []
    for q, page in enumerate(pages, 1):
        start = values[-1] if values else 0.0
        values += [start + value for value in by_rank(page, topic, q, 10)]
    return (values + values[-1:] * (10 * queries))[: 10 * queries]


def mean(values: list[float]) -> float:
    return math.fsum(values) / len(values)


def test_table_2(reading: Any) -> None:
    table = reading.rows(found(), "Table 2", "Sessions by number of queries")
    counts = {(row["run"], row["queries"]): row["sessions"] for row in table}
    assert [counts["one", q] for q in range(1, 5)] == [1, 2, 0, 1]
    assert [counts["two", q] for q in range(1, 6)] == [1, 1, 0, 0, 1]
    assert (counts["the paper's System 1", 1], counts["the paper's System 2", 11]) == (28, 1)
    shown = next(
        part for part in reading.section(found(), "Table 2").parts if isinstance(part, Table) and part.for_people
    )
    assert [(row[0], row[-1]) for row in shown.rows[:2]] == [("one", 9 / 4), ("two", 8 / 3)]


def last_of(name: str) -> list[list[float]]:
    return [by_rank(pages[-1], topic, len(pages), 100) for topic, pages in SESSIONS[name].values()]


def earlier_of(name: str) -> list[list[float]]:
    sessions = SESSIONS[name].values()
    return [by_rank(page, topic, q, 100) for topic, pages in sessions for q, page in enumerate(pages[:-1], 1)]


def test_figure_1(reading: Any) -> None:
    values = reading.rows(found(), "Figure 1", "Curves")
    for name in SESSIONS:
        for of, vectors in (("last query", last_of(name)), ("earlier queries", earlier_of(name))):
            curve = [row["value"] for row in values if (row["run"], row["of"]) == (name, of)]
            assert curve == pytest.approx([mean([each[i] for each in vectors]) for i in range(100)])


def test_what_is_read_off_figure_1(reading: Any) -> None:
    of = reading.claims(found(LEAST), "Figure 1")
    # s1 and s3 end with their best queries, s4 does not; s5 has the same page twice; s7 finds nothing.
    assert of["one: the last query"] == ("nearly always the best", "10 of 15 sessions, 67%", "not seen")
    assert of["two: the last query"][1:] == ("0 of 5 sessions, 0%", "not seen")
    assert of["two: the last query as a list"][1:] == ("5 of 5 sessions, 100%", "holds")
    earlier, last = (mean([each[-1] for each in vectors]) for vectors in (earlier_of("one"), last_of("one")))
    assert earlier < last / 2
    assert of["one: earlier and last"] == (
        "until the last query they gain little", f"earlier {earlier:.2f}, last {last:.2f}", "holds",
    )  # fmt: skip
    assert of["one: last queries"] == ("level off at rank 20", "no list is longer than 3", "not seen")
    lasts = {name: mean([each[-1] for each in last_of(name)]) for name in SESSIONS}
    assert lasts["two"] > lasts["one"]
    assert of["last queries by system"][1:] == (f"two {lasts['two']:.2f}, one {lasts['one']:.2f}", "other data")


@pytest.mark.parametrize(("place", "verdict"), [(19, "holds"), (20, "not seen")])
def test_levelling_off(reading: Any, place: int, verdict: str) -> None:
    """The one document is at rank 20, or below it."""
    page = ["n", *(f"x{i}" for i in range(1, place)), "a", "x"]
    of = study(
        Judged(Qrels.of({"t": {"a": 2, "n": 0}}), Policy()),
        {"mine": [{"session": f"s{i}", "topic": "t", "queries": [{"results": page}]} for i in range(LEAST)]},
    )
    share = "100.0%" if place == 19 else "0.0%"
    assert reading.claims(of, "Figure 1")["mine: last queries"][1:] == (f"{share} of the gain by rank 20", verdict)


def test_few_sessions_decide_nothing(reading: Any) -> None:
    """Every group has to have five sessions; the numbers stand there anyway."""

    def is_decided(of: Any, name: str, what: str) -> bool:
        [note] = [row.get("note", "") for row in reading.rows(of, name, "Readings from") if row["what"] == what]
        return "undecided with fewer" not in note

    for times in (1, LEAST - 1):
        of = found(times)
        # Two has one session in which several queries gain something, and two with several queries.
        first = reading.claims(of, "Figure 1")
        assert first["two: the last query"][1:] == (f"0 of {times} session{'s'[: times - 1]}, 0%", "not seen")
        assert is_decided(of, "Figure 1", "two: earlier and last") == (2 * times >= LEAST)
        assert is_decided(of, "Figure 1", "one: the last query") == (3 * times >= LEAST)
        # One session of four or more queries, of three.
        several = reading.claims(of, "Figure 3")["one: after Q1, at least 4 queries"]
        assert f"(of {times}), all" in several[1] and several[2] == "not seen"
        ends = reading.claims(of, "Figure 4")["final gain of sessions"]
        assert ends[1].startswith("from ") and is_decided(of, "Figure 4", "final gain of sessions") == (
            3 * times >= LEAST
        )
        for name in ("Figure 1", "Figure 3", "Figure 4"):
            words = [part for part in reading.section(of, name).parts if isinstance(part, str)]
            assert words[-1].endswith("Groups of fewer than 5 sessions are undecided (not seen).")
    of = found(LEAST)
    assert is_decided(of, "Figure 3", "one: after Q1, at least 4 queries")
    assert all(is_decided(of, "Figure 4", what) for what in reading.claims(of, "Figure 4"))


def test_figure_2(reading: Any) -> None:
    values = reading.rows(found(), "Figure 2", "Curves")
    ends: dict[str, dict[str, float]] = {"mean of ratios": {}, "ratio of means": {}}
    for name, sessions in SESSIONS.items():
        gained, ideal = [], []
        for topic, pages in sessions.values():
            best = sorted(GRADES[topic], key=lambda document, of=GRADES[topic]: -of[document])  # type: ignore[misc]
            gained.append(vector(pages, topic, 5))
            ideal.append(vector([best] * len(pages), topic, 5))
        ratios = [mean([a[i] / b[i] for a, b in zip(gained, ideal, strict=True)]) for i in range(50)]
        of_means = [sum(each[i] for each in gained) / sum(each[i] for each in ideal) for i in range(50)]
        for average, curve in (("mean of ratios", ratios), ("ratio of means", of_means)):
            own = [row["value"] for row in values if (row["run"], row["average"]) == (name, average)]
            assert own == pytest.approx(curve)
        ends["mean of ratios"][name] = ratios[-1]
        ends["ratio of means"][name] = of_means[-1]
    plots = [part for part in reading.section(found(), "Figure 2").parts if isinstance(part, Plot)]
    assert [plot.title.split(", ")[1] for plot in plots] == [f"{average} over sessions" for average in ends]
    of = reading.claims(found(), "Figure 2")
    for average, by_system in ends.items():
        best, other = sorted(by_system, key=lambda name, of=by_system: -of[name])  # type: ignore[misc]
        assert of[f"at the end, {average}"] == (
            "System 2 is better on average",
            f"{best} {by_system[best]:.4f}, {other} {by_system[other]:.4f}",
            "other data",
        )


@pytest.mark.parametrize("times", [1, LEAST])
@pytest.mark.parametrize(
    ("settings", "topic", "at_least"),
    [({}, "t", 4), ({"topic": "u", "at_least": 2}, "u", 2), ({"at_least": 5}, "t", 5)],
)
def test_figure_3(reading: Any, settings: dict[str, Any], topic: str, at_least: int, times: int) -> None:
    of = found(times, **settings)
    assert f"topic {topic}" in reading.section(of, "Figure 3").about
    values = reading.rows(of, "Figure 3", "Curves")
    read = reading.claims(of, "Figure 3")
    for name, sessions in SESSIONS.items():
        chosen = [pages for its, pages in sessions.values() if its == topic]
        long = [pages for pages in chosen if len(pages) >= at_least]
        starts = {}
        for what, pages_of in (("all sessions", chosen), (f"at least {at_least} queries", long)):
            curve = [row["value"] for row in values if (row["run"], row["of"]) == (name, what)]
            vectors = [vector(pages, topic, 5) for pages in pages_of]
            if vectors:
                assert curve == pytest.approx([mean([each[i] for each in vectors]) for i in range(50)])
                starts[what] = curve[9]
            else:
                assert all(math.isnan(value) for value in curve)
        _, finds, verdict = read[f"{name}: after Q1, at least {at_least} queries"]
        if not long:
            assert (finds, verdict) == ("no such session", "not seen")
        elif len(long) == len(chosen):
            assert (finds, verdict) == ("all sessions have", "not seen")
        else:
            whole, several = starts.values()
            assert finds == f"{several:.2f} (of {times * len(long)}), all {whole:.2f} (of {times * len(chosen)})"
            assert verdict == (
                "not seen" if times * len(long) < LEAST else "holds" if several < whole / 2 else "not seen"
            )


def test_figure_4(reading: Any) -> None:
    values = reading.rows(found(), "Figure 4", "Curves")
    assert {row["run"] for row in values} == {"one"}
    for session in ("s1", "s2", "s4"):
        topic, pages = SESSIONS["one"][session]
        curve = [row["value"] for row in values if row["session"] == session]
        assert curve == pytest.approx(vector(pages, topic, 5))
    assert {row["session"] for row in values} == {"s1", "s2", "s4"}
    ends = sorted(vector(pages, "t", 5)[-1] for topic, pages in SESSIONS["one"].values() if topic == "t")
    of = reading.claims(found(LEAST), "Figure 4")
    assert of["final gain of sessions"][1:] == (
        f"from {ends[0]:.2f} to {ends[2]:.2f}, median {ends[1]:.2f}",
        "holds" if ends[2] - ends[0] > ends[1] else "not seen",
    )


def test_six_queries_at_most(reading: Any) -> None:
    queries = [{"results": ["a"]}] * 8
    of = study(
        Judged(Qrels.of({"s": {"a": 1}}), Policy()), {"mine": [Sessions.of({"session": "s", "queries": queries})]}
    )
    for name in ("Figure 3", "Figure 4"):
        assert max(row["position"] for row in reading.rows(of, name, "Curves")) == 60
        assert "the first 6 queries of each session are shown; the longest has 8" in reading.section(of, name).parts
    assert max(row["position"] for row in reading.rows(of, "Figure 2", "Curves")) == 80


def test_a_system_without_sessions_of_the_topic(reading: Any) -> None:
    some = [record for record in records("one") if record["topic"] == "u"]
    of = study(Judged(Qrels.of(GRADES), Policy()), {"log": some + records("two")}, topic="t")
    assert "one: left out, because no session has this topic" in reading.section(of, "Figure 3").parts
    assert {row["run"] for row in reading.rows(of, "Figure 4", "Curves")} == {"two"}


def test_sources_of_sessions() -> None:
    """Parts from an iterator, sessions, records, a file's bytes: all the same."""
    judged = Judged(Qrels.of(GRADES), Policy())
    whole = Sessions.of(records("one"))
    texts = {
        render_text(Page("papers", tuple(part for each in of.sections for part in each.parts)), "csv")
        for of in (
            study(judged, {"log": whole}),
            study(judged, {"log": iter([whole.part(0, 2), whole.part(2, 4)])}),
            study(judged, {"log": records("one")}),
            study(judged, {"first": [whole.part(0, 1)], "second": (whole.part(1, 4),)}),
        )
    }
    assert len(texts) == 1


def test_sessions_without_topics(reading: Any) -> None:
    lists = [{"session": "s1", "queries": [{"results": ["a"]}]}, {"session": "s2", "queries": [{"results": ["x"]}]}]
    of = study(Judged(Qrels.of({"s1": {"a": 1}, "s2": {"b": 1}}), Policy()), {"mine": lists})
    assert "judged by session" in of.data and "are not public" in of.data
    for name in ("Figure 3", "Figure 4"):
        assert reading.section(of, name).about.endswith("of all sessions, because they name no topics.")
        assert str(reading.section(of, name).parts[0]).startswith("Warning: these sessions name no topics")
    assert not any(str(part).startswith("Warning") for part in reading.section(found(), "Figure 3").parts)
    assert {row["session"] for row in reading.rows(of, "Figure 4", "Curves")} == {"s1", "s2"}
    read = reading.claims(of, "Figure 1")
    assert read["mine: earlier and last"][1:] == ("no session of several queries", "not seen")
    assert read["mine: the last query"][1:] == ("no session of several queries has gain", "not seen")


def test_topics_from_elsewhere(reading: Any, tmp_path: Path) -> None:
    """From a mapping or a table, with what is missing said: as if sessions named their topics."""
    plain = [{key: value for key, value in record.items() if key != "topic"} for record in records("one")]
    topics = {session: topic for session, (topic, _) in SESSIONS["one"].items()}
    path = tmp_path / "topics.csv"
    path.write_text("Topic,SessionID\n" + "".join(f"{topic},{session}\n" for session, topic in topics.items()))
    judged = Judged(Qrels.of(GRADES), Policy())
    expected = study(judged, {"log": records("one")})
    for given in (topics, path):
        of = study(judged, {"log": plain}, topics=given)
        assert "judged by topic" in of.data
        for name in ("Figure 3", "Figure 4"):
            assert reading.rows(of, name, "Curves") == reading.rows(expected, name, "Curves")
            assert reading.section(of, name).about == reading.section(expected, name).about
    some = study(judged, {"log": plain}, topics={"s1": "t", "s2": "t", "s9": "u"})
    assert reading.section(some, "Figure 3").parts[:2] == (
        "topics: 2 sessions without a topic: s3, s4",
        "topics: 1 session with a topic not among the sessions: s9",
    )
    with pytest.raises(InputError, match="topics: no topics for the sessions of log"):
        study(judged, {"log": plain}, topics={"x": "t"})


def test_one_system_has_nobody_to_be_compared_with(reading: Any) -> None:
    of = study(Judged(Qrels.of(GRADES), Policy()), {"log": records("one")})
    assert "last queries by system" not in reading.claims(of, "Figure 1")
    assert reading.claims(of, "Figure 2") == {}
    assert not any(
        "reads off" in part.title for part in reading.section(of, "Figure 2").parts if isinstance(part, Table)
    )


def test_conventions_have_the_policy() -> None:
    *_, one, two = found().conventions
    assert one.startswith("one: conventions: order:input | ") and "judged-by:topic | sessions:4" in one
    assert two.startswith("two: ") and "sessions:3" in two


def test_judgments_are_named_without_their_folder(tmp_path: Path) -> None:
    path = tmp_path / "mine.txt"
    path.write_text("".join(f"{topic} 0 {d} {grade}\n" for topic in GRADES for d, grade in GRADES[topic].items()))
    of = study(Judged(Qrels.read(path), Policy()), {"log": records("one")})
    assert "judged by topic in mine.txt. The paper" in of.data


def test_a_topic_counts_with_its_judged_sessions(reading: Any) -> None:
    """Topic v has more sessions, but no judgments."""
    more = [{**record, "session": f"v{i}", "topic": "v"} for i, record in enumerate(records("one") * 2)]
    of = study(Judged(Qrels.of(GRADES), Policy()), {"log": records("one") + more})
    assert "topic t, which has the most sessions" in reading.section(of, "Figure 3").about


def test_topics_with_equally_many_sessions(reading: Any) -> None:
    of = study(Judged(Qrels.of(GRADES), Policy()), {"log": [*records("one")[:2], *records("two")[1:]]})
    assert "topic t, the first of 2 with the most sessions" in reading.section(of, "Figure 3").about


@pytest.mark.parametrize(
    ("grades", "gain", "worth"),
    [
        ({"a": 2, "b": 0}, "0-1-10", "Grade 2 is worth 10 (0-1-10); the paper's"),
        ({"a": 1, "b": 0}, "0-1", "Grade 1 is worth 1 (0-1)"),
        ({"a": 4, "b": -1}, "0-1-10-100-1000", "Grade 4 is worth 1,000 (0-1-10-100-1000); the paper's highest, 3, is"),
        ({"a": 0.5, "b": 1}, "linear", "Grade 1 is worth 1 (linear)"),
        ({"a": 10, "b": 1}, "linear", "Grade 10 is worth 10 (linear)"),
        ({"a": 3, "b": 1}, "0-1-10-100", "for comparison only."),
    ],
)
def test_weights_by_the_number_of_levels(grades: dict[str, float], gain: str, worth: str) -> None:
    sessions = Sessions.of({"session": "s", "queries": [{"results": ["a", "b"]}]})
    of = study(Judged(Qrels.of({"s": grades}), Policy()), {"mine": sessions})
    assert of.conventions[0].startswith(f"gains {gain}, b = 2, bq = 4; in the paper 0-1-10-100, 2 and 4")
    assert worth in of.data and of.data.endswith("for comparison only.") == (gain == "0-1-10-100")
    [evaluation] = of.evaluations.values()
    assert evaluation.measures[0] == parse(f"sDCG(gain={gain})@10")


def test_grades_that_sessions_have_themselves_count_as_levels(reading: Any) -> None:
    results = [{"document": "a", "grade": 3}, {"document": "b"}]
    sessions = Sessions.of({"session": "s", "queries": [{"results": results}]})
    of = study(Judged(Qrels.from_dict({"s": {"a": 1, "b": 1}}, scale=3), Policy()), {"mine": sessions})
    assert of.conventions[0].startswith("gains 0-1-10-100, b = 2")
    assert reading.rows(of, "Figure 1", "Curves")[0]["value"] == 100


def test_weights_bases_and_ranks_are_the_users(reading: Any) -> None:
    """The mean over sessions of the last value of Figure 4's curves, by hand."""
    of = found(gain=["0-1-5-7"], base=3, query_base="e", at=2, topic="t")
    weights = {0: 0, 1: 1, 2: 5, 3: 7}
    ends = []
    for topic, pages in SESSIONS["one"].values():
        if topic == "t":
            ends.append(
                math.fsum(
                    weights[GRADES["t"].get(document, 0)] / (1 + math.log(r, 3)) / (1 + math.log(q))
                    for q, page in enumerate(pages, 1)
                    for r, document in enumerate(page[:2], 1)
                )
            )
    rows = reading.rows(of, "Figure 4", "Curves")
    last = max(row["position"] for row in rows)
    assert sorted(row["value"] for row in rows if row["position"] == last) == pytest.approx(sorted(ends))
    assert "the top 2 of up to 6 queries, of topic t" in reading.section(of, "Figure 4").about
    assert of.conventions[0].startswith("gains 0-1-5-7, b = 3, bq = e; in the paper")


def test_every_figure_has_a_chart_and_all_its_values() -> None:
    for each in found().sections[1:]:
        page = Page("papers", each.parts)
        assert len(list(page.charts)) == 1 + (each.name == "Figure 2") and each.name.startswith("Figure")
        assert any(table.title == "Curves" and len(table.rows) for table in page.tables_for_machines)


# -- what is refused ---------------------------------------------------------------------------------------------------


def test_refused() -> None:
    judged = Judged(Qrels.of(GRADES), Policy())
    with pytest.raises(UsageError, match="no sessions given"):
        study(judged, {})
    with pytest.raises(InputError, match="log: the input has no sessions"):
        study(judged, {"log": []})
    with pytest.raises(InputError, match="unknown topic 'w'; there are t, u"):
        found(topic="w")
    with pytest.raises(UsageError, match="at_least"):
        found(at_least=0)
    with pytest.raises(InputError, match="jarvelin2008 needs grades above 0, but there are none"):
        study(Judged(Qrels.of({"t": {"a": 0}}), Policy()), {"log": records("one")})
    with pytest.raises(InputError, match="no session is judged by topic, session, query or text"):
        study(Judged(Qrels.of({"other": {"a": 1}}), Policy()), {"log": records("one")})
    with pytest.raises(InputError, match="no document in the top 10 of any session is judged"):
        study(Judged(Qrels.of({"t": {"other": 1}, "u": {"other": 1}}), Policy()), {"log": records("one")})
    with pytest.raises(UsageError, match="judged_by"):
        found(judged_by="user")
