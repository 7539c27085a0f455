"""What a paper's run is made of: sections that are called as in the paper, and the evaluations behind them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gainful.render.charts import Chart
from gainful.render.page import Table
from gainful.results import Evaluation


@dataclass(frozen=True)
class Section:
    """A table, a figure or an example of a paper. Its ``name`` ("Table 2") also names its files.

    ``about`` says in a sentence what is to be seen; ``parts`` are tables, charts and paragraphs.
    """

    name: str
    about: str
    parts: tuple[Table | Chart | str, ...]

    @property
    def file_name(self) -> str:
        """The name of its files, without an ending.

        >>> Section("Table 2", "", ()).file_name, Section("Section 3.1", "", ()).file_name
        ('table-2', 'section-3.1')
        """
        # A dot stays: what is numbered within section 3 must not have the name of section 3.1.
        return "-".join("".join(c if c.isalnum() or c == "." else " " for c in self.name.lower()).split())


@dataclass(frozen=True)
class Study:
    """What a paper's experiment gave on some data.

    ``data`` says in a sentence what data these were, and whether they are the paper's own or its figures are for
    orientation only. ``evaluations`` are the runs' scores with all that was noticed on the way.
    """

    data: str
    sections: tuple[Section, ...]
    evaluations: Mapping[str, Evaluation] = field(default_factory=dict)
    conventions: tuple[str, ...] = ()
