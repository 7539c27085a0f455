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
#: A command and the text that it reads, if any.
_COMMAND = re.compile(r"(?ms)^\$ ([^\n]*<<'END'\n.*?^END$|[^\n]*$)")

_ABOUT_MEASURES = """# Measures

`gainful measures` prints this list, `gainful measures recall` searches it, and `gainful explain nDCG@10`
[explains](../../how-to/explain.md) a measure. By default, `gainful eval` computes {}. Most measures take a
rank (`@10`) or a [budget](../../how-to/budgets.md) (`@4000t`). Python examples assume `import gainful`.
"""
_ABOUT_NAMES = """Names are accepted in any case and in common spellings (`ndcg@10`, `nDCG10`, `hit_rate@10`,
`precision_at_5`); output uses the names listed here. Ambiguous names (`accuracy@10`) are errors that list the meanings.
"""
_ABOUT_CHOICES = """# Choices

Every convention that can change a number has a name, a default, a flag and a place in the signature.
In Python, choices are the fields of `gainful.Policy` (with `_` for `-`).
"""
_GAINS = "Negative grades and unjudged documents have gain 0 in every map. Other grades without a gain are an error."


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
    for prose, kind, code in re.findall(r"(?ms)(.*?)(?:^```(console|python)\n(.*?)^```$|\Z)", page):
        python = "".join(each.source + "\0" * bool(each.want) for each in DocTestParser().get_examples(code))
        sources = ["\n".join(["%%bash", *_COMMAND.findall(code)])] if kind == "console" else python.split("\0")
        cells += [("markdown", prose.strip()), *(("code", source.strip()) for source in sources)]
    cells.insert(1, ("code", "!gainful demo > /dev/null\n%cd gainful-demo"))
    more = {"markdown": {}, "code": {"execution_count": None, "outputs": []}}
    found = [{"cell_type": kind, "metadata": {}, "source": source, **more[kind]} for kind, source in cells if source]
    about = {"metadata": {}, "nbformat": 4, "nbformat_minor": 4}
    return json.dumps({"cells": found, **about}, ensure_ascii=False, indent=1) + "\n"


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
        for name, value in measure.parameters().items():
            values = {"gain": "gain-maps", "discount": "discounts"}.get(name)
            link = f", see [choices](../choices.md#{values})" if values else ""
            default = "" if value is None else f"`{value:g}`" if isinstance(value, float) else f"`{value}`"
            lines += [f"| `{name}` | {default} | {about_parameter(measure, name)}{link} |"]
        lines.append("")
    lines += ["[All measures](README.md) · [Choices](../choices.md)", ""]
    return "\n".join(lines)


def _differences(measure: type[Measure], has_section: bool) -> list[str]:
    """Return a table of the differences that the docstring does not mention."""
    rows = [f"| {each.tool}: {each.measure} | {each} |" for each in differences_of(measure.name)]
    head = [*([] if has_section else ["## Differs from", ""]), "| tool: measure | difference |", "|---|---|"]
    return [*head, *rows, ""] if rows else []


def _section(name: str, text: str) -> str:
    """Convert a docstring section to Markdown: formulas and examples are code, the rest is prose and lists."""
    code, language = r" {4}>>> .*(?:\n {4}.*|\n+ {4}>>> .*)*", "python"
    if name == "Formula":
        code, language = r" {4}.*(?:\n+ {4}.*)*", "text"
    text = re.sub(f"^({code})", rf"```{language}\n\1\n```", text, flags=re.MULTILINE)
    return re.sub("^ {4}", "", text, flags=re.MULTILINE).strip()


def _index() -> str:
    lines = [_ABOUT_MEASURES.format(", ".join(DEFAULT_MEASURES))]
    for family, names in ALL_FAMILIES.items():
        lines += [f"## {family}", "", "| measure | definition |", "|---|---|"]
        lines += [*(f"| [{name}]({name}.md) | {Help.of(ALL_MEASURES[name]).claim} |" for name in names), ""]
    lines += [_ABOUT_NAMES, "## Short names", "", "| short | long |", "|---|---|"]
    lines += [f"| {name} | `{long_text(name)}` |" for name in SHORT_NAMES]
    return "\n".join([*lines, ""])


def _choices() -> str:
    lines = [_ABOUT_CHOICES, "| choice | values, default first | meaning |", "|---|---|---|"]
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
    lines += [_GAINS, "", "## Discounts", "", "| discount | divisor at rank j | source |", "|---|---|---|"]
    lines += [f"| `{name}` | {discount.formula} | {discount.source} |" for name, discount in DISCOUNTS.items()]
    for heading, flag, members in (
        ("Tests of two systems", "test", ASKED_AS_TESTS),
        ("Intervals", "interval", INTERVALS),
        ("Corrections for several systems", "correction", CORRECTIONS),
        ("Procedures for several systems", "procedure", PROCEDURES),
    ):
        lines += ["", f"## {heading}", "", f"| `--{flag}` | name | use for |", "|---|---|---|"]
        lines += [f"| `{name}` | {member.title} | {member.about} |" for name, member in members.items()]
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    for path, text in pages().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        print(f"wrote {path.relative_to(DOCS.parent)}")
