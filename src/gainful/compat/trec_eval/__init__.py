"""trec_eval's command, options, output and return codes, by gainful's measures; and an executable of that name."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Sequence
from typing import TextIO

from gainful.compat.trec_eval.trec_eval_options import FILE, USAGE, Ended, RefusedError, parse_options
from gainful.data.collection import ReadAhead
from gainful.errors import GainfulError, InputError, UsageError
from gainful.io.atomic import write_bytes
from gainful.kernel.core import default_threads
from gainful.kernel.parallel import Progress
from gainful.notation import for_terminal, printable


def main(arguments: Sequence[str], stdout: TextIO, stderr: TextIO) -> int:
    """Do what trec_eval does with these arguments, and return its code.

    0 done, 1 wrong usage or an unknown measure, 2 a file that cannot be read or a parameter that cannot be right, 4 a
    topic that cannot be scored, 7 no topic in common (9.0.8), 255 a file of Z-scores that cannot be read.
    """
    try:
        options = parse_options(arguments)
        if isinstance(options, Ended):
            (stdout if options.to_stdout else stderr).write(options.text)
            return options.code
        for path in (options.qrels, options.run):
            if path == "-" and (options.is_old or path == options.qrels):
                raise RefusedError(FILE, "-: standard input can only be the run, and not in trec_eval 9.0.8")
            if path != "-" and not os.path.exists(path) and os.access(os.path.dirname(path) or ".", os.X_OK):
                raise RefusedError(FILE, f"{path}: no such file")
        ahead = None
        if options.run != "-" and options.format == "qrels":
            # Plain files are read by the core's threads while NumPy is loaded, which takes longer than most files.
            threads = default_threads()
            ahead = ReadAhead.start(options.qrels, [options.run], options.policy, threads, Progress(), lambda *_: True)
        from gainful.compat.trec_eval.trec_eval_reading import read_inputs
        from gainful.compat.trec_eval.trec_eval_values import report

        inputs = read_inputs(options, ahead)
        stderr.writelines(f"trec_eval: {notice}\n" for notice in inputs.notices)
        lines = report(inputs, options)
        try:
            stdout.writelines(map(for_terminal, lines) if stdout.isatty() else lines)
        finally:
            stdout.flush()  # before the message of the error that ended the report
        return 0
    except GainfulError as error:
        stderr.writelines(f"trec_eval: {printable(line, 1000)}\n" for line in str(error).split("\n"))
        if isinstance(error, RefusedError):
            return error.code
        return USAGE if isinstance(error, UsageError) else FILE


_MARK = "# trec_eval by gainful, written by `gainful trec_eval --link`"

_PROGRAM = f"""\
{_MARK}
import sys

from gainful.__main__ import main

sys.argv[1:1] = ["trec_eval"]
main()
"""

#: Some systems truncate longer first lines.
_LONGEST_FIRST_LINE = 120


def link(folder: str) -> str:
    """Write the executable into a folder and return its path. Only a file that gainful wrote is replaced."""
    path = os.path.join(folder, "trec_eval")
    if os.path.lexists(path):
        is_ours = False
        with contextlib.suppress(OSError, UnicodeDecodeError), open(path, encoding="utf-8") as file:
            is_ours = _MARK in file.read().splitlines()
        if not is_ours:
            hint = "choose another folder, or remove the file"
            raise InputError(f"{path}: file already exists and was not written by gainful", hint)
    first_lines = f"#!{sys.executable}\n"
    if len(first_lines) > _LONGEST_FIRST_LINE or " " in sys.executable:
        # The shell executes exec and stops; Python sees an unused string.
        first_lines = f"#!/bin/sh\n'''exec' \"{sys.executable}\" \"$0\" \"$@\"\n'''\n"
    write_bytes(path, (first_lines + _PROGRAM).encode())
    mode = os.stat(path).st_mode
    os.chmod(path, mode | (mode & 0o444) >> 2)  # executable for everyone who may read it
    return path
