"""The entry point. `--version` is answered before anything heavy is loaded."""

from __future__ import annotations

import gc
import os
import sys


def main() -> None:
    """Run the command line and exit with its code."""
    if sys.argv[1:] == ["--version"] and sys.stdout and "GAINFUL_CORE" not in os.environ:
        try:
            from gainful.kernel.core import version_line

            sys.stdout.write(version_line() + "\n")
            sys.stdout.flush()
            os._exit(0)
        except OSError:
            pass  # `run` below reports the error
    # No command multiplies matrices; NumPy's idle threads would only take the processor from ours.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Its arrays live for a moment: clearing them by 2 MB took the kernel twice as long as by pages, and saved nothing.
    os.environ.setdefault("NUMPY_MADVISE_HUGEPAGE", "0")
    # A command's objects live as long as it does: looking for garbage among them only delays the start.
    gc.disable()
    from gainful.cli.main import handle_end_signals, run

    handle_end_signals()
    code = run(sys.argv[1:])
    for stream in (sys.stdout, sys.stderr):
        if stream:  # else the parent process closed it
            stream.flush()
    # Everything is written and closed: taking the interpreter down in good order would be a tenth of a small command.
    os._exit(code)


if __name__ == "__main__":
    main()
