"""Writes many systems on one collection, as many as a large campaign had: `generate_systems.py FOLDER COUNT`.

The same count always gives the same bytes. IDs are as long as TREC's; grades are 0 and 1.
"""

from __future__ import annotations

import sys
from pathlib import Path

from gainful.evaluation.simulation import System, simulate

QUERIES, DOCUMENTS, DEPTH = 50, 6000, 1000


def main(folder: Path, count: int) -> None:
    # A system in three shares half of its noise with others, as the runs of one team do.
    systems = [
        System(f"system{i:03d}", 0.2 + 4.0 * i / count, f"team{i // 9}" if i % 3 == 0 else None) for i in range(count)
    ]
    made = simulate(QUERIES, DOCUMENTS, DEPTH, systems, levels=2, pool_depth=100, judged_share=1.0)
    (folder / "runs").mkdir(parents=True, exist_ok=True)
    judged = (f"{q} 0 TREC8-{d}-0001 {g}\n" for q, of_query in made.qrels.items() for d, g in of_query.items())
    (folder / "qrels").write_text("".join(judged))
    for name, lists in made.runs.items():
        lines = (
            f"{query} Q0 TREC8-{document}-0001 {rank} {score:.4f} {name}\n"
            for query, found in lists.items()
            for rank, (document, score) in enumerate(found.items(), 1)
        )
        (folder / "runs" / f"{name}.run").write_text("".join(lines))
    (folder / "complete").touch()


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
