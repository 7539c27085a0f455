"""Sessions as plain lists, written in several formats, and read back."""

from __future__ import annotations

import random
from typing import Any
from xml.sax.saxutils import escape

import pytest

from gainful import InputError, Sessions

#: Session to its queries, each a list of documents.
Plain = dict[str, list[list[str]]]
HEADER = ["session", "query", "rank", "document"]
#: What hints say.
GAPS = "use gaps='empty' to treat missing queries as empty result pages"
FROM_ONE = "queries of a session are numbered 1, 2, 3, ..."
RANKS = "results of a query have the ranks 1, 2, 3, ..."


def sample(seed: int = 1, hard: bool = False) -> Plain:
    """Sessions with one to twelve queries; empty result pages, repeated documents, awkward IDs."""
    chance = random.Random(seed)
    documents = [f"d{i}" for i in range(30)] + ["-", "http://a/b?c=d,e&f=g"]
    if hard:
        documents += ['say "hi"', "x y", "ünïcode", "a\tb"]
    sessions: Plain = {}
    for session in ["s2", "s10", "s1", "s", "s_1", "S", "ß", *(["two words"] if hard else [])]:
        lists = [chance.sample(documents, chance.choice([0, 1, 3, 10])) for _ in range(chance.randint(1, 12))]
        sessions[session] = [*lists, chance.sample(documents, 2)]
    return sessions


def rows_of(sessions: Plain) -> list[tuple[str, int, int, str]]:
    rows: list[tuple[str, int, int, str]] = []
    for session, lists in sessions.items():
        for number, documents in enumerate(lists, 1):
            rows += [(session, number, rank, document) for rank, document in enumerate(documents, 1)]
            if not documents:
                rows.append((session, number, 0, "-"))
    return rows


def objects_of(sessions: Plain) -> list[dict[str, Any]]:
    return [
        {"session": session, "queries": [{"query": f"q{i}", "results": docs} for i, docs in enumerate(lists)]}
        for session, lists in sessions.items()
    ]


def run_of(sessions: Plain, separator: str = "_") -> bytes:
    rows = [row for row in rows_of(sessions) if row[2]]
    random.Random(5).shuffle(rows)
    # Scores fall with the rank, so that score order is rank order.
    return "".join(f"{s}{separator}{n} Q0 {d} {r} {50 - r} tag\n" for s, n, r, d in rows).encode()


def log_of(sessions: Plain) -> bytes:
    out = ['<?xml version="1.0" encoding="utf-8"?>\n<sessiontrack>']
    for session, lists in sessions.items():
        out.append(f'<session num="{session}" starttime="0"><topic num="7"><desc>x &amp; y</desc></topic>')
        for number, documents in enumerate(lists, 1):
            out.append(f'<interaction num="{number}" starttime="{number}.5"><query>q</query><results>')
            out += [
                f'<result rank="{rank}"><url>u</url><clueweb12id>{escape(document)}</clueweb12id></result>'
                for rank, document in enumerate(documents, 1)
            ]
            out.append('</results><clicked><click num="1"><rank>1</rank></click></clicked></interaction>')
        out.append('<currentquery starttime="99"><query>last</query></currentquery></session>')
    return "\n".join([*out, "</sessiontrack>"]).encode()


def plain_of(sessions: Sessions) -> Plain:
    """The sessions as lists, by rank, or by score if there are only scores."""
    lists = sessions.lists
    found: Plain = {}
    for i, session in enumerate(sessions.ids):
        found[session] = []
        for turn in range(*sessions.turn_offsets[i : i + 2].tolist()):
            rows = list(range(*lists.list_offsets[turn : turn + 2].tolist()))
            if lists.has_scores and lists.score.size:
                rows.sort(key=lambda row: -lists.score[row])
            found[session].append([lists.document(row).decode() for row in rows])
    return found


def in_byte_order(sessions: Plain) -> list[str]:
    return sorted(sessions, key=str.encode)


def shuffled(rows: list[Any], seed: int = 2) -> list[Any]:
    return random.Random(seed).sample(rows, len(rows))


def error_of(text: bytes, **how: Any) -> InputError:
    with pytest.raises(InputError) as caught:
        Sessions.read(text, **how)
    return caught.value


def session(*queries: Any, **more: Any) -> dict[str, Any]:
    return {"session": "a", "queries": list(queries), **more}
