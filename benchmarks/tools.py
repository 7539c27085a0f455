"""The commands that are measured: gainful, its peers, and baselines."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from datasets import HERE, Dataset
from processes import Answer, Means, Tool

MEASURES = ("nDCG@10", "AP", "RR")

#: Package -> the module that shows that it is installed.
PEERS = {"pytrec_eval-terrier": "pytrec_eval", "ir_measures": "ir_measures", "ranx": "ranx"}

_ALL_TREC = ("-c", "-m", "all_trec")
#: Some of them, in which the versions of trec_eval do not differ.
_COMPARED = ("map", "gm_map", "bpref", "infAP", "P_10", "recall_100", "Rprec_mult_0.20", "ndcg", "Rndcg", "G", "set_F")

_TREC_EVAL_NAMES = {"ndcg_cut_10": "nDCG@10", "map": "AP", "recip_rank": "RR"}


def installed(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


def versions() -> dict[str, str]:
    """The version of every package that takes part."""
    found = {"python": sys.version.split()[0]}
    for package in ("gainful", *PEERS, "numpy"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "absent"
    return found


def gainful_command(*arguments: str) -> list[str]:
    """The command installed with this Python."""
    executable = Path(sys.executable).with_name("gainful")
    start = [str(executable)] if executable.exists() else [sys.executable, "-m", "gainful"]
    return [*start, *arguments]


def gainful_eval(
    qrels: Path,
    runs: Sequence[Path],
    *options: str,
    name: str = "gainful command",
    wanted: Sequence[str] = MEASURES,
) -> Tool:
    measures = [part for measure in wanted for part in ("-m", measure)]
    files = [str(qrels), *map(str, runs)]
    command = gainful_command("eval", *files, *measures, "--quiet", "--format", "jsonl", *options)
    return Tool(name, command, _read_jsonl)


def gainful_table(qrels: Path, runs: Sequence[Path], wanted: Sequence[str] = MEASURES) -> Tool:
    """The table that people see, which has no hashes of the files."""
    measures = [part for measure in wanted for part in ("-m", measure)]
    return Tool("gainful table", gainful_command("eval", str(qrels), *map(str, runs), *measures))


def gainful_check(qrels: Path, runs: Sequence[Path], name: str) -> Tool:
    return Tool(name, gainful_command("check", str(qrels), *map(str, runs), "--format", "jsonl"))


def gainful_gate(qrels: Path, run: Path, gate: Path, name: str) -> Tool:
    """A check of a gate that is frozen from the same run."""
    measures = [part for measure in MEASURES for part in ("-m", measure)]
    gate.unlink(missing_ok=True)
    files = (str(qrels), str(run))
    init = gainful_command("gate", "init", *files, *measures, "-o", str(gate), "--margin", "20%", "--quiet")
    subprocess.run(init, check=True, stdout=subprocess.DEVNULL)
    return Tool(name, gainful_command("gate", "check", str(gate), *files, "--quiet"))


def gainful_paper(paper: str, folder: Path) -> Tool:
    """A paper's experiment on the systems of a folder."""
    data = ["--qrels", str(folder / "qrels"), "--runs", str(folder / "runs")]
    return Tool(f"gainful papers {paper}", gainful_command("papers", paper, *data, "--quiet"), slow=True)


def gainful_sessions(qrels: Path, sessions: Path, name: str) -> Tool:
    measures = ["-m", "sDCG@10", "-m", "nsDCG@10"]
    return Tool(name, gainful_command("sessions", str(qrels), str(sessions), *measures, "--quiet"), slow=True)


#: One text for every measure of the catalogue, where it needs @ or N with that.
_CATALOGUE = """
from gainful.measures.catalog import FAMILIES, MEASURES
at = {"cutoff": "@10", "recall": "@0.5", "multiple": "@1"}
for name, measure in MEASURES.items():
    if name in FAMILIES["Recommendation"] or "documents" in measure.needs:
        continue  # they need tables of items
    inside = "(N=1000000)" if "N" in measure.parameters() else ""
    print(name + inside + (at[measure.at_parameter()] if measure.needs_at else ""))
"""


