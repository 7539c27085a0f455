"""Shapes as SVG text: lengths are inches from the lower left, as figures have them, and what is read is escaped.

Nothing has a style of its own, so that a page that allows no inline styles can show it: colours are ``currentColor``,
the page's or that of a group, and a page's style sheet may say other ones for dark pages.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from html import escape
from itertools import zip_longest
from math import isnan
from typing import Any

from gainful.render.cells import plain
from gainful.render.figure_style import COLOURS, GREY, Box, Look

#: Pixels of an inch and of a point, where a chart is shown in its own size.
DOTS = 120.0
POINT = DOTS / 72

Place = tuple[float, float]

#: The corners of markers, in thirds of their radius; one that is not here is round.
_CORNERS = {
    "^": "0,3 3,-3 -3,-3",
    "v": "0,-3 3,3 -3,3",
    "s": "-2.7,-2.7 2.7,-2.7 2.7,2.7 -2.7,2.7",
    "D": "0,3.8 3.8,0 0,-3.8 -3.8,0",
    "P": "-1,3 1,3 1,1 3,1 3,-1 1,-1 1,-3 -1,-3 -1,-1 -3,-1 -3,1 -1,1",
    "X": "0,1 2,3 3,2 1,0 3,-2 2,-3 0,-1 -2,-3 -3,-2 -1,0 -3,2 -2,3",
    "*": "0,4 0.9,1.2 3.8,1.2 1.5,-0.5 2.4,-3.2 0,-1.5 -2.4,-3.2 -1.5,-0.5 -3.8,1.2 -0.9,1.2",
}


def rounded(value: float, places: int = 1) -> str:
    """A number of pixels, as short as can be.

    >>> rounded(12.04), rounded(-0.01), rounded(3.26)
    ('12', '0', '3.3')
    """
    return f"{round(value, places) + 0.0:.10g}"


def attributes(**how: Any) -> str:
    """Attributes as a tag has them; None is left out.

    >>> attributes(stroke_width=1.0, class_="a", id=None)
    ' stroke-width="1" class="a"'
    """
    texts = {name.rstrip("_").replace("_", "-"): value for name, value in how.items() if value is not None}
    return "".join(
        f' {name}="{rounded(value, 2) if isinstance(value, float) else escape(str(value))}"'
        for name, value in texts.items()
    )


def coloured(colour: str) -> dict[str, Any]:
    """The attributes of a group whose ``currentColor`` is one of a figure's; black and grey are the page's own."""
    if colour in COLOURS:
        return {"class_": f"hue{COLOURS.index(colour)}", "color": colour}
    return {"opacity": 0.65} if colour == GREY else {}


class Shapes:
    """Shapes on a ground of some height."""

    def __init__(self, height: float) -> None:
        self.height = height
        self._parts: list[str] = []

    def __str__(self) -> str:
        return "\n".join(self._parts)

    def x(self, inches: float) -> float:
        """Pixels from the left."""
        return inches * DOTS

    def y(self, inches: float) -> float:
        """Pixels from the top."""
        return (self.height - inches) * DOTS

    @contextmanager
    def group(self, **how: Any) -> Iterator[None]:
        """What is drawn until the block ends has some attributes together."""
        self._parts.append(f"<g{attributes(**how)}>")
        yield
        self._parts.append("</g>")

    @contextmanager
    def clip(self, box: Box, name: str) -> Iterator[None]:
        """What is drawn until the block ends is seen in a box only; the name has to be the box's alone on a page."""
        self._parts.append(f'<clipPath id="{name}">')
        self.box(*box)
        self._parts.append("</clipPath>")
        with self.group(clip_path=f"url(#{name})"):
            yield

    def _add(self, tag: str, inside: str = "", **how: Any) -> None:
        self._parts.append(f"<{tag}{attributes(**how)}>{inside}</{tag}>" if inside else f"<{tag}{attributes(**how)}/>")

    def line(self, places: Sequence[Place], width: float, dashes: Sequence[float] = (), **how: Any) -> None:
        """A line through places, so many points wide; dashes are in widths."""
        stroke = width * POINT
        pattern = " ".join(rounded(part * stroke) for part in dashes) or None
        drawn: dict[str, Any] = {
            "fill": "none",
            "stroke": "currentColor",
            "stroke_width": stroke,
            "stroke_dasharray": pattern,
        }
        self._add("path", d=self._path(places), **{**drawn, **how})

    def area(self, places: Sequence[Place], **how: Any) -> None:
        """What is inside of an outline."""
        self._add("path", d=self._path(places) + "z", **{"fill": "currentColor", **how})

    def _path(self, places: Sequence[Place]) -> str:
        return "M" + " ".join(f"{rounded(self.x(a))},{rounded(self.y(b))}" for a, b in places)

    def box(self, left: float, bottom: float, width: float, height: float, **how: Any) -> None:
        """A rectangle."""
        place = {"x": self.x(left), "y": self.y(bottom + height), "width": width * DOTS, "height": height * DOTS}
        self._add("rect", **{**place, "fill": "currentColor", **how})

    def text(self, x: float, y: float, text: str, size: float, **how: Any) -> None:
        """A text whose middle is at a height; it starts at ``x``, unless an anchor says otherwise."""
        if not text:
            return
        is_upright = how.pop("is_upright", False)
        along, down, aside = self.x(x), self.y(y), 0.35 * size * POINT
        turned = f"rotate(-90 {rounded(along + aside)} {rounded(down)})" if is_upright else None
        place = {"x": along + aside, "y": down} if is_upright else {"x": along, "y": down + aside}
        said = {"font_size": size * POINT, "fill": "currentColor", "transform": turned, **how}
        self._add("text", escape(text), **place, **said)

    def dot(self, at: Place, size: float, **how: Any) -> None:
        """A round point, so many points wide."""
        self._add("circle", cx=self.x(at[0]), cy=self.y(at[1]), r=size * POINT / 2, **{"fill": "currentColor", **how})

    def points(
        self, places: Sequence[Place], look: Look, is_named: bool = False, size: float = 3.6, titles: Sequence[str] = ()
    ) -> None:
        """Markers as a look has them, so many points wide; a mouse finds their titles.

        They may lie upon each other, so they let others through; those that have a name on the chart do not.
        """
        opacity = 1.0 if is_named else 0.5
        with self.group(**coloured(look.colour), fill="currentColor", fill_opacity=opacity, stroke="currentColor"):
            for place, title in zip_longest(places, titles, fillvalue=""):
                if isinstance(place, tuple) and not any(map(isnan, place)):
                    self._marker(place, look.marker, size * POINT / 2, title)

    def _marker(self, at: Place, marker: str, radius: float, title: str) -> None:
        x, y = self.x(at[0]), self.y(at[1])
        inside = f"<title>{escape(plain(title))}</title>" if title else ""
        if marker not in _CORNERS:
            self._add("circle", inside, cx=x, cy=y, r=radius)
            return
        corners = (map(float, corner.split(",")) for corner in _CORNERS[marker].split())
        places = " ".join(f"{rounded(x + a * radius / 3)},{rounded(y - b * radius / 3)}" for a, b in corners)
        self._add("polygon", inside, points=places)
