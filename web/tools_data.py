"""Write the conventions of other tools for the playground, so that they are declared once, in Python.

python web/tools_data.py web/src/playground/tools.json
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from gainful import parse
from gainful.discounts import DISCOUNTS
from gainful.measures.help import Help
from gainful.tasks.whydiff.settings import DIALECTS, MEANINGS, Dialect, meaning, usual_divisor

#: The measures of the playground, with and without a cutoff.
NAMES = ("CG", "DCG", "nCG", "nDCG", "AP", "RR", "ERR")
MEASURES = {text: parse(text.replace("@k", "@10")) for name in NAMES for text in (name, f"{name}@k")}
#: The conventions that matter for one list of documents whose order is given.
DIMENSIONS = ("gain", "ideal", "divisor", "discount", "undefined")


def tool(dialect: Dialect) -> dict[str, Any]:
    """A tool's measures, and the values it allows for each dimension."""
    measures = [text for text, measure in MEASURES.items() if dialect.computes(measure)]
    values = {name: list(dialect.values[name]) for name in DIMENSIONS if name in dialect.values}
    return {"name": dialect.name, "measures": measures, "values": values}


def data() -> dict[str, Any]:
    """The content of the file."""
    tools = [found for found in map(tool, DIALECTS) if found["measures"]]
    used = {name: [value for each in tools for value in each["values"].get(name, ())] for name in DIMENSIONS}
    return {
        "tools": tools,
        "words": {
            name: {value: meaning(name, value) for value in dict.fromkeys((*MEANINGS[name], *used[name]))}
            for name in DIMENSIONS
        },
        "discounts": {name: each._asdict() for name, each in DISCOUNTS.items()},
        "measures": {name: about(name) for name in NAMES},
    }


def about(name: str) -> dict[str, Any]:
    """Claim, formula and agreement with other tools, from the docstring of a measure."""
    measure = parse(name)
    found = Help.of(measure)
    sections = {
        "formula": found.paragraphs("Formula")[0],
        "agrees": "; ".join(found.paragraphs("Agrees with")),
        "differs": "; ".join(found.paragraphs("Differs from")),
    }
    return {"claim": found.claim, "divisor": usual_divisor(measure), **sections}


if __name__ == "__main__":
    text = json.dumps(data(), ensure_ascii=False, indent=1)
    Path(sys.argv[1]).write_text(text + "\n", encoding="utf-8")
