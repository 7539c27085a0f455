"""trec_eval's command, options, output and return codes, by gainful's measures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from gainful.compat.trec_eval.trec_eval_options import Ended, Options, code_of, parse_options
from gainful.errors import GainfulError
from gainful.notation import printable


def main(arguments: Sequence[str], stdout: TextIO, stderr: TextIO) -> int:
    """Does what trec_eval would do with these arguments, and returns what it would return.

    0 done, 1 wrong usage or an unknown measure, 2 a file that cannot be read or a parameter that cannot be right, 4 a
    topic that cannot be scored, 7 no topic in common (9.0.8).
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
    # Reading starts before NumPy is loaded, which takes longer than most files.
    from gainful.compat.trec_eval.trec_eval_reading import start_reading

    begun = start_reading(options)
    from gainful.compat.trec_eval.trec_eval_reading import read_inputs
    from gainful.compat.trec_eval.trec_eval_values import Scored, output_lines

    inputs = read_inputs(options, begun)
    stderr.writelines(f"trec_eval: {notice}\n" for notice in inputs.notices)
    scored = Scored.of(inputs, options)
    stdout.writelines(output_lines(scored, options))
    if scored.refused is not None:
        stdout.flush()
        raise scored.refused
    return 0
