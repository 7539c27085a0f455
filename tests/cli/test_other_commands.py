"""`--version`, `demo`, `measures`, `completion`, help, and unexpected failures."""

from __future__ import annotations

import gzip
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time

import click
import pytest

import gainful
from gainful.cli.main import COMMAND_GROUPS, COMMANDS
from gainful.cli.progress_bar import progress_bar
from gainful.data import collection
from gainful.evaluation import evaluate as evaluation
from gainful.measures.catalog import ALL_FAMILIES, ALL_MEASURES, MEASURES, SHORT_NAMES
from gainful.policy import CHOICES

QRELS = "q1 0 d1 1\n"
RUN = "q1 Q0 d1 1 1 t\n"


# -- --version ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("core", "words"),
    [("c++", "C++ core, compiled"), ("python", "Python core, no compiled core: slower, same numbers")],
)
def test_version(command, core, words):
    if core == "c++" and os.environ.get("GAINFUL_REQUIRE_CORE") != "1":
        pytest.importorskip("gainful.kernel._core", exc_type=ImportError)
    result = command.process("--version", GAINFUL_CORE=core)
    assert (result.returncode, result.stderr) == (0, b"")
    assert result.stdout.decode() == f"gainful {gainful.__version__} ({words})\n"


@pytest.mark.parametrize("arguments", [("--version",), ("eval", "qrels", "r.run")])
def test_a_core_that_there_is_not(command, arguments):
    command.write("qrels", QRELS)
    command.write("r.run", RUN)
    result = command.process(*arguments, GAINFUL_CORE="rust")
    assert (result.returncode, result.stdout) == (2, b"")
    assert result.stderr.decode() == "GAINFUL_CORE: expected c++ | python, found 'rust'\n"


# -- demo --------------------------------------------------------------------------------------------------------------

DEMO_FILES = [
    *("bm25.run", "dense.run.gz", "hybrid.run", "qrels.txt"),
    *("queries.csv", "report.html", "reranker.run", "results.jsonl", "tfidf.run"),
]
DEMO_RUNS = ["tfidf.run", "bm25.run", "dense.run.gz", "hybrid.run", "reranker.run"]


@pytest.fixture(scope="module")
def demo(tmp_path_factory, environment):
    """The directory in which the demo ran, and what it printed."""
    directory = tmp_path_factory.mktemp("demo")
    result = subprocess.run(
        [sys.executable, "-m", "gainful", "demo"], cwd=directory, env=environment(), capture_output=True, check=True
    )
    return directory, result.stdout.decode(), result.stderr.decode()


def test_demo_writes_files(demo):
    directory, _, _ = demo
    assert sorted(path.name for path in (directory / "gainful-demo").iterdir()) == DEMO_FILES
    assert gzip.decompress((directory / "gainful-demo/dense.run.gz").read_bytes()).count(b" Q0 ") > 1000


@pytest.mark.usefixtures("few_flips", "small_demo")
def test_demo_prints_nothing_but_data_for_programs(command):
    result = command("demo", "--format", "csv")
    conventions, *lines = result.out.splitlines()
    assert conventions.startswith("# order:score|")
    assert [line.split(",")[0] for line in lines] == ["run", "tfidf", "bm25", "dense", "hybrid", "reranker"]


def test_demo_prints_a_table_and_what_to_do_next(demo):
    _, out, err = demo
    lines = out.splitlines()
    heads = "run nDCG@10 nDCG(gain=0-1-10-100, discount=jarvelin2002)@100 AP RR P@10 Judged@10"
    assert lines[0].split() == heads.split()
    assert [line.split()[0] for line in lines[2:7]] == ["tfidf", "bm25", "dense", "hybrid", "reranker"]
    assert lines[6].count("*") == 5
    written = "Wrote to gainful-demo/: qrels.txt (judgments), " + " ".join(DEMO_RUNS) + " (simulated systems),"
    assert written in " ".join(lines)
    assert lines[-1] == "Interactive report: gainful-demo/report.html"
    assert lines[-3].endswith(
        " eval gainful-demo/qrels.txt gainful-demo/bm25.run gainful-demo/dense.run.gz -m nDCG@10 -m AP --baseline bm25"
    )
    assert "notice: unjudged documents in the top 10: tfidf " in err


