"""Build the site from the Markdown pages. They stay as they are; what only a site needs is added to a copy of them.

Run it through `make site`. The copy gets navigation from the lists that the pages have, a page per command and per
section of api.md, and typeset formulas.
"""

from __future__ import annotations

import inspect
import re
import shutil
import sys
from pathlib import Path
from types import FunctionType

import click
from formulas import typeset
from sphinx.application import Sphinx
from sphinx.pycode import ModuleAnalyzer

import gainful
from gainful.cli import help_groups
from gainful.cli.main import COMMAND_GROUPS, cli
from gainful.question import settings_of

DOCS = Path(__file__).parent
BUILD = DOCS.parent / "build"
SOURCE = BUILD / "site-source"
CONFIG = {
    "project": "gainful",
    "version": gainful.__version__,
    "html_title": f"gainful {gainful.__version__}",
    "extensions": ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"],
    "myst_enable_extensions": ["html_image", "colon_fence", "deflist"],
    "myst_heading_anchors": 4,
    "default_role": "code",
    "nitpicky": True,
    # Types that are not public names have no entry.
    "nitpick_ignore_regex": [("py:(class|data|obj)", r"(?!gainful\.\w+$).*")],
    "autodoc_member_order": "bysource",
    "autodoc_type_aliases": {name: name for name in gainful.__all__ if name.endswith("Like")},
    "python_use_unqualified_type_names": True,
    "toc_object_entries_show_parents": "hide",
    "html_theme": "pydata_sphinx_theme",
    "html_static_path": [str(DOCS / "static")],
    "html_css_files": ["site.css"],
    "html_show_sourcelink": False,
    "html_copy_source": False,
    "html_theme_options": {"secondary_sidebar_items": ["page-toc"]},
}


def navigation(text: str) -> str:
    """A page with the pages that its lists and tables name, section by section, as hidden tables of contents."""
    sections = re.split(r"^(?=##+ )", text, flags=re.MULTILINE)
    return "".join(section + _toctree(section) for section in sections)


def _toctree(section: str) -> str:
    pages = re.findall(r"^(?:- |\|.*? )\[([^\]]+)\]\(((?!\.)\S+)\.(?:md|rst)\)", section, re.MULTILINE)
    caption = re.match(r"##+ (.*)", section)
    entries = [f"{title} <{page}>" for title, page in pages]
    head = ["", "```{toctree}", ":hidden:", *([f":caption: {caption[1]}"] if caption else []), ""]
    return "\n".join([*head, *entries, "```", "", ""]) if pages else ""


