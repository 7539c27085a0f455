"""dellamea2004 run again: its worked examples as it prints them, and what is refused."""

from __future__ import annotations

import math
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from gainful.errors import GainfulError, InputError, UsageError
from gainful.pages.charts import Plot
from gainful.pages.page import Page
from gainful.policy import Policy
from gainful.render import text as render_text
from gainful_papers.claims import Section
from gainful_papers.dellamea2004 import examples, study
from gainful_papers.dellamea2004.adm_experiment import run_experiment
from tests.papers.dellamea2004_collection import JUDGMENTS, KEPT, LISTS, judged


def example(name: str) -> Section:
    [section] = [section for section in examples() if section.name == name]
    return section


class TestExamples:
    def test_table_2_says_that_its_points_were_chosen(self) -> None:
        assert "were chosen to reproduce the table" in str(example("Table 2").parts[0])

    def test_planes(self) -> None:
        """Figures 4 and 5: the points of all systems, the ideal line, both thresholds; equal axes."""
        [plot] = [part for part in example("Figure 4").parts if isinstance(part, Plot)]
        assert plot.is_square
        assert {points.name: sorted(zip(points.x, points.y, strict=True)) for points in plot.points} == {
            "IRS1": [(0.1, 0.2), (0.4, 0.5), (0.8, 0.9)],
            "IRS2": [(0.1, 0.3), (0.4, 0.6), (0.8, 1.0)],
            "IRS3": [(0.1, 1.0), (0.4, 0.4), (0.8, 0.8)],
        }
        assert {(rule.x, rule.y) for rule in plot.rules} == {(0.5, None), (None, 0.5)}
        assert plot.lines[0].x == plot.lines[0].y == (0.0, 1.0)
        plots = [part for part in example("Figure 5").parts if isinstance(part, Plot)]
        assert [len(plot.points) for plot in plots] == [3, 2]

    @pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")
    def test_latex_compiles(self, tmp_path: Path) -> None:
        """Figure 2 and ADM(2)(2) have Greek letters in their tables."""
        texts = [render_text(Page("papers", section.parts), "latex") for section in examples()]
        frame = (r"\documentclass{article}", r"\usepackage{booktabs}", r"\begin{document}", *texts, r"\end{document}")
        (tmp_path / "x.tex").write_text("\n".join(frame), encoding="utf-8")
        command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "x.tex"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
        assert done.returncode == 0, done.stdout.decode("utf-8", "replace")

    def test_what_is_to_be_seen_is_a_sentence(self) -> None:
        for section in (*examples(), *study(judged(), LISTS, draws=1).sections):
            assert section.about[0].isupper()
            assert section.about.endswith(".")


class TestErrors:
    @pytest.mark.parametrize(
        ("lists", "settings", "error", "text"),
        [
            ({"a": LISTS["s01"], "b": LISTS["s02"]}, {}, UsageError, "expected three or more runs to compare, found 2"),
            (
                {name: LISTS[name] for name in ("s01", "s02", "s17")},
                {},
                InputError,
                "found 2 of 3\nhint: with depth=12 ",
            ),
            (
                {name: LISTS[name] for name in ("s01", "s02", "s04")},
                {},
                InputError,
                "hint: 1 run has no documents for .*'2'",
            ),
            ({name: {"1": []} for name in "abc"}, {}, InputError, "no documents are retrieved"),
            ({}, {}, UsageError, "at least one"),
            (LISTS, {"best": ("s99",)}, UsageError, "no run is called 's99'"),
            (LISTS, {"best": "s99"}, UsageError, "no run is called 's99'"),
            (LISTS, {"best": ("s01", 2)}, UsageError, "best: expected names of runs, found int"),
            (LISTS, {"best": 2}, UsageError, "best: expected names of runs, found int"),
            (LISTS, {"worst_share": 0}, UsageError, "worst_share: expected a number above 0"),
            (LISTS, {"worst_share": math.nan}, UsageError, "worst_share: expected a finite number"),
            (LISTS, {"draws": 0}, UsageError, "draws: expected at least 1"),
            (LISTS, {"draws": 1001}, UsageError, "draws: expected at most 1,000, found 1,001"),
        ],
    )
    def test_refused(
        self, lists: Mapping[str, Any], settings: dict[str, Any], error: type[GainfulError], text: str
    ) -> None:
        with pytest.raises(error, match=text):
            study(judged(), lists, **settings)

    def test_a_query_that_nobody_answers(self) -> None:
        """No depth would help: it is named."""
        judgments = {**JUDGMENTS, "99": {"d1": 1.0}}
        with pytest.raises(
            InputError, match=r"hint: 18 runs have no documents for query '99': leave out its judgments"
        ):
            study(judged(judgments), LISTS)

    @pytest.mark.parametrize("grade", [0.0, -1.0])
    def test_nothing_is_relevant(self, grade: float) -> None:
        judgments = {query: dict.fromkeys(grades, grade) for query, grades in JUDGMENTS.items()}
        with pytest.raises(InputError, match=r"needs relevant documents .*, but there are none"):
            study(judged(judgments), LISTS)

    def test_condensed_lists_are_no_lists_of_all_documents(self) -> None:
        with pytest.raises(UsageError, match="unjudged=condensed"):
            study(judged(policy=Policy(unjudged="condensed")), LISTS)

    def test_a_depth_makes_lists_equally_long(self) -> None:
        systems = run_experiment(
            judged(policy=Policy(depth=12)), {n: q for n, q in LISTS.items() if n != "s04"}, (), None, 1, 0, 1
        ).systems
        assert systems.depth == 12
        assert not systems.short

    def test_one_group_only(self) -> None:
        result = study(judged(), {name: LISTS[name] for name in KEPT[:4]}, best=KEPT[:4], draws=1)
        section = next(section for section in result.sections if section.name == "First hypothesis")
        assert section.parts == ("Only one group has members: nothing to compare.",)
        for each in result.sections:
            assert render_text(Page("papers", each.parts))
