"""Tables of what papers say and what is found."""

from __future__ import annotations

from gainful_papers.claims import Claim, claims_tables


def test_no_claims_no_table() -> None:
    assert claims_tables("Readings", []) == ()


def test_a_note_of_several_claims_is_said_once() -> None:
    """Machines have it in every row."""
    claims = [Claim.statement(what, "yes", "no", False, note) for what, note in (("a", "x"), ("b", "y"), ("c", "x"))]
    [table] = claims_tables("Readings", claims)
    assert table.notes == ("a; c: x", "b: y")
    assert [row[-1] for row in table.rows] == ["x", "y", "x"]


def test_a_note_of_all_claims() -> None:
    [table] = claims_tables("Readings", [Claim.statement(what, "yes", "no", False, "x") for what in "abc"])
    assert table.notes == ("all: x",)
    [table] = claims_tables("Readings", [Claim.statement("a", "yes", "no", False, "x")])
    assert table.notes == ("a: x",)