def write_sections() -> None:
    """A page per section of the list of all pages; on the first page, cards that lead to them."""
    start, *sections = re.split(r"^## ", (SOURCE / "index.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    cards = re.findall(r"^- .*", sections.pop(0), re.MULTILINE)
    doors = ["- [Start](start.md): install, score two systems, compare them"]
    for section in sections:
        title, _, text = section.partition("\n")
        folder = re.search(r"\]\(([\w-]+)/", text)[1]  # type: ignore[index]
        about = re.match(r"\s*([^-#][^.]*)\.", text)
        doors.append(f"- [{title.split()[0]}]({folder}.md): {about[1] if about else 'what every part does'}")
        (SOURCE / f"{folder}.md").write_text(navigation(f"# {title}\n{text.replace('### ', '## ')}"), encoding="utf-8")
    shown = [f":::{{container}} cards\n{chr(10).join(each)}\n:::\n" for each in (cards, doors)]
    (SOURCE / "index.md").write_text("\n".join([start, *shown, _toctree("\n".join(doors))]), encoding="utf-8")


class _Markdown(click.HelpFormatter):
    """What click writes as help, as Markdown."""

    level = 2

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        self.write(f"```text\n{prog} {args}\n```\n")

    def write_heading(self, heading: str) -> None:
        self.write(f"\n{'#' * self.level} {heading}\n")

    def write_text(self, text: str) -> None:
        self.write(f"\n{_escaped(inspect.cleandoc(text))}\n")

    def write_dl(self, rows: list[tuple[str, str]], col_max: int = 0, col_spacing: int = 0) -> None:
        self.write("".join(f"\n`{name}`\n: {_escaped(text)}\n" for name, text in rows))


def _escaped(text: str) -> str:
    return re.sub(r"`[^`]*`|[*_<>\[\]|]", lambda found: found[0] if found[0][0] == "`" else "\\" + found[0], text)


def command_page(path: str, command: click.Command, level: int = 1) -> str:
    """What `--help-all` prints of a command and of those in it."""
    context = click.Context(command, info_name=path)
    context.meta[help_groups._FULL] = True
    formatter = _Markdown()
    formatter.level = level + 1
    command.format_help(context, formatter)
    text = re.sub(r"((?:^ *Example: .*\n)+)", r"\n```sh\n\1```\n", formatter.getvalue(), flags=re.MULTILINE)
    inner = [command_page(f"{path} {name}", each, 2) for name, each in getattr(command, "commands", {}).items()]
    return "\n\n".join([f"{'#' * level} {path}", re.sub(r"^ *Example: ", "", text, flags=re.MULTILINE), *inner])


def write_commands() -> None:
    """A page per command from its declaration, and the list of them."""
    page, lines = SOURCE / "reference" / "commands.md", []
    for group, commands in COMMAND_GROUPS.items():
        lines += [f"## {group}", "", *(f"- [{name}](commands/{name}.md): {about}" for name, about in commands.items()), ""]
        for name in commands:
            text = command_page(f"gainful {name}", cli.get_command(click.Context(cli), name))  # type: ignore[arg-type]
            _write(page.parent / "commands" / f"{name}.md", text)
    _write(page, navigation(page.read_text(encoding="utf-8").replace("<!-- commands -->", "\n".join(lines))))


def write_api() -> None:
    """A page per section of the list of public names, from docstrings and types."""
    page = SOURCE / "reference" / "api.md"
    start, *sections = re.split(r"^## ", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    for section in sections:
        title, names = section.partition("\n")[0], re.findall(r"^- `(\w+)`", section, re.MULTILINE)
        slug = title.lower().replace(" ", "-")
        lines = [title, "=" * len(title), "", ".. currentmodule:: gainful", ""]
        for name in names:
            value = getattr(gainful, name)
            if name.endswith("Like"):
                about = ModuleAnalyzer.for_module(gainful._HOMES[name]).find_attr_docs()["", name]
                lines += [f".. py:data:: {name}", "", *(f"   {line}" for line in about), ""]
            else:
                kind = "autofunction" if isinstance(value, FunctionType) else "autoclass"
                lines += [f".. {kind}:: {name}", *(["   :members:", "   :inherited-members:"] if kind == "autoclass" else []), ""]
        _write(page.parent / "api" / f"{slug}.rst", "\n".join(lines))
        start += f"- [{title}](api/{slug}.rst): {', '.join(f'`{name}`' for name in names)}\n"
    _write(page, navigation(start))


def describe_options(app: Sphinx, what: str, name: str, value: object, options: object, lines: list[str]) -> None:
    """The options of a public function in the words of their declaration."""
    if what == "function" and hasattr(value, "options"):
        lines += ["", *(f":param {name}: {how.help}" for name, (_, how) in settings_of(value.options).items())]


def leave_out(app: Sphinx, what: str, name: str, value: object, skip: bool, options: object) -> bool | None:
    """Members that a class has from Python, such as those of dict and Exception."""
    return None if (getattr(value, "__module__", None) or "gainful").startswith("gainful") else True


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")


def main() -> int:
    shutil.rmtree(SOURCE, ignore_errors=True)
    shutil.copytree(DOCS, SOURCE, ignore=shutil.ignore_patterns("*.py", "__pycache__", "static", "playground"))
    for page in SOURCE.rglob("*.md"):
        text = page.read_text(encoding="utf-8")
        here = DOCS / page.relative_to(SOURCE)
        outside = lambda link: (here.parent / link[2]).resolve().is_relative_to(DOCS)
        text = re.sub(r"\[([^\]]+)\]\(((?:\.\./)+[^)#]+)\)", lambda link: link[0] if outside(link) else link[1], text)
        if here.parent.name == "measures":
            formula = r"(## Formula\n\n(?:.*\n\n)?)```text\n(.*?)```"
            text = re.sub(formula, lambda found: f'{found[1]}<div class="formula">\n{typeset(found[2])}\n</div>', text, flags=re.S)
        _write(page, navigation(text) if here.name in ("README.md", "papers.md") else text)
    write_sections()
    write_commands()
    write_api()
    app = Sphinx(SOURCE, None, BUILD / "site", BUILD / "site-cache", "html", CONFIG, status=None, warningiserror=True, parallel=2)
    app.connect("autodoc-process-docstring", describe_options)
    app.connect("autodoc-skip-member", leave_out)
    app.build(force_all=True)
    if (DOCS / "playground").is_dir():
        shutil.copytree(DOCS / "playground", BUILD / "site" / "playground", dirs_exist_ok=True)
    return app.statuscode


if __name__ == "__main__":
    sys.exit(main())
