"""Every control and every click of the report's page, and pages of unusual collections."""

from __future__ import annotations

import csv
import math
import random
import re
from collections.abc import Callable
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from gainful import Policy, Queries, abstention_curves, compare, diff_runs, evaluate, report

Show = Callable[..., Any]

SYSTEMS = ("weak", "good", "strong")
QUERIES = [f"q{i:02d}" for i in range(30)]
ABOUT = {
    q: {"text": f"about {'bees' if i % 3 else 'tea'} {i}", "kind": "long" if i % 2 else "short"}
    for i, q in enumerate(QUERIES)
}


def collection() -> tuple[dict[str, dict[str, int]], dict[str, dict[str, list[str]]]]:
    """Three systems that find more of the better documents, one after the other; some documents are unjudged."""
    rng = random.Random(5)
    qrels: dict[str, dict[str, int]] = {}
    runs: dict[str, dict[str, list[str]]] = {name: {} for name in SYSTEMS}
    for query in QUERIES:
        grades = {f"{query}-d{i:02d}": rng.choice([0, 0, 0, 1, 1, 2, 3]) for i in range(40)}
        qrels[query] = {document: grade for i, (document, grade) in enumerate(grades.items()) if i % 5}
        for strength, name in enumerate(SYSTEMS):
            scored = {document: grade * 0.35 * strength + rng.random() for document, grade in grades.items()}
            runs[name][query] = sorted(scored, key=scored.__getitem__, reverse=True)[:30]
    return qrels, runs


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    qrels, runs = collection()
    path = tmp_path_factory.mktemp("report") / "report.html"
    titles = {document: f"Title of {document}" for document in qrels["q00"]}
    report(qrels, runs, ["nDCG@10", "AP"], baseline="weak", queries=ABOUT, documents=titles).save(path)
    return path


@pytest.fixture
def opened(show: Show, file: Path) -> Any:
    return show(file=file)


def see(opened: Any, section: str) -> Any:
    """Scroll to a section and wait until it is drawn: the page's observer is notified before this later one, without
    waiting for a frame."""
    seen = """id => new Promise(done => {
        const section = document.getElementById(id)
        section.scrollIntoView({behavior: 'instant'})
        new IntersectionObserver((_, own) => { own.disconnect(); done() }).observe(section)
    })"""
    opened.page.evaluate(seen, section)
    opened.settle()
    return opened.page.locator(f"#{section}")


def test_the_leaderboard_sorts_and_chooses(opened: Any) -> None:
    table = opened.page.locator("table.leaderboard")
    rows = table.locator("tbody tr")
    assert [row.split("\n")[0] for row in opened.texts("table.leaderboard tbody th")] == ["strong", "good", "weak"]
    means = [float(text) for text in opened.texts("table.leaderboard td.live")]
    qrels, runs = collection()
    expected = [evaluate(qrels, runs[name], "nDCG@10").aggregate("nDCG@10") for name in ("strong", "good", "weak")]
    assert means == pytest.approx(expected, abs=5e-5)
    # Initially one column shows the measure, with simultaneous intervals; other settings have a separate column.
    half = compare(qrels, runs, "nDCG@10").systems["nDCG@10"].family.threshold / 2
    ends = [[float(end) for end in text.split(" to ")] for text in opened.texts("table.leaderboard .ends")]
    assert ends == [pytest.approx([mean - half, mean + half], abs=1e-4) for mean in expected]
    heads, about = "table.leaderboard thead th:not([hidden])", opened.page.locator("#leaderboard .note")
    assert opened.texts(heads)[-5:] == ["nDCG@10", "95% interval", "AP", "Group", "Judged@10"]
    assert "Intervals: nDCG@10, simultaneous" in about.inner_text()
    for state, name in (({"depth": 5}, "nDCG@5"), ({"depth": 10, "base": 3}, "nDCG@10 as set")):
        opened.set(**state)
        assert opened.texts(heads)[-6:-2] == [name, "95% interval", "nDCG@10", "AP"]
        assert f"Intervals: {name}, 95% for each mean (t)." in about.inner_text()
    opened.set(base=2)
    table.get_by_role("button", name="AP").click()
    opened.settle()
    assert table.locator("th[aria-sort=descending]").inner_text().startswith("AP")
    # Bold values, intervals and letters refer to the sorted measure, in adjacent columns.
    assert opened.texts(heads)[-5:] == ["nDCG@10", "AP", "95% interval", "Group", "Judged@10"]
    by_ap = [evaluate(qrels, runs[name], "AP").aggregate("AP") for name in ("strong", "good", "weak")]
    assert [float(text) for text in opened.texts("table.leaderboard td.leading")] == pytest.approx(by_ap, abs=5e-5)
    assert [float(text) for text in opened.texts("td.leading + td.whisker .ends")[0].split(" to ")] == pytest.approx(
        [by_ap[0] + side * compare(qrels, runs, "AP").systems["AP"].family.threshold / 2 for side in (-1, 1)], abs=1e-4
    )
    assert "Intervals: AP, simultaneous" in about.inner_text() and "Group: by AP;" in about.inner_text()
    weight = "cell => getComputedStyle(cell).fontWeight"
    assert [table.locator(f"tbody tr:first-child {cell}").evaluate(weight) for cell in (".live", ".leading")] == [
        "400",
        "650",
    ]
    table.get_by_role("button", name="AP").click()
    opened.settle()
    assert table.locator("th[aria-sort=ascending]").inner_text().startswith("AP")
    assert rows.first.locator("th").inner_text().startswith("weak")
    # The baseline is the other one at first; a click on a row compares it, a radio button either.
    assert (opened.state()["system"], opened.state()["other"]) == (2, 0)
    rows.nth(1).locator("td.live").click()
    assert (opened.state()["system"], opened.state()["other"]) == (1, 0)
    opened.page.get_by_label("with strong").check()
    assert (opened.state()["system"], opened.state()["other"]) == (1, 2)
    opened.page.get_by_label("with good").check()  # taking the other's role leaves the previous one
    assert (opened.state()["system"], opened.state()["other"]) == (2, 1)