def test_demo_commands_run(demo, environment, monkeypatch):
    directory, out, _ = demo
    monkeypatch.chdir(directory)
    done = subprocess.run(
        out.splitlines()[-3], shell=True, env=environment(), capture_output=True, text=True, check=True
    )
    assert "* best in column; (+/-) difference from bm25" in done.stdout


@pytest.mark.usefixtures("few_flips", "small_demo")
def test_demo_spares_other_peoples_files(command, demo):
    command.write("mine/qrels.txt", "mine")
    result = command("demo", "--out", "mine")
    assert (result.code, result.err.splitlines()[0]) == (2, "mine: folder contains other files")
    assert (command.directory / "mine/qrels.txt").read_text() == "mine"
    shutil.copytree(demo[0] / "gainful-demo", command.directory / "new")
    assert command("demo", "--out", "new", "--seed", "3").code == 0


@pytest.mark.usefixtures("few_flips", "small_demo")
def test_demo_commands_run_in_a_folder_with_a_space(command):
    out = command("demo", "--out", "my demo").out
    words = shlex.split(out.splitlines()[-3])
    result = command(*words[words.index("eval") :])
    assert (result.code, result.err.count("no such file")) == (0, 0)


def test_demo_results_are_those_of_eval(demo, command, monkeypatch):
    directory, _, _ = demo
    monkeypatch.chdir(directory)
    written = (directory / "gainful-demo/results.jsonl").read_text()
    header = json.loads(written.splitlines()[0])
    measures = [text for name in header["measures"] for text in ("-m", name)]
    runs = [f"gainful-demo/{name}" for name in DEMO_RUNS]
    result = command("eval", "gainful-demo/qrels.txt", *runs, *measures, "--by-query", "--format", "jsonl")
    assert result.out == written
    assert [run["path"] for run in header["runs"]] == runs
    assert len(result.lines) == 1 + 5 * 6 * 51


def test_demo_is_deterministic(demo, command):
    directory, out, err = demo
    again = command("demo")
    assert (again.code, again.out, again.err) == (0, out, err)
    for name in DEMO_FILES:
        written = (command.directory / "gainful-demo" / name).read_bytes()
        assert written == (directory / "gainful-demo" / name).read_bytes(), name


@pytest.mark.usefixtures("few_flips")
def test_demo_with_another_seed(demo, command):
    directory, out, _ = demo
    other = command("demo", "--seed", "1", "--out", "deep/down")
    assert other.code == 0
    assert other.out.splitlines()[2:7] != out.splitlines()[2:7]
    assert (command.directory / "deep/down/qrels.txt").read_bytes() != (
        directory / "gainful-demo/qrels.txt"
    ).read_bytes()


def test_demo_where_nothing_can_be_written(command):
    command.write("taken", "a file\n")
    for out in "taken", "taken/below":
        result = command("demo", "--out", out)
        assert result.code in (2, 3), result.err
        assert "fault in gainful" not in result.err


# -- measures ----------------------------------------------------------------------------------------------------------


def test_measures_lists_all(command):
    result = command("measures")
    assert (result.code, result.err) == (0, "")
    lines = result.out.splitlines()
    for family in ALL_FAMILIES:
        assert family in lines
    listed = [line.split()[0] for line in lines if line.startswith("  ") and not line.startswith("   ")]
    assert listed == list(ALL_MEASURES)
    assert "Short names: AnCG = nCG(average=ranks), AnDCG = nDCG(average=ranks), " in result.words


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("nDCG", {"nDCG", "NDCNG"}),
        ("ndcg", {"nDCG", "NDCNG"}),
        ("mrr", {"RR"}),
        ("Cumulated gain", {"CG", "DCG", "nCG", "nDCG"}),
        ("interpolated", {"IPrec", "IAP", "gIPrec", "gIAP"}),
        ("van Rijsbergen", {"F", "SetF", "VanRijsbergenE"}),
    ],
)
def test_measures_can_be_searched(command, text, names):
    result = command("measures", text)
    assert result.code == 0
    lines = result.out.splitlines()
    found = {line.split()[0] for line in lines if line.startswith("  ") and not line.startswith("   ")}
    assert names <= found < set(ALL_MEASURES)
    assert {row["name"] for row in command("measures", text, "--format", "jsonl").lines} == found


