"""gainful: evaluation of search, recommendation and retrieval by *how* relevant results are.

>>> import gainful
>>> gainful.evaluate({"q1": {"d1": 3, "d2": 1}}, {"q1": {"d2": 2.0, "d1": 1.0}}, "nDCG@10").mean("nDCG@10")
0.7967075809905066
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from gainful._version import __version__

if TYPE_CHECKING:
    from gainful.comparison import Comparison, compare
    from gainful.conventions.findings import find_conventions
    from gainful.curves.gain_curves import GainCurves, gain_curves
    from gainful.curves.generalised_recall import GeneralisedRecall, generalised_recall
    from gainful.curves.plane import Plane, Planes, score_plane, score_planes
    from gainful.curves.recall_levels import RecallLevels, recall_levels
    from gainful.curves.session_curves import SessionCurves, session_curves
    from gainful.data.graded import GradedRun
    from gainful.data.qrels import Qrels
    from gainful.data.run import Run
    from gainful.data.sessions import Sessions
    from gainful.doctor.examination import examine
    from gainful.errors import GainfulError, InputError, MissingExtraError, UsageError
    from gainful.evaluation import evaluate, evaluate_runs
    from gainful.explanation import Explanation, explain, explain_runs
    from gainful.gains import Gain
    from gainful.measures.base import Measure
    from gainful.measures.block import Block
    from gainful.measures.grammar import parse
    from gainful.measures.session_base import SessionMeasure
    from gainful.measures.session_block import SessionBlock
    from gainful.papers.reproduction import Reproduction, reproduce
    from gainful.policy import Policy
    from gainful.render.report import Report
    from gainful.results import Evaluation
    from gainful.sensitivity.assessment import assess_sensitivity
    from gainful.sensitivity.scenarios import Scenario
    from gainful.sessions.evaluation import evaluate_session_runs, evaluate_sessions
    from gainful.signature import Signature
    from gainful.simulation import simulate
    from gainful.stats.agreement_report import AgreementReport, assess_agreement
    from gainful.stats.description import describe_judgments
    from gainful.stats.document_stability import assess_documents
    from gainful.stats.families import compare_family, compare_measures
    from gainful.stats.judges import compare_judgments
    from gainful.stats.paired import compare_pair, compare_systems
    from gainful.stats.power_report import PowerReport, assess_power
    from gainful.stats.scores import ScoreMatrix
    from gainful.stats.stability_report import StabilityReport, assess_stability

#: Where each public name lives; modules are loaded when a name is first used, so that `import gainful` is instant.
_HOMES = {
    "AgreementReport": "gainful.stats.agreement_report",
    "Block": "gainful.measures.block",
    "Comparison": "gainful.comparison",
    "Evaluation": "gainful.results",
    "Explanation": "gainful.explanation",
    "Gain": "gainful.gains",
    "GainCurves": "gainful.curves.gain_curves",
    "GainfulError": "gainful.errors",
    "GeneralisedRecall": "gainful.curves.generalised_recall",
    "GradedRun": "gainful.data.graded",
    "InputError": "gainful.errors",
    "Measure": "gainful.measures.base",
    "MissingExtraError": "gainful.errors",
    "Plane": "gainful.curves.plane",
    "Planes": "gainful.curves.plane",
    "Policy": "gainful.policy",
    "PowerReport": "gainful.stats.power_report",
    "Qrels": "gainful.data.qrels",
    "RecallLevels": "gainful.curves.recall_levels",
    "Report": "gainful.render.report",
    "Reproduction": "gainful.papers.reproduction",
    "Run": "gainful.data.run",
    "Scenario": "gainful.sensitivity.scenarios",
    "ScoreMatrix": "gainful.stats.scores",
    "SessionBlock": "gainful.measures.session_block",
    "SessionCurves": "gainful.curves.session_curves",
    "SessionMeasure": "gainful.measures.session_base",
    "Sessions": "gainful.data.sessions",
    "Signature": "gainful.signature",
    "StabilityReport": "gainful.stats.stability_report",
    "UsageError": "gainful.errors",
    "assess_agreement": "gainful.stats.agreement_report",
    "assess_documents": "gainful.stats.document_stability",
    "assess_power": "gainful.stats.power_report",
    "assess_sensitivity": "gainful.sensitivity.assessment",
    "assess_stability": "gainful.stats.stability_report",
    "compare": "gainful.comparison",
    "compare_family": "gainful.stats.families",
    "compare_judgments": "gainful.stats.judges",
    "compare_measures": "gainful.stats.families",
    "compare_pair": "gainful.stats.paired",
    "compare_systems": "gainful.stats.paired",
    "describe_judgments": "gainful.stats.description",
    "evaluate": "gainful.evaluation",
    "evaluate_runs": "gainful.evaluation",
    "evaluate_session_runs": "gainful.sessions.evaluation",
    "evaluate_sessions": "gainful.sessions.evaluation",
    "examine": "gainful.doctor.examination",
    "explain": "gainful.explanation",
    "explain_runs": "gainful.explanation",
    "find_conventions": "gainful.conventions.findings",
    "gain_curves": "gainful.curves.gain_curves",
    "generalised_recall": "gainful.curves.generalised_recall",
    "parse": "gainful.measures.grammar",
    "recall_levels": "gainful.curves.recall_levels",
    "reproduce": "gainful.papers.reproduction",
    "score_plane": "gainful.curves.plane",
    "score_planes": "gainful.curves.plane",
    "session_curves": "gainful.curves.session_curves",
    "simulate": "gainful.simulation",
}

__all__ = [
    "AgreementReport",
    "Block",
    "Comparison",
    "Evaluation",
    "Explanation",
    "Gain",
    "GainCurves",
    "GainfulError",
    "GeneralisedRecall",
    "GradedRun",
    "InputError",
    "Measure",
    "MissingExtraError",
    "Plane",
    "Planes",
    "Policy",
    "PowerReport",
    "Qrels",
    "RecallLevels",
    "Report",
    "Reproduction",
    "Run",
    "Scenario",
    "ScoreMatrix",
    "SessionBlock",
    "SessionCurves",
    "SessionMeasure",
    "Sessions",
    "Signature",
    "StabilityReport",
    "UsageError",
    "__version__",
    "assess_agreement",
    "assess_documents",
    "assess_power",
    "assess_sensitivity",
    "assess_stability",
    "compare",
    "compare_family",
    "compare_judgments",
    "compare_measures",
    "compare_pair",
    "compare_systems",
    "describe_judgments",
    "evaluate",
    "evaluate_runs",
    "evaluate_session_runs",
    "evaluate_sessions",
    "examine",
    "explain",
    "explain_runs",
    "find_conventions",
    "gain_curves",
    "generalised_recall",
    "parse",
    "recall_levels",
    "reproduce",
    "score_plane",
    "score_planes",
    "session_curves",
    "simulate",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'gainful' has no attribute '{name}'")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