def test_bands_span_what_unjudged_documents_could_change(opened: Any) -> None:
    qrels, runs = collection()
    names = ("strong", "good", "weak")
    found = {
        m: [evaluate(qrels, runs[name], m, bounds=True).beside("bounds", m) for name in names]
        for m in ("nDCG@10", "AP")
    }
    for measure, bounds in found.items():
        opened.set(sort="live" if measure == "nDCG@10" else measure)
        rows = opened.page.locator("table.leaderboard tbody tr")
        drawn = [row.locator("rect").bounding_box() for row in rows.all()]
        ends = [(box["x"], box["x"] + box["width"]) for box in drawn]
        expected = [(each["lowest"], each["highest"]) for each in bounds]
        scale = (ends[0][1] - ends[2][0]) / (expected[0][1] - expected[2][0])
        assert ends == [
            pytest.approx([ends[2][0] + scale * (value - expected[2][0]) for value in each], abs=0.2)
            for each in expected
        ]
        said = [f"Unjudged documents could move {measure} to {low:.4f}–{high:.4f}." for low, high in expected]
        assert [row.locator("td.whisker").get_attribute("title") for row in rows.all()] == said
    table = see(opened, "holes").locator("table").nth(1)
    assert table.locator("tbody tr").last.inner_text().split("\t")[1:] == [
        "{lowest:.4f} to {highest:.4f}".format(**found[measure][0]) for measure in found
    ]
    # A measure that the page computes itself has no bounds.
    see(opened, "leaderboard")
    opened.set(sort="live", depth=5)
    assert not opened.page.locator("table.leaderboard rect[visibility=visible]").count()
    assert not any(each.get_attribute("title") for each in opened.page.locator("td.whisker").all())


def test_losses_are_stacked_behind_the_score(opened: Any) -> None:
    qrels, runs = collection()
    section = see(opened, "loss")
    best = {
        name: {q: sorted(ds, key=lambda d, q=q: -qrels[q].get(d, 0)) for q, ds in run.items()}
        for name, run in runs.items()
    }
    for measure in ("nDCG@10", "AP"):
        section.get_by_role("combobox", name="Measure").select_option(label=measure)
        score, most = ({name: evaluate(qrels, of[name], measure).mean(measure) for name in of} for of in (runs, best))
        raised = [f"{name} from {score[name]:.4f} to {most[name]:.4f}" for name in ("strong", "weak")]
        assert (
            f"A perfect reranker of the top 100 would raise {measure} of {' and '.join(raised)}."
            in section.inner_text()
        )
        top = {q: ds[:10] for q, ds in runs["weak"].items()}
        ordered = {q: sorted(ds, key=lambda d, q=q: -qrels[q].get(d, 0)) for q, ds in top.items()}
        parts = [score["weak"], most["weak"] - score["weak"], 1 - most["weak"]]
        heads = ["score", "ranks 1–100", "not retrieved"]
        if measure == "nDCG@10":
            order = evaluate(qrels, ordered, measure).mean(measure) - score["weak"]
            parts[1:2], heads[1:2] = [order, parts[1] - order], ["order", "ranks 11–100"]
        assert [head.strip() for head in section.locator("thead th").all_inner_texts()][2:] == heads
        row = section.locator("tbody tr", has_text="weak")
        assert [float(text) for text in row.locator("td.number").all_inner_texts()] == pytest.approx(parts, abs=5e-5)
        boxes = [box.bounding_box() for box in row.locator("rect").all()]
        whole = boxes[-1]["x"] + boxes[-1]["width"] - boxes[0]["x"]
        assert [box["width"] / whole for box in boxes] == pytest.approx(parts, abs=0.005)
        assert all(a["x"] + a["width"] == pytest.approx(b["x"], abs=0.5) for a, b in pairwise(boxes))


def test_every_control(opened: Any) -> None:
    page = opened.page
    before = opened.values()["means"]
    page.get_by_label("Grade 3", exact=True).fill("30")
    page.get_by_label("Grade 3", exact=True).press("Enter")
    assert opened.state()["gains"] == [0, 1, 2, 30]
    opened.settle()
    assert opened.values()["means"] != before
    assert page.locator("select").first.input_value() == ""  # no named map
    page.get_by_label("Grade 1, slider").focus()
    page.keyboard.press("ArrowRight")
    assert opened.state()["gains"][1] == pytest.approx(1.1)
    page.get_by_label("Depth k", exact=True).fill("20")
    page.get_by_label("Depth k", exact=True).press("Tab")
    assert opened.state()["depth"] == 20
    page.get_by_label("Depth k, slider").focus()
    page.keyboard.press("Home")
    assert opened.state()["depth"] == 1
    page.get_by_role("combobox", name="Discount").select_option("jarvelin2002")
    opened.settle()
    page.get_by_label("Base b", exact=True).fill("e")
    page.get_by_label("Base b", exact=True).press("Enter")
    assert (opened.state()["discount"], opened.state()["base"]) == ("jarvelin2002", "e")
    page.get_by_label("Base b", exact=True).fill("1")  # no base: nothing changes
    page.get_by_label("Base b", exact=True).press("Enter")
    assert opened.state()["base"] == "e"
    assert page.get_by_label("Base b", exact=True).get_attribute("aria-invalid") == "true"
    page.get_by_role("combobox", name="Average").select_option("means")
    assert opened.state()["average"] == "means"
    opened.settle()
    assert page.get_by_label("Base b", exact=True).get_attribute("aria-invalid") is None
    assert page.get_by_label("Base b", exact=True).input_value() == "e"
    page.get_by_label("CG", exact=True).check()
    assert opened.state()["measure"] == "CG"
    assert all(page.get_by_role("combobox", name=name).is_disabled() for name in ("Discount", "Average"))
    page.get_by_role("combobox", name="Gains").select_option("2^grade − 1")
    assert opened.state()["gains"] == [0, 1, 3, 7]
    page.get_by_role("button", name="Impatient").click()
    impatient = {"measure": "nDCG", "discount": "jarvelin2002", "base": 2, "gains": [0, 1, 10, 100], "depth": 1}
    assert opened.state() | impatient == opened.state()
    opened.settle()
    assert page.get_by_label("Grade 3, slider").input_value() == "100"
    page.get_by_role("button", name="Patient", exact=True).click()
    assert (opened.state()["base"], opened.state()["gains"]) == (10, [0, 1, 2, 3])
    page.get_by_role("button", name="As evaluated").click()
    opened.settle()
    assert opened.values()["means"] == before