def test_measures_as_json_lines(command):
    rows = command("measures", "--format", "jsonl").lines
    assert [row["name"] for row in rows] == list(ALL_MEASURES)
    for row in rows:
        assert list(row) == ["name", "family", "claim", "parameters", "better", "bounds", "aggregate"]
        assert row["better"] in ("higher", "lower", "neither")
    by_name = {row["name"]: row for row in rows}
    assert by_name["nDCG"]["parameters"]["discount"] == "burges2005"
    assert by_name["DCG"]["bounds"] == [0.0, None]
    assert by_name["NumRet"]["aggregate"] == "sum"


@pytest.mark.parametrize("format_", ["table", "jsonl"])
def test_measures_that_nothing_matches(command, format_):
    result = command("measures", "zzz", "--format", format_)
    assert (result.code, result.out) == (2, "")
    assert result.err.splitlines() == ["no measure matches 'zzz'", "hint: `gainful measures` lists all"]


# -- completion --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(command, shell):
    if shell == "bash" and shutil.which("bash") is None:
        pytest.skip("click asks bash for its version")
    result = command("completion", shell)
    assert result.code == 0
    assert f"_GAINFUL_COMPLETE={shell}_complete" in result.out
    assert "gainful" in result.out


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_the_bash_script_is_sound(command):
    script = command("completion", "bash").out
    assert subprocess.run(["bash", "-n"], input=script.encode(), check=False).returncode == 0


def test_completion_for_an_unknown_shell(command):
    result = command("completion", "tcsh")
    assert (result.code, result.out) == (2, "")
    assert "'tcsh' is not one of 'bash', 'zsh', 'fish'" in result.err


