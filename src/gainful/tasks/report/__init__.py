"""One page that answers a room full of people: who is better, by how much, how surely, where, and what if gains,
discounts and depths were others."""

from __future__ import annotations

import base64
import hashlib
import os
import tempfile
import webbrowser
from collections.abc import Mapping
from functools import cached_property
from html import escape
from importlib import resources
from pathlib import Path
from typing import Any

from gainful._version import __version__
from gainful.data.collection import no_such_run, require_runs
from gainful.data.exclusion import Exclusion, ExclusionLike
from gainful.data.judged import Judged
from gainful.data.qrels import QrelsLike
from gainful.data.queries import Queries, QueriesLike
from gainful.data.run import RunLike, RunsLike, RunSource, runs_by_name
from gainful.errors import UsageError, warns
from gainful.evaluation.evaluate import MeasuresLike
from gainful.io.atomic import write_bytes
from gainful.io.columns import columns_by_side
from gainful.kernel.parallel import current_progress
from gainful.measures.catalog import DEFAULT_MEASURES, parse_all
from gainful.notation import listed, printable, read_whole, today
from gainful.pages.page import Column, Table, head
from gainful.policy import Policy
from gainful.render.cells import plain
from gainful.render.chart_svg import CHART_STYLE, chart_html
from gainful.render.markup import html_table
from gainful.tasks.compare.compare_words import places_text
from gainful.tasks.report.page_data import PageData
from gainful.tasks.report.report_data import DEFAULT_RANKS, gathered
from gainful.tasks.report.report_lists import DocumentTitles