def test_the_address_brings_the_view_back(opened: Any, file: Path) -> None:
    usual = opened.state()
    opened.set(
        depth=7, gains=[0, 1, 2, 5.5], discount="jarvelin2008", base="e", system=1, other=2, query="q03", find="tea"
    )
    opened.page.wait_for_function("() => location.hash.includes('k=7')")
    before, address = (opened.state(), opened.values()), opened.page.url.partition("#")[2]
    opened.go(file, address)
    assert (opened.state(), opened.values()) == before
    assert see(opened, "query").locator("h2").inner_text() == "Query q03"
    # The link to the answer is none to another state.
    opened.page.locator(".skip").focus()
    opened.page.keyboard.press("Enter")
    assert "k=7" in opened.page.url and opened.page.evaluate("document.activeElement.textContent") == "The answer"
    # Invalid parts of an address are ignored.
    wrong = "sort=judged@7&by=system9&col=constructor&val=x&constructor=1&o=strong"
    opened.go(file, f"k=0&g=1,2&d=cubic&s=nobody&b=1&m=MAP&lost=-1&nonsense=1&q=none&{wrong}")
    assert opened.state() == usual


def test_curves(opened: Any) -> None:
    section = see(opened, "curves")
    chart = section.locator(".u-over")
    opened.set(measure="DCG")
    words = section.locator(".words p").first.inner_text()
    values = opened.values()
    for name, curve in zip(SYSTEMS, values["curves"], strict=True):
        rank = next((r for r, value in enumerate(curve, 1) if value >= values["ideal"][4] * (1 - 1e-12)), None)
        assert rank is None or re.search(rf"{rank}( documents)? with {name}", words)
    assert words.startswith("To reach the gain of the ideal list at rank 5, ")
    box = chart.bounding_box()
    chart.click(position={"x": box["width"] - 1, "y": 50})
    assert opened.state()["depth"] == len(values["ideal"])
    chart.hover(position={"x": 0, "y": 50})
    assert section.locator(".legend > .label").inner_text() == "DCG at rank 1"
    section.get_by_role("button", name="good").click()
    assert section.get_by_role("button", name="good").get_attribute("aria-pressed") == "false"
    section.get_by_text("Values by rank").click()
    shown = section.locator("details table tbody tr", has_text="strong").locator("td").first.inner_text()
    assert float(shown) == pytest.approx(values["curves"][2][0], abs=5e-5)
    section.get_by_label("only to depth k").check()
    assert opened.state()["zoom"] is True


def test_the_sensitivity_map_sets_the_controls(opened: Any) -> None:
    section = see(opened, "sensitivity")
    section.locator(".map canvas").focus()
    for key in ("End", "ArrowUp", "ArrowUp", "Enter"):
        opened.page.keyboard.press(key)
    state = opened.state()
    assert state["gains"] == pytest.approx([0, 1, 50.5, 100])
    assert (state["discount"], state["base"]) == ("jarvelin2008", 2)
    # The cell shows the result of the controls.
    best = max(opened.values()["means"])
    cell = section.locator("#map-cell")
    assert f"strong is best with {best:.4f}" in cell.inner_text()
    # Gains between two columns, or all multiplied by a constant, also match the controls.
    for gains in ([0, 1, 1.6, 2.2], [0, 10, 16, 22]):
        opened.set(gains=gains)
        best = max(opened.values()["means"])
        assert (
            f"Highest grade worth 2.2 times the lowest, ÷ 1 + log₂ j: strong is best with {best:.4f}"
            in cell.inner_text()
        )
    # These gains are not on the map; settings with the same order are counted relative to the controls.
    for gains in ([0, 1, 10, 100], [5, 1, 2, 3], [0, 0, 0, 0]):
        opened.set(gains=gains)
        assert "The current setting is not on the map" in cell.inner_text()
    assert "All systems are in the current order in 0 of 230." in section.inner_text()
    section.get_by_label("compared systems").check()
    opened.settle()
    assert "strong is ahead in all 230 settings." in section.inner_text()
    box = section.locator(".map canvas").bounding_box()
    section.locator(".map canvas").click(position={"x": 180, "y": box["height"] - 60})
    assert (opened.state()["discount"], opened.state()["gains"]) == ("none", [0, 1, 1, 1])


def test_judgments_of_relevant_documents_only_raise_no_alarm(show: Show) -> None:
    qrels, runs = collection()
    few = {query: dict(list(grades.items())[:3]) for query, grades in qrels.items()}
    section = see(show(few, runs, ["nDCG@10"]), "holes")
    assert section.locator("[data-low]").count() and "Shaded: less than 80% judged" in section.inner_text()
    relevant = {query: {d: grade for d, grade in grades.items() if grade} for query, grades in qrels.items()}
    section = see(show(relevant, runs, ["nDCG@10"]), "holes")
    assert not section.locator("[data-low]").count() and "Shaded" not in section.inner_text()
    assert "These judgments contain only relevant documents" in section.inner_text()