@pytest.mark.parametrize(
    ("words", "completions"),
    [
        ("gainful eval -m nDCG", ["nDCG", "nDCGrel"]),
        ("gainful eval qrels a.run --measure NumR", ["NumRet", "NumRel", "NumRelRet"]),
        ("gainful eval -m M", ["MAP", "MAP-IA", "MRR", "MSnDCG"]),
        ("gainful eval --ju", ["--judges"]),
        ("gainful eval --ties docid", ["docid-desc", "docid-asc"]),
        ("gainful eval --like trec", ["trec_eval-9", "trec_eval-10"]),
        ("gainful comp", ["compare", "completion"]),
        ("gainful completion z", ["zsh"]),
    ],
)
def test_completions(command, words, completions):
    environment = {"COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1)}
    result = command.process(_GAINFUL_COMPLETE="bash_complete", **environment)
    assert (result.returncode, result.stderr) == (0, b"")
    assert result.stdout.decode().splitlines() == [f"plain,{word}" for word in completions]


def test_all_measures_complete(command):
    result = command.process(_GAINFUL_COMPLETE="zsh_complete", COMP_WORDS="gainful eval -m ", COMP_CWORD="3")
    assert result.stdout.decode().splitlines()[1::3] == [*MEASURES, *SHORT_NAMES]


# -- Help and unknown commands -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_help(command, flag):
    result = command(flag)
    assert (result.code, result.err) == (0, "")
    assert re.findall(r"^(\w+):$", result.out, re.MULTILINE) == ["Options", *COMMAND_GROUPS]
    listed = result.out.split("Evaluate:\n")[1].splitlines()
    width = max(map(len, COMMANDS))
    texts = " ".join(" ".join(listed).split())
    for name, about in COMMANDS.items():
        assert any(line.startswith(f"  {name:<{width}}  ") for line in listed)
        assert f"{name} {about}" in texts


@pytest.mark.parametrize("name", [name for name in COMMANDS if name != "trec_eval"])  # whose help is trec_eval's
def test_help_of_a_command(command, name):
    result = command(name, "--help")
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith(f"Usage: gainful {name} [OPTIONS]")
    assert command(name, "-h").out == result.out
    lines = result.out.splitlines()
    # Examples are in one line each, to be copied.
    assert len(lines) <= 2 * 24 and max(len(line) for line in lines if not line.startswith("  Example: ")) <= 80
    assert not any(line.endswith("...") for line in lines[1:])


def test_help_in_full_has_every_option_in_its_group(command):
    brief, full = command("compare", "--help").out, command("compare", "--help-all").out
    groups = ["Input", "Measures", "Statistics", "Output", "Conventions"]
    for text in (brief, full):
        assert [heading for heading in re.findall(r"^(\w+):$", text, re.MULTILINE) if heading in groups] == groups
    conventions = full.split("Conventions:\n")[1]
    assert [choice.name for choice in CHOICES if f"--{choice.name}" not in conventions] == []
    from gainful.cli.compare_command import command as compare

    words = " ".join(full.split())
    flags = [option.opts[-1] for option in compare.params if isinstance(option, click.Option)]
    assert len(flags) > 40 and [flag for flag in flags if flag not in full] == []
    assert all(choice.about.split(";")[0][1:] in words for choice in CHOICES)
    assert "All options in full: --help-all" in brief and "--recall-cut" not in brief


def test_judgments_show_what_is_done_with_several_judges(command):
    assert "--judges" in command("judgments", "--help").out and "--judges" not in command("eval", "--help").out


def test_without_a_command(command):
    result = command()
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("Usage: gainful [OPTIONS] COMMAND [ARGS]...\n")


@pytest.mark.parametrize(
    ("typed", "hint"),
    [
        ("eval qrels.txt a.run --latex", "--format latex"),
        ("eval qrels.txt a.run --format tex", "--format latex"),
        ("eval qrels.txt a.run --format=json", "--format jsonl, one JSON object per line"),
        ("eval qrels.txt a.run a.run --significance", "gainful compare QRELS RUN RUN tests whether systems differ"),
        ("eval qrels.txt a.run --k 10", "the cutoff is part of a measure's name: -m nDCG@10"),
        ("eval qrels.txt a.run --gain 0,1", "it is part of a measure: -m 'nDCG(gain=0-1-10, discount=rank)@10'"),
        ("eval qrels.txt a.run -k 5", "the cutoff is part of a measure's name: -m nDCG@10"),
        (
            "eval -c qrels.txt a.run",
            "queries without results count as 0 unless --missing skip; gainful trec_eval takes trec_eval's options",
        ),
        ("eval qrels.txt a.run -m ndcg@10,20", "use -m several times for several measures: -m nDCG@10 -m nDCG@20"),
        ("compare qrels.txt a.run --cutoff 10", "the cutoff is part of a measure's name: -m nDCG@10"),
        ("eval --qrels qrels.txt --run a.run -m AP", "files need no option: gainful eval qrels.txt a.run -m AP"),
        ("eval --qrels=qrels.txt --run=a.run", "files need no option: gainful eval qrels.txt a.run"),
        ("eval qrels.txt a.run -m map,ndcg", "give several measures separately: -m map -m ndcg"),
        ("eval qrels.txt a.run -m ndcg@10,map", "give several measures separately: -m ndcg@10 -m map"),
        ("eval qrels.txt a.run -m ndcg@", "did you mean nDCG@10?"),
        ("eval qrels.txt a.run -m map@", "did you mean AP?"),
        ("eval qrels.txt a.run -m P(rel=2)@", "did you mean P(rel=2)@10?"),
        ("explain nDCG@3 --grades 3 2 3 0", "gainful explain nDCG@3 --grades 3,2,3,0"),
        ("explain nDCG@10 qrels.txt a.run q1", "gainful explain nDCG@10 --qrels qrels.txt --run a.run --query q1"),
        ("eval qrels.txt a.run -m ndcg@at@10", None),
        ("explain nDCG@10 qrels.txt a.run", "gainful explain nDCG@10 --qrels qrels.txt --run a.run --query ID"),
        ("explain nDCG@10 --qrels qrels.txt --run a.run", "--query q1 selects the first of 1 query"),
        ("eval qrels.txt a.run --like trec_eval", "--like trec_eval-9, or trec_eval-10 for the newest version"),
        ("check qrels.txt a.run nDCG@10", "gainful eval QRELS RUN -m nDCG@10"),
        ("qrels.txt a.run", "gainful eval qrels.txt a.run"),
        ("significance qrels.txt a.run", "gainful compare qrels.txt a.run"),
        ("trec_eval -m ndcg_cut_10 qrels.txt a.run", "did you mean ndcg_cut.10?"),
        ("trec_eval -m P_10 qrels.txt a.run", "did you mean P.10?"),
    ],
)
def test_what_people_type_is_answered_with_one_hint(command, typed, hint):
    command.write("qrels.txt", "q1 0 d1 1\n")
    command.write("a.run", "q1 Q0 d1 1 1 t\n")
    result = command(*typed.split())
    assert result.code in (1, 2)
    assert not result.out
    if hint is not None:
        assert len(result.err.splitlines()) == 2
        assert result.err.splitlines()[1].removeprefix("trec_eval: ") == f"hint: {hint}"


def test_measures_in_words(command):
    command.write("qrels.txt", "q1 0 d1 1\n")
    assert (
        command("eval", "qrels.txt", "qrels.txt", "-m", "ndcg at 10").err.splitlines()[1]
        == "hint: did you mean nDCG@10?"
    )
    assert "hint: write Coverage@10" in command("eval", "qrels.txt", "qrels.txt", "-m", "coverage").err
    assert "did you mean Coverage (of a" in command("eval", "qrels.txt", "qrels.txt", "-m", "tag-coverage@5").err


def test_help_in_words(command):
    assert command("help", "eval").out == command("eval", "--help").out
    assert command("help").out == command("--help").out


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("evla", "did you mean eval or explain?"),
        ("measurs", "did you mean measures?"),
        ("zzz", "gainful --help lists all commands"),
    ],
)
def test_unknown_commands(command, given, message):
    result = command(given, "x")
    assert (result.code, result.out) == (2, "")
    assert result.err.splitlines() == [f"no command '{given}'", f"hint: {message}"]


