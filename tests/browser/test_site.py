"""The site of the documentation is built without a warning, searched and read in a browser, and fetches nothing."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import gainful
from gainful.measures.catalog import ALL_MEASURES

ROOT = Path(__file__).parents[2]


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args: Any) -> None:
        pass


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, missing: Callable[[str], None]) -> Path:
    if any(find_spec(name) is None for name in ("sphinx", "myst_parser", "pydata_sphinx_theme")):
        missing("no Sphinx: pip install gainful[docs]")
    build = tmp_path_factory.mktemp("build")
    command = [sys.executable, str(ROOT / "docs" / "make_site.py"), str(build)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return build / "site"


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture
def page(browser: Any, address: str) -> Iterator[Any]:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    found, requests, errors = context.new_page(), [], []
    found.on("request", lambda request: requests.append(request.url))
    found.on("pageerror", lambda error: errors.append(str(error)))
    found.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    yield found
    context.close()
    assert errors == []
    assert [url for url in requests if not url.startswith((address, "data:"))] == []


def test_a_search_leads_to_a_measure(page: Any, address: str) -> None:
    page.goto(f"{address}/index.html")
    page.keyboard.press("Control+k")
    page.keyboard.type("nDCG")
    page.keyboard.press("Enter")
    page.wait_for_selector("#search-results li")
    page.get_by_role("link", name="nDCG", exact=True).first.click()
    page.wait_for_url("**/reference/measures/nDCG.html*")
    assert page.locator("h1").inner_text().startswith("nDCG")
    formula = page.locator("#formula math mfrac")
    assert formula.text_content() == "DCG[k]DCG[k]oftheideallist"  # fraction, variables and words are elements
    assert formula.bounding_box()["height"] > 30


def test_it_is_light_or_dark_as_its_reader_likes(page: Any, address: str) -> None:
    backgrounds = []
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.goto(f"{address}/reference/measures/nDCG.html")
        backgrounds.append(page.evaluate("getComputedStyle(document.body).backgroundColor"))
    light, dark = (sum(map(int, colour[4:-1].split(","))) for colour in backgrounds)
    assert light > 600 and dark < 200


@pytest.mark.parametrize(
    "name",
    ["index", "figures/README", "reference/measures/alpha-DCG", "reference/commands/compare", "reference/api/data"],
)
def test_pages_fit_a_phone(page: Any, address: str, name: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{address}/{name}.html")
    assert page.evaluate("document.documentElement.scrollWidth") == 390


def test_measures_commands_and_public_names_have_their_place(site: Path) -> None:
    for name in ALL_MEASURES:
        text = (site / "reference" / "measures" / f"{name}.html").read_text(encoding="utf-8")
        assert '<div class="formula">' in text, name
    assert "--margin" in (site / "reference" / "commands" / "compare.html").read_text(encoding="utf-8")
    api = "".join(path.read_text(encoding="utf-8") for path in (site / "reference" / "api").glob("*.html"))
    assert [name for name in gainful.__all__ if name != "__version__" and f'id="gainful.{name}"' not in api] == []


def test_thumbnails_lead_to_their_figures(page: Any, address: str) -> None:
    page.goto(f"{address}/figures/README.html")
    cards = page.locator(".cards a")
    assert cards.count() == len(list((ROOT / "docs" / "figures").glob("*.svg")))
    cards.last.click()
    target = page.evaluate("document.querySelector(location.hash).querySelector('img').getAttribute('alt')")
    assert "confidence limits" in target
