"""`gainful demo`: a first result in a minute, without a download."""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path

import click

from gainful.cli import help_groups
from gainful.cli.flags import takes
from gainful.cli.options import Output
from gainful.errors import UsageError

MEASURES = ("nDCG@10", "nDCG(gain=0-1-10-100, discount=jarvelin2002)@100", "AP", "RR", "P@10", "Judged@10")


@help_groups.command("demo")
@click.option(
    "--out", type=click.Path(file_okay=False), default="gainful-demo", show_default=True, help="Folder to write."
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Random seed of the collection.")
@takes(output=Output)
def command(out: str, seed: int, output: Output) -> None:
    """Simulate judgments and five systems as TREC files, evaluate them, and write a report page."""
    from gainful.evaluation.evaluate import evaluate_runs
    from gainful.evaluation.evaluation_page import Report
    from gainful.evaluation.notices import notices
    from gainful.evaluation.simulation import simulate
    from gainful.render.text_formats import hanging, prose_width
    from gainful.tasks.report import report

    directory = Path(out)
    results = directory / "results.jsonl"
    # A new or empty folder, or an earlier demo; nothing else is overwritten.
    is_earlier = results.is_file() and results.read_bytes().startswith(b'{"gainful":')
    if directory.is_dir() and any(directory.iterdir()) and not is_earlier:
        raise UsageError(f"{directory}: folder contains other files", "--out names another folder")
    directory.mkdir(parents=True, exist_ok=True)
    qrels, *runs = simulate(seed=seed).write(directory, compressed=["dense"])
    (directory / "queries.csv").write_text(_queries_table(qrels), encoding="utf-8", newline="\n")
    named = {path.name.split(".")[0]: str(path) for path in runs}
    evaluations = evaluate_runs(str(qrels), named, MEASURES)
    Report(evaluations, by_query=True).save(results)
    page = directory / "report.html"
    report(str(qrels), named, MEASURES, baseline="bm25", queries=str(directory / "queries.csv")).save(page)
    output.show(Report(evaluations), notices(evaluations.values()))
    if (output.chosen_format, output.file) != ("table", None):
        return  # the output is read by a program
    runs_written = " ".join(path.name for path in runs)
    written = (
        f"qrels.txt (judgments), {runs_written} (simulated systems), queries.csv (text, kind and visits per query), "
        "results.jsonl (per-query values)"
    )
    click.echo("\n".join(["", *hanging(f"Wrote to {directory}/: {written}. Try:", prose_width(sys.stdout)), ""]))
    files = " ".join(shlex.quote(str(path)) for path in (qrels, *runs[1:3]))
    called = [sys.argv[0]] if Path(sys.argv[0]).name == "gainful" else [sys.executable, "-m", "gainful"]
    program = "gainful" if shutil.which("gainful") else shlex.join(called)
    click.echo(f"    {program} eval {files} -m nDCG@10 -m AP --baseline bm25\n")
    click.echo("\n".join(hanging(f"Interactive report: {page}", prose_width(sys.stdout))))


_THINGS = ("foxes", "tea", "glaciers", "violins", "tides", "bread", "comets", "maps", "bees", "locks")
_WAYS = {"": "short", "kinds of": "short", "how old are": "question", "who first wrote about": "question"}


def _queries_table(qrels: Path) -> str:
    """Make a table of the queries: made-up texts, kinds, and numbers of visits."""
    identifiers = dict.fromkeys(line.split(None, 1)[0] for line in qrels.read_text(encoding="utf-8").splitlines())
    rows = ["query_id,text,kind,visits"]
    for i, identifier in enumerate(identifiers):
        way = list(_WAYS)[i % len(_WAYS)]
        rows.append(f"{identifier},{way} {_THINGS[i % len(_THINGS)]},{_WAYS[way]},{1000 // (i + 1)}".replace(", ", ","))
    return "\n".join([*rows, ""])