# -- Interrupts, faults, broken pipes ----------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def signals_end_what_is_started():
    """A process inherits that signals are ignored, as they are under nohup or in the background of a script."""
    known = [getattr(signal, name) for name in ("SIGINT", "SIGHUP") if hasattr(signal, name)]
    ignored = [number for number in known if signal.getsignal(number) is signal.SIG_IGN]
    for number in ignored:
        signal.signal(number, signal.SIG_DFL)
    yield
    for number in ignored:
        signal.signal(number, signal.SIG_IGN)


@pytest.fixture
def files(command):
    command.write("qrels", QRELS)
    command.write("r.run", RUN)
    return command


def failing_with(error: BaseException):
    def fail(*arguments, **options):
        raise error

    return fail


def test_interrupted(files, monkeypatch):
    monkeypatch.setattr(evaluation, "evaluate_runs", failing_with(KeyboardInterrupt()))
    result = files("eval", "qrels", "r.run")
    assert (result.code, result.out, result.err.strip()) == (130, "", "interrupted")


def test_interrupted_in_a_worker(files, monkeypatch):
    monkeypatch.setattr(evaluation, "join", failing_with(KeyboardInterrupt()))
    result = files("eval", "qrels", "r.run")
    assert (result.code, result.out, result.err.strip()) == (130, "", "interrupted")


def unread(pipe):
    """How many bytes of a pipe nobody has read."""
    import fcntl
    import termios

    return int.from_bytes(fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)), sys.byteorder)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs signals and named pipes")
