"""Options for reading files."""

from __future__ import annotations

import json
import math

import pandas
import pyarrow
import pytest

from gainful import UsageError, evaluate, explain

QRELS_CSV = "SessionID,URL,Relevance\n1,a,2\n1,b,0\n"
RUN_CSV = "qid,docno,similarity\n1,b,0.9\n1,a,0.4\n"
LETOR = "2 qid:1 1:0.1 2:0.9 #docid = a\n0 qid:1 1:0.7 2:0.2 #docid = b\n"


def test_columns_of_both_sides(command, core):
    command.write("q.csv", QRELS_CSV)
    command.write("r.csv", RUN_CSV)
    columns = "qrels.query=SessionID,qrels.doc=URL,grade=Relevance,score=similarity"
    result = command("eval", "q.csv", "r.csv", "-m", "RR", "--columns", columns, "--format", "jsonl")
    assert result.value("RR") == 0.5
    assert [row["run"] for row in result.lines[1:]] == ["r"]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ("query", "--columns: expected role=name, found 'query'"),
        ("user=x", "--columns: expected query | document | grade | score | rank | subtopic, found 'user'"),
        (
            "left.query=x",
            "--columns: expected qrels | run | exclude | training | items | documents | intents, found 'left'",
        ),
    ],
)
def test_columns_that_say_nothing(command, columns, message):
    command.write("q.csv", QRELS_CSV)
    command.write("r.csv", RUN_CSV)
    result = command("eval", "q.csv", "r.csv", "--columns", columns)
    assert (result.code, result.err.splitlines()[0]) == (2, message)


def test_a_column_that_is_not_there(command):
    command.write("q.csv", QRELS_CSV)
    command.write("r.csv", RUN_CSV)
    columns = "qrels.query=SessionID,qrels.document=Url,qrels.grade=Relevance"
    result = command("eval", "q.csv", "r.csv", "--columns", columns, "--qrels-format", "csv")
    assert result.code == 3
    assert result.err.splitlines() == [
        "q.csv:1: no column 'Url' for document; columns: SessionID, URL, Relevance",
        "hint: did you mean URL?",
    ]


def test_features_are_systems(command, core):
    command.write("q.letor", LETOR)
    result = command("eval", "q.letor", "q.letor", "--feature", "all", "-m", "RR", "--format", "jsonl")
    assert [(row["run"], row["value"]) for row in result.lines[1:]] == [("q:1", 0.5), ("q:2", 1.0)]
    one = command("eval", "q.letor", "q.letor", "--feature", "2", "-m", "RR", "--format", "jsonl")
    assert [(row["run"], row["value"]) for row in one.lines[1:]] == [("q", 1.0)]
    chosen = command(
        "eval", "q.letor", "q.letor", "--feature", "2,1", "--baseline", "q:1", "-m", "RR", "--format", "jsonl"
    )
    assert [(row["run"], row.get("difference")) for row in chosen.lines[1:]] == [("q:2", 0.5), ("q:1", None)]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["q.letor"], 2, "q.letor: a LETOR run needs a feature as its score"),
        (["q.letor", "--feature", "9" * 5000], 2, "--feature: expected a number, several as in 1,5,9, or all"),
        (["q.letor", "--feature", "0"], 2, "--feature: expected a number, several as in 1,5,9, or all, found '0'"),
        (["q.letor", "--feature", "1,01"], 2, "--feature: expected a number, several as in 1,5,9, or all, found '1"),
        (["q.letor", "--feature", "3"], 3, "q.letor: no feature 3; the file has 2 features"),
        (["r.run", "--feature", "1"], 2, "--feature: r.run is not a LETOR run"),
        (["q.letor", "--feature", "all", "--baseline", "x"], 2, "--baseline: no run is called 'x'; runs: q:1, q:2"),
        (["r.run", "--run-format", "msmarco"], 3, "r.run:1: expected 3 fields, found 6"),
        (["r.run", "--run-format", "csv"], 3, "r.run:1: no column for the query among 1 Q0 a 1 0.5 t; use --columns"),
    ],
)
def test_what_cannot_be_read(command, arguments, code, message):
    command.write("q.letor", LETOR)
    command.write("r.run", "1 Q0 a 1 0.5 t\n")
    result = command("eval", "q.letor", *arguments)
    assert (result.code, result.err.splitlines()[0].startswith(message)) == (code, True), result.err


