"""What a page made from scores says about where they come from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gainful.notation import read_number

if TYPE_CHECKING:
    from gainful.cli.score_inputs import ScoreInputs


def page_notes(inputs: ScoreInputs) -> tuple[tuple[str, ...], dict[str, object]]:
    """The notes below a page (the signature of evaluations), and what its header adds."""
    header: dict[str, object] = {"sources": list(inputs.sources)}
    if not inputs.evaluations:
        return (), header
    signature = next(iter(inputs.evaluations.values())).signature()
    return (signature.short(),), {"signature": str(signature), **header}


def read_numbers(text: str, option: str) -> list[float]:
    """Numbers between commas.

    >>> read_numbers("0.5, 0.2", "--shares")
    [0.5, 0.2]
    """
    return list(dict.fromkeys(read_number(part.strip(), option) for part in text.split(",")))
