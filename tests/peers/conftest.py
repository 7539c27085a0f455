"""Real collections outside the checkout, and trec_eval's names of our measures."""

from __future__ import annotations

import gzip
import re
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from functools import cache, cached_property
from pathlib import Path

import ir_measures
import pytest

SHARED_DATA = Path(__file__).parents[2].parent / "shared" / "data"

#: Where each collection keeps its judgments and its runs.
COLLECTIONS = {
    "robust2005": ("robust2005/qrels.robust2005.txt", "robust2005/runs/*.gz"),
    "trec-covid/round1": ("trec-covid/round1/qrels.covid-round1.txt", "trec-covid/round1/runs/*.gz"),
    "dl-hard/passage": ("dl-hard/dl_hard-passage.qrels", "dl-hard/passage/*.run.gz"),
    "trec-web-2012": ("trec-web-2012/qrels.web.151-200.txt", "trec-web-2012/runs/*.gz"),
}

#: trec_eval's names of measures without a parameter, and ours; then those with one.
PLAIN_NAMES = {
    "num_q": "NumQ",
    "num_ret": "NumRet",
    "num_rel": "NumRel",
    "num_rel_ret": "NumRelRet",
    "map": "AP",
    "ndcg": "nDCG",
    "recip_rank": "RR",
    "Rprec": "Rprec",
    "set_P": "SetP",
    "set_recall": "SetR",
    "set_F": "SetF",
    "set_map": "SetAP",
    "set_relative_P": "SetRelP",
    "utility": "Utility",
    "gm_map": "GMAP",
    "bpref": "Bpref",
    "gm_bpref": "GMBpref",
    "infAP": "InfAP",
    "11pt_avg": "IAP",
    "binG": "binG",
    "G": "G",
    "ndcg_rel": "nDCGrel",
    "Rndcg": "RnDCG",
    "num_nonrel_judged_ret": "NumNonRelJudgedRet",
}
NAMES_WITH_AT = {
    "P": "P",
    "recall": "R",
    "ndcg_cut": "nDCG",
    "map_cut": "AP",
    "success": "Success",
    "iprec_at_recall": "IPrec",
    "relative_P": "RelP",
    "Rprec_mult": "RprecMult",
    "unj": "Unjudged",
}
#: What trec_eval's -l does not touch.
GRADED_OR_BLIND = {"num_q", "num_ret", "ndcg", "ndcg_cut", "ndcg_rel", "Rndcg", "G", "unj"}


@dataclass(frozen=True)
class Collection:
    """Judgments and runs, as files and, read by code that is not ours, as dicts."""

    qrels_path: Path
    run_paths: dict[str, Path]

    @cached_property
    def qrels(self) -> dict[str, dict[str, int]]:
        judgments: dict[str, dict[str, int]] = {}
        for line in self.qrels_path.read_text().splitlines():
            query, _, document, grade = line.split()
            judgments.setdefault(query, {})[document] = int(grade)
        return judgments

    @cached_property
    def _read(self) -> dict[str, dict[str, dict[str, float]]]:
        return {}

    def run(self, name: str) -> dict[str, dict[str, float]]:
        if name not in self._read:
            fields = self.fields(name)
            lists: dict[str, dict[str, float]] = defaultdict(dict)
            for query, document, score in zip(fields[0::6], fields[2::6], map(float, fields[4::6]), strict=True):
                lists[query][document] = score
            self._read[name] = dict(lists)
        return self._read[name]

    def fields(self, name: str) -> list[str]:
        """Six a row, one after the other."""
        return gzip.decompress(self.run_paths[name].read_bytes()).decode().split()


@pytest.fixture(autouse=True)
def providers_of_ir_measures(monkeypatch: pytest.MonkeyPatch) -> None:
    """ir_measures as it comes: something may have put gainful into it."""
    pipeline = ir_measures.DefaultPipeline
    monkeypatch.setattr(pipeline, "providers", [each for each in pipeline.providers if each.NAME != "gainful"])


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real collections; what asks for it is skipped where there is none."""
    if not SHARED_DATA.is_dir():
        pytest.skip("no real collections beside the checkout (../shared/data)")
    return SHARED_DATA


@pytest.fixture(scope="session")
def collection(shared_data: Path) -> Callable[[str], Collection]:
    """A real collection by its name."""

    @cache
    def get(name: str) -> Collection:
        qrels, runs = COLLECTIONS[name]
        paths = {path.name.removesuffix(".gz"): path for path in sorted(shared_data.glob(runs))}
        assert paths, f"{name} has no runs"
        return Collection(shared_data / qrels, paths)

    return get


@pytest.fixture(scope="session")
def our_name() -> Callable[..., str | None]:
    """Our name of a measure that trec_eval prints, None if we have no such measure; ``level`` is trec_eval's -l."""

    def translate(theirs: str, level: int = 1) -> str | None:
        family, at = theirs, ""
        if theirs not in PLAIN_NAMES:
            match = re.fullmatch(r"(.+)_(\d+(?:\.\d+)?)", theirs)
            if not match or match[1] not in NAMES_WITH_AT:
                return None
            family, at = match[1], f"@{match[2]}"
        ours = PLAIN_NAMES.get(theirs) or NAMES_WITH_AT[family]
        return ours + ("" if level == 1 or family in GRADED_OR_BLIND else f"(rel={level})") + at

    return translate


@pytest.fixture(scope="session")
def is_printed_as() -> Callable[[float | None, str], bool]:
    """Whether a value is what a report prints, to half a unit of the report's last digit."""

    def check(value: float | None, printed: str) -> bool:
        last_digit = Decimal(1).scaleb(int(Decimal(printed).as_tuple().exponent))
        return value is not None and abs(value - float(printed)) <= float(last_digit / 2) + 1e-9

    return check