def test_formats_from_standard_input(command, core):
    command.write("q.csv", "query,doc,grade\n1,a,1\n")
    result = command("eval", "q.csv", "-", "-m", "RR", "--format", "jsonl", stdin=b'{"1": ["b", "a"]}')
    assert result.value("RR") == 0.5


def test_what_is_asked_for_can_be_said_as_it_stands(command, core):
    """The names are those of one file; the other is understood by itself."""
    command.write("q.csv", "visitor,film,stars\nu,a,1\n")
    command.write("r.csv", "user,item,score\nu,b,2\nu,a,1\n")
    asked = command("eval", "q.csv", "r.csv", "-m", "RR")
    assert asked.code == 3
    said = asked.err.splitlines()[0].partition("; use ")[2]
    assert said == "--columns query=visitor,document=film,grade=stars"
    assert command("eval", "q.csv", "r.csv", "-m", "RR", "--format", "jsonl", *said.split()).value("RR") == 0.5


def test_a_slip_in_the_name_of_a_column_is_not_taken_for_the_other_file(command):
    command.write("q.csv", "user_id,item,rating\nu,a,1\n")
    command.write("r.csv", "user_id,item,score\nu,a,1\n")
    result = command("eval", "q.csv", "r.csv", "-m", "RR", "--columns", "query=userid")
    assert (result.code, result.err.splitlines()[0]) == (
        3,
        "q.csv:1: no column 'userid' for query; columns: user_id, item, rating",
    )


@pytest.mark.parametrize("role", ["query", "document"])
def test_the_name_of_a_column_that_no_file_has(command, role):
    command.write("q.csv", "user_id,item,rating\nu,a,1\n")
    command.write("r.csv", "user_id,item,score\nu,a,1\n")
    result = command("eval", "q.csv", "r.csv", "-m", "RR", "--columns", f"{role}=nosuch")
    assert (result.code, result.err) == (
        2,
        f"--columns: no header has a column 'nosuch' for {role}: user_id, item, rating; user_id, item, score\n",
    )
    frames = [pandas.read_csv(command.directory / name) for name in ("q.csv", "r.csv")]
    for each in (frames, [pyarrow.Table.from_pandas(frame) for frame in frames]):
        with pytest.raises(UsageError, match=r"columns=: no header has a column 'nosuch'"):
            evaluate(*each, "RR", columns={role: "nosuch"})
        assert evaluate(*each, "RR", columns={"query": "user_id", "document": "item"}).mean("RR") == 1.0


TWO_LISTS = '{"query": "q", "results": ["b", "a"], "final": ["a", "b"]}\n'


@pytest.mark.parametrize("name", ["run.document=final", "document=final"])
def test_the_list_that_is_named_is_used(command, name):
    command.write("q.jsonl", '{"query": "q", "expected_chunks": ["a"]}\n')
    command.write("r.jsonl", TWO_LISTS)
    asked = ("eval", "q.jsonl", "r.jsonl", "-m", "RR", "--format", "jsonl")
    assert [command(*asked).value("RR"), command(*asked, "--columns", name).value("RR")] == [0.5, 1.0]
    objects = [json.loads(TWO_LISTS)]
    assert evaluate({"q": {"a": 1}}, objects, "RR", columns=dict([name.split("=")])).mean("RR") == 1.0


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("run.document=nosuch", "r.jsonl:1: no column 'nosuch' for document; columns: query, results, final"),
        (
            "document=nosuch",
            "--columns: no header has a column 'nosuch' for document: query, expected_chunks; query, results, final",
        ),
        ("document=later", "r.jsonl:1: no column 'later' for document; columns: query, results, final"),
    ],
)
def test_a_name_that_not_all_objects_have(command, name, message):
    command.write("q.jsonl", '{"query": "q", "expected_chunks": ["a"]}\n')
    command.write("r.jsonl", TWO_LISTS + ('{"query": "p", "later": ["a"]}\n' if "later" in name else ""))
    result = command("eval", "q.jsonl", "r.jsonl", "-m", "RR", "--columns", name)
    assert (result.code, result.err.splitlines()[0]) == (2 if message.startswith("--") else 3, message)
    with pytest.raises(ValueError, match=r"'(nosuch|later)'"):
        evaluate({"q": {"a": 1}}, [json.loads(TWO_LISTS)], "RR", columns=dict([name.split("=")]))


