"""The questions: each measures some processes and writes rows of the report."""

from __future__ import annotations

import gzip
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from datasets import (
    BUILD,
    FEW,
    GATED,
    HERE,
    JUDGED,
    LARGE,
    MANY,
    SMALL,
    TENTH,
    Dataset,
    as_parquet,
    make,
    make_parquet,
    make_sessions,
    make_systems,
    warm,
)
from processes import Measured, Repetitions, Tool, measure
from report import MEGABYTE, Report, Row
from tools import (
    count_lines,
    curves_script,
    dense_script,
    dicts_script,
    frames_script,
    gainful_check,
    gainful_command,
    gainful_compare,
    gainful_eval,
    gainful_gate,
    gainful_measures,
    gainful_paper,
    gainful_sessions,
    gainful_table,
    gainful_trec_eval,
    gainful_version,
    installed,
    ndeval_script,
    pairs_script,
    python,
    ranx_compare,
    report_script,
    script,
    sessions_script,
    spark_script,
    trec_eval,
    trec_eval_each,
    trec_eval_of_all,
    tukey_script,
)

#: Real runs, where the checkout has the shared data beside it.
ROBUST = HERE.parent.parent / "shared" / "data" / "robust2005"
#: Real scores of 110 systems on 249 queries.
SCORES = HERE.parent.parent / "shared" / "data" / "published-tables" / "NewBestSub.R04.csv"

#: Judgments of a Web track by sub-topic.
SUBTOPICS = HERE.parent.parent / "shared" / "data" / "qrels" / "qrels.web.201-250.ndeval.txt.gz"

COMMAND = "gainful command"
PYTREC_EVAL = "pytrec_eval script"


@dataclass(frozen=True)
class Settings:
    """Extent of the benchmark."""

    repetitions: Repetitions
    all_peers: bool = False


def small(report: Report, settings: Settings) -> None:
    """50 x 1,000: cost of starting."""
    found = _beside_peers(SMALL, report, settings, ("ir_measures", "ranx"))
    if PYTREC_EVAL in found:
        _command_row(report, SMALL, found, PYTREC_EVAL, limit=1.0)
    _rows_without_target(report, SMALL, found)


def judged(report: Report, settings: Settings) -> None:
    """1,000 x 1,000 with 600 judged documents each: cost of judgments."""
    found = _beside_peers(JUDGED, report, settings, ("ir_measures", "ranx"))
    _work_row(report, JUDGED, found, limit=1 / 3)
    _rows_without_target(report, JUDGED, found)


def large(report: Report, settings: Settings) -> None:
    """6,980 x 1,000: cost of reading, in time and memory."""
    slow_peers = ("ir_measures", "ranx") if settings.all_peers else ()
    if not settings.all_peers:
        report.notes.append(f"{LARGE.name}: ir_measures and ranx take long and gigabytes here: skipped without --all")
    one_thread = gainful_eval(LARGE.qrels, [LARGE.run], "--threads", "1", name="gainful command, 1 thread")
    table = gainful_table(LARGE.qrels, [LARGE.run])
    baselines = (count_lines(LARGE.run), python("import numpy"), one_thread, table)
    found = _beside_peers(LARGE, report, settings, slow_peers, baselines)
    _work_row(report, LARGE, found, limit=1 / 10)
    _command_row(report, LARGE, found, "wc -l", limit=15)
    if "trec_eval" in found:
        _command_row(report, LARGE, found, "trec_eval", limit=1 / 8)
    fastest = found.get("trec_eval") or found[PYTREC_EVAL]
    for what, name, limit in (("table", table.name, 0.33), ("JSON lines, with hashes", COMMAND, 0.38)):
        ours = found[name].seconds
        report.rows.append(Row(LARGE.name, what, ours, fastest.tool, fastest.seconds, limit, limit_on="value"))
    numpy = found["python -c 'import numpy'"]
    above = _above_file(found[COMMAND], LARGE)
    what = "peak memory above the mapped file"
    report.rows.append(Row(LARGE.name, what, above, numpy.tool, numpy.peak, 250 * MEGABYTE, "B", "value"))
    _rows_without_target(report, LARGE, found)
    report.rows.append(
        Row(LARGE.name, one_thread.name, found[one_thread.name].seconds, COMMAND, found[COMMAND].seconds)
    )