def test_a_tie_is_in_the_legend_and_curves_end_where_lists_do(show: Show) -> None:
    """Two systems that differ by the order of grades 1 and 2 only tie where both gain the same."""
    qrels = {"q1": {"a": 1, "b": 2, "c": 1, "d": 1}}
    opened = show(qrels, {"one": {"q1": ["a", "b"]}, "two": {"q1": ["b", "a", "x"]}, "low": {"q1": ["x"]}}, "nDCG@2")
    section = see(opened, "sensitivity")
    assert "Share of gain kept" not in section.inner_text()  # it is painted
    tied = section.locator(".map-legend .entry", has_text="tie")
    counted = re.search(r"(\d+) (?:is|are) tied", section.inner_text())
    assert counted and tied.locator(".number").inner_text() == counted[1]
    section = see(opened, "curves")
    opened.set(depth=3)
    values = dict(zip(opened.texts("#curves .entries bdi"), opened.texts("#curves .entries .number"), strict=True))
    assert (values["one"], values["low"]) == ("ends at 2", "ends at 1") and float(values["two"]) > 0
    section.get_by_text("Values by rank").click()
    # The rows are drawn when the list opens; unlike all_inner_texts, inner_text waits for them.
    assert section.locator("details tr", has_text="one").locator("td").nth(2).inner_text() == "–"


def test_tables_and_sentences_can_be_taken_along(opened: Any) -> None:
    def saved(button: Any) -> list[list[str]]:
        with opened.page.expect_download() as waiting:
            button.click()
        return list(csv.reader(Path(waiting.value.path()).read_text("utf-8").splitlines()))

    qrels, runs = collection()
    rows = saved(see(opened, "leaderboard").get_by_role("button", name="Download as CSV"))
    ends = [f"nDCG@10 {end}" for end in ("low", "high", "lowest", "highest")]
    heads = ["place", "system", "nDCG@10", "AP", *ends, "Group by nDCG@10", "Judged@10"]
    assert rows[0] == heads and [row[1] for row in rows[1:]] == ["strong", "good", "weak"]
    assert float(rows[1][3]) == pytest.approx(evaluate(qrels, runs["strong"], "AP").aggregate("AP"))
    opened.set(find="tea")
    rows = saved(see(opened, "queries").get_by_role("button", name="Download as CSV"))
    assert rows[0] == ["query", "text", "kind", "strong", "weak", "difference"] and len(rows) == 11
    assert all(float(row[5]) == pytest.approx(float(row[3]) - float(row[4])) for row in rows[1:])
    copied = "navigator.clipboard.readText()"
    opened.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    for name, expected in (
        (
            "Copy the answer",
            "No clear winner: 2 of 3 systems could be best; strong leads. Difference between strong and good: +0.0",
        ),
        ("Copy a link to this view", "file://"),
        ("Copy this sentence", "strong against weak, nDCG@10 over 10 of 30 queries"),
    ):
        opened.page.get_by_role("button", name=name).click()
        opened.page.get_by_role("button", name="Copied").wait_for()
        assert opened.page.evaluate(copied).startswith(expected), name
        opened.page.get_by_role("button", name=name).wait_for()
    assert "find=tea" in opened.page.url


def test_the_leaderboard_fits_beside_the_controls(show: Show) -> None:
    opened = show(*collection(), ["nDCG@10", "AP", "RR", "P@10", "R@100"])
    for width in (1100, 1300):
        opened.page.set_viewport_size({"width": width, "height": 900})
        opened.settle()
        box = opened.page.locator("#leaderboard .scroll")
        assert box.evaluate("box => box.scrollWidth <= box.clientWidth"), width


def test_one_grade_makes_a_map_over_depths(show: Show) -> None:
    qrels, runs = collection()
    opened = show(qrels, runs, ["Judged@10", "AP", "nDCG(rel=3)@10"])
    # The first measure that can order systems orders them; the controls' measure has a distinct name.
    assert opened.state()["sort"] == "AP" and "Group: by AP;" in opened.page.locator("#leaderboard").inner_text()
    assert "nDCG(rel=3)@10" in opened.texts("table.leaderboard thead th")
    section = see(opened, "sensitivity")
    found = evaluate(qrels, runs, "nDCG(rel=3)@10")
    best = max(each.aggregate("nDCG(rel=3)@10") for each in found.values())
    assert f"Depth 10, ÷ log₂(j + 1): strong is best with {best:.4f}" in section.inner_text()
    section.locator(".map canvas").focus()
    for key in ("Home", "Enter"):
        opened.page.keyboard.press(key)
    assert opened.state()["depth"] == 1


def test_queries_filter_sort_and_open(show: Show, file: Path) -> None:
    opened = show(file=file, media={"reduced_motion": "no-preference"})
    section = see(opened, "queries")
    rows = section.locator("tbody tr")
    scores = opened.values()["scores"]
    differences = {q: a - b for q, a, b in zip(QUERIES, scores[2], scores[0], strict=True)}
    ascending = sorted(QUERIES, key=lambda q: (differences[q], q))
    assert opened.texts("#queries tbody th") == ascending[:15]
    section.get_by_role("button", name="Show more").click()
    assert rows.count() == 30
    section.get_by_role("button", name="Difference").click()
    opened.settle()
    assert rows.first.locator("th").inner_text() == ascending[-1]
    section.get_by_label("Find").fill("tea")
    opened.settle()
    assert set(opened.texts("#queries tbody th")) == {q for q in QUERIES if "tea" in ABOUT[q]["text"]}
    section.get_by_label("Find").fill("coffee")
    opened.settle()
    assert "None of 30 queries passes the filters." in section.inner_text()
    assert not section.locator("canvas:visible, table:visible, .buttons:visible").count()
    section.get_by_label("Find").fill("")
    section.get_by_role("combobox", name="Segment").select_option("kind")
    section.get_by_role("combobox", name="Value").select_option("long")
    opened.settle()
    assert "15 of 30 queries" in section.inner_text()
    section.get_by_role("button", name="Clear filters").click()
    opened.set(system=0, other=2)
    section.get_by_label("Lost by more than").fill("0.5")
    opened.settle()
    lost = {q for q in QUERIES if differences[q] > 0.5}
    assert set(opened.texts("#queries tbody th")) == lost and lost
    opened.page.locator("#queries tbody button").first.click()
    assert opened.state()["query"] in lost
    opened.page.wait_for_function("() => document.activeElement.id === 'query-title'")