def test_a_name_may_be_that_of_items_in_lists(command):
    command.write("q.csv", "query,doc,grade\nq,a,1\n")
    command.write("r.jsonl", '{"query": "q", "results": []}\n{"query": "p", "results": [{"ref": "a", "score": 1}]}\n')
    assert command("eval", "q.csv", "r.jsonl", "-m", "RR", "--columns", "document=ref").code == 0


def test_two_known_lists_are_asked_for(command):
    command.write("q.csv", "query,doc,grade\nq,a,1\n")
    command.write("r.jsonl", TWO_LISTS.replace("final", "retrieved"))
    result = command("eval", "q.csv", "r.jsonl", "-m", "RR")
    assert (result.code, result.err.splitlines()) == (
        3,
        [
            "r.jsonl:1: several columns for document: results and retrieved",
            "hint: choose one with --columns document=results",
        ],
    )


def test_a_rank_column_that_contradicts_the_lines_is_noticed(command, core):
    command.write("q.csv", "query,doc,grade\n1,a,1\n")
    command.write("r.tsv", "1\tb\t2\n1\ta\t1\n")
    result = command("eval", "q.csv", "r.tsv", "-m", "RR", "--order", "input", "--format", "jsonl")
    assert result.value("RR") == 0.5
    assert (
        "notice: r: the rank column contradicts the order of the lines in 1 line; order=input uses the lines"
        in result.err.splitlines()
    )
    assert command("eval", "q.csv", "r.tsv", "-m", "RR", "--format", "jsonl").value("RR") == 1.0


@pytest.mark.parametrize("name", ["eval", "check", "whydiff"])
@pytest.mark.parametrize("target", ["q.csv", "r.csv"])
def test_what_is_read_is_not_written_over(command, name, target):
    command.write("q.csv", "query,doc,grade\n1,a,1\n")
    command.write("r.csv", "query,doc,score\n1,a,1\n")
    before = (command.directory / target).read_bytes()
    more = ["--mine", "1"] if name == "whydiff" else []
    result = command(name, "q.csv", "r.csv", *more, "-o", f"./{target}")
    assert (result.code, result.err) == (2, f"--output: ./{target} is also an input file\n")
    assert (command.directory / target).read_bytes() == before


def test_a_gate_is_not_written_over_by_what_is_read_from_it(command):
    command.write("q.csv", "query,doc,grade\n" + "".join(f"{i},a,1\n" for i in range(60)))
    command.write("r.csv", "query,doc,score\n" + "".join(f"{i},a,1\n" for i in range(60)))
    assert command("gate", "init", "q.csv", "r.csv", "-o", "gate.txt").code == 0
    before = (command.directory / "gate.txt").read_bytes()
    for name, files in (("history", []), ("selftest", ["q.csv", "r.csv"]), ("check", ["q.csv", "r.csv"])):
        result = command("gate", name, "gate.txt", *files, "-o", "./gate.txt")
        assert (result.code, "is also an input file" in result.err) == (2, True)
        assert (command.directory / "gate.txt").read_bytes() == before


@pytest.mark.parametrize("name", ["x.svg", "./x.svg", "folder/../x.svg", "link.svg"])
def test_a_figure_and_the_output_are_two_files(command, name):
    command.write("q.csv", "query,doc,grade\n1,a,1\n2,a,1\n")
    command.write("r.csv", "query,doc,score\n1,a,1\n2,b,1\n")
    (command.directory / "folder").mkdir()
    (command.directory / "link.svg").symlink_to("x.svg")
    result = command("curves", "q.csv", "r.csv", "--format", "jsonl", "-o", "x.svg", "--figure", name)
    assert (result.code, result.err) == (2, f"--figure: {name} is also the --output file\nhint: use two file names\n")
    assert not (command.directory / "x.svg").exists()


SEEN_QRELS, SEEN_RUN = "1 0 a 1\n2 0 b 1\n", "1 Q0 x 1 9 t\n1 Q0 a 2 8 t\n2 Q0 b 1 9 t\n"


