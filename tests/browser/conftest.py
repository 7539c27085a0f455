"""Debian's chromium, one for all tests of the report's page; a page fails its test if a script of it does."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from gainful import report


@pytest.fixture(scope="session")
def missing() -> Callable[[str], None]:
    """Says what is not there; where everything is required (GAINFUL_REQUIRE_ALL=1) that is a failure."""

    def say(what: str) -> None:
        if os.environ.get("GAINFUL_REQUIRE_ALL") == "1":
            pytest.fail(what)
        pytest.skip(what)

    return say


@pytest.fixture(scope="session")
def browser(missing: Callable[[str], None]) -> Iterator[Any]:
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing("no Playwright: pip install playwright")
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        missing("no chromium: apt-get install chromium")
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield found
        found.close()


class Opened:
    """A page that is open, what it asked the network for, and what went wrong in it."""

    def __init__(self, page: Any) -> None:
        self.page, self.requests, self.errors = page, [], []
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", lambda message: self.errors.append(message.text) if message.type == "error" else None)

    def set(self, **state: Any) -> None:
        self.page.evaluate("state => gainfulReport.set(state)", state)

    def state(self) -> dict[str, Any]:
        return dict(self.page.evaluate("gainfulReport.state"))

    def values(self) -> dict[str, Any]:
        return dict(self.page.evaluate("gainfulReport.values()"))

    def texts(self, selector: str) -> list[str]:
        return list(self.page.locator(selector).all_inner_texts())

    def settle(self) -> None:
        """Waits until the frame after the next one is drawn."""
        self.page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


Show = Callable[..., Opened]


@pytest.fixture
def show(browser: Any, tmp_path: Path) -> Iterator[Show]:
    """Opens a report of judgments and runs, or a file, and closes it after the test."""
    contexts, opened = [], []

    def open_page(
        qrels: Any = None,
        runs: Any = None,
        *args: Any,
        file: Path | None = None,
        state: str = "",
        browser_options: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> Opened:
        path = file or tmp_path / f"report{len(contexts)}.html"
        if file is None:
            report(qrels, runs, *args, **options).save(path)
        context = browser.new_context(viewport={"width": 1280, "height": 900}, **(browser_options or {}))
        contexts.append(context)
        found = Opened(context.new_page())
        opened.append(found)
        found.page.goto(path.as_uri() + (f"#{state}" if state else ""))
        if (browser_options or {}).get("java_script_enabled", True):
            found.page.wait_for_selector("html[data-ready]", timeout=20_000)
        return found

    yield open_page
    for context in contexts:
        context.close()
    for found in opened:
        assert found.errors == []
        assert [url for url in found.requests if not url.startswith("file:")] == []