def test_a_click_on_a_chart_opens_the_query(opened: Any) -> None:
    section = see(opened, "queries")
    bars = section.locator(".u-over").nth(1)
    box = bars.bounding_box()
    bars.click(position={"x": 2, "y": box["height"] / 2})
    scores = opened.values()["scores"]
    best = max(range(30), key=lambda q: scores[2][q] - scores[0][q])
    assert opened.state()["query"] == QUERIES[best]
    opened.page.get_by_role("button", name="Close the query").click()
    opened.settle()
    scatter = section.locator(".u-over").first
    box = scatter.bounding_box()
    top = 1.03
    x = (scores[0][best] + 0.02 * top) / (1.02 * top) * box["width"]
    y = (1 - (scores[2][best] + 0.02 * top) / (1.02 * top)) * box["height"]
    scatter.click(position={"x": x, "y": y})
    assert opened.state()["query"] == QUERIES[best]


def test_one_query(opened: Any) -> None:
    opened.set(query="q00", depth=10)
    section = see(opened, "query")
    section.locator(".document .id").first.wait_for()
    qrels, runs = collection()
    for side, name in enumerate(("strong", "weak")):
        items = section.locator("ol").nth(side).locator("li")
        for rank in (0, 3, 9):
            document = runs[name]["q00"][rank]
            item = items.nth(rank)
            grade = qrels["q00"].get(document)
            assert item.locator(".grade").inner_text().startswith("?" if grade is None else str(grade))
            assert document in (item.locator(".document").get_attribute("title") or "")
            there = runs["weak" if side == 0 else "strong"]["q00"]
            move = item.locator(".move").inner_text()
            if document not in there:
                assert move == "only here"
            else:
                by = there.index(document) - rank
                assert move == ("=" if not by else f"{'▲' if by > 0 else '▼'} {abs(by)}")
    # The arithmetic ends with the scores.
    last = section.locator("table").first.locator("tbody tr.cut td").all_inner_texts()
    scores = opened.values()["scores"]
    assert (float(last[4]), float(last[8])) == pytest.approx((scores[2][0], scores[0][0]), abs=5e-5)
    gained = sum(
        float(row.split("\t")[3]) for row in section.locator("table").first.locator("tbody tr").all_inner_texts()
    )
    assert gained == pytest.approx(float(last[3]), abs=1e-3)
    ideal = sorted(qrels["q00"].values(), reverse=True)[:10]
    assert [int(text) for text in section.locator("table").nth(1).locator(".grade").all_inner_texts()] == ideal
    first = section.locator("table").nth(1).locator("tbody tr").first
    title = first.locator(".document").get_attribute("title") or ""
    found = next(d for d in qrels["q00"] if f"({d})" in title)
    assert qrels["q00"][found] == ideal[0]
    inside = "cell => cell.firstChild.getBoundingClientRect().right <= cell.getBoundingClientRect().right"
    assert first.locator("td.text").evaluate(inside)
    strong = runs["strong"]["q00"]
    assert first.locator("td").nth(3).inner_text() == (str(strong.index(found) + 1) if found in strong else "not to 30")
    section.get_by_role("button", name="Show more ranks").click()
    assert section.locator("ol").first.locator("li").count() == 30
    opened.page.get_by_role("button", name="Next query").click()
    assert opened.state()["query"] != "q00"
    opened.page.get_by_role("button", name="Previous query").click()
    assert opened.state()["query"] == "q00"
    opened.page.get_by_role("button", name="Close the query").click()
    opened.settle()
    assert not section.is_visible()


def test_recall_holes_and_significance(opened: Any) -> None:
    section = see(opened, "recall")
    assert section.locator("figure").count() == 3
    section.get_by_text("Values by recall").click()
    section.locator("tbody tr").nth(8).wait_for()  # rows come after the click
    assert section.locator("tbody tr").count() == 9
    section = see(opened, "holes")
    section.locator("table").nth(2).locator("tbody tr").first.wait_for()
    qrels, runs = collection()
    unjudged = [
        {(q, d) for q in QUERIES for d in runs[name][q][:5] if d not in qrels[q]} for name in ("strong", "weak")
    ]
    section.get_by_role("combobox", name="Ranks").select_option("5")
    both, either = len(unjudged[0] & unjudged[1]), len(unjudged[0] | unjudged[1])
    only = [len(one - other) for one, other in (unjudged, unjudged[::-1])]
    counts = f"{both} in both lists, {only[0]} only in strong, {only[1]} only in weak."
    expected = f"{either} unjudged documents at ranks 1–5: {counts}"
    assert expected in section.inner_text()
    section = see(opened, "significance")
    section.locator("tbody button").nth(5).wait_for()
    assert section.locator("tbody button").count() == 6
    section.get_by_role("combobox", name="Measure").select_option("1")
    # The names of the rows stay in view while the columns scroll.
    assert section.locator("tbody th").first.evaluate("cell => getComputedStyle(cell).position") == "sticky"
    cell = section.get_by_title("good against weak")
    means = [evaluate(qrels, runs[name], "AP").aggregate("AP") for name in ("good", "weak")]
    assert cell.inner_text().startswith(f"+{means[0] - means[1]:.3f}")
    cell.click()
    assert (opened.state()["system"], opened.state()["other"]) == (1, 0)
    opened.settle()
    chosen = section.locator("button[aria-pressed=true]")  # colour marks significance
    assert chosen.evaluate("cell => getComputedStyle(cell).backgroundColor") == "rgba(0, 0, 0, 0)"