def gainful_measures(qrels: Path, run: Path, measures: Sequence[str], name: str) -> Tool:
    """Some measures in one command, or without any named all of the catalogue."""
    if not measures:
        listed = subprocess.run([sys.executable, "-c", _CATALOGUE], capture_output=True, text=True, check=True)
        measures = listed.stdout.split()
    wanted = [part for measure in measures for part in ("-m", measure)]
    # Measures of diversity want sub-topics; here there is one, and the others do not see it.
    wanted += ["--subtopics", "--quiet", "--format", "jsonl"]
    return Tool(name, gainful_command("eval", str(qrels), str(run), *wanted))


def ndeval_script(qrels: Path) -> Tool:
    """alpha-nDCG@20 of a run with 1,000 documents per query, in gainful and pyndeval, from memory."""
    return Tool("alpha-nDCG@20", [sys.executable, str(HERE / "peers" / "ndeval_script.py"), str(qrels)], _read_script)


def report_script(systems: int, queries: int) -> Tool:
    """A report of simulated systems, made and used in a browser."""
    command = [sys.executable, "-W", "ignore", str(HERE / "peers" / "report_script.py"), str(systems), str(queries)]
    return Tool(f"report, {systems} x {queries}", command, _read_script, slow=True)


def gainful_version() -> Tool:
    return Tool("gainful --version", gainful_command("--version"))


def script(module: str, qrels: Path, runs: Sequence[Path], *, slow: bool = True) -> Tool:
    """One of the scripts in `peers`."""
    path = HERE / "peers" / f"{module}_script.py"
    return Tool(f"{module} script", [sys.executable, str(path), str(qrels), *map(str, runs)], _read_script, slow)


def frames_script(library: str) -> Tool:
    """Reading a frame of a library, and building dicts from it."""
    command = [sys.executable, str(HERE / "peers" / "frames_script.py"), library]
    return Tool(f"{library} frame", command, _read_script, slow=True)


def dicts_script(dataset: Dataset) -> Tool:
    """RelevanceEvaluator of gainful and of pytrec_eval on the same dicts."""
    command = [sys.executable, str(HERE / "peers" / "dicts_script.py"), str(dataset.qrels), str(dataset.run)]
    return Tool(f"dicts, {dataset.name}", command, _read_script, slow=True)


def dense_script() -> Tool:
    """Arrays of ranked items, by gainful and installed peers."""
    return Tool("dense", [sys.executable, str(HERE / "peers" / "dense_script.py")], _read_script, slow=True)


def spark_script(folders: Sequence[Path]) -> Tool:
    """Results in parquet on Spark, by gainful and by others; few, many and perhaps most of them."""
    return Tool("spark", [sys.executable, str(HERE / "peers" / "spark_script.py"), *map(str, folders)], _read_script)


def curves_script(dataset: Dataset) -> Tool:
    """Gain curves of a hundred runs, by gainful and by a plain loop."""
    command = [sys.executable, str(HERE / "peers" / "curves_script.py"), str(dataset.qrels), str(dataset.run)]
    return Tool("gain curves", command, _read_script, slow=True)


def sessions_script(count: int) -> Tool:
    """Session measures of gainful, and loops over dicts and lists."""
    command = [sys.executable, str(HERE / "peers" / "sessions_script.py"), str(count)]
    return Tool("sessions", command, _read_script, slow=True)


def pairs_script(table: Path) -> Tool:
    """All pairs of a score matrix, and one matrix product of the same size."""
    command = [sys.executable, str(HERE / "peers" / "pairs_script.py"), str(table)]
    return Tool(f"pairs, {table.stem}", command, _read_script, slow=True)


def tukey_script(table: Path) -> Tool:
    """Tukey's p of all pairs of a score matrix, and scipy's."""
    command = [sys.executable, str(HERE / "peers" / "tukey_script.py"), str(table)]
    return Tool(f"Tukey, {table.stem}", command, _read_script, slow=True)


