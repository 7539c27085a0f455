"""The playground gives the same numbers as gainful, and works with a mouse, a keyboard and on a phone."""

from __future__ import annotations

import json
import math
import random
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from gainful import Qrels, Run, explain, parse
from gainful.cli.main import run as run_command
from gainful.kernel.parallel import Progress
from gainful.measures.base import Measure
from gainful.policy import Policy
from gainful.tasks.whydiff import Search

Show = Callable[..., Any]

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "playground" / "index.html"
NAMES = ("CG", "DCG", "nCG", "nDCG", "AP", "RR", "ERR")
DISCOUNTS = ("burges2005", "jarvelin2002", "jarvelin2000", "jarvelin2008", "rank", "none")
LARGEST = 120_000  # bytes


class Setting(NamedTuple):
    """The content of a link: graded documents, two lists of them, and the measure's parameters."""

    grades: dict[str, int | None]
    lists: tuple[str, str]
    measure: str
    gain: str
    discount: str
    base: float | str
    k: int | None
    scale: int

    @classmethod
    def random(cls, rng: random.Random) -> Setting:
        letters = "abcdefghijklmnopqrstuvwxyz"[: rng.randint(1, 16)]
        scale = rng.randint(1, 5)
        grades = {letter: rng.choice([None, 0, 0, *range(scale + 1)]) for letter in letters}
        one, two = ("".join(rng.sample(letters, rng.randint(0, len(letters)))) for _ in range(2))
        weights = "-".join(str(rng.choice([0, 1, round(rng.uniform(0, 20), 3)])) for _ in range(scale + 1))
        return cls(
            grades,
            (one, two),
            rng.choice([*NAMES, "nDCG", "nDCG", "AP"]),
            rng.choice(["linear", "exp2", "binary", weights]),
            rng.choice(DISCOUNTS),
            rng.choice([2, 10, "e", round(rng.uniform(1.2, 12), 3)]),
            rng.choice([None, rng.randint(1, 12)]),
            scale,
        )

    @property
    def link(self) -> str:
        documents = "".join(f"{letter}{'-' if grade is None else grade}" for letter, grade in self.grades.items())
        lists = "&".join(f"list{place}={letters}" for place, letters in enumerate(self.lists, 1))
        formula = f"measure={self.measure}&gain={self.gain}&discount={self.discount}&base={self.base}"
        return f"docs={documents}&{lists}&{formula}&k={self.k or 'all'}&scale={self.scale}"

    def named(self, name: str) -> Measure:
        parts = []
        if name.endswith("CG"):
            parts.append(f"gain={self.gain}")
        if name.endswith("DCG"):
            parts.append(f"discount={self.discount}")
            if self.discount not in ("rank", "none"):
                parts.append(f"base={self.base}")
        return parse(f"{name}({', '.join(parts)}){f'@{self.k}' if self.k else ''}")

    @property
    def judged(self) -> dict[str, int]:
        return {letter: grade for letter, grade in self.grades.items() if grade is not None}

    def score(self, measure: Measure, letters: str) -> float:
        missed = [grade for letter, grade in self.judged.items() if letter not in letters]
        score = measure.score([self.grades[letter] for letter in letters], missed, scale=self.scale)
        return 0.0 if math.isnan(score) else score

    def of_tools(self, letters: str) -> dict[str, float]:
        """Every tool's value, as in `gainful explain --detail`, unless the tool leaves the query out."""
        qrels, run = Qrels.from_dict({"q": self.judged}, scale=self.scale), Run.from_dict({"q": list(letters)})
        search = Search(qrels, run, self.named(self.measure), Policy(order="input"), 1, Progress())
        return {tool: way.value for way in search.of_dialects() for tool in way.dialects}


def close(found: float, expected: float) -> bool:
    return math.isclose(found, expected, rel_tol=1e-12, abs_tol=1e-12)


@pytest.fixture
def opened(show: Show) -> Any:
    return show(file=PAGE)


@pytest.fixture
def settings(opened: Any) -> Iterator[tuple[Setting, dict[str, Any]]]:
    """Random settings, and the page's results for them."""
    rng = random.Random(35)
    made = [Setting.random(rng) for _ in range(150)]
    found = opened.page.evaluate("links => links.map(gainfulPlayground.ask)", [each.link for each in made])
    return zip(made, found, strict=True)


