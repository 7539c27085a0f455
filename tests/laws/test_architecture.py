"""The architecture: a room imports only rooms below it, including imports in functions and for types."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path

import gainful

SOURCE = Path(__file__).parents[2] / "src" / "gainful"
PAPERS = SOURCE.with_name("gainful_papers")

#: Number of private names of gainful that the papers import. Only lower it.
MOST_PRIVATE_NAMES_OF_PAPERS = 113

#: Rooms from the bottom up. Rooms in one line do not import each other.
ROOMS = (
    "_version errors frozen",
    "notation",
    "kernel question",
    "policy gains discounts",
    "io",
    "pages",
    "render",
    "data",
    "measures",
    "evaluation",
    "stats",
    "tasks",
    "testing",
    "pytest_plugin",
    "compat spark",
    "cli",
    "__main__",
)
HEIGHT = {room: height for height, rooms in enumerate(ROOMS) for room in rooms.split()}

#: Lower rooms that some rooms must not import.
CLOSED = {
    "pages": {"kernel", "policy", "gains", "discounts", "io"},
    "render": {"kernel", "policy", "gains", "discounts"},
    "measures": {"pages", "render", "io"},
    "stats": {"pages", "render", "io", "data", "measures", "evaluation"},
}

#: The tasks, each of which may import those before it.
TASKS = [
    "compare",
    "gate",
    "curves",
    "sessions",
    "judgments",
    "diff",
    "sensitivity",
    "agree",
    "stability",
    "power",
    "check",
    "whydiff",
    "report",
]


#: Maximum number of parameters; signatures of questions are generated from their options.
MOST_PARAMETERS = 13

#: Maximum lines of Python per room, slightly above the current number.
MOST_LINES = {
    "cli": 3_240,
    "compat": 1_712,
    "data": 4_321,
    "evaluation": 4_849,
    "io": 5_513,
    "kernel": 1_378,
    "measures": 10_227,
    "pages": 837,
    "render": 2_490,
    "stats": 6_247,
    "tasks": 16_677,
    "top": 2_054,
    "gainful_papers": 6_581,
    "tests": 56_628,
}


def statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield all statements, including nested ones; expressions contain none."""
    for node in body:
        yield node
        for field in ("body", "orelse", "finalbody", "handlers", "cases"):
            yield from statements(getattr(node, field, []))


def imported(path: Path, package: str = "gainful") -> Iterator[str]:
    """Yield the modules and names of a package that a file imports."""
    for node in statements(ast.parse(path.read_text()).body):
        assert not getattr(node, "level", 0), f"{path}: imports are absolute"
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == package:
            yield from (f"{node.module}.{name.name}" for name in node.names)
        elif isinstance(node, ast.Import):
            yield from (name.name for name in node.names if name.name.split(".")[0] == package)