def gainful_compare(qrels: Path, runs: Sequence[Path], draws: int) -> Tool:
    """All pairs by randomisation, in one command."""
    files = [str(qrels), *map(str, runs)]
    command = gainful_command("compare", *files, "--draws", str(draws), "--quiet", "--format", "jsonl")
    return Tool("gainful compare", command)


def ranx_compare(qrels: Path, runs: Sequence[Path], draws: int) -> Tool:
    """All pairs by ranx's randomisation test."""
    path = HERE / "peers" / "ranx_compare_script.py"
    command = [sys.executable, str(path), str(draws), str(qrels), *map(str, runs)]
    return Tool("ranx compare script", command, _read_script, slow=True)


def trec_eval(dataset: Dataset) -> Tool | None:
    """trec_eval, if there is one."""
    executable = shutil.which("trec_eval")
    if executable is None:
        return None
    measures = ["-m", "ndcg_cut.10", "-m", "map", "-m", "recip_rank"]
    run = str(dataset.run)
    command = [executable, "-c", *measures, str(dataset.qrels), run]
    return Tool("trec_eval", command, lambda output: _read_trec_eval(output, run), slow=True)


def trec_eval_each(qrels: Path, runs: Sequence[Path]) -> Tool | None:
    """trec_eval with two measures, once for every run, if there is one."""
    executable = shutil.which("trec_eval")
    if executable is None:
        return None
    each = 'qrels=$1; shift; for run; do "$0" -c -m map -m ndcg_cut.10 "$qrels" "$run" || exit; done'
    return Tool("trec_eval", ["sh", "-c", each, executable, str(qrels), *map(str, runs)], slow=True)


def gainful_trec_eval(dataset: Dataset) -> Tool:
    """The drop-in with all measures."""
    command = gainful_command("trec_eval", *_ALL_TREC, str(dataset.qrels), str(dataset.run))
    return Tool("gainful trec_eval", command, lambda output: _read_all_trec(output, dataset))


def trec_eval_of_all(dataset: Dataset) -> Tool | None:
    """trec_eval with all measures, if there is one."""
    executable = shutil.which("trec_eval")
    if executable is None:
        return None
    command = [executable, *_ALL_TREC, str(dataset.qrels), str(dataset.run)]
    return Tool("trec_eval", command, lambda output: _read_all_trec(output, dataset), slow=True)


def count_lines(file: Path) -> Tool:
    return Tool("wc -l", ["wc", "-l", str(file)])


def python(statement: str) -> Tool:
    return Tool(f"python -c '{statement}'", [sys.executable, "-c", statement])


def _read_jsonl(output: str) -> Answer:
    header, *lines, _ = (json.loads(line) for line in output.splitlines())
    rows = (line for line in lines if "table" not in line)
    paths = {run["run"]: run["path"] for run in header["runs"]}
    means: Means = {}
    for row in (each for each in rows if "table" not in each):
        means.setdefault(paths[row["run"]], {})[row["measure"]] = row["value"]
    return Answer(means)


def _read_script(output: str) -> Answer:
    answer = Answer()
    for line in output.splitlines():
        kind, *values = line.split("\t")
        if kind == "mean":
            run, measure, mean = values
            answer.means.setdefault(run, {})[measure] = float(mean)
        else:
            phase, seconds = values
            answer.phases[phase] = float(seconds)
    return answer


def _read_trec_eval(output: str, run: str) -> Answer:
    fields = (line.split() for line in output.splitlines())
    return Answer({run: {_TREC_EVAL_NAMES[name]: float(mean) for name, _, mean in fields}})


def _read_all_trec(output: str, dataset: Dataset) -> Answer:
    values = {name.strip(): value for name, _, value in (line.split("\t") for line in output.splitlines())}
    return Answer({str(dataset.run): {name: float(values[name]) for name in _COMPARED}})