def growth(report: Report, settings: Settings) -> None:
    """Ten times the rows: growth."""
    tools = [gainful_eval(data.qrels, [data.run], name=f"gainful command, {data.name}") for data in (LARGE, TENTH)]
    for dataset in (TENTH, LARGE):
        make(dataset)
        warm(dataset.run)
    found = measure(tools, settings.repetitions)
    report.measured.extend(("growth", one) for one in found.values())
    ten, one = found.values()
    report.rows.append(Row("growth", f"time, {LARGE.name}", ten.seconds, TENTH.name, one.seconds, 11))
    # The few numbers kept for each query may show; a matrix for all queries at once would be ten times as much.
    memory = [_above_file(measured, dataset) for measured, dataset in ((ten, LARGE), (one, TENTH))]
    what = f"memory above the file, {LARGE.name}"
    report.rows.append(Row("growth", what, memory[0], TENTH.name, memory[1], 1.25, "B"))


def small_queries(report: Report, settings: Settings) -> None:
    """Two million queries of three documents, and as many rows in few queries: cost per query."""
    for dataset in (MANY, FEW):
        make(dataset)
        warm(dataset.qrels, dataset.run)
    tools = [gainful_eval(data.qrels, [data.run], name=f"gainful command, {data.name}") for data in (MANY, FEW)]
    found = measure(tools, settings.repetitions)
    report.measured.extend(("small queries", one) for one in found.values())
    many, few = found.values()
    report.rows.append(Row("small queries", f"time, {MANY.name}", many.seconds, FEW.name, few.seconds, 2))
    # Ids are Python's bytes (of a multiple of 16) in a tuple, and held once more by the core.
    each = (many.peak - few.peak) / (MANY.queries - FEW.queries)
    what, id_bytes = "memory a query beyond its id", -(-sys.getsizeof(b"1234567") // 16) * 16 + 8 + 7
    report.rows.append(Row("small queries", what, each - id_bytes, "the id", id_bytes, 200, "B", "value"))


def startup(report: Report, settings: Settings) -> None:
    """Cost of the smallest command, and of an ordinary run."""
    make(SMALL)
    warm(SMALL.qrels, SMALL.run)
    ordinary = gainful_table(SMALL.qrels, [SMALL.run], ["AP"])
    tools = [gainful_version(), python("pass"), ordinary, python("import numpy")]
    repetitions = replace(settings.repetitions, fast=3 * settings.repetitions.fast)  # they are short
    found = measure(tools if (trec := trec_eval(SMALL)) is None else [*tools, replace(trec, slow=False)], repetitions)
    report.measured.extend(("startup", one) for one in found.values())
    version, nothing, ours, numpy, *others = found.values()
    report.rows.append(Row("startup", version.tool, version.seconds, nothing.tool, nothing.seconds, 5))
    for peer, limit in ((numpy, 1.4), *((other, None) for other in others)):
        report.rows.append(Row("startup", f"{SMALL.name}, -m AP", ours.seconds, peer.tool, peer.seconds, limit))


def many_runs(report: Report, settings: Settings) -> None:
    """A campaign of 115 runs in one command, by two measures: cost per run."""
    folder, wanted = make_systems(115), ("AP", "nDCG@10")
    qrels, runs = folder / "qrels", sorted((folder / "runs").iterdir())
    warm(qrels, *runs)
    peer = trec_eval_each(qrels, runs)
    if peer is None:
        if not _has(report, "many runs", "pytrec_eval"):
            return
        report.notes.append("many runs: trec_eval is not on PATH: pytrec_eval stands in for it")
        peer = script("pytrec_eval", qrels, runs)
    tools = [gainful_table(qrels, runs, wanted), gainful_eval(qrels, runs, wanted=wanted, name="gainful JSON lines")]
    found = measure([*tools, peer], settings.repetitions)
    report.measured.extend(("many runs", one) for one in found.values())
    ours, lines, theirs = found.values()
    what = f"{len(runs)} runs, 2 measures"
    report.rows.append(Row("many runs", what, ours.seconds, theirs.tool, theirs.seconds, 1 / 12))
    report.rows.append(
        Row("many runs", f"{what}, table", ours.seconds, lines.tool, lines.seconds, 0.45, limit_on="value")
    )


def check(report: Report, settings: Settings) -> None:
    """Cost of the check, compared with an evaluation of the same files."""
    for dataset in (SMALL, LARGE):
        make(dataset)
        warm(dataset.qrels, dataset.run)
        files = (dataset.qrels, [dataset.run])
        evaluated = gainful_eval(*files, name=f"gainful eval, {dataset.name}")
        checked = gainful_check(*files, name=f"gainful check, {dataset.name}")
        found = measure([evaluated, checked], settings.repetitions)
        report.measured.extend(("check", one) for one in found.values())
        theirs, ours = found.values()
        report.rows.append(Row("check", ours.tool, ours.seconds, theirs.tool, theirs.seconds, 2))


def beside(report: Report, settings: Settings) -> None:
    """Where the gain was lost, and scores by chance, compared with scores alone."""
    for dataset in (JUDGED, LARGE):
        make(dataset)
        warm(dataset.qrels, dataset.run)
        tools = [
            gainful_eval(dataset.qrels, [dataset.run], *flags, name=" ".join(["gainful eval", *flags, dataset.name]))
            for flags in ((), ("--loss",), ("--chance",))
        ]
        found = measure(tools, settings.repetitions)
        report.measured.extend(("beside", one) for one in found.values())
        plain, *others = found.values()
        for one in others:
            report.rows.append(Row("beside", one.tool, one.seconds, plain.tool, plain.seconds, 1.5))


def ties(report: Report, settings: Settings) -> None:
    """Means over all orders of equal scores, compared with breaking ties by id, on scores of three digits."""
    make(JUDGED)
    tied = JUDGED.run.with_suffix(".tied.run")
    lines = (line.rsplit(b" ", 2) for line in JUDGED.run.read_bytes().splitlines())
    tied.write_bytes(b"".join(b"%b %.2g %b\n" % (rest, float(score), tag) for rest, score, tag in lines))
    warm(JUDGED.qrels, tied)
    wanted = ("nDCG@10", "AP", "RR", "ERR", "Q", "P@10")
    tools = [
        gainful_eval(JUDGED.qrels, [tied], "--ties", choice, name=f"ties={choice}", wanted=wanted)
        for choice in ("docid-desc", "expected")
    ]
    found = measure(tools, settings.repetitions)
    report.measured.extend(("ties", one) for one in found.values())
    broken, expected = found.values()
    report.rows.append(Row("ties", expected.tool, expected.seconds, broken.tool, broken.seconds, 1.3))


def unjudged(report: Report, settings: Settings) -> None:
    """Bounds over all grades of unjudged documents, compared with scores alone; what to judge next, on real runs."""
    make(JUDGED)
    warm(JUDGED.qrels, JUDGED.run)
    tools = [
        gainful_eval(JUDGED.qrels, [JUDGED.run], *options, name=" ".join(["gainful eval", *options]))
        for options in ((), ("--bounds",))
    ]
    found = measure(tools, settings.repetitions)
    report.measured.extend(("unjudged", one) for one in found.values())
    scores, bounds = found.values()
    report.rows.append(Row("unjudged", bounds.tool, bounds.seconds, scores.tool, scores.seconds, 3))
    if ROBUST.is_dir():
        qrels, runs = _unpacked()
        warm(qrels, *runs)
        tool = gainful_command("judge-next", *map(str, [qrels, *runs]), "--format", "jsonl", "--quiet")
        [found_next] = measure([Tool("gainful judge-next", tool)], settings.repetitions).values()
        report.measured.append(("unjudged", found_next))
        what = f"judge-next, {len(runs)} runs"
        report.rows.append(Row("unjudged", what, found_next.seconds, bounds.tool, bounds.seconds, 2, limit_on="value"))


def diff(report: Report, settings: Settings) -> None:
    """Changes between two runs of 7 million rows, compared with scoring one of them."""
    make(LARGE)
    other = LARGE.run.with_suffix(".other.run")
    if not other.exists() or other.stat().st_mtime < LARGE.run.stat().st_mtime:
        lines = LARGE.run.read_bytes().splitlines(keepends=True)
        # Every seventh document goes to the end of its list.
        lines[6::7] = [b" ".join([*line.split()[:4], b"-%d x\n" % i]) for i, line in enumerate(lines[6::7])]
        other.write_bytes(b"".join(lines))
    warm(LARGE.qrels, LARGE.run, other)
    command = gainful_command("diff", str(LARGE.run), str(other))
    tools = [Tool("gainful diff", command), gainful_eval(LARGE.qrels, [LARGE.run])]
    found = measure(tools, settings.repetitions)
    report.measured.extend(("diff", one) for one in found.values())
    ours, evaluated = found.values()
    report.rows.append(
        Row("diff", "two runs of 7M rows", ours.seconds, evaluated.tool, evaluated.seconds, 1, limit_on="value")
    )


def gate(report: Report, settings: Settings) -> None:
    """Cost of a gate in CI: under 0.3 s for 1,000 queries, little more than an evaluation for many."""
    for dataset, limit, limit_on in ((GATED, 0.3, "value"), (LARGE, 1.5, "ratio")):
        make(dataset)
        warm(dataset.qrels, dataset.run)
        evaluated = gainful_eval(dataset.qrels, [dataset.run], name=f"gainful eval, {dataset.name}")
        file = BUILD / f"{dataset.name}.gate.json"
        checked = gainful_gate(dataset.qrels, dataset.run, file, f"gainful gate check, {dataset.name}")
        found = measure([evaluated, checked], settings.repetitions)
        report.measured.extend(("gate", one) for one in found.values())
        theirs, ours = found.values()
        report.rows.append(Row("gate", ours.tool, ours.seconds, theirs.tool, theirs.seconds, limit, limit_on=limit_on))


def drop_in(report: Report, settings: Settings) -> None:
    """All of trec_eval's measures on the largest data, compared with trec_eval and with a few measures of gainful."""
    make(LARGE)
    warm(LARGE.qrels, LARGE.run)
    theirs, few = trec_eval_of_all(LARGE), gainful_eval(LARGE.qrels, [LARGE.run], name="gainful eval, 3 measures")
    ours = gainful_trec_eval(LARGE)
    found = measure([ours, few] if theirs is None else [ours, few, theirs], settings.repetitions)
    report.measured.append(("drop-in", found[few.name]))
    report.keep("drop-in", {name: one for name, one in found.items() if name != few.name})
    what, seconds = f"trec_eval -m all_trec, {LARGE.name}", found[ours.name].seconds
    report.rows.append(Row("drop-in", what, seconds, few.name, found[few.name].seconds))
    if theirs is None:
        report.notes.append("drop-in: trec_eval is not on PATH: skipped")
    else:
        report.rows.append(Row("drop-in", what, seconds, theirs.name, found[theirs.name].seconds, 1 / 4))


def robust2005(report: Report, settings: Settings) -> None:
    """Nineteen real runs in one command."""
    if not ROBUST.is_dir():
        report.notes.append("robust2005: no ../shared/data/robust2005 beside the checkout: skipped")
        return
    if not _has(report, "robust2005", "pytrec_eval"):
        return
    qrels, runs = _unpacked()
    warm(qrels, *runs)
    # pytrec_eval keeps scores as trec_eval does; the same conventions make the same numbers.
    ours = gainful_eval(qrels, runs, "--like", "trec_eval-9", "--missing", "zero")
    found = measure([ours, script("pytrec_eval", qrels, runs)], settings.repetitions)
    report.keep("robust2005", found)
    work = found[PYTREC_EVAL].inside("read", "evaluate")
    what, seconds = f"{len(runs)} runs, command", found[COMMAND].seconds
    report.rows.append(Row("robust2005", what, seconds, "pytrec_eval, read + evaluate", work, 1 / 6))
    report.rows.append(Row("robust2005", what, seconds, PYTREC_EVAL, found[PYTREC_EVAL].seconds, 1 / 6))
    packed = sorted((ROBUST / "runs").glob("*.gz"))
    warm(*packed)
    ours = gainful_eval(qrels, packed, "--like", "trec_eval-9", "--missing", "zero")
    found = measure([ours, script("pytrec_eval", qrels, packed)], settings.repetitions)
    report.keep("robust2005, compressed", found)
    what, seconds = f"{len(packed)} compressed runs, command", found[COMMAND].seconds
    report.rows.append(Row("robust2005", what, seconds, PYTREC_EVAL, found[PYTREC_EVAL].seconds, 1 / 6))


def pairs(report: Report, settings: Settings) -> None:
    """All 5,995 pairs of 110 systems: p, maxT, threshold and intervals from 10,000 flips."""
    if not SCORES.is_file():
        report.notes.append("pairs: no ../shared/data/published-tables beside the checkout: skipped")
        return
    tool = pairs_script(SCORES)
    measured = measure([tool], settings.repetitions)[tool.name]
    report.measured.append(("pairs", measured))
    product = measured.inside("product")
    for name, what in (("gainful", "10,000 flips, maxT"), ("randomised Tukey", "10,000 permutations, Tukey")):
        report.rows.append(
            Row("pairs", f"5,995 pairs, {what}", measured.inside(name), "one matrix product", product, 2)
        )
    tool = tukey_script(SCORES)
    measured = measure([tool], settings.repetitions)[tool.name]
    report.measured.append(("pairs", measured))
    report.notes.append("pairs: scipy's studentised range is measured on 100 of 5,995 pairs, and scaled")
    ours, theirs = (measured.inside(name) for name in ("gainful", "scipy"))
    report.rows.append(Row("pairs", "5,995 pairs, Tukey HSD", ours, "scipy, studentised range", theirs, 1 / 40))


def comparison(report: Report, settings: Settings) -> None:
    """All pairs of nineteen real runs, from files to p, compared with ranx and as many permutations."""
    if not ROBUST.is_dir():
        report.notes.append("compare: no ../shared/data/robust2005 beside the checkout: skipped")
        return
    if not _has(report, "compare", "ranx"):
        return
    qrels, runs = _unpacked()
    warm(qrels, *runs)
    found = measure([gainful_compare(qrels, runs, 1000), ranx_compare(qrels, runs, 1000)], settings.repetitions)
    report.measured.extend(("compare", one) for one in found.values())
    report.notes.append("compare: ranx leaves equal scores in an order of its own, so that means need not agree")
    ours, theirs = found.values()
    what = f"{len(runs)} runs, 171 pairs, 1,000 permutations"
    report.rows.append(Row("compare", what, ours.seconds, theirs.tool, theirs.seconds, 1 / 10))


def _real_grades(dataset: Dataset) -> Path:
    """The judgments of a data set with hardly any two grades above 0 alike."""
    path = dataset.qrels.with_suffix(".real.qrels")
    lines = (line.rsplit(b" ", 1) for line in dataset.qrels.read_bytes().splitlines())
    grades = ((rest, float(grade) and float(grade) + i * 7919 % 100003 / 1e5) for i, (rest, grade) in enumerate(lines))
    path.write_bytes(b"".join(b"%b %.5f\n" % pair for pair in grades))
    return path


def catalogue(report: Report, settings: Settings) -> None:
    """Every measure in one command, compared with nDCG@10 alone."""
    make(JUDGED)
    warm(JUDGED.qrels, JUDGED.run)
    files = (JUDGED.qrels, JUDGED.run)
    tools = [gainful_measures(*files, [], "all measures"), gainful_measures(*files, ["nDCG@10"], "nDCG@10 alone")]
    found = measure(tools, settings.repetitions)
    report.measured.extend(("catalogue", one) for one in found.values())
    ours, alone = found.values()
    report.rows.append(Row("catalogue", ours.tool, ours.seconds, alone.tool, alone.seconds, 10))
    real = gainful_measures(_real_grades(JUDGED), JUDGED.run, ["GAP", "Compat"], "GAP and Compat of real grades")
    measured = measure([real], settings.repetitions)[real.name]
    report.measured.append(("catalogue", measured))
    report.rows.append(Row("catalogue", real.name, measured.seconds, alone.tool, alone.seconds, 10))
    if not SUBTOPICS.is_file():
        report.notes.append("catalogue: no ../shared/data/qrels beside the checkout: alpha-nDCG skipped")
    elif _has(report, "catalogue", "pyndeval"):
        tool = ndeval_script(SUBTOPICS)
        measured = measure([tool], settings.repetitions)[tool.name]
        report.measured.append(("catalogue", measured))
        ours_alone, theirs = (measured.inside(name) for name in ("gainful", "pyndeval"))
        report.rows.append(Row("catalogue", tool.name, ours_alone, "pyndeval", theirs, 1 / 5))


def frames(report: Report, settings: Settings) -> None:
    """A million rows from data frames, compared with building the dicts that pytrec_eval needs."""
    libraries = [library for library in ("pandas", "polars", "pyarrow") if _has(report, "frames", library)]
    found = measure([frames_script(library) for library in libraries], settings.repetitions)
    report.measured.extend(("frames", one) for one in found.values())
    for library, measured in zip(libraries, found.values(), strict=True):
        dicts = measured.inside("dicts")
        for what, limit in (("read", 1 / 8), ("evaluate", None)):
            report.rows.append(
                Row("frames", f"{library}, {what}", measured.inside(what), "building dicts", dicts, limit)
            )


def dicts(report: Report, settings: Settings) -> None:
    """RelevanceEvaluator, compared with pytrec_eval's: the same dicts in, the same dicts out."""
    if not _has(report, "dicts", "pytrec_eval"):
        return
    for dataset in (SMALL, JUDGED):
        make(dataset)
        tool = dicts_script(dataset)
        measured = measure([tool], settings.repetitions)[tool.name]
        report.measured.append(("dicts", measured))
        for what, limit in (("three", 1 / 2), ("all", 1)):
            ours, theirs = (measured.inside(f"{name}, {what}") for name in ("gainful", "pytrec_eval"))
            report.rows.append(Row("dicts", f"{dataset.name}, {what} measures", ours, "pytrec_eval", theirs, limit))


def dense(report: Report, settings: Settings) -> None:
    """100,000 users x 100 ranked items with 10 relevant each, as arrays; peers get their preferred input.

    And 6,000 x 3,700 scores, compared with the selection of the first 20."""
    tool = dense_script()
    measured = measure([tool], settings.repetitions)[tool.name]
    report.measured.append(("dense", measured))
    report.notes.append("dense: slow peers are measured on a share of the users, and scaled")
    limits = {
        "torchmetrics": 1 / 20,
        "ranx warm": 1 / 5,
        "pytrec_eval with dicts": 1 / 10,
        "pytrec_eval, dicts built": None,
    }
    what, ours = "100,000 users x 100, nDCG@10 and R@10", measured.inside("gainful")
    for peer, limit in limits.items():
        if _has(report, "dense", peer.split(",")[0].split()[0]):
            report.rows.append(Row("dense", what, ours, peer, measured.inside(peer), limit))
    for truth in ("items", "labels"):
        what, ours = f"6,000 x 3,700 scores, {truth}, cut at 10 and 20", measured.inside(f"gainful, {truth}")
        report.rows.append(Row("dense", what, ours, "np.argpartition", measured.inside("argpartition"), 2))


def spark(report: Report, settings: Settings) -> None:
    """10^7 rows of parquet on local[2], compared with reading and shuffling them, with peers, and with 10^6 rows.

    10^8 rows are for --all."""
    if not _has(report, "spark", "pyspark"):
        return
    sizes = [10**6, 10**7, 10**8] if settings.all_peers else [10**6, 10**7]
    tool = spark_script([make_parquet(rows, 100) for rows in sizes])
    measured = measure([tool], Repetitions(1, 1))[tool.name]
    report.measured.append(("spark", measured))
    what, ours = "10^7 rows, nDCG@10, AP and RR", measured.inside("gainful")
    report.rows.append(Row("spark", what, ours, "as recommenders", measured.inside("recommenders"), 1 / 5))
    report.rows.append(Row("spark", what, ours, "formulas in Spark SQL", measured.inside("Spark SQL")))
    report.rows.append(Row("spark", what, ours, "read and shuffle", measured.inside("shuffle"), 3))
    report.rows.append(Row("spark", "time, 10^7 rows", ours, "10^6 rows", measured.inside("gainful, few"), 11))
    if settings.all_peers:
        most = measured.inside("gainful, most")
        report.rows.append(Row("spark", "time, 10^8 rows", most, "10^7 rows", ours, 11))


def parquet(report: Report, settings: Settings) -> None:
    """A run of 7M rows in parquet and in TREC text; and runs sorted by query, ten times as large.

    10^8 rows, of which memory must hold a small share, are for --all."""
    if not _has(report, "parquet", "pyarrow"):
        return
    sizes = [10**6, 10**7, 10**8] if settings.all_peers else [10**6, 10**7]
    folders = {f"10^{len(str(size)) - 1} rows": make_parquet(size, 1000) for size in sizes}
    run = as_parquet(LARGE)
    warm(LARGE.qrels, LARGE.run, run)
    tools = [gainful_eval(LARGE.qrels, [run], name="parquet"), gainful_eval(LARGE.qrels, [LARGE.run], name="text")]
    for name, folder in folders.items():
        tool = gainful_eval(folder / "judgments.parquet", [folder / "results.parquet"], name=name)
        tools.append(replace(tool, slow=name == "10^8 rows"))
    start = python("import numpy, pyarrow.parquet, gainful")
    found = measure([*tools, start], settings.repetitions)
    report.measured.extend(("parquet", one) for one in found.values())
    what = f"{LARGE.name} in parquet"
    report.rows.append(Row("parquet", what, found["parquet"].seconds, "TREC text", found["text"].seconds, 2))
    for few, many in pairwise(folders):
        one, ten = (found[name].seconds - found[start.name].seconds for name in (few, many))
        report.rows.append(Row("parquet", f"time beyond start-up, {many}", ten, few, one, 11))
    if settings.all_peers:
        peak = found["10^8 rows"].peak
        row = Row("parquet", "memory, 10^8 rows", peak, "10^7 rows", found["10^7 rows"].peak, 2e9, "B", "value")
        report.rows.append(row)
    else:
        report.notes.append("parquet: 10^8 rows take minutes: skipped without --all")


def curves(report: Report, settings: Settings) -> None:
    """Four gain curves of a hundred runs with bands, compared with a plain loop over queries, from memory."""
    make(SMALL)
    tool = curves_script(SMALL)
    measured = measure([tool], settings.repetitions)[tool.name]
    report.measured.append(("curves", measured))
    report.notes.append("curves: the loop is measured on 2 of 100 runs and 20 of 1,000 draws, and scaled")
    what = f"100 runs x {SMALL.name}, 1,000 draws"
    report.rows.append(Row("curves", what, measured.inside("gainful"), "plain loop", measured.inside("loop"), 1 / 20))


def sessions(report: Report, settings: Settings) -> None:
    """100,000 sessions of 4 queries x 10 documents, beside loops over dicts and lists."""
    tool = sessions_script(100_000)
    measured = measure([tool], settings.repetitions)[tool.name]
    report.measured.append(("sessions", measured))
    what, ours = "100,000 sessions, sDCG@10 and nsDCG@10", measured.inside("gainful")
    report.rows.append(Row("sessions", what, ours, "naive loop", measured.inside("naive loop"), 1 / 50))
    # A loop that looks nothing up twice: no target, because finding the documents alone takes a share of it.
    report.rows.append(Row("sessions", what, ours, "careful loop", measured.inside("careful loop")))
    # Whole processes that read JSON lines: ten times the sessions may take no more than half as much memory again.
    files = {count: make_sessions(count) for count in (10_000, 100_000)}
    warm(*(file for pair in files.values() for file in pair))
    tools = {count: gainful_sessions(*pair, f"{count:,} sessions") for count, pair in files.items()}
    found = measure(list(tools.values()), settings.repetitions)
    report.keep("sessions", found)
    few, many = (found[tool.name].peak for tool in tools.values())
    report.rows.append(Row("sessions", "memory, 100,000 from JSON lines", many, "gainful, 10,000", few, 1.5, "B"))


def papers(report: Report, settings: Settings) -> None:
    """dellamea2004 with as many systems as it had, 129 x 50 x 1,000 documents, beside evaluating the same runs once."""
    folder = make_systems(129)
    runs = sorted((folder / "runs").iterdir())
    warm(folder / "qrels", *runs)
    paper, once = gainful_paper("dellamea2004", folder), gainful_eval(folder / "qrels", runs)
    found = measure([paper, once], settings.repetitions)
    report.measured.extend(("papers", measured) for measured in found.values())
    ours, theirs = found[paper.name].seconds, found[once.name].seconds
    report.rows.append(Row("papers", "dellamea2004, 129 systems", ours, "gainful eval", theirs, 30, limit_on="value"))


#: Systems and queries, and what is wanted: bytes, seconds to open, and of a step the median and 95 of 100.
_REPORTS: dict[tuple[int, int], tuple[float | None, ...]] = {
    (5, 50): (300e3, 0.3, None, None),
    (20, 250): (2e6, None, 0.016, 0.033),
    (100, 250): (None, None, 0.05, None),
    (5, 6980): (15e6, 3.0, 0.1, None),
}


def page(report: Report, settings: Settings) -> None:
    """A report's size, and how soon it answers in a browser."""
    if not _has(report, "report", "playwright") or not Path("/usr/bin/chromium").exists():
        report.notes.append("report: no browser (chromium, pip install playwright): skipped")
        return
    for (systems, queries), limits in _REPORTS.items():
        tool = report_script(systems, queries)
        found = measure([tool], Repetitions(1, 1))[tool.name]
        report.measured.append(("report", found))
        making = found.inside("making")
        if systems == 20:
            what = f"{systems} x {queries}, making it"
            report.rows.append(Row("report", what, making, "compare", found.inside("comparing"), 2))
        for what, unit, limit in zip(("bytes", "ready", "median", "95%"), "Bsss", limits, strict=True):
            name = {"bytes": "file", "ready": "opened", "median": "a step", "95%": "a step, 95 of 100"}[what]
            row = Row("report", f"{systems} x {queries}, {name}", found.inside(what), "making it", making, limit, unit)
            report.rows.append(replace(row, limit_on="value"))


CASES: dict[str, Callable[[Report, Settings], None]] = {
    SMALL.name: small,
    JUDGED.name: judged,
    LARGE.name: large,
    "growth": growth,
    "small queries": small_queries,
    "startup": startup,
    "many runs": many_runs,
    "check": check,
    "beside": beside,
    "ties": ties,
    "unjudged": unjudged,
    "diff": diff,
    "gate": gate,
    "drop-in": drop_in,
    "robust2005": robust2005,
    "pairs": pairs,
    "compare": comparison,
    "frames": frames,
    "catalogue": catalogue,
    "dicts": dicts,
    "dense": dense,
    "parquet": parquet,
    "spark": spark,
    "curves": curves,
    "sessions": sessions,
    "papers": papers,
    "report": page,
}


def _beside_peers(
    dataset: Dataset, report: Report, settings: Settings, peers: tuple[str, ...], baselines: tuple[Tool, ...] = ()
) -> dict[str, Measured]:
    """Measures gainful, those peers that are there, and baselines, and compares their numbers."""
    make(dataset)
    warm(dataset.qrels, dataset.run)
    files = (dataset.qrels, [dataset.run])
    tools = [gainful_eval(*files), script("gainful", *files, slow=False)]
    is_small = dataset is SMALL
    tools += [
        script(peer, *files, slow=not is_small or peer == "ranx")
        for peer in ("pytrec_eval", *peers)
        if _has(report, dataset.name, peer)
    ]
    trec = trec_eval(dataset)
    if trec is None:
        report.notes.append(f"{dataset.name}: trec_eval is not on PATH: skipped")
    else:
        tools.append(trec)
    found = measure([*tools, *baselines], settings.repetitions)
    report.keep(dataset.name, found)
    return found


def _has(report: Report, case: str, peer: str) -> bool:
    if not installed(peer):
        report.notes.append(f"{case}: {peer} is not installed: skipped")
        return False
    return True


def _command_row(
    report: Report, dataset: Dataset, found: dict[str, Measured], peer: str, limit: float | None = None
) -> None:
    """Whole command beside whole process."""
    ours, theirs = found[COMMAND].seconds, found[peer].seconds
    report.rows.append(Row(dataset.name, "command", ours, peer, theirs, limit))


def _work_row(report: Report, dataset: Dataset, found: dict[str, Measured], limit: float) -> None:
    """Whole command beside pytrec_eval's work alone, without the start of Python and imports."""
    if PYTREC_EVAL in found:
        work = found[PYTREC_EVAL].inside("read", "evaluate")
        report.rows.append(
            Row(dataset.name, "command", found[COMMAND].seconds, "pytrec_eval, read + evaluate", work, limit)
        )


def _rows_without_target(report: Report, dataset: Dataset, found: dict[str, Measured]) -> None:
    """Whole commands beside those peers that no target names, and whole Python calls beside all."""
    named = {row.peer_name for row in report.rows if row.case == dataset.name and row.what == "command"}
    peers = [name for name in found if name.endswith(" script") and name != "gainful script"]
    for name in [*peers, "trec_eval"]:
        if name in found and name not in named:
            _command_row(report, dataset, found, name)
    ours = found["gainful script"].inside("import", "evaluate")
    for name in peers:
        theirs = found[name].inside("import", "read", "evaluate")
        report.rows.append(Row(dataset.name, "Python, import to means", ours, name, theirs))


def _above_file(measured: Measured, dataset: Dataset) -> int:
    return measured.peak - dataset.run.stat().st_size


def _unpacked() -> tuple[Path, list[Path]]:
    """The judgments, and the runs without their compression."""
    target = BUILD / "robust2005"
    target.mkdir(parents=True, exist_ok=True)
    runs = []
    for packed in sorted((ROBUST / "runs").glob("*.gz")):
        run = target / packed.stem
        if not run.exists():
            unfinished = run.with_name(run.name + ".unfinished")
            with gzip.open(packed) as source, unfinished.open("wb") as out:
                shutil.copyfileobj(source, out)
            unfinished.replace(run)
        runs.append(run)
    return ROBUST / "qrels.robust2005.txt", runs
