"""Debian's chromium, one for all tests of the report's page; a page fails its test if a script of it does."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from gainful import report, report_sessions


@pytest.fixture(scope="session")
def missing() -> Callable[[str], None]:
    """Skip because something is missing, or fail if everything is required (GAINFUL_REQUIRE_ALL=1)."""

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
        # There is no GPU, and emulating one is slower than drawing without.
        args = ["--no-sandbox", "--disable-gpu", "--disable-software-rasterizer"]
        found = playwright.chromium.launch(executable_path=path, args=args)
        yield found
        found.close()


#: Numbers for addresses: if only the fragment differs, a browser does not reload a page.
_LOADED = count()


class Opened:
    """An open page, its network requests, and its errors."""

    def __init__(self, page: Any, *, runs_scripts: bool) -> None:
        self.page, self.runs_scripts, self.requests, self.errors = page, runs_scripts, [], []
        self._listeners = {
            "request": lambda request: self.requests.append(request.url),
            "pageerror": lambda error: self.errors.append(str(error)),
            "console": lambda message: self.errors.append(message.text) if message.type == "error" else None,
            "dialog": self._refuse,
        }
        for event, listener in self._listeners.items():
            page.on(event, listener)

    def _refuse(self, dialog: Any) -> None:
        self.errors.append(f"a script asked: {dialog.message}")
        dialog.dismiss()

    def leave(self) -> None:
        """Leaves the page for the next one who opens a report in it."""
        self.page.title()  # all earlier errors have arrived after this
        for event, listener in self._listeners.items():
            self.page.remove_listener(event, listener)

    def go(self, path: Path, state: str = "") -> None:
        """Load a file, even the current one: the browser reuses its process between reports."""
        self.page.goto(f"{path.as_uri()}?{next(_LOADED)}{f'#{state}' if state else ''}")
        if self.runs_scripts:
            self.page.wait_for_selector("html[data-ready]", timeout=20_000)

    def set(self, **state: Any) -> None:
        self.page.evaluate("state => gainfulReport.set(state)", state)

    def state(self) -> dict[str, Any]:
        """Draw pending changes: one that waits for its frame would overwrite later input."""
        self.settle()
        return dict(self.page.evaluate("gainfulReport.state"))

    def values(self) -> dict[str, Any]:
        return dict(self.page.evaluate("gainfulReport.values()"))

    def texts(self, selector: str) -> list[str]:
        return list(self.page.locator(selector).all_inner_texts())

    def settle(self) -> None:
        """Waits until the frame after the next one is drawn."""
        self.page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


Show = Callable[..., Opened]
#: Reset a reused page; without motion, tests need not wait for animations.
_USUAL_MEDIA: Any = {"media": "screen", "color_scheme": "light", "reduced_motion": "reduce"}


@pytest.fixture(scope="session")
def idle() -> dict[str, list[Any]]:
    """Idle browser pages by options: opening a page takes longer than loading a report."""
    return {}


@pytest.fixture
def show(browser: Any, idle: dict[str, list[Any]], tmp_path: Path) -> Iterator[Show]:
    """Opens a report of judgments and runs, or a file, and leaves it after the test."""
    opened: list[tuple[str, Opened]] = []

    def open_page(
        qrels: Any = None,
        runs: Any = None,
        *args: Any,
        file: Path | None = None,
        state: str = "",
        browser_options: Mapping[str, Any] | None = None,
        media: Mapping[str, str] | None = None,
        **options: Any,
    ) -> Opened:
        path = file or tmp_path / f"report{len(opened)}.html"
        if file is None:
            make = report_sessions if options.pop("sessions", False) else report
            make(qrels, runs, *args, **options).save(path)
        wanted = dict(browser_options or {})
        pages = idle.setdefault(str(wanted), [])
        page = pages.pop() if pages else browser.new_context(**wanted).new_page()
        found = Opened(page, runs_scripts=wanted.get("java_script_enabled", True))
        opened.append((str(wanted), found))
        found.page.set_viewport_size({"width": 1280, "height": 900})
        found.page.emulate_media(**_USUAL_MEDIA | dict(media or {}))
        found.go(path, state)
        return found

    yield open_page
    for wanted, found in opened:
        found.leave()
        idle[wanted].append(found.page)
    for _, found in opened:
        assert found.errors == []
        assert [url for url in found.requests if not url.startswith("file:")] == []