def test_scores_and_arithmetic_are_those_of_python(settings: Iterator[tuple[Setting, dict[str, Any]]]) -> None:
    explained = 0
    for setting, found in settings:
        assert found["hash"] == setting.link
        for name in NAMES:
            measure = setting.named(name)
            for side, letters in enumerate(setting.lists):
                worked = found["worked"][name][side]
                assert close(worked["value"], setting.score(measure, letters)), (setting, measure, side)
                # The curve is the measure at every cutoff.
                for k in (1, 3, len(worked["curve"])):
                    if k <= len(worked["curve"]):
                        assert close(worked["curve"][k - 1], setting.score(measure @ k, letters)), (setting, measure, k)
            if name != setting.measure or not setting.judged or not all(setting.lists):
                continue
            qrels = Qrels.from_dict({"q": setting.judged}, scale=setting.scale)
            for side, letters in enumerate(setting.lists):
                explanation = explain(measure, qrels, {"q": list(letters)}, "q", Policy(order="input"))
                columns = found["worked"][name][side]["columns"] + found["shared"][name]["columns"]
                for column in columns:
                    expected = explanation.columns[column["name"]].tolist()
                    for one, other in zip(column["values"], expected, strict=False):
                        is_none = math.isnan(other)
                        assert is_none or close(one, other), (setting, column["name"])
                explained += 1
    assert explained > 100


def test_tools_are_those_of_python(settings: Iterator[tuple[Setting, dict[str, Any]]]) -> None:
    compared = 0
    for setting, found in settings:
        if not setting.judged or not all(setting.lists) or setting.measure in ("CG", "nCG", "ERR"):
            continue
        for side, letters in enumerate(setting.lists):
            shown = {tool: group["values"][side] for group in found["others"] for tool in group["tools"]}
            shown = {tool: value for tool, value in shown.items() if not math.isnan(value)}
            expected = setting.of_tools(letters)
            if not found["others"]:
                assert set(expected) == {"gainful"}
                continue
            assert shown.keys() == expected.keys(), setting
            assert all(close(value, expected[tool]) for tool, value in shown.items()), (setting, shown, expected)
            compared += len(shown)
    assert compared > 1000


def test_the_tools_are_declared_in_python(tmp_path: Path) -> None:
    """`tools.json` is up to date (if not: `make web`), and the page is small and needs no network."""
    subprocess.run([sys.executable, ROOT / "web" / "tools_data.py", tmp_path / "tools.json"], check=True)
    committed = ROOT / "web" / "src" / "playground" / "tools.json"
    assert json.loads((tmp_path / "tools.json").read_text("utf-8")) == json.loads(committed.read_text("utf-8"))
    page = PAGE.read_bytes()
    assert len(page) < LARGEST
    assert re.findall(rb"(?:src|href)=[\"']?https?:|@import|url\(", page) == []


def value_of(opened: Any, side: int, measure: str = "nDCG@10") -> float:
    tile = opened.page.locator(".tile", has=opened.page.get_by_text(measure, exact=True))
    return float(tile.locator(".value").nth(side).inner_text())


def order_of(opened: Any, side: int) -> str:
    opened.settle()
    rows = opened.page.locator("ol.docs").nth(side).locator("li:not(.missed, .divider) b")
    return "".join(rows.all_inner_texts())


