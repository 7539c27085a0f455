"""Write the generated pages: measures from the catalogue, choices from the policy, notebooks from the tutorials.

Run it through `make docs`. A test compares the files with the output of this script.
"""

from __future__ import annotations

import json
import re
from doctest import DocTestParser
from pathlib import Path

from gainful.discounts import DISCOUNTS
from gainful.gains import NAMED_GAINS
from gainful.measures.base import Measure
from gainful.measures.catalog import ALL_FAMILIES, ALL_MEASURES, DEFAULT_MEASURES, SHORT_NAMES, long_text
from gainful.measures.help import SECTIONS, Help, about_parameter, differences_of, reading
from gainful.policy import CHOICES, DIALECTS
from gainful.stats.catalogues import ASKED_AS_TESTS, CORRECTIONS, INTERVALS, PROCEDURES

DOCS = Path(__file__).parent

_WHOLE = re.DOTALL | re.MULTILINE
#: A command and the text that it reads, if that follows.
_COMMAND = re.compile(r"^\$ ([^\n]*<<'END'\n.*?^END$|[^\n]*$)", _WHOLE)

#: Sections that list the values of a parameter.
_LISTS = {"gain": "gain-maps", "discount": "discounts"}

#: Heading, flag and members of each catalogue of statistical methods.
METHODS = (
    ("Tests of two systems", "test", ASKED_AS_TESTS),
    ("Intervals", "interval", INTERVALS),
    ("Corrections for several systems", "correction", CORRECTIONS),
    ("Procedures for several systems", "procedure", PROCEDURES),
)


def pages() -> dict[Path, str]:
    """Return all generated files with their text."""
    result = {DOCS / "reference" / "measures" / "README.md": _index(), DOCS / "reference" / "choices.md": _choices()}
    for family, names in ALL_FAMILIES.items():
        for measure in (ALL_MEASURES[name] for name in names):
            result[DOCS / "reference" / "measures" / f"{measure.name}.md"] = _measure_page(family, measure)
    for path in sorted((DOCS / "tutorials").glob("*.md")):
        result[path.with_suffix(".ipynb")] = _notebook(path.read_text(encoding="utf-8"))
    return result


def _notebook(page: str) -> str:
    """Convert a tutorial to a notebook without outputs; a Python cell ends where a value is shown."""
    cells = []
    for prose, kind, code in re.findall(r"(.*?)(?:^```(console|python)\n(.*?)^```$|\Z)", page, _WHOLE):
        cells.append(("markdown", prose))
        if kind == "console":
            cells.append(("code", "\n".join(["%%bash", *_COMMAND.findall(code)])))
        elif kind == "python":
            examples = (each.source + "\0" * bool(each.want) for each in DocTestParser().get_examples(code))
            cells += [("code", source) for source in "".join(examples).split("\0")]
    cells[1:1] = [
        ("code", "%%bash\n# pip install 'gainful[plot]'\ngainful demo > /dev/null"),
        ("code", "%cd gainful-demo"),
    ]
    book = {
        "cells": [_cell(kind, source.strip()) for kind, source in cells if source.strip()],
        "metadata": {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}},
        "nbformat": 4,
        "nbformat_minor": 4,
    }
    return json.dumps(book, ensure_ascii=False, indent=1) + "\n"


def _cell(kind: str, source: str) -> dict[str, object]:
    of_code: dict[str, object] = {"execution_count": None, "outputs": []} if kind == "code" else {}
    return {"cell_type": kind, "metadata": {}, "source": source, **of_code}


def _measure_page(family: str, measure: type[Measure]) -> str:
    text = Help.of(measure)
    lines = [f"# {measure.name}", "", text.claim, "", f"*{family}.* {reading(measure)}", ""]
    for name in SECTIONS:
        if name in text.sections:
            lines += [f"## {name}", "", _section(name, text.sections[name]), ""]
        if name == "Differs from":
            lines += _differences(measure, has_section=name in text.sections)
    if measure.parameters():
        lines += ["## Parameters", "", "| parameter | default | meaning |", "|---|---|---|"]
        lines += [
            f"| `{name}` | {_default(value)} | {_meaning(measure, name)} |"
            for name, value in measure.parameters().items()
        ]
        lines.append("")
    lines += ["[All measures](README.md) · [Choices](../choices.md)", ""]
    return "\n".join(lines)


def _differences(measure: type[Measure], has_section: bool) -> list[str]:
    """Return a table of the differences that the docstring does not mention."""
    found = differences_of(measure.name)
    if not found:
        return []
    rows = [f"| {each.tool}: {each.measure} | {each} |" for each in found]
    return [*([] if has_section else ["## Differs from", ""]), "| tool: measure | difference |", "|---|---|", *rows, ""]


