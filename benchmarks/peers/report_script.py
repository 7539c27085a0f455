"""SYSTEMS QUERIES: a report of simulated systems and queries, 100 ranks deep, created and used in a browser.

How long it takes from opening to the first use, and how long a step of a control until everything in sight is drawn.
"""

import math
import sys
import tempfile
import time
from pathlib import Path

from gainful import compare, report
from gainful.evaluation.simulation import System, simulate

CHROMIUM, STEPS = "/usr/bin/chromium", 60

#: Steps of a gain with the curves in sight: until style and layout are done, in milliseconds.
STEP = """async (steps) => {
  document.getElementById("curves").scrollIntoView({behavior: "instant"});
  await new Promise((done) => setTimeout(done, 700));
  const page = window.gainfulReport, before = page.state.gains, taken = [];
  for (let i = 0; i < steps; i++) {
    const gains = before.slice();
    gains[gains.length - 1] += 0.1 * (1 + (i % 20));
    const start = performance.now();
    page.set({gains});
    document.body.offsetHeight;
    taken.push(performance.now() - start);
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  }
  return taken.sort((a, b) => a - b);
}"""


def main(systems: str, queries: str) -> None:
    from playwright.sync_api import sync_playwright

    made = simulate(
        queries=int(queries), systems=[System(f"system{i:03}", 5 + i / 20) for i in range(int(systems))], depth=100
    )
    start = time.perf_counter()
    compare(made.qrels, made.runs, "nDCG@10").text()
    print("seconds", "comparing", time.perf_counter() - start, sep="\t")
    start = time.perf_counter()
    page = report(made.qrels, made.runs, "nDCG@10")
    html = page.html
    print("seconds", "making", time.perf_counter() - start, sep="\t")
    print("seconds", "bytes", len(html.encode()), sep="\t")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as started:
        file = Path(folder, "report.html")
        file.write_text(html, encoding="utf-8")
        browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        tab = browser.new_page(viewport={"width": 1440, "height": 900})
        tab.goto(file.as_uri())
        tab.wait_for_selector("html[data-ready]", timeout=60_000)
        ready = tab.evaluate("performance.getEntriesByName('gainful-ready')[0].startTime")
        taken = tab.evaluate(STEP, STEPS)
        browser.close()
    print("seconds", "ready", ready / 1000, sep="\t")
    print("seconds", "median", taken[STEPS // 2] / 1000, sep="\t")
    print("seconds", "95%", taken[math.ceil(0.95 * STEPS) - 1] / 1000, sep="\t")


main(*sys.argv[1:])
