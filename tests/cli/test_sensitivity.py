"""`gainful sensitivity`: every format, the flags, scenarios, notices, exit codes and messages."""

from __future__ import annotations

import json
import re

import pytest

from gainful import evaluate

QRELS = """\
q1 0 a 1
q1 0 b 1
q1 0 c 3
q1 0 d 2
q1 0 e 0
q2 0 a 2
q2 0 b 3
q2 0 c 0
q2 0 d 1
q3 0 a 1
q3 0 b 0
"""
# `deep` finds all but the highly relevant documents, `sharp` one of these at once and nothing else.
DEEP = "".join(
    f"{query} Q0 {document} 1 {9 - i} t\n"
    for query, documents in (("q1", "eabd"), ("q2", "cad"), ("q3", "ba"))
    for i, document in enumerate(documents)
)
SHARP = "q1 Q0 c 1 2 t\nq2 Q0 b 1 2 t\nq3 Q0 x 1 2 t\n"


@pytest.fixture
def files(command):
    command.write("qrels", QRELS)
    command.write("deep.run", DEEP)
    command.write("sharp.run", SHARP)
    return command


def run(files, *arguments, fmt="jsonl"):
    result = files("sensitivity", "qrels", "deep.run", "sharp.run", *arguments, "--format", fmt)
    assert result.code == 0, result.err
    return result


class TestFormats:
    def test_values_are_those_of_eval(self, files):
        result = run(files)
        values = result.rows("Values")
        assert len(values) == 80 * 2
        assert set(values[0]) == {"table", "gain", "discount", "base", "depth", "measure", "run", "value", "rank"}
        for row in values[::13]:
            alone = evaluate("qrels", f"{row['run']}.run", row["measure"])
            assert row["value"] == alone.mean(row["measure"])
        for one, other in zip(values[::2], values[1::2], strict=True):
            assert (one["rank"], other["rank"]) == ((1, 2) if one["value"] > other["value"] else (2, 1))
        settings = [values[0][name] for name in ("gain", "discount", "base", "depth")]
        assert settings == ["0-1-1-1", "jarvelin2002", "2", "10"]
        assert {row["base"] for row in values if row["discount"] == "none"} == {None}

    def test_header(self, files):
        header = run(files).lines[0]
        assert header["command"] == "sensitivity"
        assert "|queries:3|" in header["signature"]
        assert (header["measure"], header["runs"], header["settings"]) == ("nDCG", ["deep", "sharp"], 80)
        assert header["axes"] == {
            "gain": ["0-1-1-1", "0-1-2-3", "exp2", "0-1-10-100", "0-0-0-1"],
            "discount": ["base 2", "base e", "base 10", "none"],
            "depth": ["10", "30", "100", "200"],
        }

    def test_pairs_of_cells(self, files):
        result = run(files, "--gain", "flat,tenfold", "--at", "10", "--discount", "none")
        values = {(row["measure"], row["run"]): row["value"] for row in result.rows("Values")}
        [pair] = result.rows("Kendall's tau")
        signs = [values[pair[side], "deep"] > values[pair[side], "sharp"] for side in ("measure", "other")]
        assert pair["tau"] == (1 if signs[0] == signs[1] else -1) == -1

    def test_places(self, files):
        out = run(files, "--places", "2", fmt="latex").out
        assert re.search(r"0\.\d\d\b", out) and not re.search(r"0\.\d{3}", out)

    def test_machines_have_whole_orders(self, files):
        names = [f"a-rather-long-name-{i}" for i in range(8)]
        for i, name in enumerate(names):
            lines = [f"q{q} Q0 d{(i * 5 + q * 3 + rank) % 9} {rank} {20 - rank} t" for q in (1, 2) for rank in range(9)]
            files.write(f"{name}.run", "\n".join(lines) + "\n")
        grades = [f"q{q} 0 d{d} {(d * q) % 4}" for q in (1, 2) for d in range(9)]
        files.write("many.qrels", "\n".join(grades) + "\n")
        result = files("sensitivity", "many.qrels", *(f"{name}.run" for name in names), "--format", "jsonl")
        rows = [line for line in result.lines if line.get("table") == "The order in every setting"]
        assert rows and all(sorted(re.split(" > | = ", row["order of systems"])) == names for row in rows)

    def test_scenarios_have_a_figure(self, files):
        arguments = ["--scenario", "impatient", "--scenario", "patient", "--figure", "out.svg", "-o", "out.csv"]
        assert files("sensitivity", "qrels", "deep.run", "sharp.run", *arguments).code == 0
        assert "Ranks of systems by scenario" in (files.directory / "out.svg").read_text()