class HtmlReport:
    """A page that :func:`report` made: save it, open it, or look at it in a notebook."""

    def __init__(self, data: PageData) -> None:
        self.data = data

    def __repr__(self) -> str:
        return f"<HtmlReport: {self.data.title}>"

    @cached_property
    def html(self) -> str:
        """The whole page."""
        return write_page(self.data, today())

    @property
    def notices(self) -> tuple[str, ...]:
        """What is legal but suspicious, and what was left out of the page, one line each."""
        return (*self.data.notices, *filter(None, [self.data.documents[1]]))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the page, whole or not at all; a name that ends, ends in .html or .htm."""
        check_page(path)
        write_bytes(path, self.html.encode("utf-8"))

    def open(self) -> None:
        """Shows the page in a browser, from a file that stays until the system tidies up."""
        path = Path(tempfile.mkdtemp(prefix="gainful-")) / "report.html"
        self.save(path)
        if not show(path):
            raise UsageError(f"no browser was found; the page is {path}")

    def _repr_html_(self) -> str:
        return (
            f'<iframe srcdoc="{escape(self.html)}" sandbox="allow-scripts" title="{escape(self.data.title)}" '
            'width="100%" height="800" style="border:0"></iframe>'
        )


def check_page(path: str | os.PathLike[str]) -> None:
    """Refuses a file whose name says that it is no page."""
    name = os.fspath(path)
    if (ending := os.path.splitext(name)[1].lower()) not in (".html", ".htm", ""):
        hint = "the page in a browser, printed, is a PDF" if ending == ".pdf" else "report writes one page of HTML"
        raise UsageError(f"{name}: expected a file that ends in .html, found {ending}", hint)


def show(path: str | os.PathLike[str]) -> bool:
    """Opens a page in a browser; False where none was found."""
    return webbrowser.open(Path(path).resolve().as_uri())


@warns
def report(
    qrels: QrelsLike | Judged,
    runs: RunLike | RunsLike,
    measures: MeasuresLike | None = None,
    *,
    policy: Policy | str | None = None,
    exclude: ExclusionLike | None = None,
    columns: Mapping[str, str] | None = None,
    baseline: str | None = None,
    queries: QueriesLike | None = None,
    documents: Any = None,
    ranks: int = DEFAULT_RANKS,
    threads: int | None = None,
) -> HtmlReport:
    """One page about runs, for people: ``report("qrels.txt", {"bm25": "bm25.run"}).save("report.html")``.

    Judgments, runs, ``measures``, ``policy``, ``exclude``, ``columns`` and ``queries`` are as :func:`gainful.evaluate`
    takes them. The page is one file that needs nothing else; it says who is better and how surely, as
    :func:`gainful.compare` does, by the first measure, and lets its reader change gains, discounts and depths.
    ``baseline`` is the run that others are compared with. ``documents`` are titles or texts: a table with a row a
    document, or a dict by id. ``ranks`` of every list are kept.

    >>> page = report({"q1": {"d1": 1}}, {"old": {"q1": ["d2", "d1"]}, "new": {"q1": ["d1"]}}, "RR")
    >>> page.data.answer[0].partition(":")[0]
    'new and old are not significantly different in RR'
    """
    several = runs_by_name(runs) if runs else {}
    found: Mapping[str, RunLike] = {"run": runs} if several is None else several
    require_runs(found)
    if baseline is not None and baseline not in found:
        raise no_such_run(baseline, found, "baseline")
    called = columns_by_side(columns, ("qrels", "run", "documents"))
    exclusion = None if exclude is None else Exclusion.of(exclude)
    found = {name: RunSource.of(run, called["run"], name).without(exclusion) for name, run in found.items()}
    titles = documents
    if documents is not None and not isinstance(documents, DocumentTitles):
        titles = DocumentTitles(documents, called["documents"])
    return HtmlReport(
        gathered(
            Judged.of(qrels, policy, called["qrels"]),
            found,
            parse_all(DEFAULT_MEASURES if measures is None else measures),
            queries=None if queries is None else Queries.of(queries),
            titles=titles,
            baseline=baseline,
            ranks=read_whole(ranks, "ranks"),
            threads=threads,
            progress=current_progress(),
        )
    )


@warns
def report_sessions(
    qrels: QrelsLike | Judged,
    sessions: Any,
    measures: MeasuresLike | None = None,
    *,
    policy: Policy | str | None = None,
    baseline: str | None = None,
    judged_by: str | None = None,
    ranks: int = DEFAULT_RANKS,
    threads: int | None = None,
) -> HtmlReport:
    """One page about sessions, by system, as :func:`gainful.evaluate_sessions` takes them with ``judged_by``."""
    from gainful.tasks.report.session_data import DEFAULT_SESSION_MEASURES, gathered_sessions

    return HtmlReport(
        gathered_sessions(
            Judged.of(qrels, policy),
            sessions if isinstance(sessions, Mapping) else {"sessions": sessions},
            parse_all(DEFAULT_SESSION_MEASURES if measures is None else measures),
            judged_by=judged_by,
            baseline=baseline,
            ranks=read_whole(ranks, "ranks"),
            threads=threads,
            progress=current_progress(),
        )
    )


#: The bundle that web/ builds.
_SCRIPT, _STYLE = "report.js", "report.css"


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
    """The page without its script."""
    curves = f"Gain by {'rank' if data.first.unit == 'query' else 'position'}"
    sections = [
        ("answer", "The answer", [*(f"<p>{_text(each)}</p>" for each in data.answer), _about(data, made)]),
        ("leaderboard", "Leaderboard", [_leaderboard(data)]),
        ("curves", curves, [chart_html(plot, data.systems) for plot in data.plots()]),
    ]
    if notices := [*data.notices, *filter(None, [data.documents[1]])]:
        items = "".join(f"<li>{_text(line)}</li>\n" for line in notices)
        sections.append(("notices", "To know before trusting it", [f"<ul>\n{items}</ul>"]))
    return "".join(
        f'<section id="{name}"><h2>{title}</h2>\n' + "".join(f"{part}\n" for part in parts) + "</section>\n"
        for name, title, parts in sections
    )


def _leaderboard(data: PageData) -> str:
    """Systems by all measures, the best first."""
    reach = data.reach(str(data.primary))
    result = data.system_results.get(str(data.primary))
    ranges = () if result is None else result.family.rank_intervals
    columns = [Column("system"), *(Column(str(measure), "number") for measure in data.measures)]
    if ranges:
        columns.append(Column("rank range", "number"))
    rows = []
    for place in data.order:
        evaluation = data.evaluations[data.systems[place]]
        means = [f"{evaluation.aggregate(measure):.4f}" for measure in data.measures]
        if reach is not None:
            means[data.measures.index(data.primary)] += f" ± {reach:.4f}"
        rows.append((data.systems[place], *means, *([places_text(ranges[place])] if ranges else [])))
    notes = () if reach is None else (f"Intervals of {data.primary} that do not overlap: significantly different.",)
    return _scrolled(Table(tuple(columns), rows, notes=notes))


def _about(data: PageData, made: str) -> str:
    """The conventions, the files and when it was made in a line; on request the conventions whole, and hashes."""
    first, files = data.first, data.files
    names = [os.path.basename(printable(name, 40)) for name, content in files if content]
    source = f" from {listed(names, most=3)}" if names else ""
    line = f"Made on {made}{source}; {first.signature().short()}"
    table = Table(head("file | sha256"), [(name, content or "not a file") for name, content in files])
    signatures = "".join(f"<li><code>{_text(str(first.signature(measure)))}</code></li>" for measure in data.measures)
    return f'<details id="about"><summary>{_text(line)}</summary>{_scrolled(table)}\n<ul>{signatures}</ul></details>'


def _scrolled(table: Table) -> str:
    """A table in a box that the keyboard scrolls, where the page is narrow."""
    return f'<div class="scroll" tabindex="0" role="group" aria-label="Table">{html_table(table)}</div>'