def test_changes_are_those_of_diff(opened: Any, show: Show) -> None:
    qrels, runs = collection()
    new = {name: runs[name] for name in ("strong", "good")}
    section = see(opened, "changes")
    for k in (5, 10):
        section.get_by_role("combobox", name="Ranks").select_option(str(k))
        found = diff_runs({"weak": runs["weak"]}, new, k=[k])
        for run in found.runs:
            section.get_by_role("combobox", name="System").select_option(label=run.name)
            churn, row = run.first, section.locator("table").first.locator("tbody tr", has_text=run.name)
            sentence = f"{run.name} changes {run.mean(churn.share):.1%} of the top {k} (mean over 30 queries); "
            assert sentence in found.text().replace("\n", " ") and sentence in section.inner_text()
            means = [f"{run.mean(each):.1f}" for each in (churn.came, churn.went, churn.moved)]
            alike = [sum(churn.changes == 0), sum((churn.moved > 0) & (churn.moved == churn.changes))]
            assert row.inner_text().split("\t")[1:] == [f"{run.mean(churn.share):.1%}", *means, *map(str, alike)]
            first = max(range(30), key=lambda q: (churn.share[q], churn.moved[q], -q))
            values = [str(each[first]) for each in (churn.came, churn.went, churn.moved)]
            about = [QUERIES[first], ABOUT[QUERIES[first]]["text"], f"{churn.share[first]:.1%}", *values]
            assert section.locator("table").nth(1).locator("tbody tr").first.inner_text().split("\t") == about
    opened.set(system=2, other=1)
    section.locator("table").nth(1).get_by_role("button").first.click()
    opened.page.wait_for_function("() => document.activeElement.id === 'query-title'")
    assert {name: opened.state()[name] for name in ("system", "other", "query")} == {
        "system": 1,
        "other": 0,
        "query": QUERIES[first],
    }
    # Only queries that both answer count, with their weights; a shorter list misses what left the longer one.
    lists = {"old": {"a": ["1", "2", "3"], "b": ["1", "2"], "c": ["1"]}, "new": {"a": ["1", "2"], "b": ["2", "1"]}}
    about = {"a": {"weight": 3}, "b": {"weight": 1}, "c": {"weight": 1}}
    qrels = {query: {"1": 1} for query in about}
    section = see(show(qrels, lists, "nDCG@5", baseline="old", queries=Queries(about, weights="weight")), "changes")
    counts = "(weighted mean over 2 queries); 0 queries did not change, 1 only in order."
    expected = f"new changes 25.0% of the top 5 {counts} 1 query is not answered by both and not counted."
    assert expected in section.inner_text()  # (3 * 1/3 + 1 * 0) / 4
    assert show(qrels, lists, "nDCG@5").page.locator("#changes").count() == 0


def test_abstention(show: Show) -> None:
    qrels, lists = collection()
    runs = {
        name: {
            q: {d: 9 + (i * 7 + place) % 5 - rank / 99 for rank, d in enumerate(ds)}
            for i, (q, ds) in enumerate(of.items())
        }
        for place, (name, of) in enumerate(lists.items())
    }
    for query in QUERIES[:9]:
        qrels[query] = dict.fromkeys(qrels[query], 0)
    opened = show(qrels, runs, "nDCG@10")
    section = see(opened, "abstention")
    assert section.locator("canvas").count() == 2
    found = abstention_curves(qrels, runs, "nDCG@10").curves
    rows = [text.split("\t")[1:] for text in section.locator("table").first.locator("tbody tr").all_inner_texts()]
    section.get_by_text("Values by threshold").click()
    details = section.locator("details tbody tr")
    details.first.wait_for()
    values = [text.split("\t")[1:] for text in details.all_inner_texts()]
    for name, row in zip(runs, rows, strict=True):
        curve = found[name, "nDCG@10"]
        area, low, high = curve.area
        assert row[:2] == [f"{area:.4f}", f"{low:.4f} to {high:.4f}"]
        threshold, answered, false, kept = (curve.row(curve.lowest)[at] for at in (0, 1, 4, 10))
        assert row[2:] == [f"{threshold:.16g}", f"{answered:.1%}", f"{false:.1%}", f"{kept:.4f}"]
        for i in curve.shown:
            threshold, answered, false, risk, kept = (curve.row(i)[at] for at in (0, 1, 4, 7, 10))
            start = ["none" if threshold == -math.inf else f"{threshold:.16g}", f"{answered:.1%}", f"{false:.1%}"]
            assert values.pop(0) == [*start, "–" if math.isnan(risk) else f"{risk:.1%}", f"{kept:.4f}"]
    # With few queries, no threshold is low enough; if no answer is false, none is needed.
    few = {query: qrels[query] for query in QUERIES[9:16]}
    section = see(show(few, runs, "nDCG@10"), "abstention")
    assert "not possible\t–\t–\t–" in section.locator("tbody tr").first.inner_text()
    many = {query: qrels[query] for query in QUERIES[9:]}
    section = see(show(many, runs, "nDCG@10"), "abstention")
    assert "none needed\t100.0%\t0.0%" in section.locator("tbody tr").last.inner_text()


def test_the_page_is_for_everyone(show: Show, missing: Callable[[str], None], file: Path) -> None:
    """axe-core finds nothing, light and dark, wide and on a phone, where the page does not scroll sideways."""
    found = find_spec("axe_playwright_python")
    if found is None or found.origin is None:
        missing("no axe-core: pip install axe-playwright-python")
    script = next(Path(found.origin).parent.rglob("axe*.js")).read_text("utf-8")
    # Of rows and items that are all alike the first five are looked at.
    alike = {"exclude": [["tbody tr:nth-child(n+6)"], ["ol li:nth-child(n+6)"]]}
    opened = show(file=file, state="q=q00", browser_options={"bypass_csp": True})
    for scheme, width, rules in (
        ("light", 1280, {}),
        ("dark", 390, {"runOnly": ["color-contrast", "scrollable-region-focusable"]}),
    ):
        if scheme == "dark":
            opened.page.emulate_media(color_scheme=scheme)
            opened.page.set_viewport_size({"width": width, "height": 900})
            opened.go(file, "q=q00")
        for section in opened.page.locator(".views > section").evaluate_all("all => all.map(each => each.id)"):
            see(opened, section)
        assert opened.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        opened.page.evaluate(script)
        ask = "([alike, rules]) => axe.run(alike, {...rules, resultTypes: ['violations']})"
        results = opened.page.evaluate(ask, [alike, rules])
        assert [(each["id"], [node["html"] for node in each["nodes"]][:3]) for each in results["violations"]] == []


