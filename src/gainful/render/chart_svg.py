"""Charts for HTML: the SVG that matplotlib draws, without styles, scripts and backgrounds, so that any page may hold it
and its colours follow dark and light. Without matplotlib a chart is described in sentences; tables have the numbers."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable
from html import escape
from io import BytesIO
from xml.etree import ElementTree

from gainful.pages.charts import Chart
from gainful.render.cells import plain
from gainful.render.figure import can_draw, draw_alone
from gainful.render.figure_style import COLOURS, GREY, Looks, settings

#: What a page's style sheet says of charts. On dark pages the darkest hues and grey are lighter.
CHART_STYLE = (
    """\
.gainful-chart { display: inline-block; vertical-align: top; margin: 1rem 1rem 1rem 0; max-width: 100%; width: 540px;
  break-inside: avoid; }
.gainful-chart.wide { display: block; width: auto; overflow-x: auto; }
.gainful-chart.wide svg { min-width: 540px; }
.gainful-chart figcaption { font-weight: 600; padding-bottom: .4rem; }
.gainful-chart svg { display: block; overflow: visible; }
@media (max-width: 70rem) { .gainful-chart svg { height: auto; } }
@media (prefers-color-scheme: dark) {
"""
    + "".join(
        f'  .gainful-chart [{part}="{dark.lower()}"] {{ {part}: {light}; }}\n'
        for dark, light in ((COLOURS[6], "#c2417c"), (COLOURS[7], "#8c7de8"), (GREY, "#9a9a9a"))
        for part in ("fill", "stroke")
    )
    + "}\n"
)

#: How wide a chart usually is and the widest, in inches, and how many pixels an inch has.
_USUAL, _WIDEST, _PIXELS = 4.5, 9.0, 120

_SVG = "{http://www.w3.org/2000/svg}"
_HREF = "{http://www.w3.org/1999/xlink}href"


def chart_html(chart: Chart, systems: Iterable[str] = ()) -> str:
    """The chart as a ``<figure>`` with its title above and its caption below; CHART_STYLE is its style. ``systems`` are
    all of the page, in their order, so that each has one look in all charts."""
    title = f"<figcaption>{escape(plain(chart.title))}</figcaption>\n" if chart.title else ""
    note = f'\n<p class="note">{escape(plain(chart.full_caption))}</p>' if chart.full_caption else ""
    if not can_draw():
        return f'<figure class="gainful-chart">\n{title}<p>{_description(chart)}</p>{note}\n</figure>'
    svg = chart_svg(chart, systems)
    is_wide = f'viewBox="0 0 {_USUAL * 72:g} ' not in svg
    return f'<figure class="gainful-chart{" wide" if is_wide else ""}">\n{title}{svg}{note}\n</figure>'


def _description(chart: Chart) -> str:
    return escape(plain(" ".join(chart.described())))


def chart_svg(chart: Chart, systems: Iterable[str] = ()) -> str:
    """A chart as an ``<svg>``: as wide as there is room, at most in its own size. Screen readers have its title and
    what it shows."""
    own = tuple(dict.fromkeys(chart.systems))
    together = tuple(dict.fromkeys((*systems, *own)))
    out = BytesIO()
    with settings(svg_fonttype="none"), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # browsers have other fonts
        figure = draw_alone(chart, Looks.of(together if len(together) <= len(COLOURS) else own), _USUAL, _WIDEST)
        figure.savefig(out, format="svg", transparent=True, metadata={"Date": None})
    root = ElementTree.fromstring(out.getvalue())
    drawn = "".join(_markup(element) for element in root if element.tag != f"{_SVG}metadata")
    width, height = map(float, root.attrib["viewBox"].split()[2:])
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {width:g} {height:g}" width="100%" '
        f'height="{height * _PIXELS / 72:.0f}" preserveAspectRatio="xMinYMin meet" fill="currentColor" '
        'font-family="system-ui, sans-serif" stroke-linejoin="round">\n'
        f"<title>{escape(plain(chart.title) or 'Chart')}</title>\n<desc>{_description(chart)}</desc>\n{drawn}</svg>"
    )


def _markup(element: ElementTree.Element) -> str:
    """An element of matplotlib's drawing without backgrounds, global styles and groups that only name things."""
    tag, name = element.tag.removeprefix(_SVG), element.get("id", "")
    inside = "".join(map(_markup, element)) or escape(element.text or "" if tag == "text" else "")
    if name.startswith("label "):  # a point's, which a browser shows beside the mouse
        return f"<g><title>{escape(name.removeprefix('label '))}</title>{inside}</g>\n"
    how = _attributes(element, tag)
    is_background = tag == "path" and not {how.get("fill", ""), how.get("stroke", "none")} - {"none"}
    if tag == "style" or is_background or (tag in ("g", "defs") and not (inside and (how or tag == "defs"))):
        return inside if tag == "g" else ""
    attributes = "".join(f' {key}="{escape(value)}"' for key, value in how.items())
    return f"<{tag}{attributes}>{inside}</{tag}>\n" if inside else f"<{tag}{attributes}/>\n"


def _attributes(element: ElementTree.Element, tag: str) -> dict[str, str]:
    """The attributes of an element: its style among them, no name unless it is referred to, black as the page's text,
    no white but that of texts and outlines, and places to a hundredth of a point."""
    how = dict(re.findall(r"([\w-]+): ([^;]+)", element.get("style", "")))
    how |= {"href" if key == _HREF else key: value for key, value in element.items()}
    if found := re.search(r"([\d.]+)px", how.get("font", "")):  # as earlier versions of matplotlib say it
        how["font-size"] = found[1]
    dropped = {"style", "font", "font-family", *(() if tag in ("path", "clipPath") else ("id",))}
    if how.get("transform", "").startswith("rotate(-0"):
        dropped.add("transform")
    how = {key: value for key, value in how.items() if key not in dropped}
    for key in {"fill", "stroke"} & how.keys():
        how[key] = "currentColor" if how[key] == "#000000" else how[key]
    if how.get("stroke") == "#ffffff" and how.get("fill") != "none":  # it sets things apart on white paper
        how["stroke"] = "none"
    if how.get("fill") == "#ffffff" and tag != "text":
        how["fill"] = "none"
    for key in {"d", "x", "y"} & how.keys():
        how[key] = re.sub(r"(\.\d\d)\d+", r"\1", " ".join(how[key].split()))
    return how
