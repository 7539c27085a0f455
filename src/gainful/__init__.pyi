"""The public names and where they live: the one list of them. They are loaded when they are first used."""

from gainful._version import __version__ as __version__
from gainful.data.exclusion import ExclusionLike as ExclusionLike
from gainful.data.graded import GradedRun as GradedRun
from gainful.data.items import ItemsLike as ItemsLike
from gainful.data.qrels import Qrels as Qrels, QrelsLike as QrelsLike
from gainful.data.queries import Queries as Queries, QueriesLike as QueriesLike
from gainful.data.run import Run as Run, RunLike as RunLike, RunsLike as RunsLike
from gainful.data.sessions import Sessions as Sessions
from gainful.errors import (
    GainfulError as GainfulError,
    GainfulWarning as GainfulWarning,
    InputError as InputError,
    MissingExtraError as MissingExtraError,
    UsageError as UsageError,
)
from gainful.evaluation.dense import evaluate_arrays as evaluate_arrays
from gainful.evaluation.evaluate import (
    MeasuresLike as MeasuresLike,
    evaluate as evaluate,
    evaluate_batches as evaluate_batches,
)
from gainful.evaluation.evaluation_page import Report as Report
from gainful.evaluation.evaluations import Evaluation as Evaluation, Evaluations as Evaluations
from gainful.evaluation.explained_page import Explanation as Explanation
from gainful.evaluation.explanation import explain as explain
from gainful.evaluation.results import Signature as Signature
from gainful.evaluation.score_matrix import ScoreMatrix as ScoreMatrix
from gainful.evaluation.scores import Scores as Scores, ScoresLike as ScoresLike
from gainful.evaluation.simulation import simulate as simulate
from gainful.gains import Gain as Gain
from gainful.measures.base import Measure as Measure
from gainful.measures.block import Block as Block
from gainful.measures.catalog import parse as parse
from gainful.measures.session_block import SessionBlock as SessionBlock, SessionMeasure as SessionMeasure
from gainful.policy import Policy as Policy, PolicyLike as PolicyLike
from gainful.tasks.agree import AgreementReport as AgreementReport, assess_agreement as assess_agreement
from gainful.tasks.check.examination import examine as examine
from gainful.tasks.compare import Comparison as Comparison, compare as compare
from gainful.tasks.compare.beyond_p import (
    compare_beliefs as compare_beliefs,
    compare_sequentially as compare_sequentially,
)
from gainful.tasks.compare.factors import compare_factors as compare_factors
from gainful.tasks.compare.frontier import compare_cost as compare_cost
from gainful.tasks.compare.several_systems import compare_several as compare_several
from gainful.tasks.compare.two_systems import compare_two as compare_two
from gainful.tasks.compare.unpaired_systems import compare_unpaired as compare_unpaired
from gainful.tasks.curves.abstention import abstention_curves as abstention_curves
from gainful.tasks.curves.gain_curves import GainCurves as GainCurves, gain_curves as gain_curves
from gainful.tasks.curves.recall_levels import (
    GeneralisedRecall as GeneralisedRecall,
    RecallLevels as RecallLevels,
    generalised_recall as generalised_recall,
    recall_levels as recall_levels,
)
from gainful.tasks.diff import diff_runs as diff_runs
from gainful.tasks.gate import Gate as Gate, Rule as Rule
from gainful.tasks.gate.baseline import (
    check_gate as check_gate,
    freeze_gate as freeze_gate,
    update_gate as update_gate,
)
from gainful.tasks.gate.gate_report import GateReport as GateReport
from gainful.tasks.judge_next import judge_next as judge_next
from gainful.tasks.judgments import describe_judgments as describe_judgments, merge_judgments as merge_judgments
from gainful.tasks.judgments.calibration import calibrate_judgments as calibrate_judgments
from gainful.tasks.judgments.judges import compare_judgments as compare_judgments
from gainful.tasks.power import PowerReport as PowerReport, assess_power as assess_power
from gainful.tasks.report import report as report, report_sessions as report_sessions
from gainful.tasks.sensitivity import (
    assess_sensitivity as assess_sensitivity,
    assess_session_sensitivity as assess_session_sensitivity,
)
from gainful.tasks.sensitivity.sensitivity_grid import Scenario as Scenario
from gainful.tasks.sessions.session_curves import SessionCurves as SessionCurves, session_curves as session_curves
from gainful.tasks.sessions.session_evaluation import evaluate_sessions as evaluate_sessions
from gainful.tasks.stability import (
    StabilityReport as StabilityReport,
    assess_documents as assess_documents,
    assess_stability as assess_stability,
)
from gainful.tasks.whydiff import find_conventions as find_conventions
