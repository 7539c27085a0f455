"""Measures what tests and intervals do on real scores, and writes the tables into docs/which-test.md: `make study`.

Takes some minutes, and the published score matrices: `--data FOLDER`, by default ../shared/data/published-tables beside
the checkout. Seeds are fixed: the same data give the same tables.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from pathlib import Path

from tables import STUDIES

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "docs" / "which-test.md"
DATA = HERE.parent.parent / "shared" / "data" / "published-tables"


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure what tests and intervals do on real scores.")
    parser.add_argument("--data", type=Path, default=DATA, help="the folder of published score matrices")
    parser.add_argument("--only", action="append", choices=list(STUDIES), help="one table; may be repeated")
    options = parser.parse_args()
    if not options.data.is_dir():
        print(f"no published score matrices in {options.data}: nothing is measured, the page stays as it is")
        return 0
    page = PAGE.read_text(encoding="utf-8")
    for name in options.only or STUDIES:
        began = time.perf_counter()
        page = put(page, name, STUDIES[name](options.data))
        print(f"{name}: {time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True)
    PAGE.write_text(page, encoding="utf-8")
    return 0


def put(page: str, name: str, table: str) -> str:
    """The page with a table between its marks."""
    marks = re.compile(rf"(<!-- study: {name} -->\n).*?(<!-- end of {name} -->)", re.DOTALL)
    if not marks.search(page):
        raise SystemExit(f"{PAGE}: expected the marks of the study {name}, found none")
    return marks.sub(lambda found: f"{found[1]}\n{table}\n\n{found[2]}", page)


if __name__ == "__main__":
    sys.exit(main())