class TestFlags:
    def axes(self, files, *arguments):
        return run(files, *arguments).lines[0]["axes"]

    def test_values_are_repeated_or_between_commas(self, files):
        axes = self.axes(files, "--gain", "flat, {0:0,1:1,2:3,3:9}", "--gain", "exp2", "--base", "2,3", "--at", "5,7")
        assert axes == {
            "gain": ["0-1-1-1", "{0:0,1:1,2:3,3:9}", "exp2"],
            "discount": ["base 2", "base 3", "none"],
            "depth": ["5", "7"],
        }

    def test_another_measure(self, files):
        axes = self.axes(files, "-m", "ADM", "--vary", "srs=rank,minmax", "--vary", "over=judged,retrieved")
        assert list(axes) == ["urs", "srs", "over", "depth"]
        assert (axes["srs"], axes["over"]) == (["rank", "minmax"], ["judged", "retrieved"])

    def test_sessions(self, files):
        for name, pages in {"early": (["a"], ["x"]), "late": (["x"], ["b"])}.items():
            lines = [{"session": f"{name}1", "topic": "t", "queries": [{"results": page} for page in pages]}]
            (files.directory / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        (files.directory / "topics.qrels").write_text("t 0 a 1\nt 0 b 2\n")
        logs = ("sensitivity", "topics.qrels", "early.jsonl", "late.jsonl", "--sessions", "-m", "sDCG")
        shown = files(*logs, "--gain", "linear", "--base", "2", "--at", "1", "--vary", "query_base=1.5,4", "-q")
        assert shown.code == 0, shown.err
        # 1 against 2 / (1 + log_bq 2): 0.74 by bq = 1.5, 1.33 by 4.
        assert "early wins in 1 of 2 settings, late wins in 1." in shown.out
        assert "query_base changes from 1.5 to 4" in " ".join(shown.out.split())
        assert "--discount cannot be used with --sessions" in files(*logs, "--discount", "none").err

    def test_the_sweep_is_a_command_of_the_papers(self, files):
        names = ("qrels", "deep.run", "sharp.run")
        result = files("papers", "sweep", *names, "--sweep", "2-20", "--format", "jsonl")
        assert [result.rows("Sweep")[i]["weight"] for i in (0, -1)] == [2, 20]
        assert "sharp overtakes deep" in files("papers", "sweep", *names).out
        assert files("papers", "sweep", *names, "--sweep", "9-1").code == 2

    @pytest.mark.parametrize(
        ("arguments", "code", "message"),
        [
            (["--gain", "0-1-10"], 3, "no weight for these grades in the judgments: 3\nhint: "),
            (["--gain", "steep"], 2, "gain: expected linear"),
            (["--gain", ","], 2, "--gain: value missing"),
            (["--gain", "flat, ,top"], 2, "--gain: expected values between commas"),
            (["--gain", "{0:0,1:1"], 2, "found {0:0"),
            (["--at", "ten"], 2, "depth: expected a number, found 'ten'"),
            (["--vary", "srs"], 2, "--vary: expected NAME=VALUE"),
            (["--vary", "srs=rank"], 2, "nDCG: unknown parameter 'srs'"),
            (["-m", "nDCG@5", "--at", "3"], 2, "cutoff is set in the measure and also varied"),
            (["--scenario", "hasty"], 2, "scenario: expected impatient | patient, found 'hasty'"),
            (["--scenario", "patient", "--at", "3"], 2, "--at: cannot be used with scenarios"),
            (["--scenarios", "none.toml"], 3, "none.toml: cannot be read"),
        ],
    )
    def test_refused(self, files, arguments, code, message):
        result = files("sensitivity", "qrels", "deep.run", "sharp.run", *arguments)
        assert (result.code, result.out) == (code, "")
        assert message in result.err


class TestScenarios:
    def test_a_file_and_names(self, files):
        files.write("mine.toml", '[hurried]\ndepth = 1\ngain = "tenfold"\n[slow]\ndepth = 50\n')
        assert list(run(files, "--scenarios", "mine.toml").lines[0]["scenarios"]) == ["hurried", "slow"]
        chosen = run(files, "--scenarios", "mine.toml", "--scenario", "slow", "--scenario", "patient")
        assert list(chosen.lines[0]["scenarios"]) == ["slow", "patient"]


class TestNotices:
    def test_undefined_queries_are_reported_once(self, files):
        """Query 3 has no document of grade 3, so 0-0-0-1 divides by 0."""
        result = run(files)
        assert (
            "notice: 16 settings have more undefined queries, given the worst score (undefined=zero): up to 1, for "
            "nDCG(gain=0-0-0-1, discount=jarvelin2002)@10\n"
        ) in result.err
        assert run(files, "--quiet").err == ""

    def test_parameters_that_are_not_varied(self, files):
        assert "notice: ADM has no discount, which is therefore not varied\n" in run(files, "-m", "ADM").err
