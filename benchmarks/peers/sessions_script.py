"""COUNT sessions of 4 queries x 10 documents: gainful and loops over dicts and lists, in one process and in turns.

Checks first that all numbers are the same.
"""

import gc
import math
import sys
import time

import numpy as np

from gainful import Qrels, Run, Sessions, evaluate_sessions

REPETITIONS = 5
MEASURES = ["sDCG@10", "nsDCG@10"]
TOPICS, DOCUMENTS, JUDGED, QUERIES, SHOWN = 200, 1000, 100, 4, 10
#: Topics and documents have ids of this form.
TOPIC, DOCUMENT = "topic{:03d}", "t{:03d}-doc{:05d}"


def make_judgments(rng):
    grades = [0, 0, 0, 1, 2, 3]
    return {
        TOPIC.format(topic): {
            DOCUMENT.format(topic, document): grades[grade]
            for document, grade in zip(
                rng.choice(DOCUMENTS, JUDGED, replace=False).tolist(),
                rng.integers(len(grades), size=JUDGED).tolist(),
                strict=True,
            )
        }
        for topic in range(TOPICS)
    }


def make_sessions(rng, count):
    """Sessions as columns; every list has ten different documents of its topic."""
    text = b"".join(DOCUMENT.format(topic, i).encode() for topic in range(TOPICS) for i in range(DOCUMENTS))
    width = len(DOCUMENT.format(0, 0))
    topic = rng.integers(TOPICS, size=count)
    turns = count * QUERIES
    # Ten different documents: a random start, and steps that never come back to one before.
    chosen = np.cumsum(rng.integers(1, DOCUMENTS // SHOWN, size=(turns, SHOWN)), axis=1) % DOCUMENTS
    documents = (np.repeat(topic, QUERIES)[:, None] * DOCUMENTS + chosen).ravel()
    # The ids one after the other, as in a file.
    data = np.frombuffer(text, np.uint8).reshape(-1, width)[documents].ravel()
    lists = Run(
        "sessions",
        tuple(b"s%07d_%d" % (i // QUERIES, i % QUERIES + 1) for i in range(turns)),
        np.arange(0, turns * SHOWN + 1, SHOWN),
        data,
        np.arange(0, data.size, width),
        np.full(documents.size, width),
        np.zeros(0),
    )
    names = tuple(TOPIC.format(each).encode() for each in topic.tolist())
    ids = tuple(b"s%07d" % i for i in range(count))
    return Sessions("sessions", ids, np.arange(0, turns + 1, QUERIES), lists, names)


def as_dicts(sessions):
    """The same as lists of ids: session, topic, and the results of every query."""
    lists = sessions.lists
    text, width = lists.data.tobytes().decode(), int(lists.document_length[0])
    documents = [text[start : start + width] for start in lists.document_start.tolist()]
    found = []
    for i, session in enumerate(sessions.ids):
        first = i * QUERIES * SHOWN
        pages = [documents[first + q * SHOWN : first + (q + 1) * SHOWN] for q in range(QUERIES)]
        found.append((session, sessions.topics[i].decode(), pages))
    return found


def naive_loop(sessions, judgments, k=10):
    """The formulas as they are written, query by query and rank by rank."""
    values = {}
    for session, topic, queries in sessions:
        grades = judgments[topic]
        best = sorted(grades.values(), reverse=True)
        gained = ideal = 0.0
        for q, results in enumerate(queries, 1):
            for r, document in enumerate(results[:k], 1):
                gained += grades.get(document, 0) / (1 + math.log(r, 2)) / (1 + math.log(q, 4))
            for r, grade in enumerate(best[:k], 1):
                ideal += grade / (1 + math.log(r, 2)) / (1 + math.log(q, 4))
        values[session] = gained, gained / ideal if ideal else None
    return values


def careful_loop(sessions, judgments, k=10):
    """The same with all that does not change computed once: discounts, and the ideal list of every topic."""
    by_rank = [1 + math.log(r, 2) for r in range(1, k + 1)]
    by_query = [1 + math.log(q, 4) for q in range(1, 100)]
    best = {
        topic: sum(grade / d for grade, d in zip(sorted(grades.values(), reverse=True), by_rank, strict=False))
        for topic, grades in judgments.items()
    }
    values = {}
    for session, topic, queries in sessions:
        grades = judgments[topic]
        gained = ideal = 0.0
        for results, d in zip(queries, by_query, strict=False):
            total = 0.0
            for document, divisor in zip(results[:k], by_rank, strict=False):
                grade = grades.get(document)
                if grade:
                    total += grade / divisor
            gained += total / d
            ideal += best[topic] / d
        values[session] = gained, gained / ideal if ideal else None
    return values


def seconds(work):
    gc.collect()
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main(count):
    rng = np.random.default_rng(7)
    judgments = make_judgments(rng)
    qrels, sessions = Qrels.from_dict(judgments), make_sessions(rng, count)
    listed = as_dicts(sessions)
    found = evaluate_sessions(qrels, sessions, MEASURES)
    ours = [found.by_query(measure) for measure in MEASURES]
    for loop in (naive_loop, careful_loop):
        for session, values in loop(listed, judgments).items():
            if any(abs(column[session] - (value or 0.0)) > 1e-9 for column, value in zip(ours, values, strict=True)):
                sys.exit(f"{loop.__name__}: the numbers are not the same")
    del found, ours
    works = {
        "gainful": lambda: evaluate_sessions(qrels, sessions, MEASURES),
        "careful loop": lambda: careful_loop(listed, judgments),
    }
    times = {name: [] for name in works}
    for _ in range(REPETITIONS):
        for name, work in works.items():
            times[name].append(seconds(work))
    times["naive loop"] = [seconds(lambda: naive_loop(listed, judgments)) for _ in range(2)]
    for name, taken in times.items():
        print("seconds", name, min(taken), sep="\t")


main(int(sys.argv[1]))