@pytest.mark.parametrize("what", ["standard input", "a pipe"])
def test_interrupted_while_waiting_for_input(files, environment, what):
    os.mkfifo(files.directory / "pipe.run")
    process = subprocess.Popen(
        [sys.executable, "-m", "gainful", "eval", "qrels", "-" if what == "standard input" else "pipe.run"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=files.directory,
        env=environment(),
    )
    try:
        # Whoever opens a named pipe waits for the other side: from then on the command is reading it.
        writer = None if what == "standard input" else (files.directory / "pipe.run").open("wb")
        pipe = writer or process.stdin
        pipe.write(b"q1 Q0")
        pipe.flush()
        deadline = time.monotonic() + 30
        while unread(pipe) and time.monotonic() < deadline:
            time.sleep(0.005)
        assert not unread(pipe)
        time.sleep(0.1)  # it has all there is, and waits for more
        process.send_signal(signal.SIGINT)
        try:
            code = process.wait(5)
        except subprocess.TimeoutExpired:
            pytest.fail("the command does not end")
        finally:
            if writer:
                writer.close()
        assert (code, process.stderr.read().decode().strip()) == (130, "interrupted")
    finally:
        process.kill()
        process.communicate()


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="needs signals")
@pytest.mark.parametrize(("name", "code"), [("SIGTERM", 143), ("SIGHUP", 129), ("SIGINT", 130)])
def test_ended_in_the_middle_of_writing(command, environment, name, code):
    command.write("qrels", "".join(f"q{i} 0 d 1\n" for i in range(20_000)))
    command.write("r.run", "".join(f"q{i} Q0 d 1 1 t\n" for i in range(20_000)))
    measures = [text for k in range(1, 20) for text in ("-m", f"P@{k}")]
    command.write("out.csv", "old")
    process = subprocess.Popen(
        [sys.executable, "-m", "gainful", "eval", "qrels", "r.run", *measures, "--by-query", "--output", "out.csv"],
        stderr=subprocess.PIPE,
        cwd=command.directory,
        env=environment(),
    )
    before = {"qrels", "r.run", "out.csv"}
    while process.poll() is None and set(os.listdir(command.directory)) == before:
        time.sleep(0.001)
    process.send_signal(getattr(signal, name))
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err.decode().strip()) == (code, "interrupted" if code == 130 else f"ended by {name}")
    assert set(os.listdir(command.directory)) == before
    assert (command.directory / "out.csv").read_text() == "old"


#: A signal that comes while a class is made, whose exceptions Python 3.11 wraps, or in a destructor, whose are ignored.
SIGNALLED = """
import os, signal, sys
class Sent:
    def __set_name__(self, owner, name):
        os.kill(os.getpid(), getattr(signal, signal_name))
        for _ in range(1000): pass
    def __del__(self):
        self.__set_name__(None, "")
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "gainful.cli.eval_command":
            type("Made", (), {"sent": Sent()}) if where == "class" else Sent()
_, signal_name, where = sys.argv
sys.meta_path.insert(0, Finder())
sys.argv = ["gainful", "eval", "qrels", "r.run"]
from gainful.__main__ import main
main()
"""


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="needs signals")
@pytest.mark.parametrize("where", ["class", "destructor"])
@pytest.mark.parametrize(("name", "code"), [("SIGTERM", 143), ("SIGHUP", 129), ("SIGINT", 130)])
def test_signalled_where_exceptions_are_wrapped_or_lost(files, environment, where, name, code):
    done = subprocess.run(
        [sys.executable, "-c", SIGNALLED, name, where],
        capture_output=True,
        text=True,
        cwd=files.directory,
        env=environment(),
        check=False,
    )
    expected = "interrupted" if code == 130 else f"ended by {name}"
    assert (done.returncode, done.stdout, done.stderr.strip()) == (code, "", expected)


def give_up_privileges() -> None:
    """Have the next program ignore no permissions, even if it runs as root (CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH)."""
    import ctypes

    for capability in (1, 2):
        ctypes.CDLL(None).prctl(24, capability, 0, 0, 0)