def test_by_hand(opened: Any, show: Show, capsys: pytest.CaptureFixture[str]) -> None:
    """Drag, move and grade documents, change the discount, run the command, follow the link."""
    page = opened.page
    setting = Setting(
        dict(zip("abcdefghijklm", (3, 2, 3, 0, 0, 1, 2, 2, 3, 0, 1, 1, 1), strict=True)),
        ("abcdefghij", "bcfgahdije"),
        *("nDCG", "linear", "burges2005", 2, 10, 3),
    )

    def check(now: Setting) -> None:
        assert [order_of(opened, side) for side in (0, 1)] == list(now.lists)
        for side in (0, 1):
            expected = now.score(now.named("nDCG"), now.lists[side])
            assert value_of(opened, side) == pytest.approx(expected, abs=5e-5)

    check(setting)
    # Drag the third document to rank 1, and the last one below the line.
    rows = page.locator("ol.docs").first.locator("li")
    for row, to in ((2, 0), (9, 12)):
        start, end = rows.nth(row).bounding_box(), rows.nth(to).bounding_box()
        page.mouse.move(start["x"] + 60, start["y"] + 12)
        page.mouse.down()
        page.mouse.move(end["x"] + 60, (start["y"] + end["y"]) / 2 + 12)
        page.mouse.move(end["x"] + 60, end["y"] + 12)
        page.mouse.up()
    setting = setting._replace(lists=("cabdefghi", setting.lists[1]))
    check(setting)
    # With the keyboard: one rank down, to rank 1 of the other list, and back into the list.
    page.get_by_role("button", name="Document a, grade 3, rank 2").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Home")
    setting = setting._replace(lists=("cbadefghi", "abcfghdije"))
    check(setting)
    focused = "document.activeElement.getAttribute('aria-label')"
    assert page.evaluate(focused) == "Document a, grade 3, rank 1"
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.get_by_role("button", name="Document j, grade 0, not retrieved").focus()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("2")
    setting = setting._replace(lists=("cbadefghij", setting.lists[1]), grades={**setting.grades, "j": 2})
    check(setting)
    expected = setting.score(setting.named("nDCG"), setting.lists[0])
    said = f"j is grade 2. nDCG@10: List 1 {expected:.4f}"
    page.wait_for_function("said => document.querySelector('p[aria-live]').textContent.startsWith(said)", arg=said)
    page.keyboard.press("-")
    page.get_by_role("toolbar").get_by_role("button", name="grade 1").click()
    page.get_by_role("toolbar").get_by_role("button", name="Move up").click()
    setting = setting._replace(lists=("cbadefghji", setting.lists[1]), grades={**setting.grades, "j": 1})
    check(setting)
    page.get_by_role("button", name="Undo").click()
    check(setting._replace(lists=("cbadefghij", setting.lists[1])))
    setting = setting._replace(lists=("cbadefghij", setting.lists[1]))
    # Other gains and discounts.
    page.get_by_role("combobox", name="Discount").select_option("jarvelin2002")
    for label, text in (("Base b", "3"), ("Grade 3", "10")):
        opened.settle()
        page.get_by_label(label, exact=True).fill(text)
        page.get_by_label(label, exact=True).press("Enter")
    setting = setting._replace(discount="jarvelin2002", base=3, gain="0-1-2-10")
    check(setting)
    assert page.get_by_role("combobox", name="Gain").input_value() == "own"
    # The command prints the same arithmetic.
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy as command").first.click()
    page.get_by_role("button", name="Copied").wait_for()
    command = page.evaluate("navigator.clipboard.readText()")
    last = "3,2,3,0,0,1,2,2,3,1 --unretrieved 1,1,1"
    assert command == f"gainful explain 'nDCG(gain=0-1-2-10, discount=jarvelin2002, base=3)@10' --grades {last}"
    assert run_command(shlex.split(command)[1:]) == 0
    printed = capsys.readouterr().out
    steps = page.locator(".steps").first.inner_text()
    assert steps.partition("; ")[2] in printed.replace("\n", " ")
    # A link leads to the same page.
    page.get_by_role("button", name="Copy link").click()
    page.get_by_role("button", name="Copied").first.wait_for()
    link = page.evaluate("navigator.clipboard.readText()")
    assert link.endswith(f"#{setting.link}")
    again = show(file=PAGE, state=link.partition("#")[2])
    assert [order_of(again, side) for side in (0, 1)] == list(setting.lists)
    assert again.texts(".value") == opened.texts(".value")
    # An invalid address gives the initial page.
    nonsense = show(file=PAGE, state="docs=a9b&list1=zz&k=-3&base=1&gain=0-1&discount=x&measure=y&scale=99")
    assert order_of(nonsense, 0) == "abcdefghij"


def test_it_is_for_everyone(show: Show, missing: Callable[[str], None]) -> None:
    """axe-core finds no violation in light and dark, wide and narrow, and nothing overflows."""
    found = find_spec("axe_playwright_python")
    if found is None or found.origin is None:
        missing("no axe-core: pip install axe-playwright-python")
    script = next(Path(found.origin).parent.rglob("axe*.js")).read_text("utf-8")
    opened = show(file=PAGE, browser_options={"bypass_csp": True})
    page = opened.page
    page.evaluate(script)
    for scheme, width, rules in (
        ("light", 1440, {}),
        ("dark", 390, {"runOnly": ["color-contrast", "scrollable-region-focusable"]}),
    ):
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 900})
        page.get_by_role("button", name="Document c,").first.focus()
        opened.settle()
        results = page.evaluate("rules => axe.run({...rules, resultTypes: ['violations']})", rules)
        assert [(each["id"], [node["html"] for node in each["nodes"]][:3]) for each in results["violations"]] == []
    for width in (390, 820, 1100, 1440):
        page.set_viewport_size({"width": width, "height": 900})
        for measure in ("nDCG", "AP", "ERR"):
            page.get_by_role("radio", name=re.compile(f"^{measure}@")).check()
            opened.settle()
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (measure, width)