def test_what_was_seen_is_left_out(command, core):
    command.write("q.txt", SEEN_QRELS)
    command.write("r.run", SEEN_RUN)
    command.write("train.csv", "user,item,when\n1,x,2024\n3,a,2024\n")
    exclude = ["--exclude", "train.csv", "--columns", "exclude.query=user,exclude.document=item"]
    result = command("eval", "q.txt", "r.run", "-m", "RR", *exclude, "--format", "jsonl")
    assert result.value("RR") == 1.0
    assert result.err.splitlines() == ["notice: r: 1 retrieved document removed (exclude)"]
    assert command("eval", "q.txt", "r.run", "-m", "RR", "--format", "jsonl").value("RR") == 0.75
    assert " | excluded:2 | " in command("eval", "q.txt", "r.run", "-m", "RR", *exclude).out
    shown = command("explain", "RR", "--qrels", "q.txt", "--run", "r.run", "--query", "1", *exclude)
    assert "excluded:2" in shown.out
    assert "1.0000" in shown.out
    found = command("check", "q.txt", "r.run", *exclude)
    assert (found.code, "ranks" in found.out) == (0, False)


def test_nothing_to_leave_documents_out_of(command):
    command.write("q.txt", SEEN_QRELS)
    command.write("scores.csv", "query,a,b\n1,0,1\n2,1,1\n")
    result = command("judgments", "q.txt", "--exclude", "q.txt")
    assert (result.code, result.err.splitlines()[0]) == (2, "--exclude needs runs")
    result = command("compare", "--from", "scores.csv", "--exclude", "q.txt")
    assert (result.code, result.err) == (2, "--exclude cannot be used with --from\n")


def test_runs_of_standard_input_lose_what_was_seen(command):
    command.write("q.txt", SEEN_QRELS)
    command.write("seen.json", '{"1": ["x"]}')
    arguments = ["eval", "q.txt", "-", "-m", "RR", "--exclude", "seen.json", "--format", "jsonl"]
    assert command(*arguments, stdin=SEEN_RUN.encode()).value("RR") == 1.0
    missing = command("eval", "q.txt", "-", "--exclude", "seen.jso", stdin=SEEN_RUN.encode())
    assert (missing.code, missing.err) == (3, "seen.jso: no such file\nhint: did you mean seen.json?\n")


def test_items_and_training(command):
    command.write("test.csv", "user,item,rating\nu,b,1\nv,b,1\n")
    command.write("pop.csv", "user,item,score\nu,b,2\nu,c,1\nv,b,1\n")
    command.write("items.csv", "thing;genres\na;x\nb;x|y\nc;z\nd;\n")
    command.write("train.csv", "who,what\nu,a\nv,a\nw,b\n")
    files = ["--items", "items.csv", "--training", "train.csv"]
    columns = ["--columns", "items.document=thing,training.query=who,training.document=what"]
    measures = [word for each in ("Coverage@1", "ILD@2", "Novelty@1", "Serendipity@1") for word in ("-m", each)]
    found = command("eval", "test.csv", "pop.csv", *files, *columns, *measures, "--format", "csv")
    assert found.out.splitlines()[-1].split(",")[:3] == ["pop", "0.25", "0.5"]
    assert [float(value) for value in found.out.splitlines()[-1].split(",")[3:]] == pytest.approx(
        [math.log2(3), 1 - 1 / math.sqrt(2)]
    )
    by_query = command("eval", "test.csv", "pop.csv", *files, *columns, "-m", "Coverage@1", "-m", "RR", "--by-query")
    assert by_query.code == 0 and "0.2500" in by_query.out
    refused = command("gate", "init", "test.csv", "pop.csv", "-m", "RR", *files)
    assert (refused.code, "--training and --intents cannot be used with a gate" in refused.err) == (2, True)
    offered = command("gate", "init", "--help-all").out
    assert "--items" in offered and not any(flag in offered for flag in ("--intents", "--training FILE"))
    gated = ["test.csv", "pop.csv", "--items", "tokens.csv"]
    for tokens, code in ((40, 0), (41, 1)):  # lengths are part of the system
        command.write("tokens.csv", f"id,tokens\nb,{tokens}\n")
        command("gate", "init", *gated, "-m", "R@40t", "--floor", "R@40t>=1")
        assert command("gate", "check", "gate.json", *gated).code == code


