"""The entry point. `--version` is answered before anything heavy is loaded."""

from __future__ import annotations

import os
import signal
import sys


def end_at_once(number: int, frame: object) -> None:
    """End the process on a signal, leaving every output file complete or unchanged.

    An exception would not do: raised inside an import or a destructor, it is lost or turned into another error.
    """
    try:
        for path in list(getattr(sys.modules.get("gainful.io.atomic"), "unfinished", ())):
            if os.path.exists(path):
                os.unlink(path)
        if sys.__stderr__:  # else the parent process closed it, and its descriptor may be another file's by now
            bar_wiped = "\r\x1b[K\x1b[?25h" if "rich.live" in sys.modules and os.isatty(2) else ""
            reason = "interrupted" if number == signal.SIGINT else f"ended by {signal.Signals(number).name}"
            os.write(2, f"{bar_wiped}{reason}\n".encode())
    finally:
        os._exit(128 + number)


def main() -> None:
    """Run the command line and exit with its code."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:  # as nohup wants it
            signal.signal(number, end_at_once)
    import gc

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
    from gainful.cli.main import run

    code = run(sys.argv[1:])
    for stream in (sys.stdout, sys.stderr):
        if stream:  # else the parent process closed it
            stream.flush()
    # Everything is written and closed: taking the interpreter down in good order would be a tenth of a small command.
    os._exit(code)


if __name__ == "__main__":
    main()
