"""The page: what can be read without scripts, the numbers, and the script that makes them answer."""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Iterable, Iterator
from html import escape
from importlib import resources

from gainful._version import __version__
from gainful.notation import listed, printable
from gainful.render.cells import plain
from gainful.render.chart_svg import CHART_STYLE, chart_html
from gainful.tasks.compare.compare_words import places_text
from gainful.tasks.report.page_data import PageData

#: The bundle that web/ builds.
_SCRIPT, _STYLE = "report.js", "report.css"
#: The box of a wide table, which the keyboard scrolls.
_SCROLL = '<div class="scroll" tabindex="0" role="group" aria-label="Table">'


def write_page(data: PageData, made: str) -> str:
    """A page that stands alone: nothing is loaded, and only its own script runs."""
    script, style = (resources.files(__package__).joinpath(name).read_text("utf-8") for name in (_SCRIPT, _STYLE))
    style += CHART_STYLE
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    title = _text(data.title)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta name="generator" content="gainful {__version__}">\n<title>{title}</title>\n'
        f"<style>{style}</style></head>\n<body>\n"
        f'<a class="skip" href="#answer">Skip to the answer</a>\n'
        f'<main id="static">\n<h1>{title}</h1>\n{_static(data, made)}</main>\n<div id="app" hidden></div>\n'
        f'<script type="application/octet-stream" id="data">{data.numbers}</script>\n'
        f'<script type="application/octet-stream" id="documents">{data.documents[0]}</script>\n'
        f"<script>{script}</script>\n</body></html>\n"
    )


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")


def _text(text: str) -> str:
    """A text that is no markup, whatever it holds; what would not be seen is written out."""
    return escape(plain(text))


def _static(data: PageData, made: str) -> str:
    found = (f"<p>{_text(each)}</p>" for each in data.answer)
    parts = [_section("answer", "The answer", [*found, *_about(data, made)])]
    parts.append(_section("leaderboard", "Leaderboard", _leaderboard(data)))
    parts.append(_section("curves", f"Gain by {'rank' if data.first.unit == 'query' else 'position'}", _curves(data)))
    if lines := [*data.notices, *filter(None, [data.documents[1]])]:
        parts.append(_section("notices", "To know before trusting it", _list(lines)))
    return "".join(parts)


def _section(name: str, title: str, lines: Iterable[str]) -> str:
    return f'<section id="{name}"><h2>{title}</h2>\n' + "".join(f"{line}\n" for line in lines) + "</section>\n"


def _list(lines: Iterable[str]) -> Iterator[str]:
    yield "<ul>"
    yield from (f"<li>{_text(line)}</li>" for line in lines)
    yield "</ul>"


def _leaderboard(data: PageData) -> Iterator[str]:
    """Systems by all measures, the best first."""
    reach = data.reach(str(data.primary))
    result = None if data.comparison is None else data.comparison.systems.get(str(data.primary))
    ranges = () if result is None else result.family.rank_intervals
    heads = ["system", *(str(measure) for measure in data.measures)]
    if ranges:
        heads.append("rank range")
    yield f"{_SCROLL}<table><thead><tr>" + "".join(f'<th scope="col">{_text(h)}</th>' for h in heads)
    yield "</tr></thead><tbody>"
    for place in data.order:
        name, evaluation = data.systems[place], data.evaluations[data.systems[place]]
        cells = [f"{evaluation.aggregate(measure):.4f}" for measure in data.measures]
        if reach is not None:
            cells[data.measures.index(data.primary)] += f" ± {reach:.4f}"
        if ranges:
            cells.append(places_text(ranges[place]))
        yield f'<tr><th scope="row">{_text(name)}</th>' + "".join(f'<td class="number">{c}</td>' for c in cells)
        yield "</tr>"
    yield "</tbody></table></div>"
    if reach is not None:
        yield f"<p>Intervals of {_text(str(data.primary))} that do not overlap: significantly different.</p>"


def _curves(data: PageData) -> Iterator[str]:
    yield from (chart_html(plot, data.systems) for plot in data.plots())


def _about(data: PageData, made: str) -> Iterator[str]:
    """The conventions, the files and when it was made in a line; on request the conventions whole, and hashes."""
    first, files = data.first, data.files
    names = [os.path.basename(printable(name, 40)) for name, content in files if content]
    source = f" from {listed(names, most=3)}" if names else ""
    line = f"Made on {made}{source}; {first.signature().short()}"
    yield f'<details id="about"><summary>{_text(line)}</summary>{_SCROLL}<table>'
    yield '<thead><tr><th scope="col">file</th><th scope="col">sha256</th></tr></thead><tbody>'
    for name, content in files:
        yield f'<tr><th scope="row">{_text(name)}</th><td><code>{content or "not a file"}</code></td></tr>'
    yield "</tbody></table></div><ul>"
    yield from (f"<li><code>{_text(str(first.signature(measure)))}</code></li>" for measure in data.measures)
    yield "</ul></details>"
