"""Significant pairs in the papers' notation: Conover's comparisons, protected by Friedman's test."""

from __future__ import annotations

import numpy as np
import pytest

from gainful.kernel.arrays import Floats
from gainful.stats.anova import pairs_of
from gainful.stats.rank_tests import conover, friedman
from gainful_papers.significance import protected, stars_text


def random_scores(seed: int, queries: int = 20, systems: int = 4, levels: int | None = None) -> Floats:
    """Query effects, system effects and noise; with ``levels`` many ties."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(queries, 1)) + 0.4 * rng.normal(size=systems) + rng.normal(size=(queries, systems))
    return np.round(scores * levels) / levels if levels else scores


class TestStars:
    def test_no_pair_where_the_overall_test_says_nothing(self) -> None:
        # Ranks sums are close, one pair alone would pass.
        for seed in range(300):
            scores = random_scores(seed, 10, 6)
            found = friedman(scores)
            pairs = conover(found)
            if found.p > 0.05 and (pairs.p < 0.05).any():
                break
        else:
            pytest.fail("no such table among these seeds")
        assert not protected(found, pairs.p, 0.05).any()
        assert stars_text(found, list("ABCDEF")) == ""

    def test_a_level_needs_the_overall_test_at_that_level(self) -> None:
        for seed in range(300):
            found = friedman(random_scores(seed, 10, 6))
            if 0.01 < found.p < 0.05 and (conover(found).p < 0.01).any():
                break
        else:
            pytest.fail("no such table among these seeds")
        text = stars_text(found, list("ABCDEF"))
        assert text
        assert "**" not in text

    def test_direction_from_rank_sums(self) -> None:
        # B is a little better everywhere but once, where A is better by far: A has the higher mean.
        scores = np.array([[0.10, 0.11]] * 19 + [[1.0, 0.0]])
        assert scores[:, 0].mean() > scores[:, 1].mean()
        assert stars_text(friedman(scores), ["A", "B"]) == "B > A**"

    def test_form(self) -> None:
        # Ranks by hand: D and E always above A, B and C in between by turns.
        rows = [[0.1, 0.3, 0.2, 0.5, 0.4], [0.1, 0.2, 0.3, 0.4, 0.5]] * 5
        text = stars_text(friedman(np.array(rows)), list("ABCDE"))
        assert text == "B,C,D,E > A**; D,E > B**; D,E > C**"

    def test_different_stars_are_different_groups(self) -> None:
        for seed in range(300):
            found = friedman(random_scores(seed, 20, 5))
            pairs = conover(found)
            if found.p < 0.01 and {0.01, 0.05} <= {next((a for a in (0.01, 0.05) if p < a), 1) for p in pairs.p}:
                break
        groups = stars_text(found, list("ABCDE")).split("; ")
        told = {}
        for group in groups:
            winners, loser = group.split(" > ")
            for winner in winners.split(","):
                told[winner + loser[0]] = loser[1:]
        expected = {}
        for i, j, difference, p in zip(*pairs_of(5), pairs.difference, pairs.p, strict=True):
            if p < 0.05:
                pair = "ABCDE"[i] + "ABCDE"[j]
                expected[pair if difference > 0 else pair[::-1]] = "**" if p < 0.01 else "*"
        assert found.p < 0.01
        assert set(expected.values()) == {"*", "**"}
        assert told == expected
