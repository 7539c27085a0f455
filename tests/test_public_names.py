"""Public names refer to the right objects, independent of earlier imports."""

from __future__ import annotations

import builtins
import inspect
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import gainful
import gainful_papers


def test_every_public_name_is_there() -> None:
    for package in (gainful, gainful_papers):
        for name in package.__all__:
            assert getattr(package, name) is not None


def test_no_module_hides_a_public_name() -> None:
    # `import gainful.x` would replace a function `gainful.x` by the module.
    for package in (gainful, gainful_papers):
        modules = {module.name for module in pkgutil.iter_modules(package.__path__)}
        assert not modules.intersection(package.__all__)


def test_an_interrupt_of_a_lazy_import_stays_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(name: str) -> None:
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt as error:  # as Python 3.11 does while it makes a class
            raise RuntimeError("Error calling __set_name__") from error

    monkeypatch.setattr(gainful.importlib, "import_module", interrupted)
    with pytest.raises(KeyboardInterrupt):
        gainful.__getattr__("evaluate")


def test_importing_gainful_loads_nothing_heavy() -> None:
    code = "import gainful, sys; print([m for m in ('numpy', 'scipy', 'click', 'rich') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_evaluating_loads_neither_scipy_nor_rich() -> None:
    code = (
        "import gainful, sys; gainful.evaluate({'q': {'d': 1}}, {'q': {'d': 1.0}});"
        "print([m for m in ('scipy', 'rich', 'click') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_gate_loads_what_its_check_needs(tmp_path: Path) -> None:
    code = (
        "import gainful, sys; q = {f'q{i}': {'d': 1} for i in range(300)}\n"
        f"gate = gainful.freeze_gate(q, q, 'nDCG@10'); gate.save({str(tmp_path / 'g')!r})\n"
        f"assert gainful.check_gate({str(tmp_path / 'g')!r}, q, q).verdict == 'pass'\n"
        "print([m for m in ('scipy', 'statistics', 'xml', 'gainful.stats.anova', 'gainful.io.session_records')"
        " if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_table_loads_no_other_format() -> None:
    code = (
        "import io, sys; import gainful; from gainful.render import write;"
        "result = gainful.evaluate({'q': {'d': 1}}, {'q': {'d': 1.0}});"
        "write(gainful.Report(result), 'table', io.StringIO());"
        "print([m for m in sys.modules if m in ('csv', 'html', 'json', 'gzip', 'pandas', 'polars', 'pyarrow')"
        " or m.startswith('gainful.render.')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    ours = [f"gainful.render.{name}" for name in ("cells", "text_formats")]
    assert sorted(eval(done.stdout)) == ours


@pytest.mark.parametrize("name", ["evaluate", "explain", "compare"])
def test_a_signature_names_types_that_can_be_found(name: str) -> None:
    # What stands in `help(gainful.evaluate)` is a public name, or one of Python's.
    signature = inspect.signature(getattr(gainful, name))
    text = " ".join(str(parameter.annotation) for parameter in signature.parameters.values())
    words = set(re.findall(r"[A-Za-z_]+", text)) - {"None", "Mapping", "Sequence"}
    assert words and not [word for word in words if not hasattr(gainful, word) and not hasattr(builtins, word)]


def test_one_verb_a_question() -> None:
    names = set(gainful.__all__)
    assert len(names) < 85 and not names & {"evaluate_runs", "explain_runs", "compare_pair", "compare_systems"}
    assert {"evaluate", "explain", "compare", "evaluate_sessions"} < names


def test_errors_travel_with_their_hints() -> None:
    import pickle

    error = pickle.loads(pickle.dumps(gainful.InputError("what", "do this")))
    assert (type(error), str(error)) == (gainful.InputError, "what\nhint: do this")