@pytest.mark.parametrize(
    ("files", "asked", "lines"),
    [
        (
            {"q.csv": "q,d,r\n1,a,1\n"},
            "eval q.csv run --columns query=q,document=q,grade=r",
            ["q.csv:1: column 'q' is used for query and document"],
        ),
        (
            {"q.csv": "query_id,text,visits\n1,red fox,1\n2,tea,3\n"},
            "eval q.csv run",
            [
                "q.csv:1: no column for the document among query_id, text, visits, and one row per query",
                "hint: for a table about queries, use --queries; otherwise name the documents: --columns document=NAME",
            ],
        ),
        (
            {"q.txt": "1 0 a 1\r1 0 b 0\r"},
            "eval q.txt run",
            ["q.txt: expected lines that end in LF or CR LF, found CR alone", "hint: convert it: tr '\\r' '\\n'"],
        ),
        (
            {"q.txt": "1 0 a 1\n", "runs/a.res": "1 Q0 a 1 2 x\n"},
            "eval q.txt runs",
            ["runs: expected a file, found a folder of TREC files", "hint: name the files: runs/*"],
        ),
        (
            {"q.txt": "1 0 a 1\n", "runs/a.run": "1 Q0 a 1 2 x\n"},
            "eval q.txt runs",
            [
                "runs: the folder contains no .res files (NTCIR)",
                "hint: name the files: runs/*",
            ],
        ),
        (
            {"q.txt": "1 0 a 1\n"},
            "compare q.txt run run2 -m sDCG@10",
            [
                "sDCG@10 evaluates sessions, not single queries",
                "hint: use `gainful sessions`, or `gainful compare --sessions` to compare systems",
            ],
        ),
        (
            {"q.txt": "1 0 a 1\n", "r.jsonl": '{"query": "1", "results": [{"chunk_id": "a", "distance": 0.1}]}\n'},
            "eval q.txt r.jsonl",
            [
                "r.jsonl:1: results[0]: expected an object with document and score, found chunk_id, distance",
                "hint: use --columns rank=distance to rank the nearest first",
            ],
        ),
    ],
)
def test_what_is_said_of_other_files(command, files, asked, lines):
    (command.directory / "runs").mkdir()
    for name, text in {**files, "run": "1 Q0 a 1 2 x\n", "run2": "1 Q0 a 1 2 x\n"}.items():
        (command.directory / name).write_text(text, newline="")
    result = command(*asked.split())
    assert (result.code, result.err.splitlines()) == (
        2 if "is used for" in lines[0] or "sDCG" in lines[0] else 3,
        lines,
    )


def test_distances_in_json_have_the_nearest_first(command):
    command.write("q.csv", "query,doc,grade\nq,a,1\n")
    far, near = '{"id": "b", "distance": 0.5}', '{"id": "a", "distance": 0.1}'
    command.write("r.jsonl", f'{{"query": "q", "results": [{far}, {near}]}}\n')
    asked = ("eval", "q.csv", "r.jsonl", "-m", "RR", "--columns", "rank=distance", "--format", "jsonl")
    assert command(*asked).value("RR") == 1.0
    command.write("r.jsonl", f'{{"query": "q", "results": [{far}, {{"id": "a", "score": 0.1}}]}}\n')
    assert command(*asked).err.splitlines()[-1] == ("r.jsonl:1: results: some items have a rank, others have none")


def test_long_values_are_cut_in_messages():
    qrels = {f"q{i}": {"d": 1} for i in range(100)}
    with pytest.raises(UsageError) as caught:
        explain(qrels, qrels, "AP", "q1")
    assert (
        str(caught.value).startswith("measure: expected a text or a Measure, found {'q0'")
        and len(str(caught.value)) < 150
    )


def test_columns_of_windows_are_found_by_their_names(command):
    command.write("q.csv", "Gr\u00f6\u00dfe;document;grade\nb\u00fcro;d1;1\n".encode("cp1252"))
    command.write("r.csv", "Gr\u00f6\u00dfe;document;score\nb\u00fcro;d2;2\nb\u00fcro;d1;1\n".encode("cp1252"))
    result = command("eval", "q.csv", "r.csv", "--columns", "query=Gr\u00f6\u00dfe", "-m", "RR")
    assert result.code == 0 and "0.5000" in result.out, result.err