@pytest.mark.skipif(sys.platform != "linux", reason="gives up privileges as Linux does")
@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ("eval qrels secret.run", 3, "secret.run: cannot be read (Permission denied)"),
        ("eval closed/qrels r.run", 3, "closed/qrels: cannot be read (Permission denied)"),
        ("gate check secret.run qrels r.run", 3, "secret.run: cannot be read (Permission denied)"),
        ("gate check closed/gate.json qrels r.run", 3, "closed/gate.json: cannot be read (Permission denied)"),
        ("trec_eval qrels closed/r.run", 2, "trec_eval: closed/r.run: cannot be read (Permission denied)"),
        ("eval qrels r.run -o closed/out.csv", 3, "closed/out.csv: cannot be written (Permission denied)"),
    ],
)
def test_permission_denied(files, environment, words, code, message):
    files.write("secret.run", RUN)
    (files.directory / "closed").mkdir()
    for name in ("secret.run", "closed"):
        (files.directory / name).chmod(0)
    done = subprocess.run(
        [sys.executable, "-c", RUN_DENIED, *words.split()],
        capture_output=True,
        text=True,
        cwd=files.directory,
        env=environment(),
        preexec_fn=give_up_privileges,
        check=False,
    )
    (files.directory / "closed").chmod(0o700)
    if done.stdout == "still privileged":
        pytest.skip("the privileges of this user cannot be given up here")
    assert (done.returncode, done.stdout, done.stderr.splitlines()) == (code, "", [message])
    assert os.listdir(files.directory / "closed") == []


RUN_DENIED = """
import os, sys
if os.access("closed", os.R_OK):
    sys.exit(print("still privileged", end=""))
from gainful.__main__ import main
main()
"""


def test_a_run_that_changes_while_the_command_works(command, monkeypatch):
    """Whoever reads ahead must have read the file that was opened."""
    command.write("qrels", "q1 0 d1 1\nq2 0 d2 1\n")
    path = command.write("r.run", "q1 Q0 d1 1 1 t\nq2 Q0 d2 1 1 t\n")
    start = collection.core.JoinJob

    def cut_first(*arguments):
        os.truncate(path, 15)
        return start(*arguments)

    monkeypatch.setitem(vars(collection.core), "JoinJob", cut_first)  # setattr would leave the class behind
    result = command("eval", "qrels", "r.run")
    assert (result.code, result.out) == (3, "")
    assert result.err.startswith("r.run: changed while being read\n")


def test_too_little_memory(files, monkeypatch):
    monkeypatch.setattr(evaluation, "evaluate_runs", failing_with(MemoryError()))
    result = files("eval", "qrels", "r.run")
    assert (result.code, result.out) == (3, "")
    assert result.err.startswith("out of memory\nhint: set the limit with --max-memory")


def test_a_limit_of_memory(command, monkeypatch):
    monkeypatch.setenv("GAINFUL_MAX_MEMORY", "1GB")  # which is put back afterwards
    command.write("qrels.gz", gzip.compress(b"q 0 d 1\nq 0 d 2\n" * 500))
    command.write("r.run", "q Q0 d 1 1 t\n")
    for size, code, words in (
        ("5kB", 3, "qrels.gz: needs about 8 KB of memory or more; the limit is 5 KB"),
        ("9" * 400, 2, "--max-memory: expected a size such as 500MB or 8GB, found '999"),
        ("much", 2, "--max-memory: expected a size such as 500MB or 8GB, found 'much'"),
        ("1MB", 3, "qrels.gz:2: "),  # enough: it is read, and has a document twice
    ):
        result = command("eval", "qrels.gz", "r.run", "--max-memory", size)
        assert result.code == code
        assert result.err.startswith(words)


def test_unexpected_exceptions(files, monkeypatch):
    monkeypatch.setattr(evaluation, "evaluate_runs", failing_with(ZeroDivisionError("by zero")))
    result = files("eval", "qrels", "r.run")
    assert (result.code, result.out) == (70, "")
    assert result.err.splitlines() == [
        "unexpected ZeroDivisionError: by zero",
        "hint: this is a bug in gainful; set GAINFUL_TRACEBACK=1 to see the traceback",
    ]
    monkeypatch.setenv("GAINFUL_TRACEBACK", "1")
    result = files("eval", "qrels", "r.run")
    assert (result.code, result.err.startswith("Traceback (most recent call last):\n")) == (70, True)
    assert result.err.splitlines()[-2] == "unexpected ZeroDivisionError: by zero"


