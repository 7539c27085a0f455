"""Study tests and intervals on real scores, and write the tables into the pages of docs/: `make study`.

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
PAGES = sorted((HERE.parent / "docs").rglob("*.md"))
DATA = HERE.parent.parent / "shared" / "data" / "published-tables"


def main() -> int:
    parser = argparse.ArgumentParser(description="Study tests and intervals on real scores.")
    parser.add_argument("--data", type=Path, default=DATA, help="the folder of published score matrices")
    parser.add_argument("--only", action="append", choices=list(STUDIES), help="one table; may be repeated")
    options = parser.parse_args()
    if not options.data.is_dir():
        print(f"no published score matrices in {options.data}: nothing is measured, the pages stay as they are")
        return 0
    for name in options.only or STUDIES:
        began = time.perf_counter()
        put(name, STUDIES[name](options.data))
        print(f"{name}: {time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True)
    return 0


def put(name: str, table: str) -> None:
    """Writes a table between its marks, on the page that has them."""
    marks = re.compile(rf"(<!-- study: {name} -->\n).*?(<!-- end of {name} -->)", re.DOTALL)
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        if marks.search(text):
            page.write_text(marks.sub(lambda found: f"{found[1]}\n{table}\n\n{found[2]}", text), encoding="utf-8")
            return
    raise SystemExit(f"docs: no page has the marks of the study {name}")


if __name__ == "__main__":
    sys.exit(main())