def test_on_a_phone_names_stay_while_the_leaderboard_scrolls(show: Show) -> None:
    """Names that differ in a number keep all its digits."""
    qrels, runs = collection()
    names = [f"a_long_name_that_all_of_the_runs_begin_with_k{i}00" for i in (1, 2, 3)]
    opened = show(qrels, dict(zip(names, runs.values(), strict=True)), ["nDCG@10", "AP", "RR", "P@10"])
    opened.page.set_viewport_size({"width": 390, "height": 900})
    see(opened, "leaderboard")
    assert [text.strip()[-4:] for text in opened.texts("table.leaderboard tbody th")] == ["k300", "k200", "k100"]
    box, scrolled = (
        opened.page.locator("#leaderboard .scroll"),
        "box => { box.scrollLeft = 999; return box.scrollLeft }",
    )
    assert box.evaluate(scrolled) > 100
    for name in opened.page.locator("table.leaderboard .named, table.leaderboard tbody th").all():
        assert name.bounding_box()["x"] == pytest.approx(box.bounding_box()["x"], abs=1)
    assert opened.page.evaluate("document.documentElement.scrollWidth") == 390


def test_without_scripts(show: Show, file: Path) -> None:
    opened = show(file=file, browser_options={"java_script_enabled": False})
    assert opened.page.locator("#answer p").first.is_visible()
    assert opened.page.locator("#leaderboard tbody tr").count() == 3
    assert opened.page.locator("#curves svg").first.is_visible()


def test_on_paper(show: Show, file: Path) -> None:
    opened = show(file=file, media={"color_scheme": "dark"})
    paper = opened.page.pdf()
    assert paper.startswith(b"%PDF") and len(paper) > 30_000
    opened.page.emulate_media(media="print")
    # Charts are as wide as the sheet, whatever the window is; all is decoded, and no control is left.
    for width in (1400, 390):
        opened.page.set_viewport_size({"width": width, "height": 900})
        opened.page.emulate_media(media="screen", color_scheme="dark")
        opened.go(file)
        widths = opened.page.evaluate("""async () => {
            dispatchEvent(new Event('beforeprint'))
            await new Promise(done => queueMicrotask(() => queueMicrotask(done)))
            const start = document.querySelector('main').getBoundingClientRect().left
            return [...document.querySelectorAll('canvas')].map(each => each.getBoundingClientRect().right - start)
        }""")
        assert len(widths) >= 7 and 600 < max(widths) < 17 / 2.54 * 96 + 1, width
        opened.page.emulate_media(media="print")
        opened.page.set_viewport_size({"width": 681, "height": 900})  # A4 without its margins
        assert opened.page.evaluate("document.documentElement.scrollWidth") <= 681
        assert opened.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        assert opened.page.locator("#holes table").nth(2).locator("tbody tr").count() == 10
        assert not opened.page.locator("input:visible, select:visible, .buttons button:visible, aside:visible").count()
        opened.page.evaluate("dispatchEvent(new Event('afterprint'))")
        opened.page.emulate_media(media="screen")
        opened.page.set_viewport_size({"width": 1280, "height": 900})
        see(opened, "queries")
        opened.page.wait_for_function(
            "() => document.querySelector('#queries .two canvas').getBoundingClientRect().width > 300"
        )
    opened.page.emulate_media(media="print")
    worth = "gains 0 for grade 0, 1 for grade 1, 2 for grade 2 and 3 for grade 3"
    settings = f"Settings: nDCG to depth 10; {worth}; gains at rank j ÷ log₂(j + 1); mean of ratios."
    assert opened.texts(".on-paper") == [settings] and opened.page.locator(".on-paper").is_visible()
    assert not opened.page.locator(".how:visible").count()


def test_in_a_notebook(show: Show, tmp_path: Path) -> None:
    """Without an address, the controls still work."""
    view = report({"q1": {"d1": 1}}, {"one": {"q1": ["d1"]}}, "nDCG@2")._repr_html_()
    (tmp_path / "notebook.html").write_text(f'<html data-ready="1">{view}</html>', "utf-8")
    opened = show(file=tmp_path / "notebook.html")
    frame = opened.page.frames[1]
    frame.wait_for_selector("html[data-ready]")
    frame.evaluate("gainfulReport.set({depth: 1})")
    opened.page.wait_for_timeout(250)  # until the address would have been changed
    assert "nDCG@1" in frame.locator("#leaderboard").inner_text()


def test_queries_without_scores_and_with_weights(show: Show) -> None:
    """Counts and means are of queries that have both scores, each as much as it weighs; those without come last."""
    qrels = {f"q{i}": {"d1": 1, "d2": 2, "d0": 0, **{f"e{j}": 1 for j in range(30)}} for i in range(5)}
    runs = {
        "one": {"q0": ["d2", "d1"], "q1": ["d1"], "q2": ["d0"], "q3": ["d2"], "q4": ["x"]},
        "two": {"q0": ["d1"], "q1": ["d2", "d1"], "q3": ["x", "d1"], "q4": ["d1"]},
    }
    weights = dict(zip(qrels, (1, 5, 1, 2, 1), strict=True))
    queries = Queries({q: {"visits": weight} for q, weight in weights.items()}, weights="visits")
    opened = show(qrels, runs, "nDCG@30", queries=queries, policy=Policy(missing="skip"))
    assert (
        "weighted means over 4 to 5 queries, effective sample size 3.1."
        in opened.page.locator("#leaderboard").inner_text()
    )
    section = see(opened, "queries")
    scores = [evaluate(qrels, runs[name], "nDCG@30").by_query("nDCG@30") for name in ("one", "two")]
    differences = {q: scores[0][q] - scores[1][q] for q in runs["two"]}
    mean = sum(weights[q] * d for q, d in differences.items()) / sum(weights[q] for q in differences)
    if opened.state()["system"]:
        mean = -mean
    shown = re.search(
        r"over 4 of 5 queries \(1 without both scores\): weighted mean difference ([+−][\d.]+), win",
        section.inner_text(),
    )
    assert shown and float(shown[1].replace("−", "-")) == pytest.approx(mean, abs=5e-5)
    for up in (True, False):
        opened.set(up=up, order="difference")
        assert opened.texts("#queries tbody th")[-1] == "q2"
    # Both lists have ended long before the depth, to which the arithmetic and the ideal list go.
    opened.set(query="q0", gains=[0.5, 1, 2])
    section = see(opened, "query")
    section.get_by_role("button", name="Show more ranks").click()
    opened.settle()
    assert [section.locator("table").nth(i).locator("tbody tr").count() for i in range(2)] == [30, 30]
    opened.set(depth=33, gains=[5, 1, 2])
    assert "a document judged 0" in section.locator("table").nth(1).inner_text()
    assert "2 documents are not enough" in see(opened, "curves").inner_text()