@pytest.mark.parametrize("queries", [1, 20_000])
def test_broken_pipes(command, environment, queries):
    """Like `gainful eval ... | head -1`: quiet, and no failure."""
    command.write("qrels", "".join(f"q{i} 0 d 1\n" for i in range(queries)))
    command.write("r.run", "".join(f"q{i} Q0 d 1 1 t\n" for i in range(queries)))
    with subprocess.Popen(
        [sys.executable, "-m", "gainful", "eval", "qrels", "r.run", "--by-query", "--format", "jsonl"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=command.directory,
        env=environment(),
    ) as process:
        if queries > 1:
            assert process.stdout.readline().startswith(b'{"gainful": ')
        process.stdout.close()
        err = process.stderr.read()
    assert (process.returncode, err) == (0, b"")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk_is_no_fault_in_gainful(files, environment):
    with open("/dev/full", "wb") as full:
        result = subprocess.run(
            [sys.executable, "-m", "gainful", "eval", "qrels", "r.run"],
            stdout=full,
            stderr=subprocess.PIPE,
            cwd=files.directory,
            env=environment(),
            check=False,
        )
    assert result.returncode not in (0, 1)
    assert b"No space left on device" in result.stderr
    assert b"fault in gainful" not in result.stderr


@pytest.mark.skipif(os.name != "posix", reason="needs a shell that closes files")
@pytest.mark.parametrize("arguments", ["eval qrels r.run", "trec_eval qrels r.run", "--version", "eval --help"])
def test_closed_outputs(files, environment, arguments):
    def run_closing(stream):
        return subprocess.run(
            ["/bin/sh", "-c", f"{sys.executable} -m gainful {arguments} {stream}>&-"],
            capture_output=True,
            cwd=files.directory,
            env=environment(),
            check=False,
        )

    closed = run_closing(1)
    assert (closed.returncode, closed.stderr) == (3, b"standard output: cannot be written (closed)\n")
    quiet = run_closing(2)
    assert quiet.returncode == 0
    assert quiet.stdout


def test_more_threads_than_there_can_be(files):
    result = files("eval", "qrels", "r.run", "--threads", str(2**31))
    assert result.code == 2
    assert result.err == "--threads: expected a whole number from 1 to 65536, found '2147483648'\n"


# -- The progress bar --------------------------------------------------------------------------------------------------


class Terminal:
    """A standard error that says it is a terminal."""

    def __init__(self, stream):
        self._stream = stream

    def isatty(self):
        return True

    def __getattr__(self, name):
        return getattr(self._stream, name)


def report_some_work(wanted=True):
    with progress_bar("reading runs", wanted) as progress:
        progress.total = 1000
        progress.cells[0] = 250
        progress.report()


@pytest.mark.parametrize(
    ("patience", "terminal", "wanted", "shown"),
    [(0.0, True, True, True), (60.0, True, True, False), (0.0, False, True, False), (0.0, True, False, False)],
)
def test_progress_bar(capsys, monkeypatch, patience, terminal, wanted, shown):
    monkeypatch.setattr("gainful.cli.progress_bar._PATIENCE", patience)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    if terminal:
        monkeypatch.setattr(sys, "stderr", Terminal(sys.stderr))
    report_some_work(wanted)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert ("reading runs" in captured.err) == shown


def test_progress_bar_of_steps(capsys, monkeypatch):
    monkeypatch.setattr("gainful.cli.progress_bar._PATIENCE", 0.0)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr(sys, "stderr", Terminal(sys.stderr))
    with progress_bar("trying", in_bytes=False) as progress:
        progress.total = 40
        progress.advance(10)
    shown = capsys.readouterr().err
    assert "10/40" in shown and "bytes" not in shown
    assert "/100" not in shown  # nor a total before the first is known


def test_no_progress_bar_without_a_terminal(files, monkeypatch):
    monkeypatch.setattr("gainful.cli.progress_bar._PATIENCE", 0.0)
    result = files("eval", "qrels", "r.run")
    assert (result.code, result.err) == (0, "")
