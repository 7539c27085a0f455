"""Build the site from a copy of the Markdown pages.

Run it through `make site`. The copy gets navigation (from the lists on the pages), typeset formulas, a page per command
and a page per section of api.md.
"""

from __future__ import annotations

import inspect
import re
import shutil
import sys
from pathlib import Path
from types import FunctionType

import click
from docutils import nodes
from formulas import typeset
from sphinx.application import Sphinx
from sphinx.pycode import ModuleAnalyzer

import gainful
from gainful.cli import help_groups
from gainful.cli.main import COMMAND_GROUPS, cli
from gainful.question import settings_of

DOCS = Path(__file__).parent
BUILD = Path(*sys.argv[1:] or [DOCS.parent / "build"])
SOURCE, SITE = BUILD / "site-source", BUILD / "site"
CONFIG = {
    "project": "gainful",
    "html_title": f"gainful {gainful.__version__}",
    "extensions": ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"],
    "myst_enable_extensions": ["html_image", "colon_fence", "deflist"],
    "myst_heading_anchors": 4,
    "default_role": "code",
    "smartquotes": False,
    "maximum_signature_line_length": 80,
    "nitpicky": True,
    # Types that are not public names have no entry.
    "nitpick_ignore_regex": [("py:(class|data|obj)", r"(?!gainful\.\w+$).*")],
    "autodoc_member_order": "bysource",
    "autodoc_default_options": {"members": True, "inherited-members": "Exception, Mapping, tuple"},
    "autodoc_type_aliases": {name: name for name in gainful.__all__ if name.endswith("Like")},
    "python_use_unqualified_type_names": True,
    "html_theme": "pydata_sphinx_theme",
    "html_static_path": [str(DOCS / "static")],
    "html_css_files": ["site.css"],
    "html_copy_source": False,
    "html_favicon": str(DOCS / "static" / "icon.svg"),
    "html_context": {"default_mode": "auto"},
}


def navigation(text: str) -> str:
    """Add a hidden table of contents to each section: the pages that its lists and tables name."""
    result = ""
    for section in re.split(r"^(?=##+ )", text, flags=re.MULTILINE):
        pages = re.findall(r"^(?:- |\|.*? )\[([^\]]+)\]\(((?!\.)\S+)\.(?:md|rst)\)", section, re.MULTILINE)
        caption = f":caption: {section.partition(' ')[2].partition(chr(10))[0]}\n" if section[:2] == "##" else ""
        entries = "".join(f"{title} <{page}>\n" for title, page in pages)
        result += section + (f"\n```{{toctree}}\n:hidden:\n{caption}\n{entries}```\n\n" if pages else "")
    return result


