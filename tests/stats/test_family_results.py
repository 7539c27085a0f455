"""Letters for systems that cannot be told apart."""

from __future__ import annotations

import re
from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray

from gainful.errors import UsageError
from gainful.stats.family_results import letters


def random_relation(seed: int, systems: int) -> NDArray[np.bool_]:
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((systems, systems)) < rng.random(), 1)
    return np.asarray(upper | upper.T)


class TestLetters:
    def test_share_a_letter_if_and_only_if_not_told_apart(self) -> None:
        for seed in range(60):
            relation = random_relation(seed, 1 + seed % 12)
            found = letters(relation)
            for i, j in combinations(range(relation.shape[0]), 2):
                assert bool(set(found[i]) & set(found[j])) == (not relation[i, j]), seed
            assert all(found), seed

    def test_every_letter_is_a_maximal_clique_and_all_are_there(self) -> None:
        for seed in range(60):
            relation = random_relation(seed, 1 + seed % 9)
            cliques = [
                set(members)
                for size in range(1, len(relation) + 1)
                for members in combinations(range(len(relation)), size)
                if not any(relation[i, j] for i, j in combinations(members, 2))
            ]
            maximal = sorted(tuple(sorted(c)) for c in cliques if not any(c < other for other in cliques))
            texts = [re.findall(r"[a-z]\d*", text) for text in letters(relation)]
            names = sorted({name for text in texts for name in text})
            found = sorted(tuple(i for i, text in enumerate(texts) if name in text) for name in names)
            assert found == maximal, seed

    def test_not_a_partition(self) -> None:
        # A ~ B, B ~ C, A > C
        relation = np.zeros((3, 3), bool)
        relation[0, 2] = relation[2, 0] = True
        assert letters(relation) == ("a", "ab", "b")

    def test_ends(self) -> None:
        assert letters(np.zeros((0, 0), bool)) == ()
        assert letters(np.zeros((3, 3), bool)) == ("a", "a", "a")
        assert letters(~np.eye(3, dtype=bool)) == ("a", "b", "c")
        assert letters(~np.eye(28, dtype=bool))[-3:] == ("z", "a1", "b1")

    @pytest.mark.parametrize("relation", [np.ones((2, 2), bool), np.array([[False, True], [False, False]])])
    def test_refuses(self, relation: NDArray[np.bool_]) -> None:
        with pytest.raises(UsageError, match="symmetric"):
            letters(relation)

    def test_refuses_what_explodes(self) -> None:
        # Threes that are told apart within: 3^8 maximal cliques.
        relation = np.kron(np.eye(8, dtype=bool), ~np.eye(3, dtype=bool))
        with pytest.raises(UsageError, match="at most 1000"):
            letters(relation)