NASTY = [
    "</script><script>alert(1)</script>",
    "<img/src=x/onerror=alert(1)>",
    "\u202egnp.exe",
    "\x1b[31mred",
    "a&amp;b'\"",
    "q=1&k=3#",
]


def test_ids_and_names_are_data(show: Show) -> None:
    qrels = {query: {document: i % 3 for i, document in enumerate(NASTY)} for query in NASTY}
    names = ["a_very_long_name_that_all_of_them_begin_with_" + name for name in (*NASTY[:3], *"abcdef")]
    runs = {name: {query: random.Random(i).sample(NASTY, 4) for query in NASTY} for i, name in enumerate(names)}
    best = sorted(NASTY, key=qrels[NASTY[0]].__getitem__, reverse=True)
    runs[max(names)] = dict.fromkeys(NASTY, best)
    opened = show(qrels, runs, "nDCG@3", documents={NASTY[1]: NASTY[0]}, queries={q: {"text": NASTY[0]} for q in NASTY})
    see(opened, "queries")
    count = opened.page.locator("#queries tbody button").count()
    assert count == len(NASTY)
    for i in range(count):
        opened.page.locator("#queries tbody button").nth(i).click()
        opened.settle()
    for section in ("query", "holes", "significance"):
        see(opened, section)
    assert opened.page.locator("img").count() == 0
    assert opened.page.evaluate("document.scripts.length") <= 3
    text = opened.page.evaluate("document.body.innerText")
    assert not re.search("[\u202e\x1b]", text)
    # Long names are shortened but keep their ends, remain unique, and fit on a phone.
    shown = [text.strip() for text in opened.texts("table.leaderboard tbody th")]
    assert len(set(shown)) == len(names) and all(len(name) <= 34 for name in shown)
    opened.page.set_viewport_size({"width": 390, "height": 900})
    # With more systems than hues, repeated hues are hatched.
    [leader] = see(opened, "sensitivity").locator(".map-legend canvas").all()
    colours = "canvas => new Set(new Uint32Array(canvas.getContext('2d').getImageData(0, 0, 14, 14).data.buffer)).size"
    assert leader.evaluate(colours) > 1
    assert opened.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    box = opened.page.locator("table.leaderboard td.live").first.bounding_box()
    assert box["x"] + box["width"] <= 390
    opened.page.wait_for_function("() => location.hash.includes('q=')")
    query = opened.state()["query"]
    address = opened.page.url.partition("?")
    opened.go(Path(address[0].removeprefix("file://")), address[2].partition("#")[2])
    assert opened.state()["query"] == query


@pytest.mark.parametrize(
    "case",
    [
        ({"q1": {"d1": 1, "d2": 2}, "q2": {"d1": 1}}, {"only": {"q1": ["d1"], "q2": ["d2", "d1"]}}),  # one run
        ({"q1": {"d1": 1, "d2": 2}}, {"one": {"q1": ["d1"]}, "two": {"q1": ["d2", "d1"]}}),  # one query
        (
            {"q1": {f"d{i}": i / 7 for i in range(20)}},
            {"one": {"q1": ["d1", "d9"]}, "two": {"q1": ["d19"]}},
        ),  # real values
        ({"q1": {"d1": 1}, "q2": {"d1": 2}}, {"one": {"q1": ["d1"]}, "two": {"q1": ["d1"], "q2": ["d1"]}}),  # missing
        ({"q1": {"d1": 0}, "q2": {"d1": 2}}, {"one": {"q1": ["x"], "q2": ["x"]}, "two": {"q1": ["d1"], "q2": ["d1"]}}),
        ({"q1": {"d1": 0}}, {"one": {"q1": ["x"]}, "two": {"q1": ["d1"]}}),  # nothing to gain
    ],
)
def test_unusual_collections(show: Show, case: tuple[Any, Any]) -> None:
    qrels, runs = case
    opened = show(qrels, runs, "nDCG@10")
    opened.set(query="q1")
    for section in ("leaderboard", "curves", "loss", "sensitivity", "queries", "query", "changes", "recall", "holes"):
        if opened.page.locator(f"#{section}").count():
            see(opened, section)
    for measure in ("CG", "nCG", "DCG"):
        opened.set(measure=measure, average="means")
        opened.settle()
    text = opened.page.evaluate("document.body.innerText")
    assert "NaN" not in text
    if len(runs) == 1:  # with nothing to compare, nothing is
        assert not re.search("against|Lost by more than|Difference|both", text)
        assert opened.page.locator("#queries .u-over").count() == 1
    if not any(grade > 0 for grades in qrels.values() for grade in grades.values()):
        assert "No judged document has a gain above 0" in text and not opened.page.locator("#sensitivity").count()
    for name, mean in zip(runs, opened.values()["means"], strict=True):
        expected = evaluate(qrels, runs[name], "DCG@10").aggregate("DCG@10")
        assert math.isclose(mean, expected, abs_tol=1e-12)


def test_queries_that_a_run_does_not_answer_are_counted(show: Show) -> None:
    qrels = {f"q{i}": {"d1": 1} for i in range(9)}
    runs = {"old": {q: ["d1"] for q in qrels}, "late": {q: ["x", "d1"] for q in list(qrels)[4:]}}
    opened = show(qrels, runs, "nDCG@10")
    said = "9 queries, 4 of which late did not answer"
    assert f"means over {said}." in opened.page.locator("#leaderboard").inner_text()
    assert said in " ".join(opened.page.locator("#answer").inner_text().split())