def write_sections() -> None:
    """Write a page per section of the list of all pages; the first page gets cards that lead to them."""
    start, doors, *sections = re.split(r"^## ", (SOURCE / "index.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    cards = ["- [Start](start.md): install gainful, score two systems and compare them."]
    for section in sections:
        title, about, text = re.fullmatch(r"(.*)\n\n(.*?\.)\s(.*)", section, re.DOTALL).groups()
        folder = re.search(r"\]\(([\w-]+)/", text)[1]
        cards.append(f"- [{title}]({folder}.md): {about}")
        _write(SOURCE / f"{folder}.md", navigation(f"# {title}\n\n{about} {text.replace('### ', '## ')}"))
    start += re.sub(r"<!-- cards -->\n", ":::{container} cards", f"## {doors}").rstrip() + "\n:::\n"
    pages = "\n\n:::{container} cards\n" + "\n".join(cards) + "\n:::\n"
    _write(SOURCE / "index.md", f"{start}\n{navigation('## All pages' + pages)}")


def thumbnails(text: str) -> str:
    """Add small pictures that lead to the sections of the gallery."""
    found = re.findall(r"^## (.*?)$.*?!\[.*?\]\((.*?)\)", text, re.MULTILINE | re.DOTALL)
    cards = [":::{container} cards"]
    for title, file in found:
        slug = re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")
        cards.append(f'- [<img src="{file}" alt=""> {title}](#{slug})')
    return text.replace("\n## ", "\n".join(["", *cards, ":::", "", "## "]), 1)


class _Markdown(click.HelpFormatter):
    """A click formatter that writes help as Markdown; headings have a level."""

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        self.write(f"```text\n{prog} {args}\n```\n")

    def write_heading(self, heading: str) -> None:
        self.write(f"\n{'#' * self.level} {heading}\n")

    def write_text(self, text: str) -> None:
        self.write(f"\n{_escaped(inspect.cleandoc(text))}\n")

    def write_dl(self, rows: list[tuple[str, str]], col_max: int = 0, col_spacing: int = 0) -> None:
        self.write("".join(f"\n`{name}`\n: {_escaped(text)}\n" for name, text in rows))


def _escaped(text: str) -> str:
    """Escape Markdown outside of code and examples."""
    kept = r"(`[^`]*`|^Example: .*)|([*_<>\[\]|])"
    return re.sub(kept, lambda found: found[1] or "\\" + found[2], text, flags=re.MULTILINE)


def command_page(path: str, command: click.Command, level: int = 1) -> str:
    """Return the full help of a command and of its subcommands."""
    context = click.Context(command, info_name=path)
    context.meta[help_groups._FULL] = True
    formatter = _Markdown()
    formatter.level = level + 1
    command.format_help(context, formatter)
    text = re.sub(r"((?:^ *Example: .*\n)+)", r"\n```sh\n\1```\n", formatter.getvalue(), flags=re.MULTILINE)
    inner = [command_page(f"{path} {name}", each, 2) for name, each in getattr(command, "commands", {}).items()]
    return "\n\n".join([f"{'#' * level} {path}", re.sub(r"^ *Example: ", "", text, flags=re.MULTILINE), *inner])


def write_commands() -> None:
    """Write a page per command from its declaration, and the list of all commands."""
    page, found = SOURCE / "reference" / "commands.md", ""
    for group, commands in COMMAND_GROUPS.items():
        found += f"\n## {group}\n\n"
        for name, about in commands.items():
            found += f"- [{name}](commands/{name}.md): {about}\n"
            command = cli.get_command(click.Context(cli), name)
            _write(page.parent / "commands" / f"{name}.md", command_page(f"gainful {name}", command))
    _write(page, navigation(page.read_text(encoding="utf-8").replace("<!-- commands -->", found)))


def write_api() -> None:
    """Write a page per section of the list of public names, from docstrings and types."""
    page = SOURCE / "reference" / "api.md"
    start, *sections = re.split(r"^## ", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    for section in sections:
        title, names = section.partition("\n")[0], re.findall(r"^- `(\w+)`", section, re.MULTILINE)
        slug, entries = title.lower().replace(" ", "-"), ""
        for name in names:
            if name.endswith("Like"):
                about = ModuleAnalyzer.for_module(gainful._HOMES[name]).find_attr_docs()["", name]
                entries += f".. py:data:: {name}\n\n   {' '.join(about)}\n\n"
            else:
                kind = "function" if isinstance(getattr(gainful, name), FunctionType) else "class"
                entries += f".. auto{kind}:: {name}\n\n"
        text = f"{title}\n{'=' * len(title)}\n\n.. currentmodule:: gainful\n\n{entries}"
        _write(page.parent / "api" / f"{slug}.rst", text)
        start += f"- [{title}](api/{slug}.rst): {', '.join(f'`{name}`' for name in names)}\n"
    _write(page, navigation(start))


def describe_options(app: Sphinx, what: str, name: str, value: object, options: object, lines: list[str]) -> None:
    """Describe the options of a public function by the help of their declarations."""
    if what == "function" and hasattr(value, "options"):
        lines += ["", *(f":param {name}: {how.help}" for name, (_, how) in settings_of(value.options).items())]


def unlink_measures(app: Sphinx, doctree: nodes.document) -> None:
    """Remove links from measures such as nDCG@10, which look like e-mail addresses."""
    for found in list(doctree.findall(nodes.reference)):
        if found.get("refuri", "").startswith("mailto:"):
            found.replace_self(found.children)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")


def site_page(page: Path) -> str:
    """Return the text of a page with typeset formulas and without links to files outside the documentation."""
    text, link = page.read_text(encoding="utf-8"), re.compile(r"\[([^\]]+)\]\(((?:\.\./)+[^)#]+)\)")
    text = link.sub(lambda to: to[0 if (page.parent / to[2]).resolve().is_relative_to(DOCS) else 1], text)
    text = re.sub(r"\[([^\]]+)\]\(([^)]*playground/[^)]*)\)", r'<a href="\2">\1</a>', text)  # copied as it is
    if page.parent.name == "figures":
        text = thumbnails(text)
    if page.parent.name == "measures":
        formula = re.compile(r"(?<=## Formula\n\n)((?:.*\n\n)?)```text\n(.*?)```", re.DOTALL)
        text = formula.sub(lambda found: f'{found[1]}<div class="formula">\n{typeset(found[2])}\n</div>', text)
    return navigation(text) if page.name in ("README.md", "papers.md") else text


def main() -> int:
    shutil.rmtree(SOURCE, ignore_errors=True)
    shutil.copytree(DOCS, SOURCE, ignore=shutil.ignore_patterns("*.py", "__pycache__", "static", "playground"))
    for page in SOURCE.rglob("*.md"):
        _write(page, site_page(DOCS / page.relative_to(SOURCE)))
    write_sections()
    write_commands()
    write_api()
    app = Sphinx(SOURCE, None, SITE, BUILD / "site-cache", "html", CONFIG, None, warningiserror=True, parallel=2)
    app.connect("autodoc-process-docstring", describe_options)
    app.connect("doctree-read", unlink_measures)
    app.build(force_all=True)
    if (DOCS / "playground").is_dir():
        shutil.copytree(DOCS / "playground", SITE / "playground", dirs_exist_ok=True)
    return app.statuscode


if __name__ == "__main__":
    sys.exit(main())
