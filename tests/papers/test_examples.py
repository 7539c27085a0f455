"""Examples without data: every printed number agrees, except those named here."""

from __future__ import annotations

from typing import Any

import pytest

from gainful_papers import reproduce

#: By paper and section: how many claims agree or hold, and what is found of the others.
EXAMPLES: dict[str, dict[str, tuple[int, dict[str, tuple[str, str]]]]] = {
    "jarvelin2000": {
        "Section 2.2": (6, {}),
        "Equation 2": (
            1,
            {
                "b = e": ("at ranks 1, 2, 3: 1.00, 1.44, 0.91", "fails"),
                "b = 10": ("at ranks 1, 2, 3: 1.00, 3.32, 2.10", "fails"),
            },
        ),
        "Sections 3 and 4": (
            8,
            {
                "3.7: 13 points, %": ("33%", "not seen"),
                "4: differences at level 1": ("AvP: 4.2 points, 42% of the worst", "not seen"),
                "4: more documents to read with the others": ("30%, 82%, 100%", "fails"),
            },
        ),
    },
    "jarvelin2002": {
        "Section 2.1": (2, {}),
        "Section 2.2": (
            4,
            {
                "ideal DCG, b = 2": (
                    "3.00 6.00 7.89 8.89 9.75 10.53 10.88 11.22 11.53 11.83 11.83 11.83",
                    "truncated",
                ),
            },
        ),
        "Section 2.3": (4, {}),
        "Section 2.4, lists": (4, {}),
        "Table 1, as printed": (
            4,
            {
                "Rel=0: % of TREC relevant, irrelevant, all": ("24.9 93.8 60.5", "erratum"),
                "Rel=3: % of TREC relevant, irrelevant, all": ("12.7 0.4 6.3", "erratum"),
            },
        ),
        "Figures 1 and 2, as printed": (2, {}),
        "Section 4, discount": (
            6,
            {
                "ranks that would be boosted, b = 10": ("2 to 9", "erratum"),
                "jarvelin2000: log_b i for ranks ≥ 2": ("it does", "fails"),
            },
        ),
    },
    "jarvelin2008": {
        "Section 2.1": (1, {"2008": ("only ranks 2 3 4 5 6 7 8 9 10", "erratum")}),
        "Section 2.2": (2, {}),
        "Section 3": (4, {}),
        "Section 3.1": (5, {"range of the base of the query discount": ("1.5 <= bq <= 10", "erratum")}),
        "Appendix": (
            1,
            {
                "DCG', b = 4": ("3.00 4.33 6.01 6.01 6.01 6.44 7.28 8.08 9.24 9.24", "erratum"),
                "discount in formula (2)": ("1 + log_b j", "erratum"),
                "reference for the original DCG and its normalisation": ("[5]", "erratum"),
            },
        ),
    },
    "scheel2011": {
        "Table 1": (8, {}),
        "Section 3.1": (2, {}),
        "Table 2": (
            20,
            {
                "dcg, ranks 3 to 8": ("115 205 224 224 227 495", "truncated"),
                "dcg, ideal": ("847 979 1084 1105 1109 1113 1113 1113", "truncated"),
                "the number of relevance levels in example two": ("from 5 to 9", "erratum"),
            },
        ),
        "Section 5": (4, {}),
    },
    "dellamea2004": {
        "Figure 2": (0, {"precision": ("|β| / (|α| + |β|)", "erratum")}),
        "Table 1": (12, {}),
        "ADM(2)(2)": (1, {}),
        "Table 2": (21, {"IRS1 E": ("0.83", "erratum")}),
        "Figure 6": (6, {}),
        "SRS and URS": (4, {"based on binary relevance": ("URS'", "erratum")}),
        "Conclusions": (0, {"higher ADM, although the other's scores are useful for ranking": ("IRS2", "erratum")}),
    },
}


@pytest.mark.parametrize("paper", EXAMPLES)
def test_every_printed_number(paper: str) -> None:
    settings: dict[str, Any] = {"repetitions": 1} if paper == "scheel2011" else {}
    found = {section.name: section for section in reproduce(paper, **settings).examples}
    for name, (expected, others) in EXAMPLES[paper].items():
        rows = [
            dict(zip([column.name for column in table.columns], row, strict=True))
            for table in found[name].page.tables_for_machines
            for row in table.rows
        ]
        claims = [row for row in rows if "verdict" in row]
        as_printed = [row for row in claims if row["verdict"] in ("agrees", "holds")]
        assert len(as_printed) == expected, name
        assert all(row["the paper says"] == row["gainful finds"] for row in claims if row["verdict"] == "agrees")
        assert {r["what"]: (r["gainful finds"], r["verdict"]) for r in claims if r not in as_printed} == others
        assert all(row["note"] for row in claims if row["verdict"] == "erratum")