def _meaning(measure: type[Measure], parameter: str) -> str:
    link = f", see [choices](../choices.md#{_LISTS[parameter]})" if parameter in _LISTS else ""
    return about_parameter(measure, parameter) + link


def _section(name: str, text: str) -> str:
    """Convert a docstring section to Markdown: formulas and examples are code, the rest is prose and lists."""
    lines = text.splitlines()
    result: list[str] = []
    in_code = False
    for line in lines:
        indented = line.startswith("    ")
        is_code = indented and (
            name == "Formula"
            or line.strip().startswith((">>>", "..."))
            or (in_code and name == "Example" and result[-1] != "")
        )
        if line.strip() and is_code != in_code:
            fence = "```python" if name == "Example" else "```text"
            result = [*result, fence] if is_code else [*_without_blank_end(result), "```", ""]
            in_code = is_code
        result.append(line.removeprefix("    ").rstrip())
    result = _without_blank_end(result)
    return "\n".join([*result, "```"] if in_code else result)


def _without_blank_end(lines: list[str]) -> list[str]:
    while lines and not lines[-1]:
        lines = lines[:-1]
    return lines


def _default(value: object) -> str:
    if value is None:
        return ""
    return f"`{value:g}`" if isinstance(value, float) else f"`{value}`"


def _index() -> str:
    lines = [
        "# Measures",
        "",
        "`gainful measures` prints this list, `gainful measures recall` searches it, and",
        "`gainful explain nDCG@10` [explains](../../how-to/explain.md) a measure.",
        f"By default, `gainful eval` computes {', '.join(DEFAULT_MEASURES)}.",
        "Python examples assume `import gainful`.",
        "",
    ]
    for family, names in ALL_FAMILIES.items():
        lines += [f"## {family}", "", "| measure | definition |", "|---|---|"]
        lines += [f"| [{name}]({name}.md) | {Help.of(ALL_MEASURES[name]).claim} |" for name in names]
        lines.append("")
    lines += [
        "Names are accepted in any case and in common spellings (`ndcg@10`, `nDCG10`, `hit_rate@10`,",
        "`precision_at_5`); output uses the names listed here. Ambiguous names (`accuracy@10`) are an error that",
        "lists the possible meanings.",
        "",
    ]
    lines += ["## Short names", "", "| short | long |", "|---|---|"]
    lines += [f"| {name} | `{long_text(name)}` |" for name in SHORT_NAMES]
    return "\n".join([*lines, ""])


def _choices() -> str:
    lines = [
        "# Choices",
        "",
        "Every convention that can change a number has a name, a default, a flag and a place in the signature.",
        "In Python, choices are the fields of `gainful.Policy` (with `_` for `-`).",
        "",
        "| choice | values, default first | meaning |",
        "|---|---|---|",
    ]
    for choice in CHOICES:
        free = ", a pattern, a column or a file" if choice.name == "parent" else ", a number"
        values = ", ".join(f"`{value}`" for value in choice.values) + (free if len(choice.values) == 1 else "")
        flag = "--subtopics`, `--no-subtopics" if choice.name == "subtopics" else f"--{choice.name}"
        lines.append(f"| `{flag}` | {values} | {choice.about} |")
    lines += ["", "## Dialects", "", "`--like` uses another tool's choices; explicit flags override it.", ""]
    lines += ["| dialect | choices that differ from the defaults |", "|---|---|"]
    for name, changes in DIALECTS.items():
        changed = ", ".join(f"`{field.replace('_', '-')}={value}`" for field, value in changes.items())
        lines.append(f"| `{name}` | {changed} |")
    lines += ["", "## Gain maps", "", "| gain map | gain of grade g |", "|---|---|"]
    lines += [f"| `{name}` | {about} |" for name, about in NAMED_GAINS.items()]
    lines += ["| `0-1-10-100` | a gain per grade: 0 for grade 0, 1 for 1, 10 for 2, 100 for 3 |"]
    lines += ["| `{0:0,0.3:1,1:10}` | a gain per grade, also for real grades |"]
    lines += ["| `0..3` | (g - 0) / (3 - 0), at least 0 and at most 1 |", ""]
    lines += [
        "Negative grades and unjudged documents have gain 0 in every map. Other grades without a gain are an error.",
        "",
    ]
    lines += ["## Discounts", "", "| discount | divisor at rank j | source |", "|---|---|---|"]
    lines += [f"| `{name}` | {discount.formula} | {discount.source} |" for name, discount in DISCOUNTS.items()]
    for heading, flag, members in METHODS:
        lines += ["", f"## {heading}", "", f"| `--{flag}` | name | use for |", "|---|---|---|"]
        lines += [f"| `{name}` | {member.title} | {member.about} |" for name, member in members.items()]
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    for path, text in pages().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        print(f"wrote {path.relative_to(DOCS.parent)}")
