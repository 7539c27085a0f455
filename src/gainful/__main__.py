"""The entry point, which answers `--version` before loading anything heavy."""

from __future__ import annotations

import os
import signal
import sys


def end_at_once(number: int, frame: object) -> None:
    """End the process on a signal, leaving every output file complete or unchanged.

    Exceptions raised inside an import or a destructor may be lost or turned into other errors.
    """
    try:
        for path in list(getattr(sys.modules.get("gainful.io.atomic"), "unfinished", ())):
            if os.path.exists(path):
                os.unlink(path)
        if sys.__stderr__:  # if the parent closed it, its descriptor may belong to another file
            bar_wiped = "\r\x1b[K\x1b[?25h" if "rich.live" in sys.modules and os.isatty(2) else ""
            reason = "interrupted" if number == signal.SIGINT else f"ended by {signal.Signals(number).name}"
            os.write(2, f"{bar_wiped}{reason}\n".encode())
    finally:
        os._exit(128 + number)


def main() -> None:
    """Run the command line and exit with its code."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:  # keep signals that nohup ignores
            signal.signal(number, end_at_once)
    import gc

    if sys.argv[1:] == ["--version"] and sys.stdout and "GAINFUL_CORE" not in os.environ:
        try:
            from gainful.kernel.core import version_line

            sys.stdout.write(version_line() + "\n")
            sys.stdout.flush()
            os._exit(0)
        except OSError:
            pass  # run() reports the error
    # Commands do not multiply matrices; NumPy's idle threads would only take processor time.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Arrays are short-lived: huge pages doubled the kernel's time for clearing memory, without a benefit.
    os.environ.setdefault("NUMPY_MADVISE_HUGEPAGE", "0")
    # Figures only go to files; a notebook's backend may be missing from the environment that runs the command.
    os.environ["MPLBACKEND"] = "agg"
    # Objects live as long as the command, so garbage collection only delays the start.
    gc.disable()
    from gainful.cli.main import run

    code = run(sys.argv[1:])
    for stream in (sys.stdout, sys.stderr):
        if stream:  # None if the parent process closed it
            stream.flush()
    # Everything is written and closed; an orderly shutdown would take a tenth of a small command's time.
    os._exit(code)


if __name__ == "__main__":
    main()