@cache
def edges() -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Return each file with its imports."""
    return [
        (path.relative_to(SOURCE).with_suffix("").parts, tuple(name.split(".")[1:]))
        for path in SOURCE.rglob("*.py")
        if path != SOURCE / "__init__.py"
        for name in imported(path)
        if name != "gainful"  # loads its names lazily
    ]


def test_a_room_imports_only_rooms_below_it() -> None:
    assert len(edges()) > 1000
    against = [edge for edge in edges() if edge[0][0] != edge[1][0] and HEIGHT[edge[1][0]] >= HEIGHT[edge[0][0]]]
    closed = [edge for edge in edges() if edge[1][0] in CLOSED.get(edge[0][0], ())]
    assert against + closed == []


def test_a_renderer_only_writes_files() -> None:
    assert {b[1] for a, b in edges() if a[0] == "render" and b[0] == "io"} == {"atomic"}


def test_a_task_uses_only_tasks_before_it() -> None:
    both = [(a[1], b[1]) for a, b in edges() if a[0] == b[0] == "tasks" and {a[1:2], b[1:2]} <= {(t,) for t in TASKS}]
    assert [pair for pair in both if TASKS.index(pair[1]) > TASKS.index(pair[0])] == []


def test_only_one_module_knows_the_cores() -> None:
    knowing = {a for a, b in edges() if b[:2] in (("kernel", "_core"), ("kernel", "pure"))}
    assert {parts for parts in knowing if not parts[-1].startswith("pure")} <= {("kernel", "core")}


def test_no_base_name_twice() -> None:
    names = [path.stem for path in SOURCE.rglob("*.py") if path.stem != "__init__"]
    assert sorted(name for name in set(names) if names.count(name) > 1) == []


def test_papers_stand_next_door() -> None:
    """gainful does not import the papers, and they import a limited number of its private names."""
    assert not [path for path in SOURCE.rglob("*.py") for name in imported(path, "gainful_papers")]
    names = {name for path in PAPERS.rglob("*.py") for name in imported(path)}
    private = sorted(name for name in names if name.rpartition(".")[2] not in gainful.__all__)
    assert len(private) <= MOST_PRIVATE_NAMES_OF_PAPERS, "\n".join(private)


def test_scripts_import_what_there_is() -> None:
    """Names exist that benchmarks, studies and documentation scripts import, because tests do not run these."""
    root = SOURCE.parents[1]
    for script in [path for folder in ("benchmarks", "studies", "docs") for path in (root / folder).rglob("*.py")]:
        for name in imported(script):
            module, _, attribute = name.rpartition(".")
            assert name == "gainful" or hasattr(import_module(module), attribute) or import_module(name), script


def test_no_file_imports_itself_by_way_of_others() -> None:
    """There are no import cycles, including imports in functions and for types."""
    files = {path.relative_to(SOURCE).with_suffix("").parts for path in SOURCE.rglob("*.py")}
    files = {parts[:-1] if parts[-1] == "__init__" else parts for parts in files}
    imports: dict[tuple[str, ...], set[tuple[str, ...]]] = {parts: set() for parts in files}
    for a, b in edges():
        one = a[:-1] if a[-1] == "__init__" else a
        imports[one].add(b if b in files else b[:-1])
    waiting = {file: {other for other in others if other and other != file} for file, others in imports.items()}
    while free := {file for file, others in waiting.items() if not others & waiting.keys()}:
        waiting = {file: others for file, others in waiting.items() if file not in free}
    # The rest is in a cycle, or imports one.
    while top := waiting.keys() - set().union(*waiting.values()):
        waiting = {file: others for file, others in waiting.items() if file not in top}
    assert not waiting, f"in a cycle: {sorted('.'.join(file) for file in waiting)}"


def test_no_function_has_too_many_parameters() -> None:
    """Functions have few parameters; related ones are an object, and options of a question are a class."""
    for path in [*SOURCE.rglob("*.py"), *PAPERS.rglob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                count = len(node.args.posonlyargs) + len(node.args.args) + len(node.args.kwonlyargs)
                assert count <= MOST_PARAMETERS, f"{path}:{node.lineno}: {node.name} has {count} parameters"


def test_lines_per_room() -> None:
    """A commit that needs more lines raises the limit and gives the reason."""
    lines: dict[str, int] = {}
    for path in SOURCE.rglob("*.py"):
        room = path.relative_to(SOURCE).parts[0] if path.parent != SOURCE else "top"
        lines[room] = lines.get(room, 0) + len(path.read_text().splitlines())
    lines["gainful_papers"] = sum(len(path.read_text().splitlines()) for path in PAPERS.rglob("*.py"))
    lines["tests"] = sum(len(path.read_text().splitlines()) for path in (SOURCE.parents[1] / "tests").rglob("*.py"))
    above = {room: (count, MOST_LINES[room]) for room, count in lines.items() if count > MOST_LINES[room]}
    assert not above, (
        f"room: (lines, allowed) {above}; shorten it, or raise MOST_LINES and give the reason in the commit"
    )
