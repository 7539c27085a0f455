"""trec_eval's command, options, output and return codes, by gainful's measures; and an executable of that name.

Reading starts before NumPy is loaded, which takes longer than most files: nothing here loads it.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Sequence
from typing import TextIO

from gainful.compat.trec_eval.trec_eval_options import (
    FILE,
    Ended,
    Options,
    RefusedError,
    code_of,
    parse_options,
    policy_of,
)
from gainful.data.collection import ReadAhead
from gainful.errors import GainfulError, InputError
from gainful.kernel.core import default_threads
from gainful.kernel.parallel import Progress
from gainful.notation import for_terminal, printable


def main(arguments: Sequence[str], stdout: TextIO, stderr: TextIO) -> int:
    """Does what trec_eval would do with these arguments, and returns what it would return.

    0 done, 1 wrong usage or an unknown measure, 2 a file that cannot be read or a parameter that cannot be right, 4 a
    topic that cannot be scored, 7 no topic in common (9.0.8), 255 a file of Z-scores that cannot be read.
    """
    try:
        options = parse_options(arguments)
        if isinstance(options, Ended):
            (stdout if options.to_stdout else stderr).write(options.text)
            return options.code
        return _evaluated(options, stdout, stderr)
    except GainfulError as error:
        stderr.writelines(f"trec_eval: {printable(line, 1000)}\n" for line in str(error).split("\n"))
        return code_of(error)


def _evaluated(options: Options, stdout: TextIO, stderr: TextIO) -> int:
    begun = _start_reading(options)
    from gainful.compat.trec_eval.trec_eval_reading import read_inputs
    from gainful.compat.trec_eval.trec_eval_values import Scored, output_lines

    inputs = read_inputs(options, begun)
    stderr.writelines(f"trec_eval: {notice}\n" for notice in inputs.notices)
    scored = Scored.of(inputs, options)
    lines = output_lines(scored, options)
    stdout.writelines(map(for_terminal, lines) if stdout.isatty() else lines)
    if scored.refused is not None:
        stdout.flush()
        raise scored.refused
    return 0


def _start_reading(options: Options) -> ReadAhead | None:
    """Starts to read plain files on the core's threads; None where there is something else to read."""
    for path in (options.qrels, options.run):
        if path == "-" and (options.is_old or path == options.qrels):
            raise RefusedError(FILE, "-: standard input can only be the run, and not in trec_eval 9.0.8")
        if path != "-" and not os.path.exists(path):
            raise RefusedError(FILE, f"{path}: no such file")
    if options.run == "-" or options.format != "qrels":
        return None
    policy = policy_of(options)
    return ReadAhead.start(options.qrels, [options.run], policy, default_threads(), Progress(), lambda *_: True)


_MARK = "# trec_eval by gainful, written by `gainful trec_eval --link`"


_PROGRAM = f"""\
{_MARK}
import sys

from gainful.__main__ import main

sys.argv[1:1] = ["trec_eval"]
main()
"""


#: Longer first lines are cut by some systems.
_LONGEST = 120


def link(folder: str) -> str:
    """Writes the executable into a folder and returns its path. Only what we wrote ourselves is replaced."""
    path = os.path.join(folder, "trec_eval")
    if not os.path.isdir(folder):
        raise InputError(f"{path}: cannot be written (there is no folder {folder})")
    if os.path.lexists(path) and not _is_ours(path):
        raise InputError(
            f"{path}: expected nothing or an earlier link of ours, found something else",
            "choose another folder, or remove it",
        )
    try:
        _write(path, _first_lines(sys.executable) + _PROGRAM)
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror or error})") from error
    return path


def _first_lines(interpreter: str) -> str:
    """What makes the system run a file with this Python."""
    first = f"#!{interpreter}\n"
    if len(first) <= _LONGEST and " " not in interpreter:
        return first
    # To the shell an exec and nothing after it, to Python a text that nobody looks at.
    return f"#!/bin/sh\n'''exec' \"{interpreter}\" \"$0\" \"$@\"\n'''\n"


def _is_ours(path: str) -> bool:
    try:
        with open(path, encoding="utf-8") as file:
            return _MARK in (line.rstrip("\n") for line in file)
    except (OSError, UnicodeDecodeError):
        return False


def _write(path: str, text: str) -> None:
    """Replaces the file by a whole and executable one, or leaves it as it is."""
    temporary = f"{path}.{os.urandom(6).hex()}.tmp"
    try:
        with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o777), "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(temporary, path)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
